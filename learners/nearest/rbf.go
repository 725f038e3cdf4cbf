package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// RBF is what networks of radial basis functions are registered as.
const RBF = "rbf"

// Radial is a network of radial basis functions (Powell 1987; Moody and Darken
// 1989; Mitchell 1997, section 8.4): f(x) = w₀ + Σ wᵤ exp(−d²(xᵤ, x)/2σᵤ²), a
// global approximation made of local pieces. Learning has two stages: where the
// units are and how wide, then the weights of all by least squares (equation
// 8.5), which one solves directly. Each class has an output of its own; their
// probabilities are a softmax of the outputs, whose sharpness is what serves rows
// best that are left out.
//
// Units stand at the rows (centres=each), on a grid over the box of all rows
// (grid), at some of the rows (sample), at the middles of clusters of rows
// (cluster; k-means, the targets not used), where a mixture of Gaussians that
// share the rows among them has its own, as wide as those are (mixture; Nowlan
// 1991), or they grow (the default): of some
// candidate rows, the one that takes away most of the error that is left is added
// (orthogonal least squares; Chen, Cowan and Grant 1991), until rows that are
// left out are answered no better. Each unit then says what it took away.
//
// Rows are points as the metric sees them: numbers in its units, names by how
// classes share them out, missing cells in the middle. What is not given, the
// common factor of the widths and the ridge, is what errs least when each row is
// left out, which least squares tells without learning again (the PRESS
// statistic, Allen 1974). Its zero value is ready to use.
type Radial struct {
	Basis    string   `set:"basis" default:"plain" oneof:"plain|normalised" doc:"what a unit says: how near a row is, or its share of that among all units"`
	Centres  string   `set:"centres" default:"grow, or cluster with basis=normalised" oneof:"grow|each|grid|sample|cluster|mixture" doc:"where units stand: where they take away most error, at each row, on a grid, at some rows, amid clusters, or as a mixture of Gaussians has its own, widths and all"`
	Units    int      `set:"units" default:"up to 100 that grow, else a tenth of the rows, up to 100" doc:"how many units"`
	Width    float64  `set:"width" default:"what errs least when rows are left out" doc:"width of every unit, as a distance"`
	Ridge    *float64 `set:"ridge" default:"what errs least when rows are left out" doc:"how strongly weights are pulled towards 0"`
	Bias     string   `set:"bias" default:"yes" oneof:"yes|no" doc:"whether there is a weight that no unit has a part in"`
	Distance string   `set:"distance" default:"hvdm, or euclid where scale is given" oneof:"euclid|hvdm" doc:"how far rows are from each other"`
	Scale    string   `set:"scale" default:"sd" oneof:"sd|range|none" doc:"the unit of each number with distance=euclid: its standard deviation, its range, or as it stands"`
}

// radialSettings are a learner's parameters with the words filled in.
type radialSettings struct {
	Basis    string  `cbor:"basis,omitempty"`
	Centres  string  `cbor:"centres"`
	Units    int     `cbor:"units"` // 0: by the rows
	Width    float64 `cbor:"width"` // 0: by leave-one-out
	Ridge    float64 `cbor:"ridge"` // below 0: by leave-one-out
	Bias     bool    `cbor:"bias"`
	Distance string  `cbor:"distance"`
	Scale    string  `cbor:"scale"`
}

// Where units may stand.
const (
	grown   = "grow"
	each    = "each"
	grid    = "grid"
	sample  = "sample"
	cluster = "cluster"
	soft    = "mixture"
)

// normalised is the basis of shares.
const normalised = "normalised"

// mostUnits bounds the units: least squares takes their cube.
const mostUnits = 2000

func (l *Radial) resolve() (radialSettings, error) {
	near, err := (&Learner{Distance: l.Distance, Scale: l.Scale}).resolve()
	s := radialSettings{Centres: l.Centres, Units: l.Units, Width: l.Width, Ridge: -1, Bias: l.Bias != "no", Distance: near.Distance, Scale: near.Scale}
	if err != nil {
		return s, err
	}
	if l.Ridge != nil {
		if s.Ridge = *l.Ridge; !(s.Ridge >= 0) {
			return s, fmt.Errorf("setting ridge=%v: expected 0 or more", s.Ridge)
		}
	}
	if l.Basis == normalised {
		s.Basis, s.Bias = normalised, false
		if l.Bias == "yes" {
			return s, fmt.Errorf("setting bias=yes: with basis=normalised units add up to 1, which is a bias already; leave it out")
		}
	}
	if s.Centres == "" {
		if s.Centres = grown; s.Basis == normalised {
			s.Centres = cluster
		}
	}
	if s.Centres == each && s.Units != 0 {
		return s, fmt.Errorf("setting units=%d: with centres=each there are as many as rows; leave one of the two out", s.Units)
	}
	return s, s.check()
}

func (s *radialSettings) check() error {
	near := s.near()
	if err := near.check(); err != nil {
		return err
	}
	if places := []string{grown, each, grid, sample, cluster, soft}; !slices.Contains(places, s.Centres) {
		return fmt.Errorf("setting centres=%s: expected one of %s", s.Centres, strings.Join(places, ", "))
	}
	switch {
	case s.Basis != "" && s.Basis != normalised:
		return fmt.Errorf("setting basis=%s: expected plain or normalised", s.Basis)
	case s.Basis == normalised && s.Centres == grown:
		return fmt.Errorf("setting centres=grow: with basis=normalised one more unit changes all; choose cluster, mixture, sample, grid or each")
	case s.Basis == normalised && s.Bias:
		return fmt.Errorf("with basis=normalised units add up to 1, which is a bias already")
	case s.Centres == soft && s.Width > 0:
		return fmt.Errorf("setting width=%v: with centres=mixture each unit is as wide as its part of the mixture; leave one of the two out", s.Width)
	}
	if s.Distance == "hamming" {
		return fmt.Errorf("setting distance=%s: expected euclid or hvdm", s.Distance)
	}
	if s.Units < 0 || s.Units > mostUnits {
		return fmt.Errorf("setting units=%d: expected a number from 1 to %d", s.Units, mostUnits)
	}
	if !(s.Width >= 0 && s.Width <= farthest) {
		return fmt.Errorf("setting width=%v: expected a distance above 0", s.Width)
	}
	if !(s.Ridge <= 1e9) {
		return fmt.Errorf("setting ridge=%v: expected 0 or more, up to 1e9", s.Ridge)
	}
	return nil
}

func (s *radialSettings) near() settings {
	return settings{K: auto, Distance: s.Distance, Weight: "uniform", Scale: s.Scale, Index: "brute", Stretch: none, M: defaultM, Recall: defaultRecall, Ties: byCells, Prototypes: none}
}

func (s *radialSettings) keeps() (bool, error) { return true, s.check() }

// Check tells settings that do not go together.
func (l *Radial) Check() error {
	_, err := l.resolve()
	return err
}

// Learn keeps the task's rows, and fits a network to them.
func (l *Radial) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := gather(ctx, task, RBF)
	if err != nil {
		return nil, err
	}
	return learnRadial(ctx, rows, radialLesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target}, nil)
}

type radialLesson = kept.Lesson[radialSettings]

// learnRadial makes a model of rows that were gathered. What was fitted when they
// were learnt before need not be fitted again.
func learnRadial(ctx context.Context, rows *kept.Rows, l radialLesson, was *network) (learn.Model, error) {
	cases, err := casesOf(ctx, rows, l.Target, byCells)
	if err != nil {
		return nil, err
	}
	m := &RadialModel{lesson: l, rows: rows, cases: cases, network: network{normalised: l.Settings.Basis == normalised}}
	near := l.Settings.near()
	if m.metric, err = newMetric(ctx, cases, &near, nil); err != nil {
		return nil, err
	}
	m.encode()
	if was != nil {
		m.network = *was
		m.normalised = l.Settings.Basis == normalised
		return m, m.network.check(m)
	}
	if err := m.train(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// RadialModel is a network of radial basis functions. It is immutable.
type RadialModel struct {
	lesson radialLesson
	rows   *kept.Rows
	cases  *cases
	metric *metric
	network

	// Rows as units see them: dims numbers each.
	dims   int
	fill   []float64   // of each number: what stands for a missing one
	coded  [][]float64 // of each name column: dims by code
	widths []int       // of each name column's codes
}

// network is what was fitted.
type network struct {
	Centres []float64 `cbor:"centres"` // dims numbers a unit
	Sigma   []float64 `cbor:"sigma"`
	Weights []float64 `cbor:"weights"` // of each output: the bias, then the units
	Sharp   float64   `cbor:"sharp"`   // of the softmax
	Spread  float64   `cbor:"spread"`  // of a number around what is predicted, in units of its scale
	Added   []Added   `cbor:"added"`
	Why     string    `cbor:"why"`
	Row     []int     `cbor:"row"` // where a unit stands at a case: which; else -1

	normalised bool // as the settings say
}

// Added says what a unit did to the error when it came.
type Added struct {
	Unit    int     `cbor:"unit" json:"unit"`
	Removed float64 `cbor:"removed" json:"removed"` // share of the variance
	Left    float64 `cbor:"left" json:"left"`       // share of the variance, with the unit
	Out     float64 `cbor:"out" json:"left_out"`    // likewise, when rows are left out (generalised cross-validation)
}

func (a Added) String() string {
	return fmt.Sprintf("unit %d took away %.2f %% of the variance; %.2f %% are left, %.2f %% for rows left out", a.Unit, 100*a.Removed, 100*a.Left, 100*a.Out)
}

func (n *network) check(m *RadialModel) error {
	units := len(n.Sigma)
	finite := func(xs []float64) bool {
		return !slices.ContainsFunc(xs, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) })
	}
	if units > mostUnits || len(n.Centres) != units*m.dims || len(n.Row) != units || len(n.Weights) != m.outputs()*(units+1) {
		return fmt.Errorf("%d units with %d weights and %d numbers do not fit %d outputs of %d numbers", units, len(n.Weights), len(n.Centres), m.outputs(), m.dims)
	}
	if !finite(n.Centres) || !finite(n.Weights) || !finite(n.Sigma) || slices.ContainsFunc(n.Sigma, func(x float64) bool { return !(x > 0) }) {
		return fmt.Errorf("the units' centres, widths and weights are not all numbers")
	}
	if !(n.Sharp > 0 && n.Sharp <= 1e6) || !(n.Spread >= 0 && n.Spread <= 8) {
		return fmt.Errorf("a sharpness of %v and a spread of %v make no sense", n.Sharp, n.Spread)
	}
	for _, r := range n.Row {
		if r < -1 || r >= m.cases.count() {
			return fmt.Errorf("a unit stands at case %d of %d", r+1, m.cases.count())
		}
	}
	return nil
}

// outputs returns the number of output units: one a class, or one.
func (m *RadialModel) outputs() int { return max(1, m.cases.classCount()) }

// encode finds how rows are points.
func (m *RadialModel) encode() {
	c, numbers := m.cases, len(m.metric.numbers)
	m.dims, m.fill = numbers, make([]float64, numbers)
	for d := range numbers {
		sum, weight := 0.0, 0.0
		for i := range c.count() {
			if x := m.metric.points[i*numbers+d]; x == x && math.Abs(x) < farthest {
				sum += c.worth[i] * x
				weight += c.worth[i]
			}
		}
		if weight > 0 {
			m.fill[d] = sum / weight
		}
	}
	for d := range m.metric.names {
		n := &m.metric.names[d]
		width, scale := n.width, math.Sqrt(n.most)
		if n.shares == nil {
			width = n.values
		}
		codes := make([]float64, (n.values+2)*width)
		for v := range n.values {
			for i := range width {
				switch {
				case n.shares != nil:
					codes[v*width+i] = scale * n.shares[v*width+i]
				case i == v:
					codes[v*width+i] = scale * math.Sqrt(0.5)
				}
				codes[n.values*width+i] += codes[v*width+i] / float64(n.values)
			}
		}
		copy(codes[(n.values+1)*width:], codes[n.values*width:(n.values+1)*width]) // unseen is as missing
		m.coded, m.widths = append(m.coded, codes), append(m.widths, width)
		m.dims += width
	}
}

// point writes a case as a point.
func (m *RadialModel) point(i int, out []float64) {
	numbers, names := len(m.metric.numbers), len(m.metric.names)
	m.fillIn(m.metric.points[i*numbers:(i+1)*numbers], out)
	at := numbers
	for d, code := range m.metric.codes[i*names : (i+1)*names] {
		at += copy(out[at:], m.coded[d][int(code)*m.widths[d]:(int(code)+1)*m.widths[d]])
	}
}

func (m *RadialModel) fillIn(point, out []float64) {
	for d, x := range point {
		if out[d] = x; x != x {
			out[d] = m.fill[d]
		}
	}
}

// ask writes a row as a point.
func (m *RadialModel) ask(columns []table.Column, row int, out []float64) {
	for d := range m.metric.numbers {
		n := &m.metric.numbers[d]
		if out[d] = n.point(columns[n.column].Floats[row]); out[d] != out[d] {
			out[d] = m.fill[d]
		}
	}
	at := len(m.metric.numbers)
	for d := range m.metric.names {
		n := &m.metric.names[d]
		code := n.code(&columns[n.column], row)
		at += copy(out[at:], m.coded[d][code*m.widths[d]:(code+1)*m.widths[d]])
	}
}

// basis writes how near a point is to each unit, or its shares in the point; the
// bias is first.
func (n *network) basis(x, out []float64) {
	out[0] = 1
	for u, sigma := range n.Sigma {
		out[1+u] = logGaussian(x, n.Centres[u*len(x):(u+1)*len(x)], sigma)
	}
	if n.normalised {
		out[0] = 0
		softmax(out[1:], 1) // by logarithms, so that far from all units the nearest one speaks
		return
	}
	for u, log := range out[1:] {
		out[1+u] = math.Exp(log)
	}
}

// logGaussian is the logarithm of how near a point is to a centre.
func logGaussian(x, centre []float64, sigma float64) float64 {
	sum := 0.0
	for d, c := range centre {
		e := (x[d] - c) / sigma
		sum += float64(e * e)
	}
	return -sum / 2
}

func decodeRadial(parts []learn.Part) (learn.Model, error) {
	var l radialLesson
	var body network
	rows, found, err := l.Load(parts, RBF, format, (*radialSettings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	was := &body
	if !found {
		was = nil
	}
	m, err := learnRadial(context.Background(), rows, l, was)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     RBF,
		Summary:  "radial basis functions: Gaussian units at chosen places, weighed by least squares",
		Source:   "Powell 1987; Moody & Darken 1989; Chen, Cowan & Grant 1991; Mitchell 1997, section 8.4",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Grow: true},
		Contract: learn.Exact,
		Keeps:    "all rows, with their places in their sources",
		New:      func() learn.Learner { return &Radial{} },
		Decode:   decodeRadial,
	})
}
