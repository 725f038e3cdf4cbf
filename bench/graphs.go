package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/belief"
	"github.com/accrete-ml/accrete/table"
)

// The graphs part sets the search for a belief network's graph against Weka's
// BayesNet: K2 along an order of the network that the rows were drawn from, and
// hill climbing without one, both raising BDeu with at most four parents. Besides
// seconds it says how good the graphs are: BDeu in nats a row, reckoned here for
// all, and the arcs that are wrong.
const graphParents = 4

// graphMethods are measured on so many rows; the first of each number is what the
// others are set against. Weka has no prior of graphs and does not shake them, so
// that our second is the same search for the same score, and our third the default.
var graphMethods = []struct {
	rows    int
	edges   bool // arcs count whichever way they point: without an order rows do not tell
	methods []method
}{
	{3000, false, []method{
		{Tool: "Weka", Name: "BayesNet K2"},
		{Tool: accrete, Name: "belief structure=k2 score=bdeu graphs=even"},
		{Tool: accrete, Name: "belief structure=k2"},
	}},
	{10_000, true, []method{
		{Tool: "Weka", Name: "BayesNet HillClimber"},
		{Tool: accrete, Name: "belief structure=climb graphs=even restarts=-1"},
		{Tool: accrete, Name: "belief structure=climb"},
	}},
}

// measureGraphs prints what each took, and how many times as long Weka did: for
// learning alone, again and again so that Java's compiler has done its work, and
// for a whole process that learns once, starting and reading included.
func (b *bench) measureGraphs(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(b.folder, "..", "reproduce", "alarm.bif"))
	if err != nil {
		return err
	}
	known, err := learn.DecodeParts(belief.Name, []learn.Part{{Name: belief.FilePart, Data: append([]byte("network\n"), text...)}})
	if err != nil {
		return err
	}
	alarm := known.(*belief.Model)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, g := range graphMethods {
		// Columns stand in an order of the network, which Weka's K2 goes by.
		drawn, err := alarm.Sample(g.rows, uint64(g.rows))
		if err != nil {
			return err
		}
		t, err := inOrder(drawn, alarm.Order())
		if err != nil {
			return err
		}
		folder := filepath.Join(b.work, fmt.Sprint("graphs-", g.rows))
		if err := export(folder, t); err != nil {
			return err
		}
		truth := parentsOf(alarm, t.Schema)
		fmt.Fprintf(w, "%d rows of Alarm, whose own graph has BDeu %.3f a row\n", g.rows, bdeu(t, truth)/float64(g.rows))
		fmt.Fprintln(w, "method\tlearn s\tlearn CPU s\tprocess s\tprocess CPU s\tBDeu a row\tarcs\twrong\tlearn, times as fast\tby CPU\tprocess\tby CPU")
		var first [4]float64
		for i, m := range g.methods {
			tool := b.tools[m.Tool]
			if tool.LeftOut != "" {
				fmt.Fprintf(w, "%v\tleft out: %s\n", m, tool.LeftOut)
				continue
			}
			measure := func(budget float64) (outcome, error) {
				o := run(ctx, append(tool.command(b), workGraphs, folder, m.Name, fmt.Sprint("budget=", budget)), nil, 10*time.Minute, true)
				if len(o.Parts[partFit].Seconds) == 0 {
					return o, fmt.Errorf("%v: %s", m, firstOf(o.Failure, o.Reason, "no result"))
				}
				return o, nil
			}
			once, err := measure(0)
			if err != nil {
				return err
			}
			often, err := measure(10 * b.plan.Repeat)
			if err != nil {
				return err
			}
			fit := often.Parts[partFit]
			var parents [][]int
			if err := json.Unmarshal([]byte(fit.Text), &parents); err != nil || len(parents) != len(truth) {
				return fmt.Errorf("%v: its parents cannot be read: %q", m, fit.Text)
			}
			now := [4]float64{median(fit.Seconds), fit.CPU, once.Took, once.CPU}
			if i == 0 {
				first = now
			}
			fmt.Fprintf(w, "%v\t%.3f\t%.3f\t%.2f\t%.2f\t%.3f\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\n", m, now[0], now[1], now[2], now[3],
				bdeu(t, parents)/float64(g.rows), len(arcs(parents, g.edges)), wrongArcs(truth, parents, g.edges),
				first[0]/now[0], first[1]/now[1], first[2]/now[2], first[3]/now[3])
		}
	}
	return w.Flush()
}

// inOrder returns a table with its columns in another order.
func inOrder(t *table.Table, order []string) (*table.Table, error) {
	schema, columns := &table.Schema{}, []table.Column{}
	for _, name := range order {
		at := t.Schema.Index(name)
		schema.Attributes, columns = append(schema.Attributes, t.Schema.Attributes[at]), append(columns, t.Columns[at])
	}
	return table.New(schema, columns, nil)
}

// parentsOf returns each column's parents in a network.
func parentsOf(m *belief.Model, schema *table.Schema) [][]int {
	parents := make([][]int, len(schema.Attributes))
	grown, _ := m.Grown()
	for _, g := range grown {
		a := g.(belief.Arc)
		child := schema.Index(a.Child)
		parents[child] = append(parents[child], schema.Index(a.Parent))
	}
	return parents
}

// graphOfOurs learns a graph of the rows, and says each column's parents.
func graphOfOurs(ctx context.Context, folder, name string, budget float64) error {
	t, err := importTable(folder)
	if err != nil {
		return err
	}
	var order []string
	for _, a := range t.Schema.Attributes {
		order = append(order, a.Name)
	}
	l, err := learnerOf(fmt.Sprintf("%s parents=%d order=%s", name, graphParents, strings.Join(order, ",")))
	if err != nil {
		return err
	}
	var m learn.Model
	busy := cpuSeconds()
	took, err := repeat(budget, repeats, func() (err error) {
		m, err = l.Learn(ctx, learn.Task{Table: t, NoTarget: true, Seed: 1})
		return err
	})
	if err != nil {
		return err
	}
	p := part{Part: partFit, Seconds: took, CPU: (cpuSeconds() - busy) / float64(len(took))}
	text, err := json.Marshal(parentsOf(m.(*belief.Model), t.Schema))
	if err != nil {
		return err
	}
	p.Text = string(text)
	say(p)
	return nil
}

// bdeu is the log of the probability of the rows under a graph, by the text of
// Heckerman, Geiger & Chickering 1995 with an equivalent sample of one case, for
// rows that know all their cells.
func bdeu(t *table.Table, parents [][]int) float64 {
	log := 0.0
	for child, those := range parents {
		states, rows := len(t.Schema.Attributes[child].Values), 1
		for _, p := range those {
			rows *= len(t.Schema.Attributes[p].Values)
		}
		counts := make([]float64, rows*states)
		for r := range t.Rows() {
			at := 0
			for _, p := range those {
				at = at*len(t.Schema.Attributes[p].Values) + int(t.Columns[p].Codes[r])
			}
			counts[at*states+int(t.Columns[child].Codes[r])]++
		}
		gamma := func(n, cases float64) float64 {
			with, _ := math.Lgamma(cases + n)
			without, _ := math.Lgamma(cases)
			return with - without
		}
		for row := range rows {
			n := 0.0
			for _, k := range counts[row*states:][:states] {
				log += gamma(k, 1/float64(len(counts)))
				n += k
			}
			log -= gamma(n, 1/float64(rows))
		}
	}
	return log
}

// arcs returns the arcs of a graph, or its edges, as pairs.
func arcs(parents [][]int, edges bool) map[[2]int]bool {
	all := map[[2]int]bool{}
	for child, those := range parents {
		for _, p := range those {
			arc := [2]int{p, child}
			if edges {
				slices.Sort(arc[:])
			}
			all[arc] = true
		}
	}
	return all
}

// wrongArcs counts the arcs, or the edges, that a graph lacks or has too many.
func wrongArcs(truth, parents [][]int, edges bool) int {
	want, got, wrong := arcs(truth, edges), arcs(parents, edges), 0
	for a := range want {
		if !got[a] {
			wrong++
		}
	}
	for a := range got {
		if !want[a] {
			wrong++
		}
	}
	return wrong
}
