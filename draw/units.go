package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Units is a network written out unit by unit, to be read by people (Lines),
// by programs (its JSON) and as a picture (Graph).
type Units struct {
	Title  string   `json:"title"`
	Inputs []string `json:"inputs"`
	Units  []Unit   `json:"units"` // each reads inputs and units before it
	Notes  []string `json:"notes,omitempty"`
}

// Unit is one unit: Function of its bias and of what it reads.
type Unit struct {
	Name     string     `json:"name"`
	Function string     `json:"function"` // as in sgn, sigmoid, gauss
	Bias     *float64   `json:"bias,omitempty"`
	From     []UnitLink `json:"from"`
	Output   bool       `json:"output,omitempty"`
}

// UnitLink is what a unit reads, and how: times a weight or, of a Gaussian
// basis function, around a centre and within a width.
type UnitLink struct {
	From   string   `json:"from"`
	Weight *float64 `json:"weight,omitempty"`
	Shared string   `json:"shared,omitempty"` // the name of a weight that several links have
	Centre *float64 `json:"centre,omitempty"`
	Width  *float64 `json:"width,omitempty"`
}

// Lines returns a line for each unit, as in
//
//	out = sgn(-0.2 + 0.2*a + 0.2*b)
func (n *Units) Lines() []string {
	var lines []string
	for i := range n.Units {
		lines = append(lines, n.Units[i].String())
	}
	for _, note := range n.Notes {
		lines = append(lines, "# "+note)
	}
	return lines
}

// String returns the unit as a formula.
func (u *Unit) String() string {
	var terms []string
	if u.Bias != nil {
		terms = append(terms, number(*u.Bias))
	}
	for _, l := range u.From {
		switch {
		case l.Centre != nil && l.Width != nil:
			terms = append(terms, fmt.Sprintf("%s ~ %s ± %s", bracketed(l.From), number(*l.Centre), number(*l.Width)))
		case l.Weight == nil:
			terms = append(terms, bracketed(l.From))
		default:
			term := number(*l.Weight) + "*" + bracketed(l.From)
			if l.Shared != "" {
				term += " {" + l.Shared + "}"
			}
			terms = append(terms, term)
		}
	}
	between := ", "
	for _, l := range u.From {
		if l.Weight != nil || l.Centre != nil {
			between = " + "
		}
	}
	return bracketed(u.Name) + " = " + u.Function + "(" + strings.ReplaceAll(strings.Join(terms, between), "+ -", "- ") + ")"
}

// bracketed puts tests, such as colour = red, in brackets, so that they stand
// apart from the formula around them.
func bracketed(name string) string {
	if strings.Contains(name, "=") || strings.Contains(name, " IS ") {
		return "[" + name + "]"
	}
	return name
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Graph returns the network as boxes in layers, arrows as wide as weights are
// large: a unit stands one layer behind the last that it reads.
func (n *Units) Graph() *Graph {
	g := &Graph{Title: n.Title}
	layer := map[string]int{}
	for _, name := range n.Inputs {
		layer[name] = 0
		g.Nodes = append(g.Nodes, Node{ID: name, Lines: []string{name}})
	}
	most := 0.0
	for i := range n.Units {
		for _, l := range n.Units[i].From {
			if l.Weight != nil {
				most = max(most, math.Abs(*l.Weight))
			}
		}
	}
	for i := range n.Units {
		u := &n.Units[i]
		node := Node{ID: u.Name, Lines: []string{u.Name, u.Function}, Layer: 1, Leaf: u.Output}
		if u.Bias != nil {
			node.Lines = append(node.Lines, "bias "+number(*u.Bias))
		}
		if u.Output {
			node.Class = u.Name
		}
		for _, l := range u.From {
			node.Layer = max(node.Layer, layer[l.From]+1)
			e := Edge{From: l.From, To: u.Name}
			switch {
			case l.Centre != nil && l.Width != nil:
				e.Label = number(*l.Centre) + " ± " + number(*l.Width)
			case l.Weight != nil:
				if *l.Weight == 0 {
					continue
				}
				e.Label, e.Weight = Signed(*l.Weight), math.Abs(*l.Weight)/most
			}
			g.Edges = append(g.Edges, e)
		}
		layer[u.Name] = node.Layer
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

// States is what the units of a network say to rows.
type States struct {
	Units []string   `json:"units"`
	Rows  []StateRow `json:"rows"`
	Notes []string   `json:"notes,omitempty"`
}

// StateRow is what the units say to one row, and what the network answers.
type StateRow struct {
	Row    int       `json:"row"` // counted from 1
	States []float64 `json:"states"`
	Answer string    `json:"answer"`
}

// Lines returns a line for each row. States of −1 and 1 are written as signs.
func (s *States) Lines() []string {
	signs := true
	for _, r := range s.Rows {
		for _, v := range r.States {
			signs = signs && (v == 1 || v == -1)
		}
	}
	var lines []string
	for _, r := range s.Rows {
		words := make([]string, len(r.States))
		for i, v := range r.States {
			switch {
			case !signs:
				words[i] = strconv.FormatFloat(v, 'f', 2, 64)
			case v > 0:
				words[i] = "+"
			default:
				words[i] = "-"
			}
		}
		lines = append(lines, fmt.Sprintf("row %d: %s answers %s", r.Row, strings.Join(words, " "), r.Answer))
	}
	for _, note := range s.Notes {
		lines = append(lines, "# "+note)
	}
	return lines
}
