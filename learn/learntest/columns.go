package learntest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The laws of columns that few learners take: text and sequences.

// textWords are what the texts of this package are made of, by class.
var textWords = [][]string{{"fever", "cough", "naïve"}, {"rain", "sun", "2024"}}

// textTable returns rows with a text, some of them missing or empty, and a
// class that its words hint at.
func (s *subject) textTable(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(s.options.Seed+2, seed))
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{
		{Name: "what was said", Kind: table.Text}, {Name: targetName, Values: []string{"ill", "well"}},
	}})
	for r := range rows {
		class := random.IntN(2)
		if r < 2 {
			class = r // both classes occur
		}
		text := "the"
		for range random.IntN(6) {
			words := textWords[class]
			if random.IntN(4) == 0 {
				words = textWords[1-class]
			}
			text += " " + words[random.IntN(len(words))]
		}
		switch r % 11 {
		case 4:
			text = "" // missing
		case 7:
			text = "..." // empty
		}
		if err := errors.Join(b.String(0, text), b.String(1, []string{"ill", "well"}[class])); err != nil {
			panic(err)
		}
		b.End()
	}
	return must(b.Table())
}

// texts: a learner that takes text learns from texts of which some are missing
// or without words, answers soundly for such texts and for words that it has
// never met, which change nothing, and answers the same after loading.
func texts(s *subject) error {
	if !s.info.Takes.Text {
		return s.textsLeftOut()
	}
	if !s.info.Takes.Classes {
		return nil
	}
	rows := s.textTable(120, 60)
	before := copyTable(rows)
	m, err := s.learn(classes, rows, "a")
	if err != nil {
		return err
	}
	if !equalTables(before, rows) {
		return errors.New("learning changed the texts")
	}
	if i := m.Schema().Index("what was said"); i < 0 || m.Schema().Attributes[i].Kind != table.Text {
		return errors.New("the model's schema has no text column")
	}
	ask := func(m learn.Model, said ...string) (*learn.Predictions, error) {
		b := table.NewBuilder(m.Schema())
		b.Closed = true
		for _, text := range said {
			if err := b.String(m.Schema().Index("what was said"), text); err != nil {
				return nil, err
			}
			b.End()
		}
		return predictSound(m, must(b.Table()))
	}
	said := []string{"", "...", "unheard of", "the fever", "the fever zzz zzz", "rain rain rain", "fever\nRAIN"}
	out, err := ask(m, said...)
	if err != nil {
		return err
	}
	for class := range out.Classes {
		if out.Row(1)[class] != out.Row(2)[class] || out.Row(3)[class] != out.Row(4)[class] {
			return fmt.Errorf("words that the model has never met change its answer: %v and %v", out.Row(3), out.Row(4))
		}
	}
	parts, err := m.Parts()
	if err != nil {
		return err
	}
	loaded, err := s.info.Decode(parts)
	if err != nil {
		return err
	}
	again, err := ask(loaded, said...)
	if err != nil {
		return err
	}
	if !equalFloats(out.P, again.P) {
		return errors.New("the loaded model answers otherwise for texts")
	}
	return s.textUpdates(m)
}

// textsLeftOut: a learner that takes no text learns from what stands beside it,
// and its model answers as if the text were not there.
func (s *subject) textsLeftOut() error {
	return each(s.variants(), func(v variant) error {
		rows := s.table(v, 120, 60)
		bag := &table.Bag{Starts: make([]int, 1, rows.Rows()+1)}
		for r := range rows.Rows() {
			bag.Codes, bag.Counts = append(bag.Codes, int32(r%2)), append(bag.Counts, 1)
			bag.Starts = append(bag.Starts, r+1)
		}
		schema := table.CopySchema(rows.Schema)
		schema.Attributes = append([]table.Attribute{{Name: "what was said", Kind: table.Text, Values: []string{"rain", "sun"}}}, schema.Attributes...)
		said := must(table.New(schema, append([]table.Column{{Words: bag}}, rows.Columns...), rows.Weights))
		m, err := s.learn(v, said, "a")
		if err != nil {
			return fmt.Errorf("a table with a text: %w", err)
		}
		want, err := s.learn(v, rows, "a")
		if err != nil {
			return err
		}
		probe, _, err := table.Conform(s.table(v, 50, 61), m.Schema(), false)
		if err != nil {
			return err
		}
		if v == density {
			return soundOn(m, probe)
		}
		bare, _, err := table.Conform(probe, want.Schema(), false)
		if err != nil {
			return err
		}
		got, wanted := learn.NewPredictions(m, probe.Rows()), learn.NewPredictions(want, probe.Rows())
		if err := errors.Join(m.Predict(context.Background(), probe, got), want.Predict(context.Background(), bare, wanted)); err != nil {
			return err
		}
		if !equalFloats(got.P, wanted.P) || !equalFloats(got.Mean, wanted.Mean) {
			return errors.New("beside a text the learner learns something else, though it takes no text")
		}
		return nil
	})
}

// textUpdates: an update brings new words.
func (s *subject) textUpdates(m learn.Model) error {
	u, ok := m.(learn.Updater)
	if !ok {
		return nil
	}
	b := table.NewBuilder(m.Schema())
	for range 3 {
		if err := b.Add(map[string]any{"what was said": "newword newword fever", targetName: "ill"}); err != nil {
			return err
		}
	}
	after, err := updated(u, "b", must(b.Table()))
	if err != nil {
		return fmt.Errorf("new words: %w", err)
	}
	a := &after.Schema().Attributes[after.Schema().Index("what was said")]
	if a.Code("newword") < 0 {
		return errors.New("an update did not bring its new words into the schema")
	}
	f, ok := after.(learn.Forgetter)
	if !ok {
		return nil
	}
	without, err := f.Forget(context.Background(), "b")
	if err != nil {
		return err
	}
	if a := &without.Schema().Attributes[without.Schema().Index("what was said")]; a.Code("newword") >= 0 {
		return errors.New("forgotten words are still in the schema")
	}
	return nil
}

// predictSound returns a model's answers if they are probabilities.
func predictSound(m learn.Model, t *table.Table) (*learn.Predictions, error) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(context.Background(), t, out); err != nil {
		return nil, err
	}
	for r := range t.Rows() {
		sum := 0.0
		for _, p := range out.Row(r) {
			if !(p >= 0 && p <= 1+1e-9) {
				return nil, fmt.Errorf("row %d: a probability of %v", r+1, p)
			}
			sum += p
		}
		if math.Abs(sum-1) > 1e-9 {
			return nil, fmt.Errorf("row %d: probabilities that sum to %v", r+1, sum)
		}
	}
	return out, nil
}

func equalFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// sequenceTable returns the rows of a class table in sequences of different
// lengths.
func (s *subject) sequenceTable(rows int, seed uint64) *table.Table {
	t := s.table(classes, rows, seed)
	number := make([]int32, rows)
	var names []string
	for from := 0; from < rows; {
		to := min(rows, from+1+len(names)%7)
		for r := from; r < to; r++ {
			number[r] = int32(len(names))
		}
		names = append(names, fmt.Sprint("sequence ", len(names)))
		from = to
	}
	return must(t.InSequence("who", number, names))
}

// sequences: a learner that takes sequences remembers which column groups
// rows; its answers for a sequence do not depend on the sequences beside it,
// nor on their order.
func sequences(s *subject) error {
	if !s.info.Takes.Sequences || !s.info.Takes.Classes {
		return nil
	}
	rows := s.sequenceTable(100, 61)
	m, err := s.learn(classes, rows, "a")
	if err != nil {
		return err
	}
	if m.Schema().Sequence != "who" {
		return fmt.Errorf("the model groups rows by %q, not by the column that it learnt with", m.Schema().Sequence)
	}
	if rows, _, err = table.Conform(rows, m.Schema(), false); err != nil {
		return err
	}
	whole, err := predictSound(m, rows)
	if err != nil {
		return err
	}
	var broken error
	var order []int
	rows.Groups(func(from, to int) {
		alone, err := predictSound(m, rows.Slice(from, to))
		if broken == nil && err != nil {
			broken = err
		}
		if broken == nil && !equalFloats(alone.P, whole.P[from*whole.Classes:to*whole.Classes]) {
			broken = fmt.Errorf("rows %d to %d have other answers beside other sequences than alone", from+1, to)
		}
		run := make([]int, to-from, to-from+len(order))
		for i := range run {
			run[i] = from + i
		}
		order = append(run, order...)
	})
	if broken != nil {
		return broken
	}
	backwards, err := predictSound(m, rows.Select(order))
	if err != nil {
		return err
	}
	for i, r := range order {
		if !equalFloats(backwards.Row(i), whole.Row(r)) {
			return fmt.Errorf("row %d has another answer when sequences stand in another order", r+1)
		}
	}
	return nil
}

// wholeSequences: however sequences are spread over sources, and wherever the
// tables of an update cut them, a model that promises to be exact is what learning
// them all at once gives, also after a merge and after forgetting.
func wholeSequences(s *subject) error {
	if !s.info.Takes.Sequences || !s.info.Takes.Classes || !s.info.Can.Update {
		return nil
	}
	all := s.sequenceTable(160, 62)
	part := func(kinds ...int) *table.Table {
		return filter(all, func(row int) bool { return slices.Contains(kinds, int(all.Sequence[row])%3) })
	}
	m, err := s.learn(classes, part(0), "a")
	if err != nil {
		return err
	}
	exact := learn.PromiseOf(m).Contract == learn.Exact
	more, _, err := table.Conform(part(1), m.Schema(), true)
	if err != nil {
		return err
	}
	if m, err = updated(m.(learn.Updater), "b", more.Slice(0, 11), more.Slice(11, 12), more.Slice(12, more.Rows())); err != nil {
		return err
	}
	if err := s.sameOfSequences(m, part(0, 1), exact); err != nil {
		return fmt.Errorf("after an update: %w", err)
	}
	if j, ok := m.(learn.Merger); ok && exact {
		other, err := s.learn(classes, part(2), "c")
		if err != nil {
			return err
		}
		if m, err = j.Merge(context.Background(), other); err != nil {
			return err
		}
		if err := s.sameOfSequences(m, all, exact); err != nil {
			return fmt.Errorf("merged: %w", err)
		}
	}
	if f, ok := m.(learn.Forgetter); ok && exact {
		if m, err = f.Forget(context.Background(), "b"); err != nil {
			return err
		}
		if err := s.sameOfSequences(m, part(0, 2), exact); err != nil {
			return fmt.Errorf("after forgetting: %w", err)
		}
	}
	return nil
}

// sameOfSequences checks that a model answers soundly for sequences and, if that
// was promised, as one that learnt these rows at once.
func (s *subject) sameOfSequences(got learn.Model, rows *table.Table, exact bool) error {
	probe := s.sequenceTable(90, 63)
	ask := func(m learn.Model) (*answers, error) {
		fitted, _, err := table.Conform(probe, m.Schema(), false)
		if err != nil {
			return nil, err
		}
		a, err := askFitted(m, fitted)
		if err == nil {
			err = a.sound()
		}
		return a, err
	}
	a, err := ask(got)
	if err != nil || !exact {
		return err
	}
	want, err := s.learn(classes, rows, "all")
	if err != nil {
		return err
	}
	b, err := ask(want)
	if err != nil {
		return err
	}
	return differ(a, b, 1e-9)
}
