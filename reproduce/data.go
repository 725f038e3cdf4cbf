package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accrete-ml/accrete/table"
)

// Folder is where the larger data sets are looked for unless told otherwise:
// their place in the source code, seen from its top. They are no part of the
// program.
const Folder = "bench/data"

// MissingData is the error of an experiment whose data are not there.
type MissingData struct{ File, Folder string }

// Error says what is not there, and what to do.
func (e *MissingData) Error() string {
	if e.File == newsgroupsFile {
		return fmt.Sprintf("%s is not in the folder %s; it is too large to come with the source code: columns newsgroup, doc_id, subject and body of the 19,997 postings of 20 Newsgroups; name the folder that has it", e.File, e.Folder)
	}
	return fmt.Sprintf("%s is not in the folder %s; it comes with the source code, in %s: run the experiment there, or name the folder", e.File, e.Folder, Folder)
}

type folderKey struct{}

// read reads one of the larger data sets, for an experiment that is being
// run.
func read(ctx context.Context, file string, o table.Options) (*table.Table, error) {
	folder, _ := ctx.Value(folderKey{}).(string)
	if folder == "" {
		folder = Folder
	}
	path := filepath.Join(folder, file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingData{file, folder}
	}
	t, _, err := table.ReadFile(ctx, path, o)
	return t, err
}
