package serve

import (
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// dist is the page as browsers load it.
//
//go:embed page/dist
var dist embed.FS

var pageFiles, _ = fs.Sub(dist, "page/dist") // the name is good

// page sends the page's files.
func (c *call) page() error {
	name := strings.TrimPrefix(c.r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	body, err := fs.ReadFile(pageFiles, name)
	if err != nil || c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return c.nowhere()
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = "application/octet-stream"
	}
	c.w.Header().Set("Cache-Control", "no-cache")
	return c.send(http.StatusOK, []string{kind}, body)
}

// nowhere says that there is no such route, or what it is called with.
func (c *call) nowhere() error {
	var methods []string
	for i := range routes {
		probe, err := http.NewRequest(routes[i].method, c.r.URL.Path, nil)
		if err != nil || routes[i].method == c.r.Method {
			continue
		}
		if _, pattern := c.mux.Handler(probe); pattern == routes[i].method+" "+routes[i].path {
			methods = append(methods, routes[i].method)
		}
	}
	if len(methods) > 0 {
		c.w.Header().Set("Allow", strings.Join(methods, ", "))
		return problemf(http.StatusMethodNotAllowed, "use "+strings.Join(methods, ", "), "%s cannot be used here", c.r.Method)
	}
	return problemf(http.StatusNotFound, "see /docs", "there is nothing at %s", c.r.URL.Path)
}
