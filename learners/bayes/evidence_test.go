package bayes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// drawn returns texts of eight words whose classes' shares are drawn from a
// symmetric Dirichlet distribution, approximately: gamma variates by Marsaglia & Tsang
// (2000), raised for a shape below 1.
func drawn(r *rand.Rand, texts, classes, vocabulary int, shape float64) string {
	gamma := func() float64 {
		d := shape + 1 - 1.0/3
		for {
			x := r.NormFloat64()
			v := math.Pow(1+x/math.Sqrt(9*d), 3)
			if v > 0 && math.Log(r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
				return d * v * math.Pow(r.Float64(), 1/shape)
			}
		}
	}
	shares := make([][]float64, classes) // running sums
	for c := range shares {
		shares[c] = make([]float64, vocabulary)
		sum := 0.0
		for w := range vocabulary {
			sum += gamma()
			shares[c][w] = sum
		}
	}
	var b strings.Builder
	for i := range texts {
		c := i % classes
		fmt.Fprintf(&b, "c%d:", c)
		for range 8 {
			at := r.Float64() * shares[c][vocabulary-1]
			w := 0
			for shares[c][w] < at {
				w++
			}
			fmt.Fprintf(&b, " w%d", w)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// logEvidence is how probable the counts of all classes are, to the digit: what
// byEvidence raises on a grid.
func logEvidence(l *lexicon, a, b float64) float64 {
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	log, all, size := 0.0, sum(l.of), float64(l.size)
	for c, n := range l.of {
		log += lgamma(size*(a+b)) - lgamma(n+size*(a+b))
		for v, in := range l.chosen {
			if in {
				counts := l.counts[v*l.classes:][:l.classes]
				alpha := a + b*size*(sum(counts)-counts[c])*l.scale/(all-n)
				log += lgamma(counts[c]*l.scale+alpha) - lgamma(alpha)
			}
		}
	}
	return log
}

// What makes the texts most probable is found, and is near what they were drawn with.
func TestEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, classes := range []int{2, 5} {
		for _, shape := range []float64{0.5, 0.8} {
			m := learnDocuments(t, drawn(r, 2000, classes, 500, shape), Learner{})
			m.estimate()
			l := m.lexicon(0)
			a, b := l.m/float64(l.size), l.more/float64(l.size)
			// 500 shares of each of the classes tell a to 5 % or so (the deviation of an
			// estimate of a shape from 1,000 gamma variates is 1.3/√1000 of it at most), and
			// that words which no text has are left out raises it by as much.
			if !(a+b > shape*0.85 && a+b < shape*1.2) {
				t.Errorf("%d classes, shape %v: found %v and %v", classes, shape, a, b)
			}
			if classes == 2 && b != 0 {
				t.Errorf("of two classes %v cases are of the other", b)
			}
			// The grid, and 60 steps towards a b that is nothing, end within two nats of 90,000.
			at := logEvidence(l, a, b)
			for _, near := range [][2]float64{{a * 1.05, b}, {a / 1.05, b}, {a, b*1.1 + 1e-4*a}, {a, b / 1.1}} {
				if classes == 2 {
					near[1] = 0
				}
				if other := logEvidence(l, near[0], near[1]); other > at+2 {
					t.Errorf("%d classes, shape %v: %v has the evidence %v, %v has %v", classes, shape, [2]float64{a, b}, at, near, other)
				}
			}
			q, total := make([]float64, classes), make([]float64, classes)
			for v := range l.chosen {
				l.shares(v, q)
				for c := range q {
					total[c] += q[c]
				}
			}
			for c := range total {
				if math.Abs(total[c]-1) > 1e-9 {
					t.Errorf("P(word | class %d) add up to %v", c, total[c])
				}
			}
		}
	}
}

// Fewer than a thousand texts are the book's to the digit; a thousand are not; and
// estimate=m always is.
func TestManyTexts(t *testing.T) {
	lines := drawn(rand.New(rand.NewPCG(3, 4)), 1000, 3, 200, 0.1)
	most := lines[:strings.LastIndex(strings.TrimSpace(lines), "\n")]
	for _, c := range []struct {
		lines string
		of    Learner
		book  bool
	}{{most, Learner{}, true}, {lines, Learner{}, false}, {lines, Learner{Estimate: "m"}, true}, {most, Learner{Estimate: "evidence"}, false}} {
		m := learnDocuments(t, c.lines, c.of)
		m.estimate()
		l, q := m.lexicon(0), make([]float64, 3)
		differ := 0.0
		for v := range l.chosen {
			l.shares(v, q)
			for class, n := range l.counts[v*3:][:3] {
				differ = max(differ, math.Abs(q[class]-(n+1)/(l.of[class]+float64(l.size))))
			}
		}
		if book := differ < 1e-15; book != c.book {
			t.Errorf("%v, %v texts: at most %v from (n + 1)/(N + vocabulary)", c.of.Estimate, m.total.columns[0].known(), differ)
		}
	}
}

// Texts that came in parts are estimated as if they had come at once.
func TestEvidenceAddsUp(t *testing.T) {
	lines := strings.SplitAfter(drawn(rand.New(rand.NewPCG(5, 6)), 1500, 4, 300, 0.2), "\n")
	whole := learnDocuments(t, strings.Join(lines, ""), Learner{})
	parts := learnDocuments(t, strings.Join(lines[700:], ""), Learner{})
	u, err := parts.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), documents(t, strings.Join(lines[:700], ""), parts.Schema())); err != nil {
		t.Fatal(err)
	}
	both, err := u.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"w1 w2 w3", "w10 w20 w30 w40", "w5 w5 w299", "nothing"}
	want := said(t, whole, texts...)
	for i, got := range said(t, both.(*Model), texts...) {
		for class, p := range got {
			if math.Abs(p-want[i][class]) > 1e-9 {
				t.Errorf("text %d: P(%s) = %v in parts, %v at once", i+1, class, p, want[i][class])
			}
		}
	}
}
