package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The neighbours part sets our search for the nearest rows against
// scikit-learn's: both learn so many rows and answer as many others, each on all
// cores. It says seconds of the clock and of the processors, which other work
// on the machine leaves alone.
const (
	neighbourRows    = 60_000
	neighbourColumns = 50
	neighbourHidden  = 10 // what the columns are made of
)

// sheets draws rows around ten places in ten hidden dimensions, bent into fifty
// columns, with some noise in each: many columns that hang together, as
// measurements do.
func sheets(rows int) (*table.Table, error) {
	const classes, units = 10, 64
	random := rand.New(rand.NewPCG(1, 50))
	normals := func(n int, scale float64) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = scale * random.NormFloat64()
		}
		return xs
	}
	places := normals(classes*neighbourHidden, 1.5)
	first, bias, second := normals(neighbourHidden*units, 1/math.Sqrt(neighbourHidden)), normals(units, 1), normals(units*neighbourColumns, 1.0/8)
	schema := &table.Schema{}
	columns := make([]table.Column, neighbourColumns+1)
	for j := range neighbourColumns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("c%02d", j), Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
	}
	class := table.Attribute{Name: "class"}
	for c := range classes {
		class.Values = append(class.Values, fmt.Sprint(c))
	}
	schema.Attributes = append(schema.Attributes, class)
	columns[neighbourColumns].Codes = make([]int32, rows)
	unit := make([]float64, units)
	for r := range rows {
		c := random.IntN(classes)
		columns[neighbourColumns].Codes[r] = int32(c)
		copy(unit, bias)
		for h := range neighbourHidden {
			z := places[c*neighbourHidden+h] + random.NormFloat64()
			for u := range unit {
				unit[u] += z * first[h*units+u]
			}
		}
		for u := range unit {
			unit[u] = math.Tanh(unit[u])
		}
		for j := range neighbourColumns {
			x := 0.05 * random.NormFloat64()
			for u, v := range unit {
				x += v * second[u*neighbourColumns+j]
			}
			columns[j].Floats[r] = x
		}
	}
	return table.New(schema, columns, nil)
}

var neighbourMethods = []method{
	{Tool: "scikit-learn", Name: "KNeighborsClassifier"},
	{Tool: accrete, Name: "nearest k=5 scale=sd m=1 index=kd"},
	{Tool: accrete, Name: "nearest k=5 scale=sd m=1 index=graph"},
}

// measureNeighbours prints what each took, and how many times as long
// scikit-learn did.
func (b *bench) measureNeighbours(ctx context.Context) error {
	t, err := sheets(2 * neighbourRows)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.work, "neighbours")
	if err := export(folder, t); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "learn %d rows of %d columns, answer %d others, k = 5, all cores\n", neighbourRows, neighbourColumns, neighbourRows)
	fmt.Fprintln(w, "method\tlearn s\tanswer s\tCPU s\tright\tratio of clocks\tratio of CPU\tnotes")
	var clock, busy float64
	for i, m := range neighbourMethods {
		tool := b.tools[m.Tool]
		if tool.LeftOut != "" {
			fmt.Fprintf(w, "%v\tleft out: %s\n", m, tool.LeftOut)
			continue
		}
		o := run(ctx, append(tool.command(b), workNeighbours, folder, m.Name), nil, 10*time.Minute, true)
		fit, predict := o.Parts[partFit], o.Parts[partPredict]
		if len(fit.Seconds) == 0 || len(predict.Seconds) == 0 {
			return fmt.Errorf("%v: %s", m, firstOf(o.Failure, o.Reason, "no result"))
		}
		took, cpu := fit.Seconds[0]+predict.Seconds[0], fit.CPU+predict.CPU
		if i == 0 {
			clock, busy = took, cpu
		}
		fmt.Fprintf(w, "%v\t%.2f\t%.2f\t%.2f\t%.2f %%\t%.1f\t%.1f\t%s\n", m, fit.Seconds[0], predict.Seconds[0], cpu, 100*predict.Right, clock/took, busy/cpu, fit.Text)
	}
	return w.Flush()
}

// neighboursOfOurs learns the first half of the rows and answers the others.
func neighboursOfOurs(ctx context.Context, folder, method string) error {
	t, err := importTable(folder)
	if err != nil {
		return err
	}
	l, err := learnerOf(method)
	if err != nil {
		return err
	}
	target := len(t.Columns) - 1
	train, test := t.Slice(0, t.Rows()/2), t.Slice(t.Rows()/2, t.Rows())
	start, busy := time.Now(), cpuSeconds()
	m, err := l.Learn(ctx, learn.Task{Table: train, Seed: 1}.At(target))
	if err != nil {
		return err
	}
	p := part{Part: partFit, Seconds: []float64{time.Since(start).Seconds()}, CPU: cpuSeconds() - busy}
	if r, ok := learn.Ability[learn.Remarker](m); ok {
		remarks, err := r.Remarks()
		if err != nil {
			return err
		}
		for _, remark := range remarks {
			p.Text += remark.String()
		}
	}
	say(p)
	start, busy = time.Now(), cpuSeconds()
	rows, _, err := table.Conform(test, m.Schema(), false)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(ctx, rows, out); err != nil {
		return err
	}
	p = part{Part: partPredict, Seconds: []float64{time.Since(start).Seconds()}, CPU: cpuSeconds() - busy, Rows: rows.Rows()}
	values := m.Schema().Attributes[m.Target()].Values
	for r := range rows.Rows() {
		if int32(learn.Best(out.Row(r), values)) == rows.Columns[m.Target()].Codes[r] {
			p.Right += 1 / float64(rows.Rows())
		}
	}
	say(p)
	return nil
}

// The numbers part sets learners of numbers against ridge regression and boosted
// trees: the same ten folds for all, one run.
var (
	numberSets    = []set{{Name: "servo"}, {Name: "machine-cpu"}, {Name: "auto-mpg"}, {Name: "boston"}, {Name: "cpu-act", file: "cpu_act.csv.gz", target: "usr"}}
	numberMethods = []method{
		{Tool: "scikit-learn", Name: "Ridge"}, {Tool: "XGBoost", Name: "XGBRegressor"},
		{Tool: accrete, Name: "lwr"}, {Tool: accrete, Name: "nearest"}, {Tool: accrete, Name: "rbf"}, {Tool: accrete, Name: "gp"},
	}
)

// measureNumbers prints the root mean squared error of each method on each set.
func (b *bench) measureNumbers(ctx context.Context) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "RMSE over ten folds\trows")
	for _, m := range numberMethods {
		fmt.Fprintf(w, "\t%v", m)
	}
	fmt.Fprintln(w)
	for i := range numberSets {
		s := &numberSets[i]
		t, err := s.loadNumbers(ctx, b.data)
		if err != nil {
			return err
		}
		folder := b.setFolder(s)
		if err := export(folder, t); err != nil {
			return err
		}
		if err := exportFolds(folder, t); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%d", s.Name, t.Rows())
		for _, m := range numberMethods {
			tool := b.tools[m.Tool]
			if tool.LeftOut != "" {
				fmt.Fprint(w, "\t-")
				continue
			}
			path := filepath.Join(folder, strings.ReplaceAll(m.String(), " ", "-")+".f64")
			o := run(ctx, append(tool.command(b), workNumbers, folder, m.Name, "out="+path), oneCore, 15*time.Minute, false)
			if problem := firstOf(o.Failure, o.Reason); problem != "" {
				return fmt.Errorf("%v on %s: %s", m, s.Name, problem)
			}
			said, err := readFloats(path)
			if err != nil {
				return err
			}
			y, sum := t.Columns[len(t.Columns)-1].Floats, 0.0
			for r := range y {
				sum += (said[r] - y[r]) * (said[r] - y[r]) / float64(len(y))
			}
			fmt.Fprintf(w, "\t%.4g", math.Sqrt(sum))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// loadNumbers returns the rows of a set whose target is known, the target last.
func (s *set) loadNumbers(ctx context.Context, dataFolder string) (*table.Table, error) {
	target := s.target
	var t *table.Table
	if s.file == "" {
		loaded, info, err := datasets.Load(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		t, target = loaded, info.Target
	} else {
		var err error
		if t, _, err = table.ReadFile(ctx, filepath.Join(dataFolder, s.file), table.Options{Target: target, Numeric: []string{target}}); err != nil {
			return nil, err
		}
	}
	at := t.Schema.Index(target)
	if at < 0 || t.Schema.Attributes[at].Kind != table.Numeric {
		return nil, fmt.Errorf("data set %s: no numeric column %q", s.Name, target)
	}
	schema := &table.Schema{}
	var columns []table.Column
	for i, a := range t.Schema.Attributes {
		if i != at {
			schema.Attributes, columns = append(schema.Attributes, a), append(columns, t.Columns[i])
		}
	}
	schema.Attributes = append(schema.Attributes, t.Schema.Attributes[at])
	return table.New(schema, append(columns, t.Columns[at]), nil)
}

// numbersOfOurs answers each fold by the others.
func numbersOfOurs(ctx context.Context, folder, method, path string) error {
	t, err := importTable(folder)
	if err != nil {
		return err
	}
	of, err := readInt32s(filepath.Join(folder, foldsFile))
	if err != nil {
		return err
	}
	said := make([]float64, t.Rows())
	for fold := range int32(folds) {
		var train, test []int
		for r, f := range of {
			if f == fold {
				test = append(test, r)
			} else {
				train = append(train, r)
			}
		}
		l, err := learnerOf(method)
		if err != nil {
			return err
		}
		m, err := l.Learn(ctx, learn.Task{Table: t.Select(train), Seed: 1}.At(len(t.Columns)-1))
		if err != nil {
			return err
		}
		rows, _, err := table.Conform(t.Select(test), m.Schema(), false)
		if err != nil {
			return err
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(ctx, rows, out); err != nil {
			return err
		}
		for i, r := range test {
			said[r] = out.Mean[i]
		}
	}
	return writeFloats(path, said)
}
