package neural

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Curves are those that CurveInFolds knows; units are epochs.
var Curves = []string{"epochs", "outputs", "hidden", "weights"}

// CurveInFolds draws the error against the epochs of training (Mitchell 1997,
// figure 4.9): on the rows that are learnt from and on those that are held out,
// the mean over folds. Training does not stop before the last epoch, so that one
// sees what it would have missed.
//
// The other curves are of one network that is trained on all rows (figure 4.8):
// the squared error of each output unit, summed over the rows; what the hidden
// units say to the first row; and the weights into the first hidden unit.
func (l *Learner) CurveInFolds(ctx context.Context, what string, task learn.Task, folds int) (*draw.Chart, error) {
	if what != "units" && !slices.Contains(Curves, what) {
		return nil, fmt.Errorf("no curve is called %q%s", what, spell.Hint(what, Curves))
	}
	if l.Algorithm != "" && l.Algorithm != backpropagation {
		return nil, fmt.Errorf("algorithm=%s tells its epochs one by one, and is not drawn; back-propagation is", l.Algorithm)
	}
	the, err := l.prepare(ctx, task)
	if err != nil {
		return nil, err
	}
	s := *the.model.settings
	s.Folds, s.Restarts, s.Committee, s.Prune, s.Patience = folds, 1, 1, 0, math.MaxInt
	the.model.settings = &s
	if what != "epochs" && what != "units" {
		return the.traced(ctx, &s, what, task)
	}
	seen := make([]epochs, folds)
	if err := the.watched(ctx, &s, seen); err != nil {
		return nil, err
	}
	loss := "cross entropy"
	switch {
	case the.sample.class == nil:
		loss = "squared error, of standard deviations"
	case s.Loss == "squared":
		loss = "squared error"
	}
	return chartOf(seen, loss), nil
}

// epochs are the errors of a network after each, on the rows that it learns from
// and on those that are held out.
type epochs struct{ learnt, held []float64 }

// watched trains a network for each fold and looks at it after every epoch.
func (the *preparation) watched(ctx context.Context, s *settings, seen []epochs) error {
	hashes, err := kept.HashRows(ctx, the.rows)
	if err != nil {
		return err
	}
	divisions := divide(the.rows, hashes, the.model.seed, s)
	for n, d := range divisions {
		if d.judging == nil {
			return fmt.Errorf("%d rows are too few to hold some out", the.rows.Rows())
		}
		seed := the.model.seed*0x9e3779b97f4a7c15 + uint64(n)
		net := the.start(0, seed)
		learnt := newJudge(net, the.sample, d.trained, s.Loss == "squared", 1)
		held := newJudge(net, the.sample, d.judging, s.Loss == "squared", 1)
		d.watch = func(net *dense, _ int) {
			seen[n].learnt = append(seen[n].learnt, learnt.loss(net))
			seen[n].held = append(seen[n].held, held.loss(net))
		}
		d.watch(net, 0)
		if _, err := train(learn.WithProgress(ctx, func(float64) {}), net, the.sample, d, s, seed); err != nil {
			return err
		}
		learn.Report(ctx, float64(n+1)/float64(len(divisions)))
	}
	return nil
}

// mostLines is how many lines a picture of one network has; more cannot be told apart.
const mostLines = 8

// traced trains one network on all rows, and draws what becomes of its outputs' errors,
// of what its hidden units say to the first row, or of the weights into the first one.
func (the *preparation) traced(ctx context.Context, s *settings, what string, task learn.Task) (*draw.Chart, error) {
	net := the.start(0, the.model.seed)
	if what != "outputs" && len(net.layers) == 1 {
		return nil, fmt.Errorf("the network has no hidden units; learn it with hidden=3, for example")
	}
	chart := &draw.Chart{XLabel: "epochs"}
	var look func(net *dense) []float64
	var names []string
	target := &the.model.schema.Attributes[the.model.target]
	hidden := func(unit int) string { return fmt.Sprintf("unit %d", unit+1) }
	switch what {
	case "outputs":
		chart.Title, chart.YLabel = "error of each output against epochs of training", "sum of squared errors"
		if names = target.Values; the.sample.class == nil {
			names, chart.YLabel = []string{target.Name}, "sum of squared errors, of standard deviations"
		}
		all := newJudge(net, the.sample, weightsOfRows(the.rows), s.Loss == "squared", 1)
		look = func(net *dense) []float64 { return all.squares(net, len(names)) }
	case "hidden":
		chart.Title = "what the hidden units say to row 1, against epochs of training"
		rows, _ := task.Table.WithoutSequence().WithoutText(the.model.target) // in their order, which those learnt from have not
		first, err := the.model.sample(ctx, rows.Slice(0, 1))
		if err != nil {
			return nil, err
		}
		if target.Kind == table.Nominal && rows.Text(0, the.model.target) != "" {
			chart.Title = fmt.Sprintf("what the hidden units say to row 1 (%s = %s), against epochs of training", target.Name, rows.Text(0, the.model.target))
		}
		signals := net.newSignals(1)
		for unit := range net.layers[0].out {
			names = append(names, hidden(unit))
		}
		look = func(net *dense) []float64 {
			copy(signals.values[0], first.x)
			net.forward(signals, 0, 1)
			values := make([]float64, len(names))
			for unit := range values {
				values[unit] = float64(signals.values[1][unit])
			}
			return values
		}
	default:
		first := &net.layers[0]
		chart.Title, chart.YLabel = "weights into hidden unit 1 against epochs of training", "weight"
		names = append(slices.Clone(the.model.matrix.Names(the.model.schema)[:first.in]), "bias")
		look = func(net *dense) []float64 {
			l := &net.layers[0]
			values := []float64{}
			for input := range l.in {
				values = append(values, float64(l.w[input*l.stride]))
			}
			return append(values, float64(l.b[0]))
		}
	}
	lines := make([]draw.Series, len(names))
	epoch := 0
	note := func(net *dense, _ int) {
		for i, v := range look(net) {
			lines[i].X, lines[i].Y = append(lines[i].X, float64(epoch)), append(lines[i].Y, v)
		}
		epoch++
	}
	note(net, 0)
	if _, err := train(ctx, net, the.sample, division{trained: weightsOfRows(the.rows), watch: note}, s, the.model.seed); err != nil {
		return nil, err
	}
	for i := range lines {
		lines[i].Name = names[i]
	}
	if chart.Series = mostMoved(lines); len(chart.Series) < len(lines) {
		chart.Title = fmt.Sprintf("%s: the %d of %d that moved most", chart.Title, mostLines, len(lines))
	}
	return chart, nil
}

// mostMoved returns the lines that went furthest, in their order.
func mostMoved(lines []draw.Series) []draw.Series {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(moved(&lines[b]), moved(&lines[a])) })
	order = order[:min(len(order), mostLines)]
	slices.Sort(order)
	some := make([]draw.Series, len(order))
	for to, from := range order {
		some[to] = lines[from]
	}
	return some
}

// moved is how far a line goes up and down.
func moved(s *draw.Series) float64 { return slices.Max(s.Y) - slices.Min(s.Y) }

// squares are the squared errors of each output unit, summed over the rows.
func (j *judge) squares(net *dense, outputs int) []float64 {
	sums := make([]float64, outputs)
	p := make([]float64, outputs)
	j.each(net, func(i int, out []float32) {
		row := j.rows[i]
		switch a := &j.sample.aim; {
		case a.missing(row):
		case a.class == nil:
			e := float64(out[0] - a.number[row])
			sums[0] += j.weight[i] * e * e
		default:
			logsum.Softmax(out[:outputs], 1, p)
			p[a.class[row]]--
			for o, e := range p {
				sums[o] += j.weight[i] * e * e
			}
		}
	})
	return sums
}

// chartOf draws the mean over folds.
func chartOf(seen []epochs, loss string) *draw.Chart {
	learnt, held := draw.Series{Name: "rows learnt from"}, draw.Series{Name: "rows held out"}
	best, least := 0, math.Inf(1)
	for epoch := 0; ; epoch++ {
		var a, b, n float64
		for _, e := range seen {
			if epoch < len(e.learnt) {
				a, b, n = a+e.learnt[epoch], b+e.held[epoch], n+1
			}
		}
		if n == 0 {
			break
		}
		learnt.X, learnt.Y = append(learnt.X, float64(epoch)), append(learnt.Y, a/n)
		held.X, held.Y = append(held.X, float64(epoch)), append(held.Y, b/n)
		if b/n < least {
			best, least = epoch, b/n
		}
	}
	at := draw.Series{Name: fmt.Sprintf("least after %d epochs", best), Kind: draw.Points, X: []float64{float64(best)}, Y: []float64{least}}
	return &draw.Chart{Title: "error against epochs of training", XLabel: "epochs", YLabel: loss, Series: []draw.Series{learnt, held, at}}
}
