package reproduce

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// formulasFile has formulas with known answers: the suites of Koza (1992) and of
// Nguyen (Uy et al. 2011) as in the repository dso-org/deep-symbolic-optimization
// (BSD-3-Clause), and of the Feynman lectures (Udrescu and Tegmark 2020) those
// of at most three variables without transcendental functions, as in
// WassimTenachi/PhySO (MIT), with the units of the variables.
//
//go:embed formulas.csv
var formulasFile string

// law is a formula that rows are made from.
type law struct {
	name, expression string
	variables        []string
	ranges           []span
}

// span is how the values of a variable are drawn.
type span struct {
	kind   byte // U: uniform, E: a grid with a step, L: evenly spaced
	lo, hi float64
	n      float64 // rows, or the step of a grid; 0: not said
}

// laws reads the formulas of a suite.
func laws(suite string) ([]law, error) {
	rows, err := csv.NewReader(strings.NewReader(formulasFile)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []law
	for _, r := range rows[1:] {
		if !strings.HasPrefix(r[0], suite+"-") {
			continue
		}
		l := law{name: r[0], expression: r[1], variables: strings.Split(r[2], ";")}
		for _, part := range strings.Split(r[3], ";") {
			_, text, _ := strings.Cut(part, ":")
			s := span{kind: text[0]}
			numbers := strings.Split(strings.Trim(text[1:], "[]"), ",")
			for i, to := range []*float64{&s.lo, &s.hi, &s.n} {
				if i < len(numbers) {
					if *to, err = strconv.ParseFloat(numbers[i], 64); err != nil {
						return nil, fmt.Errorf("%s: %w", l.name, err)
					}
				}
			}
			l.ranges = append(l.ranges, s)
		}
		all = append(all, l)
	}
	return all, nil
}

// drawn is how many rows are drawn where the suite does not say it.
const drawn = 500

// table makes rows of a law; wider, at fresh points of a range half as wide
// again on both sides, where the law has a value.
func (l *law) table(r *rand.Rand, wider bool) (*table.Table, error) {
	t, err := formula.Parse(l.expression, l.variables)
	if err != nil {
		return nil, err
	}
	columns := make([][]float64, len(l.variables))
	n := drawn
	if s := l.ranges[0]; !wider && s.n > 0 && s.kind != 'E' {
		n = int(s.n)
	} else if !wider && s.kind == 'E' {
		n = int(math.Round((s.hi-s.lo)/s.n)) + 1
	}
	for j, s := range l.ranges {
		columns[j] = make([]float64, n)
		for i := range columns[j] {
			switch f := float64(i) / float64(n-1); {
			case wider:
				columns[j][i] = s.lo + (s.hi-s.lo)*(2*r.Float64()-0.5)
			case s.kind == 'U':
				columns[j][i] = s.lo + (s.hi-s.lo)*r.Float64()
			default:
				columns[j][i] = s.lo + (s.hi-s.lo)*f
			}
		}
	}
	y := make([]float64, n)
	(&formula.Machine{}).Eval(t, columns, y)
	schema := &table.Schema{}
	cells := make([]table.Column, len(columns)+1)
	for i := range y {
		if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
			y[i] = table.NA
		}
	}
	for j, name := range l.variables {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
		cells[j].Floats = columns[j]
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "answer", Kind: table.Numeric})
	cells[len(columns)].Floats = y
	return table.New(schema, cells, nil)
}

// recovered reports whether gp finds a law: it explains more than 0.9999 of the
// variance of fresh rows, has the law's values, to seven digits, beyond the range
// that it was learnt in, wherever both have any, and is equal to it after
// simplification.
func recovered(ctx context.Context, l *law, seed uint64, settings map[string]string) (bool, string, error) {
	r := rand.New(rand.NewPCG(seed, 9))
	t, err := l.table(r, false)
	if err != nil {
		return false, "", err
	}
	learner, err := learn.New("gp", settings)
	if err != nil {
		return false, "", err
	}
	m, err := learner.Learn(ctx, learn.Task{Table: t, Target: "answer", Seed: seed})
	if err != nil {
		return false, "", err
	}
	text := m.(formula.Fronted).Formulas()[0].Formula
	found, err := formula.Parse(text, l.variables)
	if err != nil {
		return false, text, err
	}
	fresh, err := l.table(r, true)
	if err != nil {
		return false, text, err
	}
	columns := make([][]float64, len(l.variables))
	for j := range columns {
		columns[j] = fresh.Columns[j].Floats
	}
	said, truth := make([]float64, fresh.Rows()), fresh.Columns[len(columns)].Floats
	(&formula.Machine{}).Eval(found, columns, said)
	compared := 0
	for i, y := range truth {
		if math.IsNaN(y) || math.IsNaN(said[i]) || math.IsInf(said[i], 0) {
			continue
		}
		if compared++; math.Abs(said[i]-y) > 1e-7*(math.Abs(y)+1e-3) {
			return false, text, nil
		}
	}
	law, err := formula.Parse(l.expression, l.variables)
	if err != nil {
		return false, text, err
	}
	return compared > drawn/4 && formula.Equal(found, law, 1e-6), text, nil
}

// evolvedFormulas are the suites that gp is tried on.
func evolvedFormulas() []Experiment {
	var all []Experiment
	for _, w := range []struct {
		name, suite, what, source string
		figure                    Figure
	}{
		{"gp-nguyen", "Nguyen", "of Nguyen's 12 formulas, % that are found", "Uy, Hoai, O'Neill, McKay and Galván-López 2011", reference(100 * 8. / 12).percent().higher()},
		{"gp-koza", "Koza", "of Koza's formulas, % that are found", "Koza 1992", reference(100 * 8. / 12).percent().higher()},
		{"gp-feynman-easy", "Feynman", "of 39 easy formulas of the Feynman lectures, % that are found", "Udrescu and Tegmark 2020", reference(60).percent().higher()},
	} {
		all = append(all, Experiment{
			Name: w.name, Tags: []string{"ch09", "koza"}, Source: w.source,
			Measure: w.what + " exactly: equal to the law after simplification, and in values to seven digits beyond the range they were learnt in", Figure: w.figure, Seeds: 1,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				suite, err := laws(w.suite)
				if err != nil {
					return 0, err
				}
				count, of := 0.0, 0.0
				for i := range suite {
					if suite[i].name == "Nguyen-12a" { // the twelfth on another range
						continue
					}
					ok, _, err := recovered(ctx, &suite[i], seed, nil)
					if err != nil {
						return 0, fmt.Errorf("%s: %w", suite[i].name, err)
					}
					if of++; ok {
						count++
					}
				}
				return 100 * count / of, nil
			}),
		})
	}
	return all
}
