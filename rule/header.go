package rule

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Header is a SCHEMA line: the columns that the rules of a base speak of, so
// that the text alone is a model.
//
//	SCHEMA age numeric ~ 54 ± 9, sex nominal {f, m}, day date written dmy; TARGET sex
type Header struct {
	Columns []HeaderColumn
	Target  string // "" if the base models all columns together
}

// HeaderColumn is what a SCHEMA line says of one column.
type HeaderColumn struct {
	table.Attribute // a nominal column without Values has those that the rules name
	// Stated says that Mean and Deviation, of the column over all rows, are
	// given. NORMAL and sd need them.
	Stated          bool
	Mean, Deviation float64
	// Shares are the frequencies of the values over all rows, which NORMAL
	// needs of a nominal column; nil if they are not given.
	Shares []float64
}

// NewHeader returns the SCHEMA line of a model: its schema, the statistics of
// its columns (or nil), and its target, -1 for none.
func NewHeader(schema *table.Schema, overall []Overall, target int) *Header {
	h := &Header{Columns: make([]HeaderColumn, len(schema.Attributes))}
	for i := range h.Columns {
		c := &h.Columns[i]
		c.Attribute = schema.Attributes[i]
		if overall == nil {
			continue
		}
		o := &overall[i]
		switch {
		case c.Kind == table.Numeric && finite(o.Mean) && finite(o.Deviation):
			c.Stated, c.Mean, c.Deviation = true, o.Mean, o.Deviation
		case c.Kind == table.Nominal && len(o.Shares) == len(c.Values) && !slices.ContainsFunc(o.Shares, func(p float64) bool { return !finite(p) }):
			c.Shares = o.Shares
		}
	}
	if target >= 0 {
		h.Target = schema.Attributes[target].Name
	}
	return h
}

// Model returns what the SCHEMA line says, as a predictor takes it: the
// schema, the target's index or -1, and the statistics of the columns. A
// nominal column whose values are not listed has those that the rules name, in
// the order in which they come.
func (b *Base) Model() (schema *table.Schema, target int, overall []Overall, err error) {
	if b.Header == nil {
		return nil, 0, nil, fmt.Errorf("the base has no SCHEMA line, which says what its columns are; begin it with one, as in SCHEMA age numeric, sex nominal {f, m}; TARGET sex")
	}
	if wrong := b.Header.check(); wrong != nil {
		return nil, 0, nil, fmt.Errorf("SCHEMA: %s", wrong.msg)
	}
	h := b.Header
	schema = &table.Schema{Attributes: make([]table.Attribute, len(h.Columns))}
	overall = make([]Overall, len(h.Columns))
	for i, c := range h.Columns {
		schema.Attributes[i] = c.Attribute
		overall[i] = Overall{Mean: table.NA, Deviation: table.NA, Shares: c.Shares}
		if c.Stated {
			overall[i].Mean, overall[i].Deviation = c.Mean, c.Deviation
		}
	}
	b.fill(schema)
	target = -1
	if h.Target != "" {
		target = schema.Index(h.Target)
	}
	return schema, target, overall, b.Check(schema)
}

// fill gives the nominal columns without values those that the rules name.
func (b *Base) fill(schema *table.Schema) {
	open := map[string]*table.Attribute{}
	for i := range schema.Attributes {
		if a := &schema.Attributes[i]; a.Kind == table.Nominal && len(a.Values) == 0 {
			open[a.Name] = a
		}
	}
	if len(open) == 0 {
		return
	}
	type named struct{ column, value string }
	seen := map[named]bool{}
	name := func(column, value string) {
		if a := open[column]; a != nil && !seen[named{column, value}] {
			seen[named{column, value}] = true
			a.Values = append(a.Values, value)
		}
	}
	var visit func(tests []Test)
	visit = func(tests []Test) {
		for i := range tests {
			for _, v := range values(&tests[i]) {
				name(tests[i].Column, v)
			}
			visit(tests[i].Of)
		}
	}
	conclude := func(c *Conclusion) {
		for _, s := range slices.Concat(c.Classes, c.By) {
			name(c.Column, s.Value)
		}
		if !c.Numeric && len(c.Classes)+len(c.By) == 0 {
			name(c.Column, c.Value)
		}
	}
	for i := range b.Rules {
		visit(b.Rules[i].If)
		conclude(&b.Rules[i].Then)
	}
	if b.Else != nil {
		conclude(&b.Else.Then)
	}
	for i := range b.Units {
		for _, e := range b.Units[i].Expect {
			for _, s := range e.Shares {
				name(e.Column, s.Value)
			}
		}
	}
}

// check returns what is wrong with the line, nil if nothing is.
func (h *Header) check() *problem {
	if len(h.Columns) == 0 {
		return whole("it names no columns")
	}
	seen := make(map[string]struct{}, len(h.Columns))
	for i := range h.Columns {
		c := &h.Columns[i]
		if seen[c.Name] = struct{}{}; len(seen) == i {
			return whole("column %s stands twice", quote(c.Name))
		}
		if wrong := c.check(); wrong != nil {
			return wrong
		}
	}
	i := slices.Index(h.names(), h.Target)
	switch {
	case h.Target == "":
	case i < 0:
		return whole("the target %s is none of the columns%s", quote(h.Target), spell.Hint(h.Target, h.names()))
	case h.Columns[i].Kind == table.Text:
		return whole("the target %s is text, which no rule concludes", quote(h.Target))
	}
	return nil
}

func (h *Header) names() []string {
	names := make([]string, len(h.Columns))
	for i := range h.Columns {
		names[i] = h.Columns[i].Name
	}
	return names
}

func (c *HeaderColumn) check() *problem {
	switch {
	case !utf8.ValidString(c.Name):
		return whole("the name %q is not UTF-8", c.Name)
	case c.Name == "":
		return whole("a column has no name")
	case c.Stated && c.Kind != table.Numeric:
		return whole("%s is %s and has no mean; leave out ~", quote(c.Name), c.Shown())
	case c.Stated && (!finite(c.Mean) || !finite(c.Deviation) || c.Deviation < 0):
		return whole("%s: %v ± %v, expected a finite number and a deviation ≥ 0", quote(c.Name), c.Mean, c.Deviation)
	case !c.Style.Fits(&c.Attribute):
		return whole("%s is %s and is not written %s", quote(c.Name), c.Shown(), c.Style.Form())
	case slices.ContainsFunc(c.Style.Missing(), func(text string) bool { return !utf8.ValidString(text) }):
		return whole("%s: a text that means a missing cell is not UTF-8", quote(c.Name))
	case len(c.Values) > 0 && c.Kind == table.Numeric:
		return whole("%s is %s and has no list of values; leave out the braces", quote(c.Name), c.Shown())
	case c.Shares != nil && (c.Kind != table.Nominal || len(c.Shares) != len(c.Values)):
		return whole("%s: a share for each of its values, or for none", quote(c.Name))
	}
	seen := make(map[string]bool, len(c.Values))
	for i, v := range c.Values {
		switch {
		case !utf8.ValidString(v):
			return whole("%s: the value %q is not UTF-8", quote(c.Name), v)
		case seen[v]:
			return whole("%s: the value %s stands twice", quote(c.Name), quote(v))
		}
		seen[v] = true
		if c.Shares != nil {
			if msg := wrongProbability("the share of "+quote(v), c.Shares[i]); msg != "" {
				return whole("%s: %s", quote(c.Name), msg)
			}
		}
	}
	return nil
}

// header reads what follows SCHEMA. Rules after it are read as being about
// its columns, unless the caller has said what the columns are.
func (p *parser) header() *Header {
	first := p.ahead[0]
	h := &Header{}
	for {
		h.Columns = append(h.Columns, p.headerColumn())
		if !p.accept(",") {
			break
		}
	}
	if p.accept(";") {
		p.expect("TARGET")
		h.Target = p.name("the target's name")
	}
	p.spots = p.spots[:0]
	p.require(first, func() string {
		if wrong := h.check(); wrong != nil {
			return wrong.msg
		}
		return ""
	}())
	if p.known.schema == nil {
		p.known = h.known()
	}
	return h
}

// known returns the names that rules after the line may use.
func (h *Header) known() *names {
	s := &table.Schema{Attributes: make([]table.Attribute, len(h.Columns))}
	for i := range h.Columns {
		s.Attributes[i] = h.Columns[i].Attribute
	}
	n := newNames(s)
	n.open = true
	return n
}

func (p *parser) headerColumn() HeaderColumn {
	c := HeaderColumn{}
	c.Name = p.name("a column's name")
	kind := p.ahead[0]
	if kind.kind != wordToken {
		p.expected("nominal, numeric, date, time or text")
	}
	if !c.Show(kind.text) {
		p.failAt(kind, "unknown kind of column %s%s", kind.text, spell.Hint(kind.text, table.Shown))
	}
	p.next()
	c.Style = p.style()
	if p.accept("~") {
		c.Stated = true
		c.Mean = p.number("a mean")
		p.expect("±")
		c.Deviation = p.number("a deviation")
	}
	if !p.accept("{") {
		return c
	}
	for {
		c.Values = append(c.Values, p.name("a value"))
		if t := p.ahead[0]; t.kind == wordToken && isNumber(t.text) {
			c.Shares = append(c.Shares, p.number("a share"))
		}
		if p.accept("}") {
			return c
		}
		if !p.accept(",") {
			p.expected(`"," or "}"`)
		}
	}
}

// style reads how the cells of a column are written, and what means a missing one.
func (p *parser) style() table.Style {
	var form table.Style
	if p.acceptWord("written") {
		t := p.ahead[0]
		if form = table.Style(p.name("how its cells are written")); !slices.Contains(table.Forms, form) {
			p.failAt(t, "unknown way to write cells %s; known are \",\", \".\", dmy, mdy, ymd, clock", quote(t.text))
		}
	}
	var missing []string
	if p.acceptWord("missing") {
		for p.expect("{"); len(missing) == 0 || p.accept(","); {
			missing = append(missing, p.name("a text that means a missing cell"))
		}
		p.expect("}")
	}
	return table.NewStyle(form, missing)
}

func appendStyle(dst []byte, s table.Style) []byte {
	if form := s.Form(); form != "" {
		dst = appendValue(append(dst, " written "...), string(form))
	}
	for i, text := range s.Missing() {
		if i == 0 {
			dst = append(dst, " missing {"...)
		} else {
			dst = append(dst, ", "...)
		}
		dst = appendValue(dst, text)
	}
	if len(s.Missing()) > 0 {
		dst = append(dst, '}')
	}
	return dst
}

func appendHeader(dst []byte, h *Header) []byte {
	dst = append(dst, "SCHEMA "...)
	for i := range h.Columns {
		c := &h.Columns[i]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(appendName(dst, c.Name), ' '), c.Shown()...)
		dst = appendStyle(dst, c.Style)
		if c.Stated {
			dst = appendNumber(append(dst, " ~ "...), c.Mean)
			dst = appendNumber(append(dst, " ± "...), c.Deviation)
		}
		for j, v := range c.Values {
			separator := ", "
			if j == 0 {
				separator = " {"
			}
			dst = appendValue(append(dst, separator...), v)
			if c.Shares != nil {
				dst = appendNumber(append(dst, ' '), c.Shares[j])
			}
		}
		if len(c.Values) > 0 {
			dst = append(dst, '}')
		}
	}
	if h.Target != "" {
		dst = appendName(append(dst, "; TARGET "...), h.Target)
	}
	return dst
}

func equalHeaders(x, y *Header) bool {
	return x.Target == y.Target && slices.EqualFunc(x.Columns, y.Columns, func(c, d HeaderColumn) bool {
		return c.Name == d.Name && c.Shown() == d.Shown() && c.Style == d.Style && slices.Equal(c.Values, d.Values) &&
			c.Stated == d.Stated && c.Mean == d.Mean && c.Deviation == d.Deviation && slices.Equal(c.Shares, d.Shares)
	})
}
