package rule

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/accrete-ml/accrete/table"
)

// String returns "ordered", "weighed" or "mixture"; "unstated" for none.
func (k Kind) String() string {
	switch k {
	case Ordered:
		return "ordered"
	case Weighed:
		return "weighed"
	case Mixture:
		return "mixture"
	}
	return "unstated"
}

// Write writes the base as text that parses back to it. It refuses a base
// that no text says: one with NaN or infinite numbers, probabilities beyond
// [0, 1], empty intervals, or names that are not UTF-8.
func (b *Base) Write(w io.Writer) error {
	if err := b.Check(nil); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	line := make([]byte, 0, 256)
	b.lines(func(print func([]byte) []byte) {
		line = append(print(line[:0]), '\n')
		out.Write(line) // a failure is kept until Flush
	})
	return out.Flush()
}

// String returns the base as text, a statement a line.
func (b *Base) String() string {
	var text []byte
	b.lines(func(print func([]byte) []byte) { text = append(print(text), '\n') })
	return string(text)
}

// lines hands out the lines of the base, each as a function that appends it.
func (b *Base) lines(line func(print func([]byte) []byte)) {
	if b.Header != nil {
		line(func(dst []byte) []byte { return appendHeader(dst, b.Header) })
	}
	if b.Kind != Unstated {
		line(func(dst []byte) []byte { return append(append(dst, "RULES "...), b.Kind.String()...) })
	}
	for _, note := range b.Notes {
		// Every character that ends a line somewhere must not end the comment.
		for _, part := range strings.FieldsFunc(note, func(r rune) bool { return r == '\n' || r == '\r' }) {
			line(func(dst []byte) []byte { return append(append(dst, "# "...), part...) })
		}
	}
	usual, clocks := b.usual(), b.clocks()
	for i := range b.Rules {
		line(func(dst []byte) []byte {
			dst = appendRule(dst, &b.Rules[i], clocks)
			if share, ok := usual[b.Rules[i].Then.Value]; ok && b.Rules[i].against() {
				dst = append(append(dst, " # "...), oneLine(b.Rules[i].words(share))...)
			}
			return dst
		})
	}
	if b.Else != nil {
		line(func(dst []byte) []byte { return appendThen(append(dst, "ELSE "...), b.Else) })
	}
	for i := range b.Units {
		line(func(dst []byte) []byte { return appendUnit(dst, &b.Units[i]) })
	}
}

// String returns the rule as its line in a rule file.
func (r *Rule) String() string { return string(appendRule(nil, r, nil)) }

// String returns the test as it stands in a rule.
func (t Test) String() string { return string(appendTest(nil, &t, nil)) }

// String returns the conclusion as it stands after THEN.
func (c Conclusion) String() string { return string(appendConclusion(nil, &c)) }

// String returns the unit as its line in a rule file.
func (u *Unit) String() string { return string(appendUnit(nil, u)) }

// String returns the expectation as it stands after EXPECT.
func (e Expectation) String() string { return string(appendExpectation(nil, &e)) }

// clocks are the columns whose numbers are dates or times, by their names.
type clocks map[string]*table.Attribute

// clocks returns those that the base knows of.
func (b *Base) clocks() clocks {
	s := b.Clocks
	if b.Header != nil {
		s = b.Header.known().schema
	}
	if s == nil {
		return nil
	}
	c := clocks{}
	for i := range s.Attributes {
		if a := &s.Attributes[i]; a.Kind == table.Numeric && (a.Date || a.Time) {
			c[a.Name] = a
		}
	}
	return c
}

// appendLimit prints a limit on a column: of a date or a time as one, where that
// reads back to the same number, in quotes where it has a time of day and may.
func (c clocks) appendLimit(dst []byte, column string, x float64, quoted bool) []byte {
	if a := c[column]; a != nil {
		text := a.Format(x)
		if y, ok := a.Parse(text); ok && y == x {
			if _, day := parseDate(text); day {
				return append(dst, text...)
			}
			if _, err := strconv.ParseFloat(text, 64); err != nil && quoted {
				return appendQuoted(dst, text)
			}
		}
	}
	return appendNumber(dst, x)
}

func appendRule(dst []byte, r *Rule, c clocks) []byte {
	dst = append(dst, "IF "...)
	dst = appendTests(dst, r.If, c)
	dst = append(dst, " THEN "...)
	return appendThen(dst, r)
}

func appendTests(dst []byte, tests []Test, c clocks) []byte {
	if len(tests) == 0 {
		return append(dst, "ALWAYS"...)
	}
	for i := range tests {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = appendTest(dst, &tests[i], c)
	}
	return dst
}

// appendThen prints what follows THEN or ELSE.
func appendThen(dst []byte, r *Rule) []byte {
	dst = appendConclusion(dst, &r.Then)
	if r.With != nil {
		dst = appendNumber(append(dst, " WITH "...), *r.With)
	}
	if r.Worth != nil {
		dst = appendNumber(append(dst, " WORTH "...), *r.Worth)
	}
	separator := " ["
	for i, x := range r.Evidence.fields() {
		if *x != nil {
			dst = append(append(append(dst, separator...), evidenceKeys[i]...), ' ')
			dst = appendNumber(dst, **x)
			separator = ", "
		}
	}
	if separator == ", " {
		dst = append(dst, ']')
	}
	return dst
}

var evidenceKeys = [...]string{"covered", "correct", "bits", "weight", "templates"}

// fields returns the places of the evidence in the order of evidenceKeys.
func (e *Evidence) fields() [5]**float64 {
	return [...]**float64{&e.Covered, &e.Correct, &e.Bits, &e.Weight, &e.Templates}
}

// isAmount reports whether evidence is a weight of rows.
func isAmount(key string) bool { return key != "bits" && key != "weight" }

func appendConclusion(dst []byte, c *Conclusion) []byte {
	dst = appendName(dst, c.Column)
	switch {
	case c.Adds:
		dst = appendNumber(append(dst, " += "...), c.Mean)
		if c.Line != nil {
			dst = appendLine(append(dst, '*'), c.Line)
		}
		if c.Deviation == 0 {
			return dst
		}
		return appendNumber(append(dst, " ± "...), c.Deviation)
	case c.Numeric:
		dst = appendNumber(append(dst, " ~ "...), c.Mean)
		return appendNumber(append(dst, " ± "...), c.Deviation)
	case len(c.Classes) > 0:
		return appendShares(append(dst, " ="...), c.Classes)
	case len(c.By) > 0:
		return appendShares(append(dst, " BY"...), c.By)
	}
	return appendValue(append(dst, " = "...), c.Value)
}

func appendLine(dst []byte, l *Line) []byte {
	if l.Centre == 0 {
		dst = appendName(dst, l.Column)
	} else {
		sign, centre := " - ", l.Centre
		if centre < 0 {
			sign, centre = " + ", -centre
		}
		dst = append(appendName(append(dst, '('), l.Column), sign...)
		dst = append(appendNumber(dst, centre), ')')
	}
	if l.Limited {
		dst = appendNumber(append(dst, " FROM "...), l.Low)
		dst = appendNumber(append(dst, " TO "...), l.High)
	}
	return dst
}

func appendShares(dst []byte, shares []Share) []byte {
	dst = append(dst, " {"...)
	for i := range shares {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendValue(dst, shares[i].Value)
		dst = appendNumber(append(dst, ' '), shares[i].P)
	}
	return append(dst, '}')
}

// symbols of the operators that stand between a column and what follows it.
var operators = [...]string{Eq: "=", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">=", In: "IN", NotIn: "NOT IN", IsMissing: "IS MISSING", IsKnown: "IS KNOWN", HalfSpace: ">", AtLeast: "AT LEAST", Between: "<", Contains: "CONTAINS", NotContains: "NOT CONTAINS"}

// String returns the relation as rules write it: "=", "NOT IN", "AT LEAST".
// Between, which needs two, is "<".
func (op Op) String() string {
	if int(op) < len(operators) {
		return operators[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

func appendTest(dst []byte, t *Test, c clocks) []byte {
	switch t.Op {
	case Eq, Ne, Contains, NotContains:
		return appendValue(appendOp(dst, t), t.Value)
	case Lt, Le, Gt, Ge:
		return c.appendLimit(appendOp(dst, t), t.Column, t.Number, true)
	case In, NotIn:
		dst = append(appendOp(dst, t), '{')
		for i, v := range t.Values {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendValue(dst, v)
		}
		return append(dst, '}')
	case Between:
		dst = append(c.appendLimit(dst, t.Column, t.Low, false), " <"...)
		if t.LowClosed {
			dst = append(dst, '=')
		}
		dst = append(appendName(append(dst, ' '), t.Column), " <"...)
		if !t.HighOpen {
			dst = append(dst, '=')
		}
		return c.appendLimit(append(dst, ' '), t.Column, t.High, true)
	case HalfSpace:
		for i, term := range t.Terms {
			factor := term.Factor
			if i > 0 {
				sign := " + "
				if math.Signbit(factor) {
					sign, factor = " - ", -factor
				}
				dst = append(dst, sign...)
			}
			dst = appendName(append(appendNumber(dst, factor), '*'), term.Column)
		}
		sign := " > "
		if t.Below {
			sign = " <= "
		}
		return appendNumber(append(dst, sign...), t.Number)
	case AtLeast:
		dst = strconv.AppendInt(append(dst, "AT LEAST "...), int64(t.Count), 10)
		dst = append(dst, " OF {"...)
		for i := range t.Of {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendTest(dst, &t.Of[i], c)
		}
		return append(dst, '}')
	}
	dst = appendOp(dst, t)
	return dst[:len(dst)-1] // IS MISSING and IS KNOWN: nothing follows
}

func appendOp(dst []byte, t *Test) []byte {
	dst = append(appendName(dst, t.Column), ' ')
	return append(append(dst, t.Op.String()...), ' ')
}

func appendUnit(dst []byte, u *Unit) []byte {
	dst = appendName(append(dst, "WHEN "...), u.Name)
	dst = append(appendNumber(append(dst, " ("...), u.Prior), ')')
	if u.Worth != nil {
		dst = appendNumber(append(dst, " WORTH "...), *u.Worth)
	}
	separator := " EXPECT "
	for i := range u.Expect {
		dst = appendExpectation(append(dst, separator...), &u.Expect[i])
		separator = " AND "
	}
	return dst
}

func appendExpectation(dst []byte, e *Expectation) []byte {
	dst = appendName(dst, e.Column)
	switch {
	case e.Normal:
		return append(dst, " NORMAL"...)
	case len(e.Shares) > 0:
		return appendShares(append(dst, " ="...), e.Shares)
	}
	dst = appendNumber(append(dst, " ~ "...), e.Mean)
	if e.MeanSD {
		dst = append(dst, " sd"...)
	}
	dst = appendNumber(append(dst, " ± "...), e.Deviation)
	if e.DeviationSD {
		dst = append(dst, " sd"...)
	}
	return dst
}

// appendName prints a column's or a unit's name. One that could be taken for
// a number stands in quotes, because tests may begin with a number.
func appendName(dst []byte, name string) []byte {
	if isNumber(name) {
		return appendQuoted(dst, name)
	}
	return appendValue(dst, name)
}

func appendValue(dst []byte, value string) []byte {
	if isBare(value) {
		return append(dst, value...)
	}
	return appendQuoted(dst, value)
}

// quote returns a name in double quotes.
func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted prints a name in double quotes with JSON's escapes. What does
// not print is escaped too, so that no two names look the same by it.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = append(dst, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}

// appendNumber prints the shortest text that reads back to the same number,
// with an exponent only where the digits would run far from the point.
func appendNumber(dst []byte, x float64) []byte {
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		text := strconv.FormatFloat(x, 'e', -1, 64)
		mantissa, exponent, ok := strings.Cut(text, "e")
		if !ok {
			return append(dst, text...)
		}
		dst = append(append(dst, mantissa...), 'e')
		n, _ := strconv.Atoi(exponent)
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}
