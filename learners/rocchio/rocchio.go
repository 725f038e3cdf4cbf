// Package rocchio answers texts by the class whose prototype they are most
// similar to: the named rival of naive Bayes on words (Rocchio 1971; Salton 1991;
// Mitchell 1997, section 6.10.1).
//
// A text is a vector of tf·ln(N/df), how often a word occurs times how few of the
// N texts have it, of length 1; a nominal cell is a text of one word. The prototype
// of a class is
//
//	beta · mean of the texts of the class − gamma · mean of the others
//
// without what is negative, of length 1, and similar is whose cosine is largest.
// Probabilities are shares of e^(s·cosine); the sharpness s is the one under which
// the classes of the rows that were learnt are most probable, each row left out of
// its class's prototype (whose length is taken as it was).
//
// The weight of a word changes with every text that comes, and the length of a
// text with it, so that sums of texts cannot be kept: the rows are (learn/kept),
// and learnt again, which makes updates, merges and forgetting exact.
//
// Learning costs a pass over the words for each of the two, times the classes;
// answering one product for each word and class; memory a number for each word and
// class. Package bayes is the neighbour that counts words.
package rocchio

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "rocchio"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "texts by the most similar prototype of their classes: TFIDF vectors and cosines",
		Source:   "Rocchio 1971; Salton 1991; Mitchell 1997, section 6.10.1",
		Takes:    learn.Takes{Nominal: true, Missing: true, Classes: true, Text: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true},
		Contract: learn.Exact,
		Keeps:    "coded distinct rows with a weight per source, of texts the words and how often they occur",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes prototypes. Its zero value is ready to use.
type Learner struct {
	// Beta and Gamma weigh the texts of a class and the others.
	Beta  *float64 `set:"beta" default:"16" doc:"weight of the mean of a class's texts in its prototype"`
	Gamma *float64 `set:"gamma" default:"4" doc:"weight of the mean of the other texts, which is taken off"`
	// Count is how often a word counts that occurs several times.
	Count string `set:"count" default:"all" oneof:"all|log|once" doc:"how often a word counts that occurs n times in a text: n times, 1 + log2 n, or once"`
}

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	Beta, Gamma float64
	Count       string
}

// Check refuses settings that are not what they should be.
func (l *Learner) Check() error {
	s := l.settings()
	return s.check()
}

func (l *Learner) settings() settings {
	s := settings{16, 4, cmp.Or(l.Count, "all")}
	if l.Beta != nil {
		s.Beta = *l.Beta
	}
	if l.Gamma != nil {
		s.Gamma = *l.Gamma
	}
	return s
}

func (s *settings) check() error {
	switch {
	case !(s.Beta > 0 && s.Beta <= 1e9):
		return fmt.Errorf("setting beta=%v: expected a number above 0, up to 1e9", s.Beta)
	case !(s.Gamma >= 0 && s.Gamma <= 1e9):
		return fmt.Errorf("setting gamma=%v: expected a number from 0 to 1e9", s.Gamma)
	case s.Count != "all" && s.Count != "log" && s.Count != "once":
		return fmt.Errorf("setting count=%s: expected all, log or once", s.Count)
	}
	return nil
}

// times returns how often a word counts that occurs n times.
func (s *settings) times(n float64) float64 {
	switch {
	case s.Count == "once" && n > 0:
		return 1
	case s.Count == "log" && n > 1:
		return 1 + math.Log2(n)
	}
	return n
}

type lesson = kept.Lesson[settings]

// Learn gathers the task's rows, and learns them.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s := l.settings()
	if err := s.check(); err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if err := checkColumns(task.Table.Schema, target); err != nil {
		return nil, err
	}
	gathering := (&kept.Rows{}).Gather(task.Source, target, nil).Texts()
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: s, Target: task.Target})
}

// checkColumns refuses tasks without classes, and columns that are no words.
func checkColumns(s *table.Schema, target int) error {
	switch {
	case target == learn.NoTarget:
		return fmt.Errorf("rocchio predicts a class and needs a target column")
	case s.Attributes[target].Kind != table.Nominal:
		return fmt.Errorf("rocchio predicts classes, but target %q is %v; read it as nominal", s.Attributes[target].Name, s.Attributes[target].Kind)
	}
	for j := range s.Attributes {
		if a := &s.Attributes[j]; j != target && a.Kind == table.Numeric && !a.Open() {
			return fmt.Errorf("column %q holds numbers, and rocchio compares words; read it as nominal, or ignore it", a.Name)
		}
	}
	return table.Distinct(s)
}

// learnRows makes the prototypes: a function of the rows and the settings.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, schema: t.Schema, target: t.Schema.Index(l.Target)}
	if m.target < 0 {
		return nil, fmt.Errorf("the target %q is not a column", l.Target)
	}
	if err := checkColumns(t.Schema, m.target); err != nil {
		return nil, err
	}
	f := &fit{Model: m, rows: t, of: make([]float64, len(t.Schema.Attributes[m.target].Values))}
	if err := f.prototypes(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 0.6)
	if err := f.sharpen(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// fit is a model in the making.
type fit struct {
	*Model
	rows *table.Table
	of   []float64   // weight of the rows of each class
	sums [][]float64 // of the classes' texts, as centres
}

// prototypes fills in how rare words are and what classes have of them.
func (f *fit) prototypes(ctx context.Context) error {
	t, classes := f.rows, len(f.of)
	for r, class := range t.Columns[f.target].Codes {
		if class >= 0 {
			f.of[class] += t.Weight(r)
			f.weight += t.Weight(r)
		}
	}
	if !(f.weight > 0) {
		return fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", t.Schema.Attributes[f.target].Name)
	}
	f.words = make([]words, len(t.Columns))
	f.sums = make([][]float64, len(t.Columns))
	for j := range t.Columns {
		if j == f.target {
			continue
		}
		n := len(t.Schema.Attributes[j].Values)
		if n > mostCells/max(1, classes) {
			return fmt.Errorf("column %q has %d words, too many for %d classes; read fewer texts at a time, or texts with fewer words", t.Schema.Attributes[j].Name, n, classes)
		}
		f.words[j] = words{rarity: make([]float64, n), centres: make([]float64, n*classes)}
		f.sums[j] = make([]float64, n*classes)
		if err := f.frequencies(j); err != nil {
			return err
		}
	}
	for r, class := range t.Columns[f.target].Codes {
		if r%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if class < 0 {
			continue
		}
		w := t.Weight(r)
		f.each(t, r, func(j int, v int32, x float64) { f.sums[j][int(v)*classes+int(class)] += float64(w * x) })
	}
	f.weigh()
	return nil
}

// frequencies turns the texts that have each word into ln(N/df).
func (f *fit) frequencies(j int) error {
	t, df := f.rows, f.words[j].rarity
	for r, class := range t.Columns[f.target].Codes {
		if class < 0 {
			continue
		}
		w := t.Weight(r)
		for v, n := range cell(t, j, r) {
			if !(n >= 0 && n <= 1e9) {
				return fmt.Errorf("column %q: %v occurrences; expected texts, or counts from 0 to 1e9", t.Schema.Attributes[j].Name, n)
			}
			if n > 0 {
				df[v] += w
			}
		}
	}
	for v, n := range df {
		if n > 0 {
			df[v] = max(0, math.Log(f.weight/n))
		}
	}
	return nil
}

// weigh turns sums of texts into prototypes of length 1.
func (f *fit) weigh() {
	classes := len(f.of)
	f.length = make([]float64, classes)
	for j := range f.words {
		centres := f.words[j].centres
		for at := 0; at < len(centres); at += classes {
			f.centre(f.sums[j][at:at+classes], -1, 0, 0, centres[at:at+classes])
			for c, y := range centres[at : at+classes] {
				f.length[c] += y * y
			}
		}
	}
	for c := range f.length {
		f.length[c] = math.Sqrt(f.length[c])
	}
	for j := range f.words {
		centres := f.words[j].centres
		for i := range centres {
			if of := f.length[i%classes]; of > 0 {
				centres[i] /= of
			}
		}
	}
}

// centre fills in a word's part of each prototype, before that has its length:
// without what a row of a class brings, x of the weight w, or of all rows.
func (f *fit) centre(sums []float64, without int, x, w float64, to []float64) {
	total := -float64(w * x)
	for _, s := range sums {
		total += s
	}
	for c, s := range sums {
		own, others := f.of[c], f.weight-f.of[c]
		if c == without {
			s, own = s-float64(w*x), own-w
		} else {
			others -= w
		}
		to[c] = max(0, mean(f.lesson.Settings.Beta*s, own)-mean(f.lesson.Settings.Gamma*(total-s), others))
	}
}

// mean is 0 of nothing.
func mean(sum, of float64) float64 {
	if of > 1e-9 {
		return sum / of
	}
	return 0
}

// Bounds: of the counts of a column, of the rows that the sharpness is found by,
// and of the sharpness.
const (
	mostCells = 1 << 27
	mostAsked = 2000
	sharpest  = 1000
)

// sharpen finds the sharpness under which the classes of rows left out are most
// probable. Their logarithm is concave in it: its slope is halved in.
func (f *fit) sharpen(ctx context.Context) error {
	classes := len(f.of)
	var cosines, weights []float64
	var truth []int
	t := f.rows
	step := max(1, t.Rows()/mostAsked)
	room := make([]float64, classes)
	for r := 0; r < t.Rows(); r += step {
		if r%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		class := t.Columns[f.target].Codes[r]
		if class < 0 {
			continue
		}
		at, w := len(cosines), min(1, t.Weight(r))
		cosines = append(cosines, make([]float64, classes)...)
		f.each(t, r, func(j int, v int32, x float64) {
			f.centre(f.sums[j][int(v)*classes:][:classes], int(class), x, w, room)
			for c, y := range room {
				if f.length[c] > 0 {
					cosines[at+c] += float64(x * y / f.length[c])
				}
			}
		})
		truth, weights = append(truth, int(class)), append(weights, t.Weight(r))
	}
	low, high := 0.0, float64(sharpest)
	for range 40 {
		f.sharpness = (low + high) / 2
		slope := 0.0
		for i, class := range truth {
			cos := cosines[i*classes:][:classes]
			shares(cos, f.sharpness, room)
			expected := 0.0
			for c, p := range room {
				expected += p * cos[c]
			}
			slope += float64(weights[i] * (cos[class] - expected))
		}
		if slope > 0 {
			low = f.sharpness
		} else {
			high = f.sharpness
		}
	}
	f.sharpness = max(f.sharpness, 1e-3)
	return nil
}
