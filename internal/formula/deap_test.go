package formula

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/deap_speed.py
var deapProgram string

// TestBesideDEAP sets the machine beside DEAP (Debian's python3-deap) in one run,
// on the same formulas and rows: at least 20 million nodes × rows a second, and
// ten times what DEAP does, row by row, as in its example of symbolic regression.
// Beside its columns of numpy, which pay for every operation once a formula, it is
// to be faster. Where DEAP is missing, that half is left out.
func TestBesideDEAP(t *testing.T) {
	const rows, seconds = 500, 0.4
	r := rand.New(rand.NewPCG(1, 0x64656170))
	columns := make([][]float64, 3)
	for j := range columns {
		for range rows {
			columns[j] = append(columns[j], r.Float64()+0.5)
		}
	}
	texts := []string{
		"x0*x0*x0 + x0*x0 + x0", "sin(x0*x0)*sin(x1) - x2", "x0*x1/(x2 + 1) - x1*x1 + x0/x1", "exp(x0 - x1)*x2 + sin(x1)", "x0*x1*x2 + x0*x1 + x2*x2*x2 - x1/x0",
	}
	var trees []Tree
	var written []string
	names := []string{"x0", "x1", "x2"}
	for _, text := range texts {
		tree, err := Parse(text, names)
		if err != nil {
			t.Fatal(err)
		}
		trees, written = append(trees, tree), append(written, prefix(tree, names))
	}
	m, out := &Machine{}, make([]float64, rows)
	ours := 0.0 // the best of some stretches: others use the machine too
	for range 10 {
		nodes, begin := 0.0, time.Now()
		for time.Since(begin).Seconds() < seconds/10 {
			for range 20 {
				for _, tree := range trees {
					m.Eval(tree, columns, out)
					nodes += float64(len(tree) * rows)
				}
			}
		}
		ours = max(ours, nodes/time.Since(begin).Seconds())
	}
	t.Logf("ours: %.3g million nodes × rows a second", ours/1e6)
	if ours < 20e6 {
		t.Errorf("%.3g nodes × rows a second, expected 2e7", ours)
	}
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("what is compared by time needs a machine to itself: in the long run")
	}
	if exec.Command("/usr/bin/python3", "-c", "import deap").Run() != nil {
		t.Skip("Debian's python3-deap is not there: nothing to compare with")
	}
	job, err := json.Marshal(map[string]any{"rows": rows, "columns": columns, "formulas": written, "seconds": seconds})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/usr/bin/python3", "-c", deapProgram)
	c.Stdin = bytes.NewReader(job)
	said, err := c.Output()
	var deap struct{ Rows, Columns float64 }
	if err == nil {
		err = json.Unmarshal(said, &deap)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("DEAP, row by row: %.3g million, ours %.1f times that; by columns of numpy: %.3g million, ours %.1f times that", deap.Rows/1e6, ours/deap.Rows, deap.Columns/1e6, ours/deap.Columns)
	if ours < 10*deap.Rows || ours < deap.Columns {
		t.Errorf("ours %.3g, DEAP %.3g row by row and %.3g by columns", ours, deap.Rows, deap.Columns)
	}
}

// prefix writes a formula as DEAP reads it.
func prefix(tree Tree, names []string) string {
	called := map[Op]string{Add: "add", Sub: "sub", Mul: "mul", Div: "div", Sin: "sin", Exp: "exp"}
	var stack []string
	for _, n := range tree {
		switch n.Op {
		case Var:
			stack = append(stack, names[n.Index])
		case Const:
			stack = append(stack, "1.0")
		default:
			k := len(stack) - n.Op.Arity()
			stack = append(stack[:k], called[n.Op]+"("+strings.Join(stack[k:], ", ")+")")
		}
	}
	return stack[0]
}
