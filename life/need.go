package life

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/evaluate/pac"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Need says how many rows are enough: by the bounds of theory, and by a
// learning curve where there are rows to measure one.
type Need struct {
	Rows       *float64    `json:"rows"`  // nil: no number of rows is enough
	Bound      float64     `json:"bound"` // what theory asks for, not rounded
	Hypotheses *float64    `json:"hypotheses,omitempty"`
	VC         *float64    `json:"vc,omitempty"`
	Class      string      `json:"class,omitempty"`
	Least      *float64    `json:"least,omitempty"` // that any learner needs for some concept
	Error      float64     `json:"error"`
	Confidence float64     `json:"confidence"`
	Learner    string      `json:"learner,omitempty"`
	Low        *float64    `json:"low,omitempty"`
	High       *float64    `json:"high,omitempty"` // nil beside Low: no end
	Law        string      `json:"law,omitempty"`
	Curve      []NeedPoint `json:"curve,omitempty"`
	Have       int         `json:"have,omitempty"` // rows of the data
	// Mistakes are those that an online learner makes at most, of a finite
	// class.
	Mistakes *NeedMistakes `json:"mistakes,omitempty"`
}

// NeedMistakes bounds the mistakes of learners that answer before they are told
// (Littlestone 1987). The optimal number and that of Halving at worst are found
// by playing the game to its end, where the class is small.
type NeedMistakes struct {
	Log2      float64 `json:"log2"` // of the hypotheses: Halving makes no more
	Optimal   *int    `json:"optimal,omitempty"`
	Halving   *int    `json:"halving,omitempty"`
	Shattered []int   `json:"shattered,omitempty"` // points, counted from 1, as many as the dimension
}

// String says it in a line.
func (m *NeedMistakes) String() string {
	text := fmt.Sprintf("answering before it is told, Halving makes at most %d mistakes", int(m.Log2+1e-9))
	if m.Optimal == nil {
		return text
	}
	return fmt.Sprintf("answering before it is told, the best learner makes %d mistakes at worst, Halving %d (at most %d by its bound); the points %v are shattered",
		*m.Optimal, *m.Halving, int(m.Log2+1e-9), m.Shattered)
}

// mistakesOf returns what is known of the mistakes on a class.
func mistakesOf(c pac.Class) *NeedMistakes {
	if math.IsInf(c.LogSize, 1) {
		return nil
	}
	m := &NeedMistakes{Log2: c.LogSize / math.Ln2}
	if c.Small != nil {
		optimal, halving := c.Small.Optimal(), c.Small.Halving()
		_, set := c.Small.VC()
		m.Optimal, m.Halving = &optimal, &halving
		for p := range pac.MostPoints {
			if set>>p&1 == 1 {
				m.Shattered = append(m.Shattered, p+1)
			}
		}
	}
	return m
}

// NeedPoint is the error of a learner after some rows, with its interval.
type NeedPoint struct {
	Rows  int     `json:"rows"`
	Error float64 `json:"error"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// NeedOptions is what is asked: a class, or a number of hypotheses, or a
// dimension, whichever is set.
type NeedOptions struct {
	pac.Demand
	Class      string
	Hypotheses float64
	VC         float64
	Agnostic   bool
}

// class returns the class that is asked about.
func (o NeedOptions) class() (pac.Class, error) {
	given := 0
	for _, is := range []bool{o.Class != "", o.Hypotheses != 0, o.VC != 0} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return pac.Class{}, errors.New("name data to measure on, or one of a class, a number of hypotheses and a VC dimension to reckon with")
	case o.Class != "":
		return pac.ParseClass(o.Class)
	case o.Hypotheses != 0:
		if !(o.Hypotheses >= 1) || math.IsInf(o.Hypotheses, 0) {
			return pac.Class{}, fmt.Errorf("%v hypotheses are no class; expected 1 or more", o.Hypotheses)
		}
		return pac.Finite(o.Hypotheses), nil
	}
	if !(o.VC >= 1) || math.IsInf(o.VC, 0) {
		return pac.Class{}, fmt.Errorf("a VC dimension of %v makes no sense; expected 1 or more", o.VC)
	}
	return pac.Class{Name: fmt.Sprintf("a class of VC dimension %v", o.VC), LogSize: math.Inf(1), VC: o.VC, Exact: true}, nil
}

// NeedInTheory returns how many rows the bounds ask for.
func NeedInTheory(o NeedOptions) (*Need, error) {
	if err := o.Check(); err != nil {
		return nil, remedy.Misuse(err)
	}
	c, err := o.class()
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	n := &Need{Class: c.Name, Error: o.Error, Confidence: o.Confidence}
	if err := n.bound(c, o.Demand, o.Agnostic); err != nil {
		return nil, remedy.Misuse(err)
	}
	rows := math.Ceil(n.Bound)
	n.Rows, n.Mistakes = &rows, mistakesOf(c)
	return n, nil
}

// bound fills in what theory asks for. A finite class is bounded by its size,
// any other by its dimension.
func (n *Need) bound(c pac.Class, d pac.Demand, agnostic bool) error {
	switch infinite := math.IsInf(c.LogSize, 1); {
	case infinite && agnostic:
		n.Bound, n.VC = d.RowsAgnosticByVC(c.VC), &c.VC
	case infinite:
		n.Bound, n.VC = d.RowsByVC(c.VC), &c.VC
	case agnostic:
		n.Bound = d.RowsAgnostic(c.LogSize)
	default:
		n.Bound = d.Rows(c.LogSize)
	}
	if size := math.Exp(c.LogSize); !math.IsInf(size, 1) {
		size = roundWhole(size)
		n.Hypotheses = &size
	}
	if least, ok := d.RowsNeeded(c.VC); ok && c.Exact {
		n.Least = &least
	}
	return nil
}

// roundWhole mends what exp(ln n) does to a whole number.
func roundWhole(x float64) float64 {
	if r := math.Round(x); math.Abs(x-r) < 1e-9*x {
		return r
	}
	return x
}

// NeedOf measures the learning curve of a learner on data and asks it how many
// rows the wanted error needs, beside what theory asks for with the simplest
// class over the same columns.
func (h *Home) NeedOf(ctx context.Context, d *Data, target string, c Choice, want pac.Demand) (*Need, error) {
	if err := want.Check(); err != nil {
		return nil, remedy.Misuse(err)
	}
	l, err := h.Lesson(ctx, d, target, c)
	if err != nil {
		return nil, err
	}
	if l.Target == learn.NoTarget || l.Table.Schema.Attributes[l.Target].Kind != table.Nominal {
		return nil, remedy.Misuse(errors.New("an error rate is one of classes: the target must be nominal"))
	}
	bar, done := h.progress("measuring the curve")
	curve, err := evaluate.LearningCurve(learn.WithProgress(ctx, bar), h.Spec(d.Arg, l), evaluate.CurveOptions{})
	done()
	if err != nil {
		return nil, err
	}
	n := &Need{Error: want.Error, Confidence: want.Confidence, Learner: l.Info.Name, Have: l.Table.Rows()}
	var points []evaluate.ErrorPoint
	for _, p := range curve.Points {
		n.Curve = append(n.Curve, NeedPoint{p.Rows, 1 - p.Value, 1 - p.High, 1 - p.Low})
		const half = 1.959964 // deviations that half of a 95 % interval has
		points = append(points, evaluate.ErrorPoint{Rows: float64(p.Rows), Error: 1 - p.Value, Deviation: (p.High - p.Low) / 2 / half})
	}
	simplest := simplestClass(l.Table.Schema, l.Target)
	n.Class = simplest.Name
	if err := n.bound(simplest, want, false); err != nil {
		return nil, err
	}
	forecast, err := evaluate.ForecastRows(points, want.Error, h.Seed)
	if err != nil {
		return nil, err
	}
	n.Law = fmt.Sprintf("%.4g + %.4g · rows^-%.3g", forecast.Law.Floor, forecast.Law.Scale, forecast.Law.Rate)
	n.Rows, n.Low, n.High = rowsOf(forecast.Rows), rowsOf(forecast.Low), rowsOf(forecast.High)
	return n, nil
}

// rowsOf returns a number of rows rounded up, nil if there is none.
func rowsOf(rows float64) *float64 {
	if math.IsInf(rows, 0) || rows > 1e15 {
		return nil
	}
	rows = math.Ceil(rows)
	return &rows
}

// simplestClass is the class of conjunctions of one test a column: a value or
// any for names, boxes where there are numbers.
func simplestClass(s *table.Schema, target int) pac.Class {
	log, numbers := 0.0, 0
	for i := range s.Attributes {
		switch a := &s.Attributes[i]; {
		case i == target:
		case a.Kind == table.Nominal:
			log += math.Log(float64(len(a.Values) + 1))
		default:
			numbers++
		}
	}
	if numbers > 0 {
		c := pac.Rectangles(numbers)
		c.VC += log / math.Ln2
		c.Name, c.Exact = "conjunctions of a value or an interval of each column", false
		return c
	}
	return pac.Class{Name: "conjunctions of a value of each column", LogSize: math.Log1p(math.Exp(log)), VC: log / math.Ln2}
}

// Sentences say it to people.
func (n *Need) Sentences() []string {
	number, percent := console.Number, console.Percent
	theory := fmt.Sprintf("%s rows for error %v with confidence %v (%s)", number(math.Ceil(n.Bound)), n.Error, n.Confidence, n.Class)
	if n.Learner == "" {
		all := []string{theory}
		if n.Least != nil {
			all = append(all, fmt.Sprintf("for some concepts no learner needs fewer than %s", number(math.Ceil(*n.Least))))
		}
		if n.Mistakes != nil {
			all = append(all, n.Mistakes.String())
		}
		return all
	}
	var verdict string
	switch {
	case n.Rows == nil:
		verdict = fmt.Sprintf("an error of %s is below the floor of this curve: more rows alone will not do; try another learner or more columns", percent(n.Error))
	case *n.Rows <= float64(n.Have):
		verdict = fmt.Sprintf("an error of %s needs about %s rows (%s); there are %d", percent(n.Error), number(*n.Rows), n.between(), n.Have)
	default:
		verdict = fmt.Sprintf("an error of %s needs about %s rows (%s): %s more than there are", percent(n.Error), number(*n.Rows), n.between(), number(*n.Rows-float64(n.Have)))
	}
	return []string{n.Learner + ": error = " + n.Law, verdict, "theory, whatever the distribution: " + theory}
}

// between is where the number of rows may lie.
func (n *Need) between() string {
	switch {
	case n.Low == nil:
		return "the interval has no end"
	case n.High == nil:
		return console.Number(*n.Low) + " or more"
	}
	return console.Number(*n.Low) + " to " + console.Number(*n.High)
}
