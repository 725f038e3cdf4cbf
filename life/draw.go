package life

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Drawing is what to draw of a model: one of its fields, or all of it.
type Drawing struct {
	Columns   string // two of them, as "x,y", over which units are drawn
	Regions   string // two of them, as "x,y", over which answers are drawn
	On        string // data to draw with them; "" is what the model learnt
	Curve     string // likelihood by size: of units, normal or inputs
	Seeds     int    // of a policy's curve, to act again with; 0 for what it learnt itself
	Board     string // state to draw what actions are worth in: data, or "-" for the first one
	Network   bool   // as a network of units
	Proof     string // a goal whose proof is drawn
	Top       int    // of the units, rules or nodes, those that say most; 0 for what there is room for
	Weights   *int   // of a network, in rows of so many; 0 as tables
	Hidden    string // data to draw the values of hidden units for
	Reading   Reading
	Elsewhere Elsewhere
}

// Draw returns what writes the picture that was asked for, as SVG.
func (h *Home) Draw(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	switch {
	case what.Columns != "":
		return h.ovals(ctx, p, what)
	case what.Regions != "":
		return h.regions(ctx, p, what)
	case what.Seeds > 0:
		return h.curves(ctx, p, what.Seeds)
	case what.Curve != "":
		return h.sizes(ctx, p, what)
	case what.Board != "":
		return h.position(ctx, p, what)
	case what.Proof != "":
		return h.proof(ctx, p, what)
	case what.Network:
		units, err := unitsOf(p)
		if err != nil {
			return nil, err
		}
		return h.graph(ctx, p, units.Graph(), what)
	case what.Weights != nil || what.Hidden != "":
		return h.network(ctx, p, what)
	}
	if b := board(p); b != nil {
		return b.SVG, nil
	}
	if s := sheet(p); s != nil {
		return s.SVG, nil
	}
	d, ok := learn.Ability[learn.Drawer](p.Model)
	if !ok {
		return nil, remedy.New(Remedy{Kind: remedy.DrawRegions, Names: able(func(c learn.Can) bool { return c.Draw })}, "%s cannot be drawn as a whole", modelOf(p.Version.Learner))
	}
	if t, ok := d.(interface {
		GraphTop(most int) (*draw.Graph, error)
	}); ok && what.Top > 0 {
		g, err := t.GraphTop(what.Top)
		if err != nil {
			return nil, err
		}
		return h.graph(ctx, p, g, &Drawing{})
	}
	g, err := d.Graph()
	if err != nil {
		return nil, err
	}
	return h.graph(ctx, p, g, what)
}

// proof draws the first proof of a goal as a tree, what it stands on at its leaves.
func (h *Home) proof(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	proved, is, err := Prove(ctx, p.Model, what.Proof)
	switch {
	case err != nil:
		return nil, err
	case !is:
		return nil, remedy.Misusef("%s answers no goals, and has no proofs to draw; models of clauses do", modelOf(p.Version.Learner))
	case len(proved.Proofs) == 0:
		return nil, fmt.Errorf("there is no proof of %s", what.Proof)
	}
	g := &draw.Graph{Title: "why " + what.Proof}
	var above []string // the step at each depth
	for i, line := range strings.Split(strings.TrimRight(proved.Proofs[0], "\n"), "\n") {
		text := strings.TrimLeft(line, " ")
		depth := min((len(line)-len(text))/2, len(above))
		id := fmt.Sprintf("step %d", i+1)
		if above = append(above[:depth], id); depth > 0 {
			g.Edges = append(g.Edges, draw.Edge{From: above[depth-1], To: id})
			for k := range g.Nodes {
				if g.Nodes[k].ID == above[depth-1] {
					g.Nodes[k].Leaf = false
				}
			}
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: []string{text}, Leaf: true})
	}
	return h.graph(ctx, p, g, what)
}

// graph is what writes a graph, cut to what says most, under a title that says
// whose it is.
func (h *Home) graph(ctx context.Context, p *Part, g *draw.Graph, what *Drawing) (func(io.Writer) error, error) {
	if err := pictured(ctx, p, g); err != nil {
		return nil, err
	}
	if what.Top > 0 {
		g = g.Top(what.Top)
	}
	return g.SVG, nil
}

// network draws the weights of a network, or what its units say to rows.
func (h *Home) network(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	m, ok := plain(p.Model).(interface {
		Weights(width int) (*draw.Shades, error)
		Hidden(ctx context.Context, t *table.Table) (*draw.Shades, error)
	})
	if !ok {
		return nil, remedy.New(Remedy{Kind: remedy.UseLearner, Names: []string{"mlp"}}, "%s has no units with weights to draw", modelOf(p.Version.Learner))
	}
	if what.Hidden == "" {
		s, err := m.Weights(*what.Weights)
		if err != nil {
			return nil, err
		}
		return s.SVG, nil
	}
	rows, err := h.rowsFor(ctx, what.Hidden, p, what)
	if err != nil {
		return nil, err
	}
	s, err := m.Hidden(ctx, rows)
	if err != nil {
		return nil, err
	}
	return s.SVG, nil
}

// rowsFor reads data as rows of a model's columns.
func (h *Home) rowsFor(ctx context.Context, name string, p *Part, what *Drawing) (*table.Table, error) {
	d, err := h.Find(name, what.Reading)
	if err != nil {
		return nil, err
	}
	t, err := h.ReadAs(ctx, d, p.Schema())
	if err != nil {
		return nil, err
	}
	rows, _, err := table.Conform(t, p.Schema(), false)
	return rows, err
}

// ovals draws a model's units over two columns.
func (h *Home) ovals(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	m, ok := plain(p.Model).(interface {
		Ovals(x, y int, rows *table.Table) (*draw.Chart, error)
	})
	if !ok {
		return nil, notJoint(p.Version.Learner, "be drawn over two columns")
	}
	x, y, err := twoColumns(what.Columns, p.Schema())
	if err == nil {
		err = numeric(p.Schema(), x, y)
	}
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	rows, err := h.drawnRows(ctx, p, what)
	if err != nil && what.On != "" {
		return nil, err
	}
	if err != nil {
		h.remark(Note{fmt.Sprintf("drawn without rows: %v", err), Remedy{Kind: remedy.NameData}})
	}
	chart, err := m.Ovals(x, y, rows)
	if err != nil {
		return nil, err
	}
	return chart.SVG, nil
}

// twoColumns reads "x,y", names with commas in double quotes.
func twoColumns(text string, schema *table.Schema) (x, y int, err error) {
	names := SplitOutside(text, ',')
	if len(names) != 2 {
		return 0, 0, fmt.Errorf("columns %s: expected two columns, as X,Y", text)
	}
	var at [2]int
	for i := range names {
		name, err := Unquote(names[i])
		if err != nil {
			return 0, 0, err
		}
		if at[i] = schema.Index(name); at[i] < 0 {
			return 0, 0, fmt.Errorf("columns %s: the model has no column %q%s", text, name, spell.Hint(name, schema.Names()))
		}
	}
	return at[0], at[1], nil
}

// numeric says which of two columns has no numbers.
func numeric(schema *table.Schema, columns ...int) error {
	for _, j := range columns {
		if schema.Attributes[j].Kind != table.Numeric {
			return fmt.Errorf("column %q is not numeric", schema.Attributes[j].Name)
		}
	}
	return nil
}

// allRows returns the rows that a model learnt from.
func (h *Home) allRows(ctx context.Context, p *Part, what *Drawing) (*table.Table, error) {
	learnt, err := h.LearntRows(ctx, p, what.Elsewhere)
	if err != nil {
		return nil, err
	}
	return knowledge.Join(p.Schema(), learnt)
}

// curveFolds is in how many folds likelihoods by size are measured.
const curveFolds = 5

// sizes draws the likelihood of unseen rows against the number of units.
func (h *Home) sizes(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	if grown, ok := plain(p.Model).(interface{ GrowthChart() *draw.Chart }); ok {
		if chart := grown.GrowthChart(); chart != nil {
			return chart.SVG, nil
		}
	}
	l, err := newLearner(p.Version.Learner, learnerSettings(p.Version))
	if err != nil {
		return nil, err
	}
	sizer, ok := l.(learn.Curver)
	if !ok {
		return nil, cannot(p.Version.Learner, "be drawn by their size", func(c learn.Can) bool { return c.Curve })
	}
	rows, err := h.allRows(ctx, p, what)
	if err != nil {
		return nil, fmt.Errorf("the curve needs the rows that %s learnt: %w", strings.TrimSpace(p.Name), err)
	}
	bar, done := h.progress("learning again")
	chart, err := sizer.CurveInFolds(learn.WithProgress(ctx, bar), what.Curve, learn.Task{Table: rows, Seed: p.Version.Seed}.At(p.Target()), curveFolds)
	done()
	if err != nil {
		return nil, err
	}
	return chart.SVG, nil
}
