package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// upload is a table that somebody sent: its bytes as they came, in a folder of
// its name, and what is known of it.
type upload struct {
	Name string    `json:"name"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	File string    `json:"file"` // its name in the folder
	Size int64     `json:"size"`
	Rows int       `json:"rows"`
	// Columns are what they are called; none is not known.
	Columns []string `json:"columns,omitempty"`
	ReadAs
	Words json.RawMessage `json:"words,omitempty"`

	path string
}

// judges reports whether a table can tell how good a model is: it has what the
// model predicts, and most of what it predicts from.
func (u *upload) judges(m *Model) bool {
	if m.Target == nil || u.Columns == nil {
		return m.Target != nil
	}
	has := 0
	for i := range m.Columns {
		if slices.Contains(u.Columns, m.Columns[i].Name) {
			has++
		}
	}
	return slices.Contains(u.Columns, *m.Target) && 2*has > len(m.Columns)
}

// merged is how a table is read: as is asked for now, else as was settled before.
// A column that is now said to be of one kind is no longer of another.
func (u *upload) merged(asked ReadAs) ReadAs {
	named := slices.Concat(asked.Nominal, asked.Numeric, asked.Text, asked.Ignore)
	kind := func(now, before []string) []string {
		if now != nil {
			return now
		}
		return slices.DeleteFunc(slices.Clone(before), func(column string) bool { return slices.Contains(named, column) })
	}
	r := ReadAs{
		Nominal: kind(asked.Nominal, u.Nominal), Numeric: kind(asked.Numeric, u.Numeric), Text: kind(asked.Text, u.Text), Ignore: kind(asked.Ignore, u.Ignore),
		Missing: asked.Missing, Weight: cmp.Or(asked.Weight, u.Weight), Sequence: cmp.Or(asked.Sequence, u.Sequence),
	}
	if r.Missing == nil {
		r.Missing = u.Missing
	}
	return r
}

// uploads are the tables that were sent, in a folder of the store.
type uploads struct {
	dir string
	mu  sync.Mutex // of changes
}

const aboutFile = "about.json"

// look returns a table by its name.
func (u *uploads) look(name string) (*upload, bool) {
	if store.CheckName(name) != nil {
		return nil, false
	}
	text, err := os.ReadFile(filepath.Join(u.dir, name, aboutFile))
	if err != nil {
		return nil, false
	}
	up := &upload{}
	if json.Unmarshal(text, up) != nil || up.Name != name || !filepath.IsLocal(up.File) {
		return nil, false
	}
	up.path = filepath.Join(u.dir, name, up.File)
	return up, true
}

// save keeps what is known of a table.
func (u *uploads) save(ctx context.Context, up *upload) error {
	return atomicfile.Write(ctx, filepath.Join(u.dir, up.Name, aboutFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(up) })
}

// list returns the names of the tables.
func (u *uploads) list() []string {
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// maySee says whether a caller may see a table: who may not see all models
// sees what they sent themselves.
func (c *call) maySee(up *upload) bool { return c.who.models == nil || up.By == c.who.name }

// dataArg resolves what a caller names as data: a table that was sent, a
// built-in set, or a file below the folder that the server was given. Nothing
// else of this machine can be named.
func (c *call) dataArg(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if up, ok := c.uploads.look(name); ok && c.maySee(up) {
		return up.path, nil
	}
	if _, err := datasets.Lookup(name); err == nil {
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

// below returns the path of a file, or of a folder of files, in a folder that cannot
// be left, neither by its name nor by links.
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
	if info.IsDir() {
		err = fs.WalkDir(root.FS(), filepath.ToSlash(rel), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() {
				err = problemf(http.StatusUnprocessableEntity, "name a folder that has files alone", "%q is no file", path)
			}
			return err
		})
		return filepath.Join(dir, rel), err
	}
	if !info.Mode().IsRegular() {
		return "", problemf(http.StatusUnprocessableEntity, "name a file, or a folder of files", "%q is no file", name)
	}
	return filepath.Join(dir, rel), nil
}

// Uploaded is a table in the list.
type Uploaded struct {
	Name string    `json:"name"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Rows int       `json:"rows"`
	Size int64     `json:"size" doc:"in bytes"`
}

// DataList is the tables that were sent.
type DataList struct {
	Data []Uploaded `json:"data"`
}

func (c *call) listData() error {
	list := DataList{Data: []Uploaded{}}
	for _, name := range c.uploads.list() {
		if up, ok := c.uploads.look(name); ok && c.maySee(up) {
			list.Data = append(list.Data, Uploaded{up.Name, up.By, up.At, up.Rows, up.Size})
		}
	}
	return c.answer(http.StatusOK, list)
}

// extensions by what a body is said to be.
var extensions = map[string]string{"text/csv": ".csv", "application/x-ndjson": ".jsonl", "application/jsonl": ".jsonl", "application/vnd.apache.parquet": ".parquet", "text/tab-separated-values": ".tsv"}

// plainName is the name of a file without where it was.
func plainName(name string) string {
	return name[strings.LastIndexAny(name, `/\`)+1:]
}

// extensionOf keeps what a file's name says of how it is written and packed.
func extensionOf(name string) string {
	name = strings.ToLower(name)
	packed := ""
	for _, p := range []string{".gz", ".zst"} {
		if rest, ok := strings.CutSuffix(name, p); ok {
			name, packed = rest, p
		}
	}
	if ext := filepath.Ext(name); slices.Contains([]string{".csv", ".tsv", ".txt", ".arff", ".jsonl", ".ndjson", ".json", ".parquet", ".data", ".libsvm", ".svm"}, ext) {
		return ext + packed
	}
	return packed
}

// upload takes a table in: it is read once, whole, before it is kept.
func (c *call) upload() error {
	q, err := c.query()
	if err != nil {
		return err
	}
	body, file, err := c.uploadBody()
	if err != nil {
		return err
	}
	name := q.Get("name")
	if name == "" && file != "" {
		name = life.NameOf(file)
	}
	if err := store.CheckName(name); err != nil {
		return problemf(http.StatusUnprocessableEntity, "name it, as in POST /v1/data?name=april", "%s", strings.Replace(err.Error(), "the model name", "the name", 1))
	}
	extension := extensionOf(file)
	if extension == "" {
		extension = extensions[c.contentType()]
	}
	if err := os.MkdirAll(c.uploads.dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(c.uploads.dir, ".coming-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	up := &upload{Name: name, By: c.who.name, At: c.began.UTC(), File: "table" + extension}
	path := filepath.Join(temporary, up.File)
	if up.Size, err = receive(path, body); err != nil {
		return err
	}
	h := c.home()
	ctx, cancel := c.limited()
	defer cancel()
	if err := unpacksWithin(ctx, path, up.Size, c.o.MostUpload); err != nil {
		return err
	}
	d, err := h.Find(path, life.Reading{})
	if err != nil {
		return err
	}
	d.As = name
	about, err := h.Describe(ctx, d)
	if err != nil {
		return err
	}
	up.Rows = about.Rows
	for i := range about.Columns {
		up.Columns = append(up.Columns, about.Columns[i].Name)
	}
	up.Columns = append(up.Columns, about.LeftOut...)
	if err := c.keepUpload(ctx, up, temporary); err != nil {
		return err
	}
	c.audit("upload", name, "")
	c.w.Header().Set("Location", "/v1/data/"+name)
	return c.answer(http.StatusCreated, DataDescription{about, c.notes, up.By, up.At, up.ReadAs})
}

// keepUpload makes a table that came whole the one of its name.
func (c *call) keepUpload(ctx context.Context, up *upload, temporary string) error {
	c.uploads.mu.Lock()
	defer c.uploads.mu.Unlock()
	if old, ok := c.uploads.look(up.Name); ok {
		if !c.maySee(old) || old.By != c.who.name && c.who.scope < admin {
			return problemf(http.StatusConflict, "choose another name", "there is a table called %q already, and it is somebody else's", up.Name)
		}
		if yes(c.r.URL.Query(), "replace") {
			if err := os.RemoveAll(filepath.Join(c.uploads.dir, up.Name)); err != nil {
				return err
			}
		} else {
			return problemf(http.StatusConflict, "choose another name, delete it first, or say replace=1", "there is a table called %q already", up.Name)
		}
	}
	text, err := json.Marshal(up)
	if err == nil {
		err = os.WriteFile(filepath.Join(temporary, aboutFile), text, 0o600)
	}
	if err == nil {
		err = os.Rename(temporary, filepath.Join(c.uploads.dir, up.Name))
	}
	return err
}

// receive writes a body to a file.
func receive(path string, body io.Reader) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, body)
	return n, errors.Join(err, f.Sync(), f.Close())
}

// uploadBody is the bytes that are sent: the body itself, or the first file of
// a form, with its name.
func (c *call) uploadBody() (io.Reader, string, error) {
	body := c.body()
	if c.contentType() != "multipart/form-data" {
		return body, plainName(c.r.Header.Get("Accrete-File")), nil
	}
	_, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, "", problemf(http.StatusBadRequest, "send the file's bytes", "the form cannot be read")
	}
	c.r.Body = io.NopCloser(body)
	parts, err := c.r.MultipartReader()
	if err != nil {
		return nil, "", problemf(http.StatusBadRequest, "send the file's bytes", "the form cannot be read: %v", err)
	}
	for range 20 {
		part, err := parts.NextPart()
		if err != nil {
			break
		}
		if part.FileName() != "" {
			return part, plainName(part.FileName()), nil
		}
	}
	return nil, "", problemf(http.StatusBadRequest, "send the file's bytes, or a form with a file", "the form has no file")
}

// table is the one that the path names: sent, built in, or a file of the
// server's folder.
func (c *call) table() (*upload, func(*life.Home) (*life.Data, error), error) {
	name := c.r.PathValue("d")
	up, ok := c.uploads.look(name)
	if ok && !c.maySee(up) {
		ok = false
	}
	find, err := c.finder(name, ReadAs{})
	if err != nil {
		var p *Problem
		if errors.As(err, &p) {
			p.Status = http.StatusNotFound
		}
		return nil, nil, err
	}
	if !ok {
		up = nil
	}
	return up, find, nil
}

// sentTable is a table that can be changed: one that was sent.
func (c *call) sentTable() (*upload, error) {
	name := c.r.PathValue("d")
	up, ok := c.uploads.look(name)
	switch {
	case !ok || !c.maySee(up):
		return nil, problemf(http.StatusNotFound, "GET /v1/data lists them", "no table called %q was sent", name)
	case up.By != c.who.name && c.who.scope < admin:
		return nil, problemf(http.StatusForbidden, "ask "+up.By+", or an admin", "the table is %s's", up.By)
	}
	return up, nil
}

// DataDescription is a table in figures.
type DataDescription struct {
	*life.Description
	Notes []string  `json:"notes,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
	ReadAs
}

func (c *call) describe() error {
	q, err := c.query()
	if err != nil {
		return err
	}
	target := q.Get("target")
	up, find, err := c.table()
	if err != nil {
		return err
	}
	h := c.home()
	d, err := find(h)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	about, err := h.DescribeFor(ctx, d, target)
	if err != nil {
		return err
	}
	all := DataDescription{Description: about, Notes: c.notes}
	if up != nil {
		all.By, all.At, all.ReadAs = up.By, up.At, up.ReadAs
	}
	return c.answer(http.StatusOK, all)
}

// patchData changes how a table is read, if it can be read so.
func (c *call) patchData() error {
	up, err := c.sentTable()
	if err != nil {
		return err
	}
	asked := ReadAs{Weight: up.Weight, Sequence: up.Sequence}
	if err := c.decode(&asked); err != nil {
		return err
	}
	in := up.merged(asked)
	in.Weight, in.Sequence = asked.Weight, asked.Sequence // they may be taken away
	h := c.home()
	d, err := h.Find(up.path, in.reading())
	if err != nil {
		return err
	}
	d.As = up.Name
	ctx, cancel := c.limited()
	defer cancel()
	about, err := h.Describe(ctx, d)
	if err != nil {
		return err
	}
	up.ReadAs = in
	c.uploads.mu.Lock()
	defer c.uploads.mu.Unlock()
	if err := c.uploads.save(ctx, up); err != nil {
		return err
	}
	c.audit("read table otherwise", up.Name, "")
	return c.answer(http.StatusOK, DataDescription{about, c.notes, up.By, up.At, up.ReadAs})
}

func (c *call) deleteData() error {
	up, err := c.sentTable()
	if err != nil {
		return err
	}
	c.uploads.mu.Lock()
	defer c.uploads.mu.Unlock()
	if err := os.RemoveAll(filepath.Join(c.uploads.dir, up.Name)); err != nil {
		return err
	}
	c.audit("delete table", up.Name, "")
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// DataRows are some rows of a table.
type DataRows struct {
	Data   string           `json:"data"`
	Rows   []map[string]any `json:"rows" doc:"cells by column; row is its number, from 1"`
	Offset int              `json:"offset"`
	Of     int              `json:"of"`
}

// mostShown is how many rows are sent at once.
const mostShown = 1000

func (c *call) dataRows() error {
	q, err := c.query()
	if err != nil {
		return err
	}
	offset, err := number(q, "offset", 0, 0)
	if err != nil {
		return err
	}
	limit, err := number(q, "limit", 50, 0)
	if err != nil {
		return err
	}
	_, find, err := c.table()
	if err != nil {
		return err
	}
	h := c.home()
	d, err := find(h)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	t, err := h.ReadPlain(ctx, d)
	if err != nil {
		return err
	}
	list := DataRows{Data: c.r.PathValue("d"), Rows: []map[string]any{}, Offset: offset, Of: t.Rows()}
	for row := offset; row < min(offset+min(limit, mostShown), t.Rows()); row++ {
		list.Rows = append(list.Rows, cellsOf(t, row))
	}
	return c.answer(http.StatusOK, list)
}

// cellsOf returns the cells of a row; those that are not known are null.
func cellsOf(t *table.Table, row int) map[string]any {
	cells := map[string]any{}
	for i := range t.Schema.Attributes {
		a, column := &t.Schema.Attributes[i], &t.Columns[i]
		switch {
		case column.Floats != nil && !table.IsMissing(column.Floats[row]):
			if x := column.Floats[row]; a.Date || a.Time {
				cells[a.Name] = a.Format(x)
			} else {
				cells[a.Name] = finite(x)
			}
		case column.Codes != nil && column.Codes[row] >= 0:
			cells[a.Name] = a.Values[column.Codes[row]]
		case column.Words != nil && !column.Words.Missing(row):
			codes, counts := column.Words.Row(row)
			words := map[string]float64{}
			for k, code := range codes {
				words[a.Values[code]] = counts[k]
			}
			cells[a.Name] = words
		default:
			cells[a.Name] = nil
		}
	}
	return cells
}

// finite is a number as JSON writes it: what is infinite is a text.
func finite(x float64) any {
	if x-x != 0 {
		return fmt.Sprint(x)
	}
	return x
}

// importModel takes a model in that was exported.
func (c *call) importModel() error {
	q, err := c.query()
	if err != nil {
		return err
	}
	name := q.Get("name")
	if name != "" {
		if err := store.CheckName(name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(c.uploads.dir, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.uploads.dir, ".coming-") // where there is room for it: a container may have no other folder
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	body, _, err := c.uploadBody()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "import.accrete")
	if _, err := receive(path, body); err != nil {
		return err
	}
	_, history, err := store.ReadFile(path)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "send the bytes of an export (GET …/export, or accrete export)", "%v", strings.ReplaceAll(err.Error(), path, "it"))
	}
	if name == "" {
		name = history.Model
	}
	if err := c.who.sees(name); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	l, err := c.home().Import(ctx, path, name, nil)
	if err != nil {
		return err
	}
	c.audit("import", name, "")
	c.touch(ctx, name)
	return c.answer(http.StatusOK, l)
}
