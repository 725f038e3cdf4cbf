// Package belief is Bayesian belief networks: a graph without cycles whose
// nodes are the columns, and for each column a table of its probabilities given
// its parents, so that
//
//	P(row) = Π P(cell | cells of the column's parents)
//
// (Pearl 1988; Mitchell 1997, section 6.11). Any column can be asked from any
// others. Nominal columns have tables; a number is normal given the values of
// its nominal parents, and a line along its numeric ones (conditional linear
// Gaussians, Lauritzen 1992; gaussian.go). No name hangs on a number: searches do
// not look for such arcs, and requiring one is an error.
//
// The graph is given by a file (structure=given), or learnt: every column from
// the class (naive), and from one other column besides (tan, Friedman, Geiger &
// Goldszmidt 1997); greedily along an order (k2, Cooper & Herskovits 1992); by
// adding, dropping and turning arcs while the score rises, with a tabu list and
// restarts (climb); or by tests of independence (pc, Spirtes, Glymour & Scheines
// 1993). Scores are the Bayesian ones, with a prior that is spread evenly over
// each table (bdeu, Heckerman, Geiger & Chickering 1995) or over its cells (k2),
// and the likelihood less its price (bic, Schwarz 1978); an arc comes where it gains
// more than its odds beforehand, by which one is expected into each column. To a
// search, a parent's not being known is a value like others, so that all graphs are
// compared on the same rows.
//
// Tables are m-estimates, (n_c + m·p)/(n + m), with p uniform, or the table of
// the file, which then is worth so many cases. Rows whose family is not known
// are left out of its table, or shared out by EM (missing=em) or by gradient
// ascent (missing=gradient; Russell et al. 1995, Mitchell's equation 6.25), which
// also learn columns of the file that the rows do not have.
//
// Answers are exact, by a junction tree that is compiled once (junction.go); where
// that would be wider than width= allows, by eliminating columns question by question
// (eliminate.go); and where that is too wide as well, drawn by likelihood weighting.
// Each can be asked for (inference=exact, elimination, weighting, gibbs). A row that
// the tables find impossible is answered as if nothing were known.
//
// Rules about any column can be told (told.go): each is so many virtual cases, added
// to the table that it speaks of. A model keeps its rows by source (learn/kept) and learns them again, so that
// updating, merging and forgetting are exact, its graph included; of a graph that is
// known it can keep counts in place of rows (counts.go). Each
// table reads as rules (package rule); package internal/netfile reads and
// writes the files.
//
// Counting a family costs a pass over its columns; a
// step of climbing recounts the families of one column; a question costs the
// junction tree's size, which is exponential in its width.
package belief

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "belief"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "Bayesian belief network: any column from any others, graph given or learnt",
		Source:   "Pearl 1988; Mitchell 1997, section 6.11; K2: Cooper & Herskovits 1992",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Density: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Density: true, Ask: true, Impute: true, Grow: true, Keep: true},
		Contract: learn.Exact,
		Keeps:    "coded distinct rows with a weight per source",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes belief networks. Its zero value is ready to use.
type Learner struct {
	// Structure is where the graph comes from.
	Structure string `set:"structure" default:"climb (given, if there is a network)" oneof:"given|naive|tan|k2|climb|pc" doc:"the graph: given (network=), naive, tan, k2 (order=), climb, pc"`
	// Network is a file's name, a line end, and its text.
	Network string `set:"network" file:"text" default:"" doc:"file of a network (BIF, XMLBIF, Hugin, or lines such as a, b -> c): its graph, and with worth= its tables"`
	// Parents is how many a column may have at most.
	Parents int `set:"parents" default:"4" doc:"parents of a column at most"`
	// Score is what k2 and climb raise.
	Score string `set:"score" default:"bdeu (k2 for structure=k2)" oneof:"bdeu|bic|k2" doc:"what the search raises"`
	// Graphs is which of them are probable before any row is seen.
	Graphs string `set:"graphs" default:"sparse" oneof:"sparse|even" doc:"before any row, k2 and climb expect one arc into a column, of all that may come; or all graphs are as probable as each other"`
	// Worth is the cases that each row of the file's tables is worth.
	Worth float64 `set:"worth" default:"0" doc:"cases that each row of the network's tables is worth; 0 takes its graph alone"`
	// Worths are other worths of single columns.
	Worths string `set:"worths" default:"" doc:"other worths of single columns, as in alarm=50,burglary=5"`
	// M is the cases that a uniform row is worth where the file's is not.
	M *float64 `set:"m" default:"1" doc:"cases that each row of a table is given besides its own, spread evenly (m-estimate)"`
	// Sample is the equivalent sample size of bdeu.
	Sample *float64 `set:"sample" default:"1" doc:"equivalent sample size of score=bdeu"`
	// Order is that of k2: the columns, parents first.
	Order string `set:"order" default:"the target, then the columns as they stand" doc:"order of the columns for structure=k2, parents first: a,b,c"`
	// Require and Forbid are arcs that an expert knows.
	Require string `set:"require" default:"" doc:"arcs that must be there: a->b,c->b"`
	Forbid  string `set:"forbid" default:"" doc:"arcs that must not be there: a->b"`
	// Restarts of climb.
	Restarts int `set:"restarts" default:"50" doc:"times that climb begins again from a shaken graph; -1 for none"`
	// Alpha is the level of pc's tests.
	Alpha *float64 `set:"alpha" default:"0.05" doc:"level of the tests of structure=pc"`
	// Missing is what becomes of rows that do not know a whole family.
	Missing string `set:"missing" default:"skip (em, where a column is hidden)" oneof:"skip|em|gradient" doc:"tables where cells are missing: of known families, by EM, or by gradient ascent"`
	// Iterations of EM or of gradient ascent.
	Iterations int `set:"iterations" default:"100" doc:"iterations of em or gradient at most"`
	// Inference is how questions are answered.
	Inference string `set:"inference" default:"exact, or weighting where that takes too much memory" oneof:"exact|elimination|weighting|gibbs" doc:"answers: exact, by a junction tree or by eliminating columns for each question; or by sampling"`
	// Width bounds the tables of exact answers.
	Width int `set:"width" default:"16777216" doc:"numbers in the tables of exact answers at most: where the junction tree is wider, a question is answered by eliminating columns, and where that is, by weighting"`
	// Keep is what is kept: the rows, what is counted of them (counts.go) where
	// the graph is known before they are, or nothing. Without either, a model
	// cannot learn more, be merged or forget, and learning costs little more than
	// counting.
	Keep string `set:"keep" default:"rows" oneof:"rows|counts|nothing" doc:"rows are kept, or what the tables of a known graph count of them (given, naive), so that updates, merges and forgetting are exact; or nothing is"`
	// Samples are drawn for a sampled answer.
	Samples int `set:"samples" default:"10000" doc:"samples drawn for an answer by weighting or gibbs"`
}

// Earlier returns the setting with the file that the network began as, so that it can
// be learnt again wherever that is now.
func (m *Model) Earlier() (key, value string) {
	if m.lesson.Settings.Network == "" {
		return "network", ""
	}
	return "network", "the network\n" + m.lesson.Settings.Network
}

var _ learn.Checker = (*Learner)(nil)

// settings are a learner's parameters with the defaults filled in, in a form
// that can be compared and saved.
type settings struct {
	Structure, Network, Score, Worths, Order, Require, Forbid, Missing, Inference, Keep string
	Parents, Restarts, Iterations, Samples                                              int
	Width                                                                               int    `cbor:",omitempty"` // 0: maxWidth
	Told                                                                                string `cbor:",omitempty"` // by experts: see voices
	Graphs                                                                              string `cbor:",omitempty"` // of k2 and climb; "" in models of before is even
	Worth, M, Sample, Alpha                                                             float64
}

// Check returns an error if the settings do not go together.
func (l *Learner) Check() error {
	_, err := l.settings()
	return err
}

func (l *Learner) settings() (settings, error) {
	s := settings{
		Structure: cmp.Or(l.Structure, "climb"), Score: cmp.Or(l.Score, "bdeu"), Worths: l.Worths, Order: l.Order, Require: l.Require, Forbid: l.Forbid,
		Missing: cmp.Or(l.Missing, "skip"), Inference: l.Inference, Keep: l.Keep,
		Parents: cmp.Or(l.Parents, 4), Restarts: cmp.Or(l.Restarts, 50), Iterations: cmp.Or(l.Iterations, 100), Samples: cmp.Or(l.Samples, 10000),
		Worth: l.Worth, M: 1, Sample: 1, Alpha: 0.05, Width: l.Width,
	}
	if l.Structure == "" && l.Network != "" {
		s.Structure = "given"
	}
	if s.Structure == "k2" && l.Score == "" {
		s.Score = "k2"
	}
	if s.Structure == "k2" || s.Structure == "climb" {
		s.Graphs = cmp.Or(l.Graphs, "sparse")
	}
	for _, d := range []struct{ to, from *float64 }{{&s.M, l.M}, {&s.Sample, l.Sample}, {&s.Alpha, l.Alpha}} {
		if d.from != nil {
			*d.to = *d.from
		}
	}
	if l.Network != "" {
		net, err := l.file()
		if err != nil {
			return s, err
		}
		s.Network = string(net.Text())
	}
	return s, s.check()
}

// file reads the network's file; nil if none is named.
func (l *Learner) file() (*netfile.Network, error) {
	if l.Network == "" {
		return nil, nil
	}
	name, text, ok := strings.Cut(l.Network, "\n")
	if !ok {
		return nil, fmt.Errorf("setting network=%s: expected a file's name, a line end and its text", l.Network)
	}
	return netfile.Parse(name, []byte(text))
}

// fits says what is wrong with the network's file beside the columns of the rows,
// with its lines as they stand there: a model keeps its text in a form of its own.
func (l *Learner) fits(columns *table.Schema) error {
	file, err := l.file()
	if err != nil || file == nil {
		return err
	}
	if err := speakOf(file, columns); err != nil {
		return err
	}
	_, err = union(columns, file)
	return err
}

func (s *settings) check() error {
	if err := s.checkTold(); err != nil {
		return err
	}
	for _, n := range []struct {
		key         string
		value       float64
		least, most float64
	}{
		{"parents", float64(s.Parents), 1, 20}, {"restarts", float64(s.Restarts), -1, 1e5}, {"iterations", float64(s.Iterations), 1, 1e5},
		{"samples", float64(s.Samples), 1, 1e7}, {"width", float64(s.Width), 0, 1 << 30}, {"worth", s.Worth, 0, 1e12}, {"m", s.M, 0, 1e12}, {"sample", s.Sample, 1e-9, 1e9}, {"alpha", s.Alpha, 0, 1},
	} {
		if !(n.value >= n.least && n.value <= n.most) {
			return fmt.Errorf("setting %s=%v: expected a number from %v to %v", n.key, n.value, n.least, n.most)
		}
	}
	for _, w := range []struct {
		key, value string
		words      []string
	}{
		{"structure", s.Structure, []string{"given", "naive", "tan", "k2", "climb", "pc"}}, {"score", s.Score, []string{"bdeu", "bic", "k2"}},
		{"missing", s.Missing, []string{"skip", "em", "gradient"}}, {"inference", s.Inference, []string{"", "exact", "elimination", "weighting", "gibbs"}},
		{"keep", s.Keep, []string{"", "rows", "counts", "nothing"}}, {"graphs", s.Graphs, []string{"", "sparse", "even"}},
	} {
		found := false
		for _, word := range w.words {
			found = found || word == w.value
		}
		if !found {
			return fmt.Errorf("setting %s=%s: expected one of %s", w.key, w.value, strings.Join(w.words, ", "))
		}
	}
	switch {
	case s.Structure == "given" && s.Network == "" && s.Require == "":
		return fmt.Errorf("structure=given needs a graph: network=FILE, or arcs by require=a->b,c->b")
	case s.Structure != "given" && s.Network != "":
		return fmt.Errorf("network= gives the graph, but structure=%s learns one; leave one of them out", s.Structure)
	case s.Network == "" && (s.Worth > 0 || s.Worths != ""):
		return fmt.Errorf("worth= is of a network's tables; name its file by network=")
	}
	if err := s.countable(); err != nil {
		return err
	}
	if s.Network != "" {
		if _, err := netfile.Parse("the network", []byte(s.Network)); err != nil {
			return err
		}
	}
	_, err := s.worths()
	return err
}

type lesson = kept.Lesson[settings]

// Learn gathers the task's rows, and learns them.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target != learn.NoTarget && task.Table.Schema.Attributes[target].Kind != table.Nominal {
		return nil, fmt.Errorf("belief predicts classes, but target %q is numeric; learn without a target and ask for it, or read it as nominal", task.Target)
	}
	if err := table.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	if err := l.fits(task.Table.Schema); err != nil {
		return nil, err
	}
	lesson := lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target}
	if s.Keep == "nothing" {
		m, err := learnView(ctx, kept.ViewOf(task.Table), nil, lesson)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	if s.Keep == "counts" {
		c, err := (&counts{}).with(ctx, task.Table, task.Source, nil, &lesson)
		if err != nil {
			return nil, err
		}
		m, err := learnCounts(ctx, c, lesson)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	gathering := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	m, err := learnRows(ctx, rows, lesson)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// learnRows learns the rows that are kept.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (*Model, error) {
	v, err := view(ctx, rows)
	if err != nil {
		return nil, err
	}
	return learnView(ctx, v, rows, l)
}

// learnView finds the graph and fills in its tables: a function of the rows, the
// settings and the seed.
func learnView(ctx context.Context, v *kept.View, rows *kept.Rows, l lesson) (*Model, error) {
	d, err := read(ctx, v, &l)
	if err != nil {
		return nil, err
	}
	learn.Report(ctx, 0.05)
	parents, grown, err := d.structure(ctx, &l)
	if err != nil {
		return nil, err
	}
	learn.Report(ctx, 0.9)
	m := &Model{lesson: l, rows: rows, schema: d.schema, target: d.target, weight: d.weight, net: newNetwork(d.schema, parents), grown: grown}
	if err := d.fit(ctx, m); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}
