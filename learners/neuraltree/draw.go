package neuraltree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
)

// mostTerms is how many summands of a plane are shown in a picture or a
// certificate, the heaviest first.
const mostTerms = 4

// Graph returns the tree as boxes and arrows.
func (m *Model) Graph() (*draw.Graph, error) {
	classes := m.classes()
	numbers := m.unitNumbers()
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	for i := range m.nodes {
		n := &m.nodes[i]
		box := draw.Node{ID: strconv.Itoa(i)}
		if n.unit == nil {
			p := m.answerOf(i)
			best := learn.Best(p, classes)
			box.Leaf, box.Class = true, classes[best]
			box.Lines = []string{box.Class, strconv.FormatFloat(100*p[best], 'f', 1, 64) + " %", "n = " + strconv.FormatFloat(sum(n.counts), 'g', 6, 64)}
		} else {
			box.Lines = []string{fmt.Sprintf("unit %d", numbers[i])}
			for _, line := range m.planeLines(n.unit, mostTerms) {
				if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "> -") {
					line = strings.Replace(line, "-", "−", 1) // rules write what a keyboard has
				}
				box.Lines = append(box.Lines, line)
			}
			g.Edges = append(g.Edges,
				draw.Edge{From: box.ID, To: strconv.Itoa(int(n.left)), Label: "no"},
				draw.Edge{From: box.ID, To: strconv.Itoa(int(n.right)), Label: "yes"})
		}
		g.Nodes = append(g.Nodes, box)
	}
	return g, nil
}

// shortTest says in a line when a row lies on the right of a plane.
func (m *Model) shortTest(u *perceptron) string { return strings.Join(m.planeLines(u, mostTerms), " ") }

// planeLines says when a row lies on the right of a plane, so many summands at
// most, a line each. A plane that asks for some of a few tests says so.
func (m *Model) planeLines(u *perceptron, most int) []string {
	if _, _, tests := u.levels(); !u.numeric() && tests <= 2*mostTerms {
		if of, count := m.mOfN(u); count >= 1 && count <= len(of) {
			lines := []string{fmt.Sprintf("at least %d of", count)}
			for _, t := range of {
				lines = append(lines, t.String())
			}
			return lines
		}
	}
	type summand struct {
		text         string
		factor, size float64
	}
	var all []summand
	for _, t := range u.terms {
		name := m.schema.Attributes[t.column].Name
		if t.factor != 0 {
			all = append(all, summand{name, t.factor, math.Abs(t.factor) * m.reach[t.column]})
		} else {
			all = append(all, summand{"[" + name + " missing]", t.missing, math.Abs(t.missing)})
		}
	}
	for _, t := range u.tables {
		a := &m.schema.Attributes[t.column]
		for v, w := range t.weights {
			if w != 0 {
				all = append(all, summand{"[" + a.Name + " = " + a.Values[v] + "]", w, math.Abs(w)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b summand) int { return -cmp.Compare(a.size, b.size) })
	var lines []string
	for i, s := range all {
		if i == most {
			lines = append(lines, fmt.Sprintf("+ %d more", len(all)-most))
			break
		}
		sign := "+ "
		if s.factor < 0 {
			sign = "− "
		}
		lines = append(lines, sign+say.Rounded(math.Abs(s.factor), 4)+" × "+s.text)
	}
	return append(lines, "> "+say.Rounded(u.threshold, 4))
}
