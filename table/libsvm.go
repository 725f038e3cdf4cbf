package table

import (
	"bytes"
	"fmt"
	"strconv"
)

// libsvm reads the sparse rows of libsvm and svmlight (Joachims 1999): a
// label, then index:number for the cells that are not 0, a row a line, with #
// before comments. The label is the column "label", the cells are the bag
// Features, whose words are the indexes; qid:number, which groups rows, is the
// column "qid".
type libsvm struct {
	fields []*field // label, features, and qid if there is one
}

func (*libsvm) eol() byte { return '\n' }

func (*libsvm) cut(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

func (g *libsvm) columns() []cells {
	columns := make([]cells, len(g.fields))
	for i, f := range g.fields {
		columns[i].field = f
	}
	return columns
}

// isLibsvm reports whether a line looks like a label and index:number.
func isLibsvm(line []byte) bool {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	words := bytes.Fields(line)
	if len(words) < 2 || bytes.IndexByte(words[0], ':') >= 0 {
		return false
	}
	if _, ok := parseNumber(words[0]); !ok {
		return false
	}
	for _, w := range words[1:] {
		index, value, ok := bytes.Cut(w, []byte{':'})
		if !ok || len(value) == 0 {
			return false
		}
		if _, number := parseNumber(value); !number {
			return false
		}
		if _, err := strconv.Atoi(string(index)); err != nil && string(index) != "qid" {
			return false
		}
	}
	return true
}

func (s *reading) beginLibsvm() (source, error) {
	if err := s.beginText(); err != nil {
		return nil, err
	}
	names := []string{"label", Features}
	for _, line := range bytes.Split(s.content.ahead, []byte{'\n'}) {
		words := bytes.Fields(line)
		if len(words) > 0 && words[0][0] != '#' {
			if len(words) > 1 && bytes.HasPrefix(words[1], []byte("qid:")) {
				names = append(names, "qid")
			}
			break
		}
	}
	fields, err := s.nameFields(names)
	if err != nil {
		return nil, err
	}
	if f := fields[1]; f.how == auto {
		f.how = asWords
	}
	if fields[1].how != asWords && fields[1].how != skip {
		return nil, fmt.Errorf("%s: column %q of sparse rows can only be read as text", s.plan.name, Features)
	}
	return &libsvm{fields}, nil
}

func (g *libsvm) parse(b *batch) *problem {
	for i := 0; i < len(b.data); {
		end := i + bytes.IndexByte(b.data[i:], '\n')
		line := b.data[i:end]
		if comment := bytes.IndexByte(line, '#'); comment >= 0 {
			line = line[:comment]
		}
		if p := g.line(b, line, i); p != nil {
			return p
		}
		i = end + 1
	}
	return nil
}

// line reads a row that begins at a place of the block.
func (g *libsvm) line(b *batch, line []byte, place int) *problem {
	features, at := &b.columns[1], 0
	next := func() []byte {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
			at++
		}
		from := at
		for at < len(line) && line[at] != ' ' && line[at] != '\t' && line[at] != '\r' {
			at++
		}
		return line[from:at]
	}
	word := next()
	if len(word) == 0 {
		return nil
	}
	if p := b.columns[0].take(word, place); p != nil {
		return p
	}
	grouped := len(g.fields) < 3
	features.row.reset()
	for word = next(); len(word) > 0; word = next() {
		start := place + at - len(word)
		index, value, ok := bytes.Cut(word, []byte{':'})
		if string(index) == "qid" && !grouped {
			grouped = true
			if p := b.columns[2].take(value, start); p != nil {
				return p
			}
			continue
		}
		x, number := parseNumber(value)
		if !ok || !number || x-x != 0 || len(index) == 0 || len(bytes.Trim(index, "0123456789")) > 0 {
			return problemAt(start, fmt.Sprintf("%s is no cell of a sparse row; expected index:number, as in 12:0.5", quote(word)))
		}
		if x != 0 && !features.idle {
			features.row.add(features.word(index, start), x)
		}
	}
	if !grouped {
		return problemAt(place, "the row has no qid where the first one has; write it after the label")
	}
	if !features.idle {
		cells := len(features.row.codes)
		from := len(features.bag.Codes)
		features.row.into(features.bag)
		if len(features.bag.Codes)-from != cells {
			return problemAt(place, "an index comes twice in a sparse row; leave one out")
		}
		features.known++
	}
	b.rows++
	return nil
}

// take adds a cell and says what is wrong with it.
func (c *cells) take(cell []byte, place int) *problem {
	if c.idle {
		return nil
	}
	if f := c.add(cell, place); f != fine {
		return &problem{place, f.say(c.field.name, cell), c.field.name}
	}
	return nil
}
