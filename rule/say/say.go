// Package say tells rules as people say them: a rule of the language in rule
// becomes a sentence, in the names that people gave to columns, values and the
// row itself (Words), with numbers no finer than the data can tell. life makes
// the sentences that the commands print and the server sends.
//
// A cut between two values that occur is said as the shortest number between
// them that divides the rows in the same way: where a column has 0.5 and then
// 0.6, "> 0.55" is "0.6 or more". Sentences are for reading: what reads back is
// the rule itself.
package say

import (
	"strings"
	"unicode"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Part is a piece of a sentence: plain text, a condition on a column, or a class.
type Part struct {
	Text   string `json:"text"`
	Column string `json:"column,omitempty"`
	Class  string `json:"class,omitempty"`
}

// Sentence is what is said, in parts.
type Sentence []Part

// String returns the sentence as text.
func (s Sentence) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

// and appends plain text.
func (s Sentence) and(text string) Sentence {
	if text == "" {
		return s
	}
	return append(s, Part{Text: text})
}

// Speaker says rules about the columns of a schema. Its zero fields are what is
// not known.
type Speaker struct {
	Schema *table.Schema
	Target int // the column that rules conclude, or −1
	Words  Words
	// Known are the values that occur in each numeric column, ascending, each
	// once; nil where that is not known.
	Known [][]float64
	// Usual is how frequent each class is among the rows; nil if not known.
	Usual []float64
	// Overall is what the columns are like over all rows; nil if not known.
	Overall []rule.Overall
}

// New returns a speaker of a schema's columns.
func New(schema *table.Schema, target int, words Words) *Speaker {
	return &Speaker{Schema: schema, Target: target, Words: words}
}

// Learn takes from rows which values occur, and how frequent classes are.
func (s *Speaker) Learn(rows ...*table.Table) {
	s.Known = make([][]float64, len(s.Schema.Attributes))
	for j := range s.Schema.Attributes {
		if s.Schema.Attributes[j].Kind == table.Numeric {
			s.Known[j] = distinct(rows, j)
		}
	}
	if s.Target < 0 || s.Schema.Attributes[s.Target].Kind != table.Nominal {
		return
	}
	counts, all := make([]float64, len(s.Schema.Attributes[s.Target].Values)), 0.0
	for _, t := range rows {
		if s.Target >= len(t.Columns) {
			continue
		}
		for row, c := range t.Columns[s.Target].Codes {
			if c >= 0 && int(c) < len(counts) {
				counts[c] += t.Weight(row)
				all += t.Weight(row)
			}
		}
	}
	if all <= 0 {
		return
	}
	for c := range counts {
		counts[c] /= all
	}
	s.Usual = counts
}

// usual returns how frequent a class is that a rule concludes; of other columns
// than the target it is not known.
func (s *Speaker) usual(r *rule.Rule, class string) (float64, bool) {
	if s.Usual == nil || s.Target < 0 || r.Then.Column != s.Schema.Attributes[s.Target].Name {
		return 0, false
	}
	c := s.Schema.Attributes[s.Target].Code(class)
	if c < 0 || int(c) >= len(s.Usual) {
		return 0, false
	}
	return s.Usual[c], true
}

// Case is what a row is called, and Cases several of them: "case" unless people
// gave it a name.
func (s *Speaker) Case() string  { return first(s.Words.Row, "case") }
func (s *Speaker) Cases() string { return Many(s.Case()) }

// Rows is what rows are called where they are counted: "13 rows", "1 patient".
func (s *Speaker) Rows(n float64) string {
	row := first(s.Words.Row, "row")
	if n == 1 {
		return "1 " + row
	}
	return Count(n) + " " + Many(row)
}

// Many is the plural of an English noun.
func Many(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	case strings.HasSuffix(noun, "person"):
		return noun[:len(noun)-len("person")] + "people"
	}
	return noun + "s"
}

// Class is a class in the words that people use for it. One that is a number or
// a letter or two would be taken for something else, and says what it is of.
func (s *Speaker) Class(class string) string {
	if s.Target < 0 {
		return class
	}
	name := s.Schema.Attributes[s.Target].Name
	if s.Words.Columns[name].Values[class] == "" && curt(class) {
		return s.Label(name) + " = " + class
	}
	return s.Value(name, class)
}

// curt reports whether a value says nothing by itself.
func curt(value string) bool {
	letters := 0
	for _, r := range value {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters < 2
}

// classPart is a class as a part of a sentence.
func (s *Speaker) classPart(class string) Part { return Part{Text: s.Class(class), Class: class} }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
