package netfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// readXML reads the XML form of the interchange format: elements VARIABLE with
// NAME and OUTCOME, and DEFINITION with FOR, GIVEN and TABLE. Definitions may
// come before variables.
func readXML(d *draft, text []byte) error {
	x := &xmlReader{d: d, text: text, decoder: xml.NewDecoder(bytes.NewReader(text))}
	x.decoder.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "utf-8", "us-ascii", "ascii":
			return r, nil
		}
		return nil, fmt.Errorf("the encoding %q is not read; expected UTF-8", charset)
	}
	if err := x.document(); err != nil {
		return err
	}
	for i := range x.definitions {
		f := &x.definitions[i]
		v, err := d.given(f.line, f.child, f.given)
		if err != nil {
			return err
		}
		if err := d.whole(f.line, v, f.table, false); err != nil {
			return err
		}
	}
	return nil
}

// definition is a table as it was read.
type definition struct {
	line  int
	child string
	given []string
	table []float64
}

type xmlReader struct {
	d           *draft
	text        []byte
	decoder     *xml.Decoder
	definitions []definition
	counted     int // bytes whose lines are counted
	line        int
}

// at returns the line that the decoder has come to.
func (x *xmlReader) at() int {
	to := min(int(x.decoder.InputOffset()), len(x.text))
	x.line += bytes.Count(x.text[x.counted:to], []byte("\n"))
	x.counted = to
	return x.line + 1
}

func (x *xmlReader) token() (xml.Token, error) {
	t, err := x.decoder.Token()
	if err != nil && err != io.EOF {
		return nil, x.d.fail(x.at(), "the XML cannot be read: %v", err)
	}
	return t, err
}

func (x *xmlReader) document() error {
	network := false
	for {
		t, err := x.token()
		if err == io.EOF {
			if !network {
				return x.d.fail(1, "there is no element NETWORK; expected XMLBIF")
			}
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch strings.ToUpper(start.Name.Local) {
		case "BIF":
		case "NETWORK":
			network = true
		case "NAME":
			if x.d.net.Name, err = x.words(); err != nil {
				return err
			}
		case "VARIABLE":
			err = x.variable()
		case "DEFINITION", "PROBABILITY":
			err = x.definition()
		case "PROPERTY":
			_, err = x.words()
		default:
			err = x.d.fail(x.at(), "unknown element %s; expected VARIABLE or DEFINITION", start.Name.Local)
		}
		if err != nil {
			return err
		}
	}
}

// words reads the text of an element to its end.
func (x *xmlReader) words() (string, error) {
	var b strings.Builder
	for {
		t, err := x.token()
		if err != nil {
			return "", x.ended(err)
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.Comment:
			b.WriteByte(' ')
		case xml.EndElement:
			return strings.TrimSpace(b.String()), nil
		case xml.StartElement:
			return "", x.d.fail(x.at(), "element %s: expected text", t.Name.Local)
		}
	}
}

func (x *xmlReader) ended(err error) error {
	if err == io.EOF {
		return x.d.fail(x.at(), "the file ends within an element")
	}
	return err
}

// children calls a function for each element within one, which reads it.
func (x *xmlReader) children(each func(name, text string, line int) error) error {
	for {
		t, err := x.token()
		if err != nil {
			return x.ended(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			line := x.at()
			text, err := x.words()
			if err != nil {
				return err
			}
			if err := each(strings.ToUpper(t.Name.Local), text, line); err != nil {
				return err
			}
		}
	}
}

func (x *xmlReader) variable() error {
	line := x.at()
	var name string
	var states []string
	err := x.children(func(element, text string, _ int) error {
		switch element {
		case "NAME":
			name = text
		case "OUTCOME", "VALUE":
			states = append(states, text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.d.declare(line, name, states)
}

func (x *xmlReader) definition() error {
	f := definition{line: x.at()}
	err := x.children(func(element, text string, line int) error {
		switch element {
		case "FOR":
			f.child = text
		case "GIVEN":
			f.given = append(f.given, text)
		case "TABLE":
			for _, field := range strings.Fields(text) {
				p, err := number(field)
				if err != nil {
					return x.d.fail(line, "%q: expected a probability", field)
				}
				f.table = append(f.table, p)
			}
		}
		return nil
	})
	x.definitions = append(x.definitions, f)
	return err
}
