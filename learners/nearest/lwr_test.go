package nearest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

func TestLocalContract(t *testing.T) { contract(t, "lwr") }

func TestLocalContractWithSettings(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("minutes of laws; ACCRETE_LONG=1 checks them")
	}
	laws := slices.DeleteFunc(learntest.Laws(), func(law string) bool { return strings.HasPrefix(law, "same seed") })
	for name, settings := range map[string]map[string]string{
		"parabola": {"k": "20", "form": "quadratic", "criterion": "e1", "index": "ball"},
		"inverse":  {"kernel": "inverse", "scale": "range", "ridge": "0"},
	} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, "lwr", learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

// The criteria E1, E2 and E3 of section 8.3.1 with each form, for squares of 1
// to 5 at 2.5.
func TestLocalFits(t *testing.T) {
	tbl := line(t, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		criterion, width            string
		constant, linear, quadratic float64
	}{
		{"e1", "", 7.5, 7.5, 6.25},
		{"e2", "1", 7.358926, 7.123386, 6.25},
		{"e3", "1", 7.037883, 7.037883, 6.25},
		{"e2", "0.5", 6.536028, 6.535990, 6.25},
	} {
		for form, want := range map[string]float64{"constant": c.constant, "linear": c.linear, "quadratic": c.quadratic} {
			settings := []string{"k=4", "criterion=" + c.criterion, "form=" + form, "scale=none", "ridge=0"}
			if c.width != "" {
				settings = append(settings, "width="+c.width, "kernel=gaussian")
			}
			m := learnt(t, LWR, tbl, settings...)
			if got := answer(t, m, line(t, 2.5)).Mean[0]; math.Abs(got-want) > 5e-7 {
				t.Errorf("%s, width %s, %s: %v, want %v", c.criterion, c.width, form, got, want)
			}
		}
	}
}

// One step of equation 8.7 from 0 with η = 0.1, and where its steps lead: to
// what is solved directly.
func TestLocalGradient(t *testing.T) {
	m := learnt(t, LWR, line(t, 1, 2, 3, 4, 5), "k=4", "form=linear", "kernel=gaussian", "width=1", "scale=none", "ridge=0").(*LocalModel)
	r := m.rooms.New().(*localRoom)
	asked, _, err := table.Conform(line(t, 2.5), m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	near := slices.Clone(m.ask(r, asked.Columns, 0))
	m.weigh(r, near, m.fits[0].local())
	var w0, w1 float64
	step := func(eta float64) (d0, d1 float64) {
		for i, n := range near {
			row := int(m.cases.starts[n.at])
			x, f := m.cases.table.Columns[0].Floats[row], m.cases.table.Columns[1].Floats[row]
			d0 += eta * r.weight[i] * (f - w0 - w1*x)
			d1 += eta * r.weight[i] * (f - w0 - w1*x) * x
		}
		return d0, d1
	}
	if d0, d1 := step(0.1); math.Abs(d0-1.699155168) > 1e-8 || math.Abs(d1-5.198980197) > 1e-8 {
		t.Errorf("Δw = %v, %v", d0, d1)
	}
	for range 20_000 {
		d0, d1 := step(0.05)
		w0, w1 = w0+d0, w1+d1
	}
	if math.Abs(w0+5.462117) > 1e-6 || math.Abs(w1-5) > 1e-6 {
		t.Errorf("descent leads to %v, %v", w0, w1)
	}
	if got := answer(t, m, line(t, 2.5)).Mean[0]; math.Abs(got-(w0+2.5*w1)) > 1e-6 {
		t.Errorf("solved %v, descended %v", got, w0+2.5*w1)
	}
}

// Exercise 8.2: a row that weighs as much as several counts as they do.
func TestLocalCopies(t *testing.T) {
	b := table.NewBuilder(line(t).Schema)
	for x, w := range map[float64]float64{1: 1, 2: 3, 3: 2, 4: 1, 5: 2} {
		b.Float(0, x)
		b.Float(1, x*x)
		b.EndWeighing(w)
	}
	settings := []string{"k=all", "criterion=e2", "form=linear", "kernel=gaussian", "width=1", "scale=none"}
	weighed := answer(t, learnt(t, LWR, built(t, b), settings...), line(t, 2.5)).Mean[0]
	copied := answer(t, learnt(t, LWR, line(t, 1, 2, 2, 2, 3, 3, 4, 5, 5), settings...), line(t, 2.5)).Mean[0]
	if math.Abs(weighed-copied) > 1e-12 {
		t.Errorf("weighed %v, copied %v", weighed, copied)
	}
}

// A plane is found again, also far from its rows, and a curve nearly.
func TestLocalShapes(t *testing.T) {
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "f", Kind: table.Numeric}}})
	for i := range 200 {
		x, y := float64(i%20), float64(i*i%17)
		b.Float(0, x)
		b.Float(1, y)
		b.Float(2, 3+2*x-y)
		b.End()
	}
	m := learnt(t, LWR, built(t, b), "form=linear", "ridge=0")
	asked := table.NewBuilder(m.Schema())
	asked.Add(map[string]any{"a": 7.3, "b": 21.})
	if got, want := answer(t, m, built(t, asked)).Mean[0], 3+2*7.3-21; math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := learning(LWR, plane(t, sixPoints, sixClasses...)); err == nil || !strings.Contains(err.Error(), "use nearest") {
		t.Error(err)
	}
	for _, wrong := range []string{"k=8", "width=-1", "ridge=-1", "form=cubic"} {
		if _, err := learning(LWR, line(t, 1, 2, 3), wrong); err == nil {
			t.Error(fmt.Sprint(wrong, " is accepted"))
		}
	}
}
