package life

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Effect is what a change of a model does to its answers, counted in rows:
// whose answer is another, who is then rightly answered and who no longer, and
// what that makes of the accuracy.
//
// Rows counts each row at hand once: those that the model learnt, as far as they
// are there, and those of the data that it is judged on. Where there are no
// other data, the first table has the learnt rows once more, answered by models
// that did not learn them (HeldOut); these are not counted again.
type Effect struct {
	Rows    float64       `json:"rows"`
	Changed float64       `json:"changed"`
	Fixed   float64       `json:"fixed"`   // wrong before, right now
	Broken  float64       `json:"broken"`  // right before, wrong now
	Unknown float64       `json:"unknown"` // changed, and nobody knows what is right
	Tables  []EffectTable `json:"tables"`  // the one that the change is judged by first
	Flips   []EffectFlip  `json:"flips"`
	Groups  []EffectGroup `json:"groups"` // of the first table

	target  string
	numbers bool
	by      string
	speaker *say.Speaker // names the rows
}

func newEffect(p *Part, by string) *Effect {
	a := &p.Schema().Attributes[p.Target()]
	return &Effect{speaker: say.New(p.Schema(), p.Target(), p.Words), Tables: []EffectTable{}, Flips: []EffectFlip{}, Groups: []EffectGroup{}, target: a.Name, numbers: a.Kind == table.Numeric, by: by}
}

// judge adds what a change does on some tables.
func (e *Effect) judge(ctx context.Context, before, after learn.Model, tables []onTable) error {
	for _, t := range tables {
		answers, err := changedAnswers(ctx, before, after, t.table)
		if err == nil {
			err = e.add(t, answers)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds what a change does on a table.
func (e *Effect) add(t onTable, answers []changedAnswer) (err error) {
	done := t.judged(answers, e.numbers)
	e.Tables = append(e.Tables, done)
	if !done.HeldOut {
		e.Rows, e.Changed, e.Fixed, e.Broken, e.Unknown = e.Rows+done.Rows, e.Changed+done.Changed, e.Fixed+done.Fixed, e.Broken+done.Broken, e.Unknown+done.Unknown
		if t.pieces == nil {
			t.pieces = []piece{{t.Data, len(answers)}}
		}
		from := 0
		for _, p := range t.pieces {
			for _, f := range flips(p.data, answers[from:from+p.rows]) {
				f.Say = e.speaker.Row(t.table, from+f.Row-1)
				e.Flips = append(e.Flips, f)
			}
			from += p.rows
		}
	}
	if len(e.Tables) == 1 && !e.numbers {
		e.Groups, err = groups(t.table, answers, e.target, e.by, e.speaker)
	}
	return err
}

// EffectTable is the effect on one table. Rates and their difference are of the
// rows whose truth is known; the interval is of the difference, 95 %, and P is
// McNemar's. A number's answer has changed if it left the interval that it had,
// and is fixed if it came nearer to the truth; the difference is that of the
// errors (RMSE), so that less is better, and its interval that of paired squares.
type EffectTable struct {
	Data    string  `json:"data"`
	Learnt  bool    `json:"learnt"` // the model has learnt these rows, and knows them better than others
	HeldOut bool    `json:"held_out,omitempty"`
	Folds   int     `json:"folds,omitempty"`
	Kept    bool    `json:"kept,omitempty"` // rows are in the order in which the model keeps them
	Rows    float64 `json:"rows"`
	Changed float64 `json:"changed"`
	Fixed   float64 `json:"fixed"`
	Broken  float64 `json:"broken"`
	Unknown float64 `json:"unknown"`

	AccuracyBefore *float64 `json:"accuracy_before,omitempty"`
	AccuracyAfter  *float64 `json:"accuracy_after,omitempty"`
	Difference     *float64 `json:"difference,omitempty"`
	Low            *float64 `json:"low,omitempty"`
	High           *float64 `json:"high,omitempty"`
	P              *float64 `json:"p,omitempty"`
	RMSEBefore     *float64 `json:"rmse_before,omitempty"`
	RMSEAfter      *float64 `json:"rmse_after,omitempty"`
}

// EffectFlip is a row whose answer is another.
type EffectFlip struct {
	Data   string   `json:"data"`
	Row    int      `json:"row"`           // from 1
	Say    string   `json:"say,omitempty"` // who it is, by cells that people know each other by
	Before string   `json:"before"`
	After  string   `json:"after"`
	P      *float64 `json:"probability_before,omitempty"`
	Q      *float64 `json:"probability_after,omitempty"`
	Truth  *string  `json:"truth,omitempty"`
	Right  *bool    `json:"right,omitempty"` // the new answer is
}

// EffectGroup is the accuracy of rows that have something in common. Low and
// High are the interval of the difference.
type EffectGroup struct {
	Where  string  `json:"where"`
	Rows   float64 `json:"rows"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Say    string  `json:"say"` // where
}

// Better, Worse, Same and Unsure are what the interval of a difference says.
const (
	Better = "better"
	Worse  = "worse"
	Same   = "same"
	Unsure = "unsure"
)

// Verdict says whether a change made answers better, as far as the rows tell.
func (t *EffectTable) Verdict() string {
	numbers := t.RMSEBefore != nil
	switch {
	case !numbers && t.Changed == 0, numbers && *t.Difference == 0:
		return Same
	case t.Low == nil:
		return Unsure
	case !numbers && *t.Low > 0, numbers && *t.High < 0: // fewer errors are better
		return Better
	case !numbers && *t.High < 0, numbers && *t.Low > 0:
		return Worse
	}
	return Unsure
}

// changedAnswer is a row's answers before and after.
type changedAnswer struct {
	before, after, truth string
	p, q                 float64 // probabilities of the answers; NaN of numbers
	weight               float64
	changed, known       bool
	wasRight, isRight    bool    // of numbers that changed: which was nearer
	is, error2, now2     float64 // of numbers: the truth, and squared errors
}

// changedAnswers lets two models answer the rows of a table, which has the
// columns of both.
func changedAnswers(ctx context.Context, before, after learn.Model, t *table.Table) ([]changedAnswer, error) {
	x, err := answersTo(ctx, before, t)
	if err != nil {
		return nil, err
	}
	y, err := answersTo(ctx, after, t)
	if err != nil {
		return nil, err
	}
	a, b := &before.Schema().Attributes[before.Target()], &after.Schema().Attributes[after.Target()]
	if a.Name != b.Name || a.Kind != b.Kind {
		return nil, fmt.Errorf("one model predicts %q and the other %q; answers are compared of one target", a.Name, b.Name)
	}
	all := make([]changedAnswer, t.Rows())
	truth := t.Schema.Index(a.Name)
	for r := range all {
		c := &all[r]
		c.weight, c.p, c.q = t.Weight(r), math.NaN(), math.NaN()
		if a.Kind == table.Numeric {
			m, n := x.Mean[r], y.Mean[r]
			c.before, c.after, c.changed = a.Format(m), b.Format(n), !(n >= x.Low[r] && n <= x.High[r])
			if truth >= 0 && !math.IsNaN(t.Columns[truth].Floats[r]) {
				is := t.Columns[truth].Floats[r]
				c.known, c.truth, c.is, c.error2, c.now2 = true, a.Format(is), is, (m-is)*(m-is), (n-is)*(n-is)
				c.wasRight, c.isRight = c.error2 < c.now2, c.now2 < c.error2
			}
			continue
		}
		p, q := x.Row(r), y.Row(r)
		i, j := learn.Best(p, a.Values), learn.Best(q, b.Values)
		c.before, c.after, c.p, c.q = a.Values[i], b.Values[j], p[i], q[j]
		c.changed = c.before != c.after
		if truth >= 0 {
			if code := t.Columns[truth].Codes[r]; code >= 0 {
				c.known, c.truth = true, t.Schema.Attributes[truth].Values[code]
				c.wasRight, c.isRight = c.before == c.truth, c.after == c.truth
			}
		}
	}
	return all, nil
}

func answersTo(ctx context.Context, m learn.Model, t *table.Table) (*learn.Predictions, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	return out, m.Predict(ctx, fitted, out)
}

// tally counts some of the rows.
type tally struct{ rows, known, right, now, changed, fixed, broken, unknown, error2, now2 float64 }

func (s *tally) add(c *changedAnswer) {
	w := c.weight
	s.rows += w
	if c.known {
		s.known += w
		s.error2 += w * c.error2
		s.now2 += w * c.now2
		if c.wasRight {
			s.right += w
		}
		if c.isRight {
			s.now += w
		}
	}
	if !c.changed {
		return
	}
	s.changed += w
	switch {
	case !c.known:
		s.unknown += w
	case c.isRight && !c.wasRight:
		s.fixed += w
	case c.wasRight && !c.isRight:
		s.broken += w
	}
}

// judged is the table with what was counted on it.
func (t EffectTable) judged(answers []changedAnswer, numbers bool) EffectTable {
	var s tally
	var further stat.Moments // by how much squared errors grew
	for i := range answers {
		c := &answers[i]
		if s.add(c); c.known {
			further.Add(c.now2-c.error2, c.weight)
		}
	}
	t.Rows, t.Changed, t.Fixed, t.Broken, t.Unknown = s.rows, s.changed, s.fixed, s.broken, s.unknown
	switch {
	case s.known == 0:
	case numbers:
		before, after := math.Sqrt(s.error2/s.known), math.Sqrt(s.now2/s.known)
		t.RMSEBefore, t.RMSEAfter, t.Difference = &before, &after, pointer(after-before)
		if i := further.Estimate().Interval(0.95, stat.TwoSided); before+after > 0 && !math.IsNaN(i.Low) && !math.IsInf(i.High-i.Low, 0) {
			t.Low, t.High = pointer(i.Low/(before+after)), pointer(i.High/(before+after)) // a² − b² = (a − b)(a + b)
		}
	default:
		i := stat.PairedRates(s.fixed, s.broken, s.known)
		t.AccuracyBefore, t.AccuracyAfter = pointer(s.right/s.known), pointer(s.now/s.known)
		t.Difference, t.Low, t.High = pointer((s.fixed-s.broken)/s.known), &i.Low, &i.High
		t.P = pointer(stat.McNemar(s.fixed, s.broken).P)
	}
	return t
}

func pointer(x float64) *float64 { return &x }

// flips lists the rows of a table whose answer is another.
func flips(data string, answers []changedAnswer) []EffectFlip {
	var list []EffectFlip
	for r := range answers {
		c := &answers[r]
		if !c.changed {
			continue
		}
		f := EffectFlip{Data: data, Row: r + 1, Before: c.before, After: c.after}
		if !math.IsNaN(c.p) {
			f.P, f.Q = &c.p, &c.q
		}
		if c.known {
			f.Truth, f.Right = &c.truth, &c.isRight
		}
		list = append(list, f)
	}
	return list
}

// doubt is the level at which a group is said to change, all groups that were
// looked at taken together (Holm).
const doubt = 0.05

// groups returns the groups of a table by a column, or, if none is named, of
// all its columns of names those that changed by more than chance.
func groups(t *table.Table, answers []changedAnswer, target, by string, s *say.Speaker) ([]EffectGroup, error) {
	list := []EffectGroup{}
	if by != "" {
		j := t.Schema.Index(by)
		switch {
		case j < 0:
			return nil, remedy.New(Remedy{Kind: remedy.NameData}, "there is no column %q to group rows by%s", by, spell.Hint(by, t.Schema.Names()))
		case t.Schema.Attributes[j].Kind != table.Nominal:
			return nil, remedy.Misusef("column %q is %v; groups are of the values of a column of names", by, t.Schema.Attributes[j].Kind)
		}
		all, _ := groupsOf(t, answers, j, s)
		return append(list, all...), nil
	}
	var p []float64
	for j := range t.Schema.Attributes {
		if a := &t.Schema.Attributes[j]; a.Kind == table.Nominal && a.Name != target {
			of, chances := groupsOf(t, answers, j, s)
			list, p = append(list, of...), append(p, chances...)
		}
	}
	adjusted := stat.Holm(p)
	shown := []EffectGroup{}
	for i := range list {
		if adjusted[i] < doubt {
			shown = append(shown, list[i])
		}
	}
	slices.SortStableFunc(shown, func(x, y EffectGroup) int {
		return -int(math.Copysign(1, math.Abs(x.After-x.Before)-math.Abs(y.After-y.Before)))
	})
	return shown, nil
}

// groupsOf counts the rows by the values of a column, and how likely so much
// change is by chance.
func groupsOf(t *table.Table, answers []changedAnswer, column int, speaker *say.Speaker) (list []EffectGroup, p []float64) {
	a := &t.Schema.Attributes[column]
	counts := make([]tally, len(a.Values)+1) // the last of rows without a value
	for r, code := range t.Columns[column].Codes {
		if code < 0 {
			code = int32(len(a.Values))
		}
		counts[code].add(&answers[r])
	}
	for v := range counts {
		s := &counts[v]
		if s.known == 0 {
			continue
		}
		where := rule.Test{Op: rule.IsMissing, Column: a.Name}
		if v < len(a.Values) {
			where = rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[v]}
		}
		i := stat.PairedRates(s.fixed, s.broken, s.known)
		list = append(list, EffectGroup{where.String(), s.known, s.right / s.known, s.now / s.known, i.Low, i.High, speaker.Conditions([]rule.Test{where}).String()})
		p = append(p, stat.McNemar(s.fixed, s.broken).P)
	}
	return list, p
}
