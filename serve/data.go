package serve

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
)

// dataArg resolves what a caller names as data: a built-in set, or a file
// below the folder that the server was given. Nothing else of this machine can
// be named.
func (c *call) dataArg(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	_, unknown := datasets.Lookup(name)
	if unknown == nil {
		return "builtin:" + name, nil
	}
	if c.o.Data != "" {
		path, err := below(c.o.Data, name)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", problemf(http.StatusUnprocessableEntity, "GET /v1/data and GET /v1/datasets list what there is; POST /v1/data uploads a table", "no data called %q", name)
}

// below returns the path of a file in a folder that cannot be left, neither by
// its name nor by links.
func below(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	rel := filepath.FromSlash(name)
	if !filepath.IsLocal(rel) || strings.ContainsRune(name, 0) {
		return "", os.ErrNotExist
	}
	info, err := root.Stat(rel)
	if err != nil {
		return "", os.ErrNotExist
	}
	if !info.Mode().IsRegular() {
		return "", problemf(http.StatusUnprocessableEntity, "name a file", "%q is no file", name)
	}
	return filepath.Join(dir, rel), nil
}
