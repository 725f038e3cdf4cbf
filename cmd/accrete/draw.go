package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// drawing is what to draw of a model.
type drawing struct {
	columns string // two of them, over which units are drawn
	on      string // data to draw with them
	curve   string // likelihood by size: of units, normal or inputs
	weights int    // of a network, in rows of so many; 0 as tables, -1 not
	hidden  string // data to draw the values of hidden units for
	units   bool   // as a network of units
	flags   dataFlags
	sources sourceFlags
}

func (a *app) drawCommand() *cobra.Command {
	var (
		out  string
		what drawing
	)
	c := &cobra.Command{
		Use:   "draw MODEL [--columns X,Y [--on DATA] | --curve[=units|normal|inputs] | --weights[=N] | --hidden DATA | --network] [--out FILE]",
		Short: "Draw a model as an SVG picture",
		Long: `Draw writes the picture of a model: its tree, or its network.

Of a model of all columns together (gaussian), --columns draws the units as ovals
over two numeric columns, with the rows of DATA or else those that the model
learnt from, where they can still be had. --curve learns those rows again, with
many units and one less at a time, and draws the likelihood of unseen rows
against the number of units; --curve=normal sets one conclusion after the other
to NORMAL instead, --curve=inputs removes one input after the other. Of a network that grew by rules (rulenet) it draws
how rows held out judged each round of growth.

Of a network (mlp), --weights draws what its units look for: --weights=N as
pictures of N inputs a row, for inputs that are pixels. --hidden draws what its
hidden units say to the rows of DATA.`,
		Example: `  accrete draw votes --out votes.svg
  accrete draw boston --columns rm,medv --out ovals.svg
  accrete draw boston --curve --out units.svg
  accrete draw faces --weights=32 --out units.svg`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			if what.on != "" && what.columns == "" {
				return usagef("--on is the data to draw over two columns; name them with --columns X,Y")
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			p, err := a.loadPart(s, args[0])
			if err != nil {
				return err
			}
			picture, err := a.portrait(c.Context(), s, p, &what)
			if err != nil {
				return err
			}
			if err := a.output(out, picture); err != nil {
				return err
			}
			if out != "" && a.json {
				return a.printJSON(struct {
					Model   string `json:"model"`
					Version int    `json:"version"`
					File    string `json:"file"`
				}{p.version.Model, p.version.Number, out})
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	c.Flags().StringVar(&what.columns, "columns", "", "two numeric columns to draw the units over, as X,Y")
	c.Flags().StringVar(&what.on, "on", "", "data to draw with --columns (default: what the model learnt)")
	c.Flags().StringVar(&what.curve, "curve", "", "likelihood of unseen rows against the number of units, or of normal conclusions, or of inputs")
	c.Flags().Lookup("curve").NoOptDefVal = "units"
	c.Flags().StringArrayVar(&what.sources.at, "source", nil, sourceUsage)
	c.Flags().IntVar(&what.weights, "weights", -1, "weights of a network: as tables, or as pictures of N inputs a row")
	c.Flags().Lookup("weights").NoOptDefVal = "0"
	c.Flags().Lookup("weights").DefValue = ""
	c.Flags().StringVar(&what.hidden, "hidden", "", "data whose rows to draw the values of hidden units for")
	c.Flags().BoolVar(&what.units, "network", false, "the network of a tree of perceptrons (neuraltree), of Gaussian basis functions, or of a perceptron")
	c.MarkFlagsMutuallyExclusive("columns", "curve", "weights", "hidden", "network")
	what.flags.register(c)
	return c
}

// portrait returns what writes the picture that was asked for.
func (a *app) portrait(ctx context.Context, s *store.Store, p *part, what *drawing) (func(io.Writer) error, error) {
	switch {
	case what.columns != "":
		return a.ovals(ctx, s, p, what)
	case what.curve != "":
		return a.sizes(ctx, s, p, what)
	case what.units:
		return drawUnits(p)
	case what.weights >= 0 || what.hidden != "":
		return a.network(ctx, p, what)
	}
	d, ok := learn.Ability[learn.Drawer](p.Model)
	if !ok {
		return nil, cannot(p.version.Learner, "be drawn", func(c learn.Can) bool { return c.Draw })
	}
	g, err := d.Graph()
	if err != nil {
		return nil, err
	}
	if g.Title == "" {
		g.Title = p.version.Model
	}
	return g.SVG, nil
}

// network draws the weights of a network, or what its units say to rows.
func (a *app) network(ctx context.Context, p *part, what *drawing) (func(io.Writer) error, error) {
	m, ok := plain(p.Model).(interface {
		Weights(width int) (*draw.Shades, error)
		Hidden(ctx context.Context, t *table.Table) (*draw.Shades, error)
	})
	if !ok {
		return nil, fmt.Errorf("models of %s have no units with weights to draw; learn one with mlp", p.version.Learner)
	}
	if what.hidden == "" {
		s, err := m.Weights(what.weights)
		if err != nil {
			return nil, err
		}
		return s.SVG, nil
	}
	rows, err := a.rowsFor(ctx, what.hidden, p, what)
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
func (a *app) rowsFor(ctx context.Context, name string, p *part, what *drawing) (*table.Table, error) {
	d, err := a.find(name, &what.flags)
	if err != nil {
		return nil, err
	}
	t, err := a.readAs(ctx, d, p.Schema())
	if err != nil {
		return nil, err
	}
	rows, _, err := table.Conform(t, p.Schema(), false)
	return rows, err
}

// ovals draws a model's units over two columns.
func (a *app) ovals(ctx context.Context, s *store.Store, p *part, what *drawing) (func(io.Writer) error, error) {
	m, ok := plain(p.Model).(interface {
		Ovals(x, y int, rows *table.Table) (*draw.Chart, error)
	})
	if !ok {
		return nil, notJoint(p.version.Learner, "be drawn over two columns")
	}
	x, y, err := twoColumns(what.columns, p.Schema())
	if err != nil {
		return nil, usageError{err}
	}
	var rows *table.Table
	if what.on != "" {
		if rows, err = a.rowsFor(ctx, what.on, p, what); err != nil {
			return nil, err
		}
	} else if rows, err = a.allRows(ctx, s, p, what); err != nil {
		a.notes([]string{fmt.Sprintf("drawn without rows: %v; or name data with --on", err)})
	}
	chart, err := m.Ovals(x, y, rows)
	if err != nil {
		return nil, err
	}
	return chart.SVG, nil
}

// twoColumns reads "x,y", names with commas in double quotes.
func twoColumns(text string, schema *table.Schema) (x, y int, err error) {
	names := splitOutside(text, ',')
	if len(names) != 2 {
		return 0, 0, fmt.Errorf("--columns %s: expected two columns, as X,Y", text)
	}
	var at [2]int
	for i := range names {
		name, err := unquote(names[i])
		if err != nil {
			return 0, 0, err
		}
		if at[i] = schema.Index(name); at[i] < 0 {
			return 0, 0, fmt.Errorf("--columns %s: the model has no column %q%s", text, name, spell.Hint(name, schema.Names()))
		}
		if schema.Attributes[at[i]].Kind != table.Numeric {
			return 0, 0, fmt.Errorf("--columns %s: column %q is not numeric", text, name)
		}
	}
	return at[0], at[1], nil
}

// allRows returns the rows that a model learnt from.
func (a *app) allRows(ctx context.Context, s *store.Store, p *part, what *drawing) (*table.Table, error) {
	learnt, err := a.learntRows(ctx, s, p.Model, p.name, p.versions, &what.sources)
	if err != nil {
		return nil, err
	}
	return knowledge.Join(p.Schema(), learnt)
}

// curveFolds is in how many folds likelihoods by size are measured.
const curveFolds = 5

// sizes draws the likelihood of unseen rows against the number of units.
func (a *app) sizes(ctx context.Context, s *store.Store, p *part, what *drawing) (func(io.Writer) error, error) {
	if grown, ok := plain(p.Model).(interface{ GrowthChart() *draw.Chart }); ok {
		if chart := grown.GrowthChart(); chart != nil {
			return chart.SVG, nil
		}
	}
	l, err := learn.New(p.version.Learner, learnerSettings(p.version))
	if err != nil {
		return nil, err
	}
	sizer, ok := l.(interface {
		CurveInFolds(ctx context.Context, what string, task learn.Task, folds int) (*draw.Chart, error)
	})
	if !ok {
		return nil, notJoint(p.version.Learner, "be drawn by their size")
	}
	rows, err := a.allRows(ctx, s, p, what)
	if err != nil {
		return nil, fmt.Errorf("the curve needs the rows that %s learnt: %w", strings.TrimSpace(p.name), err)
	}
	bar, done := a.progress("learning again")
	chart, err := sizer.CurveInFolds(learn.WithProgress(ctx, bar), what.curve, learn.Task{Table: rows, Target: p.Target(), Seed: p.version.Seed}, curveFolds)
	done()
	if err != nil {
		return nil, err
	}
	return chart.SVG, nil
}
