package nearest

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Any head and body beside sound rows give a sound model or an error.
func FuzzDecode(f *testing.F) {
	names := []string{Name, LWR, RBF}
	rows := make([][]learn.Part, len(names))
	for i, name := range names {
		m, err := learning(name, line(f, 1, 2, 3, 4, 5, 6))
		if err != nil {
			f.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil {
			f.Fatal(err)
		}
		rows[i] = parts
		f.Add(uint8(i), parts[0].Data, parts[len(parts)-1].Data)
	}
	f.Fuzz(func(t *testing.T, which uint8, head, body []byte) {
		defer bounded.Start(t, len(head)+len(body))()
		i := int(which) % len(names)
		parts := append([]learn.Part{}, rows[i]...)
		parts[0].Data, parts[len(parts)-1].Data = head, body
		info, err := learn.Lookup(names[i])
		if err != nil {
			t.Fatal(err)
		}
		m, err := info.Decode(parts)
		if err != nil {
			return
		}
		columns := make([]table.Column, len(m.Schema().Attributes))
		for j := range columns {
			columns[j].Floats = []float64{1, table.NA, math.Inf(1)}
		}
		asked, err := table.New(m.Schema(), columns, nil)
		if err != nil {
			return
		}
		out := learn.NewPredictions(m, 3)
		if err := m.Predict(context.Background(), asked, out); err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			if !(out.Low[r] <= out.Mean[r] && out.Mean[r] <= out.High[r]) {
				t.Fatalf("%v in [%v, %v]", out.Mean[r], out.Low[r], out.High[r])
			}
			if _, err := m.(learn.Explainer).Explain(asked, r); err != nil {
				t.Fatal(err)
			}
		}
	})
}
