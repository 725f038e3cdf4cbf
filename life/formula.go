package life

import (
	"fmt"
	"io"
	"strconv"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
)

// FormulaList is a model that is formulas, for programs: the first, and of more
// than two classes those of all.
type FormulaList struct {
	Model   string `json:"model"`
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	formula.Front
	Formulas []formula.Front `json:"formulas,omitempty"`
}

// FormulasOf returns the formulas of a model; nil if it has none.
func FormulasOf(p *Part) *FormulaList {
	f, ok := learn.Ability[formula.Fronted](p.Model)
	if !ok {
		return nil
	}
	all := f.Formulas()
	list := &FormulaList{Model: p.Version.Model, Version: p.Version.Number, Kind: "formula", Front: all[0]}
	if len(all) > 1 {
		list.Formulas = all
	}
	return list
}

// WriteFormulas writes the formulas of a model for people, with their fronts if
// all is to be shown; false if it has none.
func WriteFormulas(w io.Writer, m learn.Model, all bool) bool {
	f, ok := learn.Ability[formula.Fronted](m)
	if !ok {
		return false
	}
	for i, front := range f.Formulas() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		says := m.Schema().Attributes[m.Target()].Name
		if front.Class != "" {
			says = fmt.Sprintf("score of %s = %s", says, front.Class)
		}
		fmt.Fprintf(w, "%s: %s\n", says, front.Text)
		fmt.Fprintf(w, "error %.5g on rows held out, %s; %s on the front\n", front.Error, console.Plural(front.Length, "node"), console.Plural(len(front.Others), "formula"))
		if !all {
			continue
		}
		if r := front.Range; r != nil {
			fmt.Fprintf(w, "between %s and %s for all cells within the ranges of the rows\n", say.Rounded(r.Low, 4), say.Rounded(r.High, 4))
		} else {
			fmt.Fprintln(w, "it may have no value, or an infinite one, for some cells within the ranges of the rows; learnt with operators=interval it would not")
		}
		var rows [][]string
		for _, p := range front.Others {
			rows = append(rows, []string{strconv.Itoa(p.Length), strconv.FormatFloat(p.Error, 'g', 5, 64), p.Text})
		}
		fmt.Fprintln(w)
		console.Table(w, []string{"length", "error", "formula"}, rows)
	}
	return true
}
