package life_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

// part learns a data set in memory.
func part(t *testing.T, set, learner string) (*life.Home, *life.Part, *life.Data) {
	t.Helper()
	h := &life.Home{Seed: 1}
	d, err := h.Find(set, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: d, Choice: life.Choice{Learner: learner}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Find(set, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return h, p, again
}

// Cells share out exactly what rules add: both add up to the answer.
func TestCellsAddUp(t *testing.T) {
	for _, learner := range []string{"rulenet", "tree", "cover", "bayes"} {
		h, p, d := part(t, "heart-c", learner)
		err := h.Explain(context.Background(), p, d, []int{1, 2, 24, 166, 193}, func(e *life.Explained) error {
			prior := e.Prior.(map[string]float64)
			for class, probability := range e.Probabilities {
				byRule, byCell := prior[class]-*e.Normaliser, prior[class]-*e.Normaliser
				for _, v := range e.Evidence {
					byRule += v.Weights[class]
					if len(v.Columns) == 0 {
						byCell += v.Weights[class]
					}
				}
				for _, c := range e.Cells {
					byCell += c.Weights[class]
				}
				if want := math.Log(probability); math.Abs(byRule-want) > 1e-9 || math.Abs(byCell-want) > 1e-9 {
					t.Errorf("%s, row %d: %s is %v by rule, %v by cell, expected %v", learner, e.Row, class, byRule, byCell, want)
				}
			}
			for _, m := range e.Missing {
				if m.CouldMove < 0 || m.CouldMove > 1 {
					t.Errorf("%s could move it by %v", m.Column, m.CouldMove)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Changes flip the answer, leave alone what is fixed, and are different.
func TestChangesFlip(t *testing.T) {
	for _, learner := range []string{"rulenet", "tree", "cover"} {
		h, p, d := part(t, "heart-c", learner)
		some := 0
		err := h.Change(context.Background(), p, d, []int{2, 4, 9, 40}, life.Wish{Fixed: []string{"sex", "age"}}, func(c *life.Changed) error {
			seen := map[string]bool{}
			for i, one := range c.Changes {
				some++
				if one.Prediction == c.Prediction || one.Set["sex"] != nil || one.Set["age"] != nil || !c.Exact {
					t.Errorf("%s, row %d: %+v", learner, c.Row, one)
				}
				if i > 0 && len(one.Set) < len(c.Changes[i-1].Set) {
					t.Errorf("%s, row %d: a smaller change stands later", learner, c.Row)
				}
				columns := ""
				for name := range one.Set {
					columns += name
				}
				if len(one.Set) == 1 && seen[columns] {
					t.Errorf("%s, row %d: %s twice", learner, c.Row, columns)
				}
				seen[columns] = true
			}
			return nil
		})
		if err != nil || some == 0 {
			t.Errorf("%s: %d changes, %v", learner, some, err)
		}
	}
}

// A draft reads back as rules, and says what the rows say of it.
func TestDrafts(t *testing.T) {
	h, p, d := part(t, "heart-c", "rulenet")
	draft, err := h.Draft(context.Background(), p, d, 24, life.Drafting{Should: "<50", Because: []string{"thal", "oldpeak"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(draft.Rule, "IF ") || !strings.Contains(draft.Rule, "WORTH 10") || draft.Covered == 0 || draft.Low == nil {
		t.Errorf("%+v", draft)
	}
	if _, err := h.TellInMemory(context.Background(), p, life.Rules{File: "draft", Text: []byte(draft.String())}); err != nil {
		t.Errorf("it cannot be told: %v", err)
	}
	for cut, want := range map[float64]string{0.4: "oldpeak >= 0.4", 5: "oldpeak <= 5"} { // on the side of the row
		_, _, d = part(t, "heart-c", "prior")
		chosen, err := h.Draft(context.Background(), p, d, 24, life.Drafting{Should: "<50", Because: []string{"thal", "oldpeak"}, Cuts: map[string]float64{"oldpeak": cut}})
		if err != nil || !strings.Contains(chosen.Rule, want) || chosen.Covered == 0 {
			t.Errorf("%v: %+v %v", cut, chosen, err)
		}
	}
	_, _, d = part(t, "heart-c", "prior")
	w, err := h.Wrong(context.Background(), p, d, 3)
	if err != nil {
		t.Fatal(err)
	}
	if w.Rows != 303 || w.Count == 0 || len(w.Wrong) != 3 || w.Wrong[0].Probabilities[w.Wrong[0].Prediction.(string)] < w.Wrong[2].Probabilities[w.Wrong[2].Prediction.(string)] {
		t.Errorf("%d rows, %d wrong, %d shown", w.Rows, w.Count, len(w.Wrong))
	}
}

// What a rule decides is what the rows say: without it, their answers differ.
func TestDecidesAsRulesPredict(t *testing.T) {
	for _, learner := range []string{"rulenet", "cover"} {
		_, p, _ := part(t, "votes", learner)
		base, err := p.Model.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		list, err := life.RuleEntries(context.Background(), p, life.RulesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := p.Model.(learn.Keeper).Kept(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := knowledge.Join(p.Schema(), kept)
		if err != nil {
			t.Fatal(err)
		}
		answers := func(b *rule.Base) []int {
			predictor, err := rule.NewPredictor(b, p.Schema(), p.Target())
			if err != nil {
				t.Fatal(err)
			}
			probs := make([]float64, 2*rows.Rows())
			if err := predictor.Predict(rows, probs, nil); err != nil {
				t.Fatal(err)
			}
			all := make([]int, rows.Rows())
			for row := range all {
				all[row] = learn.Best(probs[2*row:2*row+2], p.Schema().Attributes[p.Target()].Values)
			}
			return all
		}
		whole := answers(base)
		for _, e := range list.Rules {
			i := slices.IndexFunc(base.Rules, func(r rule.Rule) bool { return r.ID() == e.ID })
			if i < 0 || len(e.If) == 0 {
				continue
			}
			without := *base
			without.Rules = slices.Delete(slices.Clone(base.Rules), i, i+1)
			want := 0.0
			for row, answer := range answers(&without) {
				if answer != whole[row] {
					want += rows.Weight(row)
				}
			}
			if e.Decides == nil || e.Decides.Rows != want || e.Decides.Right+e.Decides.Wrong != want {
				t.Errorf("%s: %s decides %+v, expected %v rows", learner, e.Text, e.Decides, want)
			}
		}
	}
}

// Of a tree the smallest change is found whatever its number of cells: no other
// change of the values that occur has fewer. Beyond what can all be tried, other
// models get one that is said to be the smallest of those tried.
func TestLargeChanges(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c,d,e,class\n")
	for k := range 192 {
		n, class := 0, "bad"
		for j := range 5 {
			if k%3 == 0 || k>>j&1 == 1 {
				n++
				b.WriteString("y,")
			} else {
				b.WriteString("n,")
			}
		}
		if n == 5 {
			class = "good"
		}
		b.WriteString(class + "\n")
	}
	learnt := filepath.Join(t.TempDir(), "five.csv")
	asked := filepath.Join(t.TempDir(), "asked.csv")
	for path, text := range map[string]string{learnt: b.String(), asked: "a,b,c,d,e\nn,n,n,n,n\nn,y,n,y,n\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, learner := range []string{"tree", "cover", "bayes"} {
		h := &life.Home{Seed: 1}
		d, err := h.Find(learnt, life.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: d, Target: "class", Choice: life.Choice{Learner: learner}})
		if err != nil {
			t.Fatal(err)
		}
		if d, err = h.Find(asked, life.Reading{}); err != nil {
			t.Fatal(err)
		}
		err = h.Change(context.Background(), p, d, nil, life.Wish{To: "good"}, func(c *life.Changed) error {
			want := map[int]int{1: 5, 2: 3}[c.Row]
			if len(c.Changes) != 1 || len(c.Changes[0].Set) != want || c.Exact != (learner == "tree" || want <= c.Cells) {
				t.Errorf("%s: %+v, expected one of %d cells", learner, c, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
