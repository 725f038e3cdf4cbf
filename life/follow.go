package life

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Rows that keep coming, by a pipe or at the end of a file, are learnt as they
// come: so many of them make a version. A version of a file's rows remembers up to
// which byte it has learnt, in the same transaction, so that whoever goes on after
// a crash learns every row once.

// Following says how rows that keep coming become versions.
type Following struct {
	Every string // when rows become a version (ParseFreezing); "" is 1000 rows
	Wait  bool   // at the end of a file for more, until somebody interrupts
	// Rejects is the file that lines are added to that cannot be read; without one
	// they are an error.
	Rejects string
	// Version hears of each version, and what there is to say of it in a line.
	Version func(u *Updated, words string) error
}

// Followed is what came of it.
type Followed struct {
	Model    string  `json:"model"`
	Versions int     `json:"versions"` // that were made
	Rows     float64 `json:"rows"`     // that were learnt
	Rejected int     `json:"rejected"` // lines that were put aside
	Offset   int64   `json:"offset"`   // bytes of the file that were learnt
	rejects  string
}

// String says it in a line.
func (f *Followed) String() string {
	words := fmt.Sprintf("learnt %s in %s", plural(int(f.Rows), "row"), plural(f.Versions, "version"))
	if f.Rejected > 0 {
		words += fmt.Sprintf("; %s put aside in %s", plural(f.Rejected, "line"), f.rejects)
	}
	return words
}

// words say what became of a version's rows.
func (u *Updated) words(rejected int) string {
	words := fmt.Sprintf("version %d: %s more, %s in all", u.Version, plural(int(u.New), "row"), console.Count(u.Rows))
	switch {
	case u.Score.Known == 0:
	case u.Score.Numeric():
		words += fmt.Sprintf("; version %d had an RMSE of %s on them before", u.Before.Number, console.Number(u.Score.RMSE()))
	default:
		words += fmt.Sprintf("; version %d was right on %s of them before", u.Before.Number, console.Percent(u.Score.Accuracy()))
	}
	if rejected > 0 {
		words += fmt.Sprintf("; %s put aside", plural(rejected, "line"))
	}
	return words
}

// followSetting says in a version of a file's rows how far it was learnt.
const followSetting = reserved + "follow"

// followed is what that setting holds.
type followed struct {
	Offset int64  `json:"offset"`
	Before string `json:"before"` // hash of the last bytes before it
	Length int    `json:"length"` // their number
	Line   int    `json:"line"`   // lines before it
}

// pollEvery is how often the end of a file is looked at.
const pollEvery = 100 * time.Millisecond

// Follow learns the rows of a file or of standard input as they come: lines of
// CSV, the first of which names the columns, or of JSON.
func (h *Home) Follow(ctx context.Context, name string, d *Data, o Following) (*Followed, error) {
	if d.scheme != fileScheme || d.Builtin != nil {
		return nil, remedy.Misusef("%s is no file; rows are followed that come as lines of a file or of standard input", d.Arg)
	}
	f := &follower{home: h, data: d, name: name, o: o, done: &Followed{Model: name, rejects: o.Rejects}}
	defer f.close()
	if o.Every != "" {
		var err error
		if f.every, err = ParseFreezing(o.Every); err != nil {
			return nil, remedy.Misuse(err)
		}
	}
	if f.every.Rows == 0 {
		f.every.Rows = 1000
	}
	if o.Rejects != "" {
		var err error
		if f.aside, err = os.OpenFile(o.Rejects, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
			return nil, err
		}
		if info, err := f.aside.Stat(); err == nil {
			f.headed = info.Size() > 0 // by who followed before
		}
	}
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	err := f.run(ctx)
	if err != nil && ctx.Err() != nil && o.Wait && d.Arg != "-" { // that is how following ends
		err = nil
	}
	return f.done, err
}

// follower is a file that is followed.
type follower struct {
	home   *Home
	data   *Data
	name   string
	o      Following
	done   *Followed
	every  Freezing
	aside  *os.File // for lines that cannot be read, or nil
	file   *os.File
	in     *bufio.Reader
	header []byte
	part   []byte   // of a line that is not whole yet
	lines  [][]byte // of the version that comes
	first  int      // the number of the first of them in the file
	line   int      // lines so far
	offset int64    // after them
	ended  bool
	headed bool // the rejects have their header
}

func (f *follower) close() {
	for _, file := range []*os.File{f.file, f.aside} {
		if file != nil {
			file.Close()
		}
	}
}

// open finds where to begin: where the last version of these rows ended.
func (f *follower) open(ctx context.Context) error {
	if f.data.Arg == "-" {
		f.in = bufio.NewReaderSize(patient.Ending(ctx, f.data.reader()), 1<<16)
		return f.head(ctx)
	}
	file, err := os.Open(f.data.path())
	if err != nil {
		return err
	}
	f.file, f.in = file, bufio.NewReaderSize(file, 1<<16)
	if err := f.head(ctx); err != nil {
		return err
	}
	versions, err := f.home.Store.Log(f.name)
	if err != nil {
		return err
	}
	for i := len(versions) - 1; i >= 0; i-- {
		var was followed
		if v := versions[i]; v.Source.Path != f.data.Path() || json.Unmarshal([]byte(v.Settings[followSetting]), &was) != nil {
			continue
		}
		return f.resume(was, versions[i])
	}
	return nil
}

// resume goes on where a version ended, if the file is still the one it was.
func (f *follower) resume(was followed, v store.Version) error {
	hash, _, err := f.before(was.Offset, was.Length)
	if err != nil || hash != was.Before {
		return fmt.Errorf("%s is not the file any more of which version %d learnt the first %d bytes; give the new one another name, or update with it as a whole", f.data.Arg, v.Number, was.Offset)
	}
	if _, err := f.file.Seek(was.Offset, io.SeekStart); err != nil {
		return err
	}
	f.in.Reset(f.file)
	f.lines = nil // of JSON, whose first line is a row
	f.line, f.first = was.Line, was.Line+1
	f.offset = was.Offset
	f.done.Offset = was.Offset
	return nil
}

// before hashes the bytes before a place of the file.
func (f *follower) before(offset int64, length int) (string, int, error) {
	length = int(min(offset, int64(length)))
	b := make([]byte, length)
	if _, err := f.file.ReadAt(b, offset-int64(length)); err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), length, nil
}

// head reads the line that names the columns. Lines of JSON name theirs.
func (f *follower) head(ctx context.Context) error {
	if extension := filepath.Ext(f.data.path()); f.data.Arg != "-" && (extension == ".gz" || extension == ".zst" || extension == ".parquet" || extension == ".arrow" || extension == ".feather" || extension == ".xlsx") {
		return remedy.Misusef("%s cannot be followed: it is no text; expected lines of CSV or JSON", f.data.Arg)
	}
	line, err := f.next(ctx)
	if err != nil {
		return err
	}
	f.first = 1
	if line == nil {
		return fmt.Errorf("%s is empty; expected a header line and rows of data", f.data.Arg)
	}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		f.lines = append(f.lines, line)
		return nil
	}
	f.header, f.first = line, f.line+1
	return nil
}

// next returns the next whole record, nil at the end. A quote that is open goes
// on in the next line.
func (f *follower) next(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := f.in.ReadBytes('\n')
		f.part = append(f.part, b...)
		if err == nil && (f.header == nil && len(f.lines) == 0 || bytes.Count(f.part, []byte{'"'})%2 == 0 || f.isJSON()) {
			line := f.part
			f.part = nil
			f.offset += int64(len(line))
			f.line += bytes.Count(line, []byte{'\n'})
			return line, nil
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if f.o.Wait && f.data.Arg != "-" {
			return nil, nil // what is there of a line stays for later
		}
		f.ended = true
		line := f.part
		f.part = nil
		f.offset += int64(len(line))
		if len(line) == 0 {
			return nil, nil
		}
		return append(line, '\n'), nil
	}
}

func (f *follower) isJSON() bool { return f.header == nil }

// run gathers lines into versions until there are no more.
func (f *follower) run(ctx context.Context) error {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	waited := time.Duration(0) // since the first line that is in no version
	for {
		line, err := f.next(ctx)
		if err != nil {
			return err
		}
		if line != nil {
			f.lines = append(f.lines, line)
		}
		old := f.every.Age > 0 && waited >= f.every.Age
		if len(f.lines) >= f.every.Rows || len(f.lines) > 0 && (f.ended || old) {
			if err := f.freeze(ctx); err != nil {
				return err
			}
			waited = 0
		}
		if line != nil {
			continue
		}
		if f.ended {
			return nil
		}
		timer.Reset(pollEvery)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if len(f.lines) > 0 {
			waited += pollEvery
		}
		if info, err := os.Stat(f.data.path()); err != nil || info.Size() < f.offset {
			return fmt.Errorf("%s has become shorter, or is gone: what was learnt of it is kept; follow the new one by another name", f.data.Arg)
		}
	}
}

// freeze makes a version of the lines.
func (f *follower) freeze(ctx context.Context) error {
	good, bad, why, err := f.sift(ctx)
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		if f.aside == nil {
			return why
		}
		if len(good) == 0 && f.done.Versions == 0 && f.done.Offset == 0 {
			return fmt.Errorf("not one of the first %s can be read: %w", plural(len(bad), "line"), why)
		}
		if err := f.putAside(bad); err != nil {
			return err
		}
		f.done.Rejected += len(bad)
	}
	f.lines, f.first = f.lines[:0], f.line+1
	if len(good) == 0 {
		return nil
	}
	d := *f.data
	d.text = f.join(good)
	as := Updating{settings: map[string]string{}}
	if f.file != nil {
		was := followed{Offset: f.offset, Line: f.line}
		if was.Before, was.Length, err = f.before(was.Offset, 4096); err != nil {
			return err
		}
		setting, err := json.Marshal(was)
		if err != nil {
			return err
		}
		as.settings[followSetting] = string(setting)
	}
	u, err := f.home.UpdateAs(ctx, f.name, &d, as)
	if err != nil {
		return err
	}
	f.done.Versions++
	f.done.Rows += u.New
	f.done.Offset = f.offset
	if f.o.Version != nil {
		return f.o.Version(u, u.words(len(bad)))
	}
	return nil
}

func (f *follower) join(lines [][]byte) []byte {
	return append(bytes.Clone(f.header), bytes.Join(lines, nil)...)
}

// sift divides the lines into those that can be read as the model's columns and
// those that cannot, and says why not of the first.
func (f *follower) sift(ctx context.Context) (good, bad [][]byte, why error, err error) {
	p, err := f.home.Load(f.name)
	if err != nil {
		return nil, nil, nil, err
	}
	o := f.data.options()
	o.Schema, o.Extend = p.Schema(), true
	number := f.first // of the line that is looked at
	var look func(lines [][]byte) error
	look = func(lines [][]byte) error {
		text := f.join(lines)
		if len(bytes.TrimSpace(text)) == len(bytes.TrimSpace(f.header)) { // nothing but empty lines
			number += len(lines)
			return nil
		}
		_, _, err := table.Read(ctx, bytes.NewReader(text), o)
		switch {
		case err == nil:
			good = append(good, lines...)
			number += bytes.Count(bytes.Join(lines, nil), []byte{'\n'})
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case len(lines) == 1:
			bad = append(bad, lines[0])
			if why == nil {
				here, there := bytes.Count(f.header, []byte{'\n'})+1, number
				why = errors.New(strings.Replace(err.Error(), fmt.Sprintf("%s:%d:", o.Name, here), fmt.Sprintf("%s:%d:", o.Name, there), 1))
			}
			number += bytes.Count(lines[0], []byte{'\n'})
			return nil
		}
		if err := look(lines[:len(lines)/2]); err != nil {
			return err
		}
		return look(lines[len(lines)/2:])
	}
	err = look(f.lines)
	return good, bad, why, err
}

// putAside writes lines that cannot be read, under the header, before the version
// without them is there: they may be there twice after a crash, and are never lost.
func (f *follower) putAside(lines [][]byte) error {
	all := bytes.Join(lines, nil)
	if !f.headed {
		all = append(bytes.Clone(f.header), all...)
		f.headed = true
	}
	_, err := f.aside.Write(all)
	return err
}
