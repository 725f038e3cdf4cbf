package reproduce

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

// incrementalSessions is learning without the old data: Li's tables of Learn++
// and its improvement, on rings whose classes come one after the other and on
// the Glass data.
//
// Published accuracies are of one run on a test set of 250 or 43 rows, ours
// means over seeds. Learn++ as printed cannot give all of table 1: members of a
// session of one class "recognise instances in other classes all as the trained
// class" (section 2.1), so that the votes for class 4, which the sessions 3 and 4
// bring, and those for class 2, of the sessions 5 and 6, are the same wherever
// one asks. The larger sum always wins over the other: once there are both, one of
// the two classes is never answered. That is at most 80 % of a test with a fifth
// of each class, and none of the rows of S3 and S4 or of S5 and S6. The vote of a
// member that is never wrong, log 1/0, is not printed either: half a row is
// counted as wrong. The captions of tables 4 and 5 say that the improvement is
// worse, and were probably swapped; they are taken as printed.
func incrementalSessions() []Experiment {
	const source = "Li 2008, An Improved Algorithm for Incremental Learning Learn++, table "
	const collapse = "members of a session of one class know that class alone, are never wrong, and win wherever the others are less than sure, or everywhere"
	const constant = "members of a session of one class answer it everywhere, so that the sums for classes 2 and 4 are constants, of which the smaller is never answered: at most 80 % of the test, and none of the rows of S3 and S4 or of S5 and S6"
	const fewRows = "the published value is one run on 43 rows, which chance moves by 7 points"
	printedForm := map[string]string{"preset": "published", "doubt": "0.5"}
	const traded = "ours gives up some rows of old classes for those of new ones; the captions of tables 4 and 5 were probably swapped"
	const impossible = "83.7 % of 33 rows cannot be: 27 or 28 of them would be 81.8 or 84.8 %"
	tags := []string{"li", "polikar", "learnpp"}
	var experiments []Experiment
	for _, t := range []struct {
		table, algorithm string
		sessions         *sessions
		published        []float64   // on the test, after each session
		own              [][]float64 // on each session's rows, after it and after each that follows
		seeds            int
		why              string
	}{
		{"1", "rings: Learn++ as printed", &sessions{name: "rings, as printed", of: rings, settings: printedForm}, []float64{56.0, 59.2, 72.0, 74.8, 81.2, 88.4},
			[][]float64{{100, 99.7, 97.7, 96.7, 94.3, 92.7}, {96.3, 93.7, 92.3, 90.0, 88.3}, {97.5, 97.0, 94.5, 93.5}, {93.5, 91.5, 90.0}, {89.0, 87.5}, {89.0}}, 10, collapse},
		{"2", "rings: improved", &sessions{name: "rings, improved", of: rings}, []float64{55.6, 59.2, 73.2, 76.4, 88.8, 94.4},
			[][]float64{{99.7, 99.7, 99.3, 99.0, 98.7, 98.7}, {99.7, 99.7, 99.3, 99, 98.3}, {89.5, 92.0, 93.5, 95.5}, {93.5, 95.5, 97.0}, {88.5, 91.5}, {89.0}}, 10, ""},
		{"4", "Glass: Learn++ as printed", &sessions{name: "glass, as printed", of: glass, settings: printedForm}, []float64{46.5, 67.4, 76.7},
			[][]float64{{94.6, 95.7, 93.5}, {91.1, 88.9}, {83.7}}, 10, collapse},
		{"5", "Glass: improved", &sessions{name: "glass, improved", of: glass}, []float64{48.8, 60.5, 69.8},
			[][]float64{{94.6, 91.4, 86.0}, {91.1, 86.7}, {83.7}}, 10, fewRows},
	} {
		for k, published := range t.published {
			why, beyond := t.why, Beyond("")
			if t.table == "1" && k >= 4 {
				why, beyond = constant, Impossible
			}
			experiments = append(experiments, Experiment{
				Name: fmt.Sprintf("learnpp-table-%s-ts%d", t.table, k+1), Tags: tags, Source: source + t.table,
				Measure: fmt.Sprintf("test accuracy after session %d on %s", k+1, t.algorithm),
				Figure:  printed(published).percent().digits(1).higher(), Seeds: t.seeds, Why: why, Beyond: beyond,
				Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) { return t.sessions.accuracy(ctx, seed, k, -1) }),
			})
		}
		for k, row := range t.own {
			for i, published := range row {
				after := k + i // session
				why, beyond := t.why, Beyond("")
				switch {
				case t.table == "1" && after >= 4 && k >= 2:
					why, beyond = constant, Impossible
				case published == 83.7:
					why, beyond = impossible, Impossible
				case why == fewRows:
					why = traded
				}
				name := fmt.Sprintf("learnpp-table-%s-s%d", t.table, k+1)
				if after < len(t.own)-1 {
					name += fmt.Sprintf("-ts%d", after+1)
				}
				experiments = append(experiments, Experiment{
					Name: name, Tags: tags, Source: source + t.table,
					Measure: fmt.Sprintf("accuracy on the rows of session %d after session %d on %s", k+1, after+1, t.algorithm),
					Figure:  printed(published).percent().digits(1).higher(), Seeds: t.seeds, Why: why, Beyond: beyond,
					Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
						return t.sessions.accuracy(ctx, seed, after, k)
					}),
				})
			}
		}
	}
	return experiments
}

// sessions is a run of sessions with a test at the end of each.
type sessions struct {
	name     string
	of       func(ctx context.Context, seed uint64) ([]*table.Table, error) // the last table is the test
	settings map[string]string
}

// accuracy returns that after a session on one of the tables; -1 is the test.
func (s *sessions) accuracy(ctx context.Context, seed uint64, session, on int) (float64, error) {
	accuracy, err := once(ctx, s.name, seed, func() ([][]float64, error) { return s.learn(ctx, seed) })
	if err != nil {
		return 0, err
	}
	of := accuracy[session]
	if on < 0 {
		on = len(of) - 1
	}
	return of[on], nil
}

// learn learns session after session. It returns the accuracy after each of
// them on each table.
func (s *sessions) learn(ctx context.Context, seed uint64) ([][]float64, error) {
	tables, err := s.of(ctx, seed)
	if err != nil {
		return nil, err
	}
	l, err := learn.New(ensemble.Name, s.settings)
	if err != nil {
		return nil, err
	}
	target := len(tables[0].Columns) - 1
	var accuracy [][]float64
	m, err := l.Learn(ctx, learn.Task{Table: tables[0], Source: learn.Source{ID: "1"}, Seed: seed}.At(target))
	for k := range len(tables) - 1 {
		if k > 0 && err == nil {
			m, err = furtherSession(ctx, m, fmt.Sprint(k+1), tables[k])
		}
		if err != nil {
			return nil, err
		}
		of := make([]float64, len(tables))
		for i, t := range tables {
			if of[i], err = percentRight(ctx, m, t); err != nil {
				return nil, err
			}
		}
		accuracy = append(accuracy, of)
	}
	return accuracy, nil
}

func furtherSession(ctx context.Context, m learn.Model, id string, t *table.Table) (learn.Model, error) {
	u, err := m.(learn.Updater).Begin(learn.Source{ID: id})
	if err != nil {
		return nil, err
	}
	grown, _, err := table.Conform(t, m.Schema(), true)
	if err != nil {
		return nil, err
	}
	if err := u.Add(ctx, grown); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}

// rings are five concentric rings: two sessions of the classes 1, 3 and 5, two
// of class 4, two of class 2, and a test of all.
func rings(ctx context.Context, seed uint64) ([]*table.Table, error) {
	var tables []*table.Table
	for i, what := range []string{"rows=300,classes=1,3,5", "rows=300,classes=1,3,5", "rows=200,classes=4", "rows=200,classes=4", "rows=200,classes=2", "rows=200,classes=2", "rows=250"} {
		t, _, err := datasets.Load(ctx, fmt.Sprintf("circles:%s,seed=%d", what, 100*seed+uint64(i)))
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// glass is the Glass data: a fifth of each class to test on; of the rest, the
// classes 2, 3, 6 and 11 rows of class 1, then class 1, then classes 5 and 7.
func glass(ctx context.Context, seed uint64) ([]*table.Table, error) {
	t, _, err := datasets.Load(ctx, "glass")
	if err != nil {
		return nil, err
	}
	target := len(t.Columns) - 1
	byClass := map[string][]int{}
	for _, r := range rand.New(rand.NewPCG(seed, 9)).Perm(t.Rows()) {
		class := t.Text(r, target)
		byClass[class] = append(byClass[class], r)
	}
	var rows [4][]int
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		of := byClass[class]
		n := int(math.Round(0.8 * float64(len(of))))
		rows[3] = append(rows[3], of[n:]...)
		switch class {
		case "1":
			rows[0], rows[1] = append(rows[0], of[:11]...), append(rows[1], of[11:n]...)
		case "5", "7":
			rows[2] = append(rows[2], of[:n]...)
		default:
			rows[0] = append(rows[0], of[:n]...)
		}
	}
	tables := make([]*table.Table, len(rows))
	for i := range rows {
		tables[i] = t.Select(rows[i])
	}
	return tables, nil
}
