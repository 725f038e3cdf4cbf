package relation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// randomBase is relations p, q of two places and r of one over things 0 … n−1, with
// examples of all of them, and one that no relation knows.
func randomBase(n, facts int, draw func(n int) int) *search {
	db := &database{of: -1}
	d := db.domain("thing")
	for i := range n {
		db.domains[d].code(strconv.Itoa(i))
	}
	fill := func(name string, places, size int) *relation {
		columns := make([][]int32, places)
		for k := range columns {
			for range size {
				columns[k] = append(columns[k], int32(draw(n)))
			}
		}
		return newRelation(name, make([]place, places), columns)
	}
	db.relations = []*relation{fill("p", 2, facts), fill("q", 2, facts), fill("r", 1, facts/10+1)}
	number := fill("size", 1, facts/2+1)
	number.places, number.indexes, number.constants = []place{{}, {domain: numbers}}, make([]index, 2), make([]bool, 2)
	for range number.columns[0] {
		number.numbers = append(number.numbers, float64(draw(100)))
	}
	db.relations = append(db.relations, number)
	f := &search{ctx: context.Background(), db: db.finish(), examples: &examples{columns: make([][]int32, 1), places: make([]place, 1)}}
	for i := range n {
		f.examples.columns[0] = append(f.examples.columns[0], int32(i))
		f.positive, f.weight = append(f.positive, i%2 == 0), append(f.weight, 1)
	}
	f.examples.columns[0] = append(f.examples.columns[0], unknown, -1)
	f.positive, f.weight = append(f.positive, true, true), append(f.weight, 1, 1)
	return f
}

// TestSemijoinsAgreeWithProofs draws bodies that are trees, and some that are not.
func TestSemijoinsAgreeWithProofs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		f := randomBase(8, 12, draw)
		variables := 1
		var body []literal
		for range rapid.IntRange(1, 4).Draw(t, "literals") {
			r := f.db.relations[draw(4)]
			l := literal{relation: r, args: []int{draw(variables)}, negated: draw(4) == 0}
			if r.numeric() {
				l.op, l.cut = operator(1+draw(2)), float64(draw(100))
			} else if r.arity() == 2 {
				switch draw(4) {
				case 0:
					l.args = append(l.args, constantArg(int32(draw(8))))
				case 1:
					l.args = append(l.args, draw(variables))
				default:
					l.args = append(l.args, variables)
					if l.negated {
						l.args[1] = anything
					} else {
						variables++
					}
				}
				if draw(2) == 0 {
					l.args[0], l.args[1] = l.args[1], l.args[0]
				}
			}
			body = append(body, l)
		}
		if draw(5) == 0 {
			body = append(body, literal{args: []int{draw(variables), constantArg(int32(draw(8)))}, negated: draw(2) == 0})
		}
		covers := f.coverage(body, 1<<20)
		for e := range int32(len(f.positive)) {
			if want := f.covers(body, e); covers(e) != want {
				t.Fatalf("example %d of %v: %v, one by one %v", e, f.db.named(body), covers(e), want)
			}
		}
	})
}

// twoJoins is h(A) :- p(A,B), q(B,C), r(C) over 10⁵ facts.
func twoJoins() (*search, []literal) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := randomBase(20_000, 47_600, rng.IntN)
	of := f.db.byName
	return f, []literal{{relation: of["p"], args: []int{0, 1}}, {relation: of["q"], args: []int{1, 2}}, {relation: of["r"], args: []int{2}}}
}

func BenchmarkCoverage(b *testing.B) {
	f, body := twoJoins()
	active := everything(20_000)
	b.ReportAllocs()
	for b.Loop() {
		f.tallyOf(active, body)
	}
}

// cpuTime is the seconds that the process has worked, however busy the machine is.
func cpuTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// TestCoverageBesideProlog counts the same clause with SWI-Prolog, which is there on some
// machines, and says by how much it is slower.
func TestCoverageBesideProlog(t *testing.T) {
	swipl, err := exec.LookPath("swipl")
	if err != nil || os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("with ACCRETE_LONG=1, and SWI-Prolog (swipl) on the path")
	}
	f, body := twoJoins()
	var text strings.Builder
	text.WriteString(":- discontiguous p/2, q/2, r/1, e/1.\n")
	for e := range 20_000 {
		fmt.Fprintf(&text, "e(%d). ", e)
	}
	for _, r := range f.db.relations {
		for i := range r.size() {
			if r.numeric() {
				break
			}
			fmt.Fprintf(&text, "%s(%d", r.name, r.columns[0][i])
			if r.arity() == 2 {
				fmt.Fprintf(&text, ",%d", r.columns[1][i])
			}
			text.WriteString(").\n")
		}
	}
	text.WriteString(`h(A) :- p(A,B), q(B,C), r(C).
count(N) :- aggregate_all(count, (e(X), once(h(X))), N).
:- initialization((count(_), statistics(cputime,T0), count(N), statistics(cputime,T1), T is T1-T0, format("~w ~w~n",[N,T]), halt)).
`)
	file := filepath.Join(t.TempDir(), "count.pl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), swipl, "-q", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var count int
	var seconds float64
	if _, err := fmt.Sscan(string(out), &count, &seconds); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	active := everything(20_000)
	const times = 50
	start := cpuTime(t)
	var n counts
	for range times {
		n = f.tallyOf(active, body)
	}
	own := (cpuTime(t) - start) / times
	if int(n.ep+n.en) != count {
		t.Errorf("%v examples covered, SWI-Prolog says %d", n.ep+n.en, count)
	}
	t.Logf("SWI-Prolog takes %.4g s, semi-joins %.4g s: %.0f times", seconds, own, seconds/own)
	if seconds < 50*own {
		t.Errorf("%.0f times as fast as SWI-Prolog, expected 50", seconds/own)
	}
}
