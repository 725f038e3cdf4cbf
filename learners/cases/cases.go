// Package cases is case-based reasoning over structures: a library of cases,
// each the graph of a function and the structure that implements it (Mitchell,
// Machine Learning, 1997, section 8.5, after CADET: Sycara, Guttal, Koning,
// Narasimhan and Navinchandra 1992).
//
// A graph has quantities as nodes and labelled arcs between them: Q1 + Q3 says
// that Q3 rises with Q1, Ct - Qc that Qc falls as Ct rises. A question is a
// graph. The library answers with the structure of the case that has this very
// graph; else it looks for cases whose graphs are parts of it (subgraph
// isomorphism), and merges those that cover it together; else it elaborates
// arcs that no case covers, by rules that keep what the function does, A + B
// becoming A + x, x + B or A - x, x - B, where x is whatever a case finds for it.
// Cases that fit only in part are ranked by the largest subgraph that they
// share. A case that was retrieved and found not to fit is told so (REJECT): it
// is passed over for every function that contains the one it failed on.
//
// A library is a text:
//
//	CASE T-junction: two pipes that meet in a third
//	Q1 + Q3, Q2 + Q3
//	T1 + T3, T2 + T3
//	REJECT T-junction
//	Z1 - Q3, Q1 + Q3
//
// Nodes stand only for nodes of the same kind, which is the capital letters
// that a name begins with; a line KINDS none lets them stand for any. A library
// is imported, not learnt from rows. Its neighbours are nearest, which answers
// by cases that are rows, and rulebase, which is imported likewise.
package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what libraries are registered as.
const Name = "cases"

// libraryPart is the text of a library.
const libraryPart = "library"

func init() {
	learn.Register(learn.Info{
		Name:    Name,
		Summary: "a library of structured cases that answers by the parts it knows",
		Source:  "Sycara et al. 1992 (CADET); Mitchell 1997, §8.5",
		Keeps:   "the cases",
		Decode: func(parts []learn.Part) (learn.Model, error) {
			l, err := Parse(learn.FindPart(parts, libraryPart))
			if err != nil {
				return nil, err
			}
			return l, nil
		},
	})
}

// Case is a function and what implements it.
type Case struct {
	Name, Structure string
	graph           graph
	failures        []graph
}

// Library is cases that answer. It is immutable.
type Library struct {
	text   []byte
	cases  []Case
	byName map[string]int
	typed  bool
	schema *table.Schema
}

const mostCases = 10_000

// Parse reads a library.
func Parse(text []byte) (*Library, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the library is not UTF-8 text")
	}
	l := &Library{text: bytes.Clone(text), byName: map[string]int{}, typed: true}
	var into *graph
	started := 0
	for number, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch word {
		case "":
			continue
		case "CASE", "REJECT":
			if into != nil && len(into.arcs) == 0 {
				return nil, fmt.Errorf("line %d: it has no arcs; write some below it, as in Qc + Qm", started)
			}
			started = number + 1
			into, err = l.begin(word, rest)
		case "KINDS":
			if l.typed = rest != "none"; rest != "none" && rest != "capitals" {
				err = fmt.Errorf("KINDS %s: expected capitals or none", rest)
			}
		default:
			if into == nil {
				err = errors.New("expected CASE and a name before arcs")
			} else {
				err = into.add(line)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	if len(l.cases) == 0 {
		return nil, errors.New("the library has no cases; write CASE and a name, and arcs below it")
	}
	if len(into.arcs) == 0 {
		return nil, fmt.Errorf("line %d: it has no arcs; write some below it, as in Qc + Qm", started)
	}
	l.schema = &table.Schema{Attributes: []table.Attribute{{Name: "structure", Values: l.names()}}}
	return l, nil
}

// begin begins a case, or a function that a case failed on.
func (l *Library) begin(word, rest string) (*graph, error) {
	name, structure, _ := strings.Cut(rest, ":")
	name, structure = strings.TrimSpace(name), strings.TrimSpace(structure)
	i, known := l.byName[name]
	if !known {
		i = -1
	}
	switch {
	case name == "":
		return nil, fmt.Errorf("%s: expected the name of a case", word)
	case word == "REJECT" && i < 0:
		return nil, fmt.Errorf("REJECT %s: there is no such case above%s", name, spell.Hint(name, l.names()))
	case word == "REJECT":
		l.cases[i].failures = append(l.cases[i].failures, graph{})
		return &l.cases[i].failures[len(l.cases[i].failures)-1], nil
	case i >= 0:
		return nil, fmt.Errorf("CASE %s: there is such a case already", name)
	case len(l.cases) == mostCases:
		return nil, fmt.Errorf("more than %d cases", mostCases)
	}
	if structure == "" {
		structure = name
	}
	l.byName[name] = len(l.cases)
	l.cases = append(l.cases, Case{Name: name, Structure: structure})
	return &l.cases[len(l.cases)-1].graph, nil
}

func (l *Library) names() []string {
	names := make([]string, len(l.cases))
	for i := range l.cases {
		names[i] = l.cases[i].Name
	}
	return names
}

// Learner returns "cases".
func (l *Library) Learner() string { return Name }

// Schema has one column, the cases by name.
func (l *Library) Schema() *table.Schema { return l.schema }

// Target is none: a library answers questions, not rows.
func (l *Library) Target() int { return learn.NoTarget }

// Size counts the cases.
func (l *Library) Size() learn.Size { return learn.Size{Units: len(l.cases)} }

// Predict refuses: cases have no rows.
func (l *Library) Predict(context.Context, *table.Table, *learn.Predictions) error {
	return errors.New("a library of cases answers questions, which are graphs; ask it")
}

// Parts returns the text.
func (l *Library) Parts() ([]learn.Part, error) {
	return []learn.Part{{Name: libraryPart, Data: l.text}}, nil
}
