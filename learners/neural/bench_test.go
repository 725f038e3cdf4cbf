package neural

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// randomTable returns rows of random numbers and a class.
func randomTable(tb testing.TB, rows, inputs, classes int) *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{}
	var columns []table.Column
	for j := range inputs {
		x := make([]float64, rows)
		for r := range x {
			x[r] = random.Float64()
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "x" + strconv.Itoa(j), Kind: table.Numeric})
		columns = append(columns, table.Column{Floats: x})
	}
	a := table.Attribute{Name: "class"}
	for c := range classes {
		a.Values = append(a.Values, strconv.Itoa(c))
	}
	codes := make([]int32, rows)
	for r := range codes {
		codes[r] = int32(random.IntN(classes))
	}
	t, err := table.New(&table.Schema{Attributes: append(schema.Attributes, a)}, append(columns, table.Column{Codes: codes}), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// BenchmarkEpoch is an epoch of 60,000 rows of 784 numbers through 100 units
// to 10 classes in batches of 128 (the size of a well-known set of digits),
// and everything that learning such a table takes for one epoch.
func BenchmarkEpoch(b *testing.B) {
	const rows, inputs, classes = 60000, 784, 10
	random := rand.New(rand.NewPCG(1, 1))
	s := &sample{stride: strideOf(inputs), x: make([]float32, rows*strideOf(inputs)), aim: aim{outputs: classes, class: make([]int32, rows)}}
	weights := make([]float64, rows)
	for r := range rows {
		for i := range inputs {
			s.x[r*s.stride+i] = random.Float32()
		}
		s.class[r] = int32(random.IntN(classes))
		weights[r] = 1
	}
	o, err := (&Learner{}).settings()
	if err != nil {
		b.Fatal(err)
	}
	order := show(weights)
	d := newDescent(newDense(inputs, []int{100}, classes, units.Rectifier, random), s, o, 128)
	b.Run("epoch", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for lo := 0; lo < rows; lo += 128 {
				d.learn(order[lo:min(lo+128, rows)])
			}
		}
	})
	t := randomTable(b, rows, inputs, classes)
	nothing := 0.0
	b.Run("learn", func(b *testing.B) {
		for range b.N {
			l := &Learner{Hidden: "100", Batch: 128, Epochs: 1, Validation: &nothing}
			if _, err := l.Learn(context.Background(), learn.Task{Table: t}.At(inputs)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSmall is an epoch of 300 rows through 20 units, from a table to a
// model of 100 epochs.
func BenchmarkSmall(b *testing.B) {
	t := randomTable(b, 300, 10, 2)
	nothing := 0.0
	b.ReportAllocs()
	for range b.N {
		l := &Learner{Hidden: "20", Epochs: 100, Patience: 100, Validation: &nothing}
		if _, err := l.Learn(context.Background(), learn.Task{Table: t}.At(10)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N)/100, "ms/epoch")
}

func BenchmarkPredict(b *testing.B) {
	t := randomTable(b, 10000, 20, 3)
	m, err := (&Learner{Epochs: 2}).Learn(context.Background(), learn.Task{Table: t}.At(20))
	if err != nil {
		b.Fatal(err)
	}
	fitted, err := recoded(t, m.Schema())
	if err != nil {
		b.Fatal(err)
	}
	out := learn.NewPredictions(m, t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), fitted, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(t.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkUpdateRow learns one row more, from a model to the next one.
func BenchmarkUpdateRow(b *testing.B) {
	ctx := context.Background()
	for _, rows := range []int{1000, 100_000} {
		t := randomTable(b, rows, 20, 3)
		m, err := (&Learner{Epochs: 1}).Learn(ctx, learn.Task{Table: t}.At(20))
		if err != nil {
			b.Fatal(err)
		}
		m.(*Model).settings.Epochs = 0 // learning takes one epoch, updates what they take by default
		one, _, err := table.Conform(t.Slice(0, 1), m.Schema(), false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				u, err := m.(*Model).Begin(learn.Source{ID: "2"})
				if err != nil {
					b.Fatal(err)
				}
				if err := u.Add(ctx, one); err != nil {
					b.Fatal(err)
				}
				if _, err := u.Freeze(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
