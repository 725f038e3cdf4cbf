// Package xlsx reads the sheets of Excel workbooks, and writes one.
//
// A workbook (ECMA-376, Office Open XML) is a zip file of XML parts: a list of
// sheets, the texts that sheets share, the formats by which a number is a date,
// and a part for each sheet, row by row. A sheet is given as comma-separated
// text, one line a row, as a person would export it: dates as ISO dates, per cent
// as people see it (12.5 for 12.5 %), errors as empty cells, titles above the
// table left out, and headers of several rows with merged cells joined into one.
// So whatever reads delimited text reads sheets, too, and lines are rows of the
// sheet. Rows are read as they are asked for; only the shared texts are in memory.
//
// table reads sheets by it, and cmd/accrete writes them.
package xlsx

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
)

// Excel's own limits.
const (
	mostRows    = 1 << 20
	mostColumns = 1 << 14
)

// A workbook that is written without malice unpacks to at most some times what it
// is, and a sheet of it is at most some times as much text.
const (
	mostUnpacked = 200
	mostText     = 16
)

// leastUnpacked is what any workbook may have; tests make it small.
var leastUnpacked = int64(64 << 20)

// book is an open workbook.
type book struct {
	files   map[string]*zip.File
	left    int64 // bytes that may still be unpacked
	sheets  []sheetEntry
	since04 bool // dates are counted from 1904
	shared  []string
	formats []format // of cells, by style
}

type sheetEntry struct{ name, part string }

// format is what a number with it means.
type format uint8

const (
	plain format = iota
	percent
	dated   // a date, maybe with the time of day
	clocked // a time of day
)

// Open opens a sheet of a workbook, the first one if no name is given, as
// comma-separated text, and says which other sheets there are. Shared texts may
// take as many bytes as there is memory; 0 is no limit.
func Open(r io.ReaderAt, size int64, sheet string, memory int64) (text io.Reader, others []string, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, fmt.Errorf("is no workbook, or damaged (%v); save it again as .xlsx", err)
	}
	b := &book{files: map[string]*zip.File{}, left: max(leastUnpacked, mostUnpacked*size)}
	for _, f := range z.File {
		b.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	if err := b.readWorkbook(); err != nil {
		return nil, nil, err
	}
	names := make([]string, len(b.sheets))
	for i, s := range b.sheets {
		names[i] = s.name
	}
	at := 0
	if sheet != "" {
		if at = slices.Index(names, sheet); at < 0 {
			return nil, nil, remedy.Misusef("has no sheet %q%s", sheet, spell.Hint(sheet, names))
		}
	}
	if err := b.readStyles(); err != nil {
		return nil, nil, err
	}
	if err := b.readShared(memory); err != nil {
		return nil, nil, err
	}
	text, err = b.open(b.sheets[at].part)
	return text, slices.Delete(names, at, at+1), err
}

// part is a part that is being read, token by token.
type part struct {
	book  *book
	name  string
	r     io.ReadCloser
	x     *xml.Decoder
	bytes int64
}

// open opens a part; nil if there is none.
func (b *book) part(name string) (*part, error) {
	f := b.files[name]
	if f == nil {
		return nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%v); save the workbook again", name, err)
	}
	p := &part{book: b, name: name, r: r}
	p.x = xml.NewDecoder(p)
	p.x.Strict = false
	p.x.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("not UTF-8") }
	return p, nil
}

// Read unpacks, within what may be unpacked.
func (p *part) Read(to []byte) (int, error) {
	n, err := p.r.Read(to)
	p.bytes += int64(n)
	if p.book.left -= int64(n); p.book.left < 0 {
		return 0, errBomb
	}
	return n, err
}

var errBomb = errors.New("it unpacks to more than 200 times what it is")

// each calls use for every token of a part until it is done.
func (b *book) each(name string, use func(p *part, t xml.Token) error) error {
	p, err := b.part(name)
	if p == nil {
		return err
	}
	defer p.r.Close()
	for {
		t, err := p.x.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return p.damaged(err)
		}
		if err := use(p, t); err != nil {
			return err
		}
	}
}

func (p *part) damaged(err error) error {
	return fmt.Errorf("%s of the workbook cannot be read (%v); save it again as .xlsx", p.name, err)
}

// attribute returns an attribute by its local name.
func attribute(t *xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readWorkbook finds the sheets and their parts.
func (b *book) readWorkbook() error {
	main := "xl/workbook.xml"
	err := b.each("_rels/.rels", func(_ *part, t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" && strings.HasSuffix(attribute(&e, "Type"), "/officeDocument") {
			main = strings.TrimPrefix(attribute(&e, "Target"), "/")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if b.files[main] == nil {
		return errors.New("is a zip file and no workbook; unpack it first, or pack a table with gzip or zstd")
	}
	targets := map[string]string{}
	folder := path.Dir(main)
	err = b.each(folder+"/_rels/"+path.Base(main)+".rels", func(_ *part, t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" {
			to := attribute(&e, "Target")
			if !strings.HasPrefix(to, "/") {
				to = path.Join(folder, to)
			}
			targets[attribute(&e, "Id")] = strings.TrimPrefix(to, "/")
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = b.each(main, func(_ *part, t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "workbookPr":
			since := attribute(&e, "date1904")
			b.since04 = since == "1" || since == "true"
		case e.Name.Local == "sheet":
			if to := targets[attribute(&e, "id")]; b.files[to] != nil {
				b.sheets = append(b.sheets, sheetEntry{attribute(&e, "name"), to})
			}
		}
		return nil
	})
	if err == nil && len(b.sheets) == 0 {
		err = errors.New("has no sheet with cells")
	}
	return err
}

// readStyles finds what numbers mean by their formats.
func (b *book) readStyles() error {
	codes := map[string]string{}
	inCells := false
	return b.each("xl/styles.xml", func(_ *part, t xml.Token) error {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "numFmt":
				codes[attribute(&e, "numFmtId")] = attribute(&e, "formatCode")
			case "cellXfs":
				inCells = true
			case "xf":
				if inCells && len(b.formats) < 1<<16 {
					id := attribute(&e, "numFmtId")
					b.formats = append(b.formats, formatOf(id, codes[id]))
				}
			}
		case xml.EndElement:
			inCells = inCells && e.Name.Local != "cellXfs"
		}
		return nil
	})
}

// formatOf tells what a format means, by its number if it is one of those that
// every program has, else by its code.
func formatOf(id, code string) format {
	switch n, _ := strconv.Atoi(id); {
	case code != "":
	case n == 9 || n == 10:
		return percent
	case n >= 18 && n <= 21 || n >= 45 && n <= 47:
		return clocked
	case n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 50 && n <= 58:
		return dated
	default:
		return plain
	}
	day, hour, part := false, false, false
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i] | 0x20; {
		case code[i] == '"':
			quoted = !quoted
		case quoted:
		case code[i] == '\\' || code[i] == '_' || code[i] == '*':
			i++
		case code[i] == '[':
			bracket = i+1 < len(code) && !strings.ContainsRune("hmsHMS", rune(code[i+1]))
		case code[i] == ']':
			bracket = false
		case bracket:
		case c == 'y' || c == 'd':
			day = true
		case c == 'h' || c == 's':
			hour = true
		case code[i] == '%':
			part = true
		case c == 'm':
			day = day || !hour && !strings.ContainsAny(code, "sShH")
		}
	}
	switch {
	case day:
		return dated
	case hour:
		return clocked
	case part:
		return percent
	}
	return plain
}

// readShared reads the texts that sheets share.
func (b *book) readShared(memory int64) error {
	var text strings.Builder
	in, phonetic, used := false, 0, int64(0)
	return b.each("xl/sharedStrings.xml", func(p *part, t xml.Token) error {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "si":
				text.Reset()
			case "t":
				in = true
			case "rPh":
				phonetic++
			}
		case xml.CharData:
			if in && phonetic == 0 {
				text.Write(e)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "t":
				in = false
			case "rPh":
				phonetic--
			case "si":
				b.shared = append(b.shared, text.String())
				if used += int64(text.Len()) + 32; memory > 0 && used > memory {
					return fmt.Errorf("the texts of the workbook need more than the %d MiB of memory that are allowed", memory>>20)
				}
			}
		}
		return nil
	})
}
