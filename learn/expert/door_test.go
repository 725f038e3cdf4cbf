package expert_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

// TestDoor: rules come through one door, whatever they are about and whoever
// hears them.
func TestDoor(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold", "none 30 none")
	classes := learn.Advice{Rules: parse(t, "IF fever = high THEN illness = flu WORTH 2"), Expert: learn.Source{ID: "c"}}
	units := learn.Advice{Rules: parse(t, "WHEN feverish (1) WORTH 2 EXPECT age ~ 40 ± 5"), Expert: learn.Source{ID: "u"}}
	rows := learn.Learnt{Table: tab}
	for learner, takes := range map[string]bool{"gaussian": true, "bayes": false} {
		info, err := learn.Lookup(learner)
		if err != nil {
			t.Fatal(err)
		}
		m, err := info.New().Learn(ctx, learn.Task{Table: tab}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		if same, err := expert.Tell(ctx, m, learn.Advice{}); err != nil || same != m {
			t.Errorf("%s: no advice makes another model: %v", learner, err)
		}
		wrapped, err := expert.Tell(ctx, m, classes, rows)
		if err != nil {
			t.Fatal(err)
		}
		if told, ok := wrapped.(*expert.Told); !ok || len(told.Standings()) != 1 {
			t.Errorf("%s: rules about classes make a %T", learner, wrapped)
		}
		for _, m := range []learn.Model{m, wrapped} {
			after, err := expert.Tell(ctx, m, units)
			if !takes {
				if !errors.Is(err, expert.ErrNoUnits) || !strings.Contains(err.Error(), `"feverish"`) {
					t.Errorf("%s: error %v", learner, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := after.(expert.Stander).UnitStandings(); len(s) != 1 || s[0].Unit != "feverish" {
				t.Errorf("%s: standings %v", learner, s)
			}
		}
		// And in the learning itself.
		l, err := expert.Advised(info, info.New(), units)
		if !takes {
			if err == nil || err.Error() != "bayes does not learn from WHEN … EXPECT rules; learners that do: gaussian" {
				t.Errorf("%s: error %v", learner, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if m, err = l.Learn(ctx, learn.Task{Table: tab}.At(2)); err != nil {
			t.Fatal(err)
		}
		if s := m.(expert.Stander).UnitStandings(); len(s) != 1 {
			t.Errorf("%s: standings %v", learner, s)
		}
	}
	// What was told a told model goes through the same door.
	m := told(t, "gaussian", tab, "a", "IF fever = high THEN illness = flu WORTH 2")
	more, err := m.Tell(ctx, learn.Advice{Rules: parse(t, "IF age > 35 THEN illness = flu WORTH 2"), Expert: learn.Source{ID: "d"}}, learn.Learnt{Source: learn.Source{ID: "a"}, Table: tab})
	if err != nil {
		t.Fatal(err)
	}
	if experts, _ := more.(*expert.Told).Experts(); len(experts) != 2 {
		t.Errorf("experts %v", experts)
	}
}

// reasoner is a learner that takes a domain theory.
type reasoner struct {
	learn.Learner
	got *rule.Theory
}

func (l *reasoner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	var err error
	if l.got, err = rule.NewTheory(task.Advice.Theory, task.Table.Schema); err != nil {
		return nil, err
	}
	return l.Learner.Learn(ctx, task)
}

// TestTheory: a domain theory comes through the same door, checked; who does not
// reason with one refuses it.
func TestTheory(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold", "none 30 none")
	theory := learn.Advice{Theory: parse(t, "IF weak = yes THEN illness = flu\nIF age > 35 THEN weak = yes")}
	info, err := learn.Lookup("bayes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := expert.Advised(info, info.New(), theory); err == nil || !strings.Contains(err.Error(), "bayes does not reason with a domain theory; ") {
		t.Errorf("error %v", err)
	}
	info.Takes.Theory = true
	l := &reasoner{Learner: info.New()}
	taught, err := expert.Advised(info, l, theory)
	if err != nil {
		t.Fatal(err)
	}
	m, err := taught.Learn(ctx, learn.Task{Table: tab}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	if l.got == nil || len(l.got.Rules) != 2 || l.got.Concepts[0] != "weak" {
		t.Errorf("theory %+v", l.got)
	}
	if _, err := expert.Tell(ctx, m, theory); err == nil || !strings.Contains(err.Error(), "domain theory") {
		t.Errorf("error %v", err)
	}
	l.got = nil
	if taught, err = expert.Advised(info, l, learn.Advice{Theory: parse(t, "IF weak = yes THEN weak = no")}); err != nil {
		t.Fatal(err)
	}
	if _, err := taught.Learn(ctx, learn.Task{Table: tab}.At(2)); err == nil || l.got != nil || !strings.Contains(err.Error(), "weak needs weak") {
		t.Errorf("error %v", err)
	}
}
