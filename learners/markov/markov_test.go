package markov

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// With numbers among the columns the laws hold as well.
func TestContractOfNumbers(t *testing.T) {
	info, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Numeric = true
	for _, settings := range []map[string]string{{"emission": "mixed"}, {"emission": "mixed", "decode": "posterior", "order": "2", "m": "0.5"}, {"emission": "mixed", "whole": "true", "unknown": "shape"}} {
		o := learntest.Options{Settings: settings}
		if settings["whole"] != "" { // the rows of a sequence have one class, or there is nothing to learn
			info.Takes.Density = false
			o.Laws = slices.DeleteFunc(learntest.Laws(), func(law string) bool { return strings.HasPrefix(law, "sequences ") })
		}
		if err := learntest.Check(info, o); err != nil {
			t.Errorf("%v: %v", settings, err)
		}
	}
}

// Hidden states keep the laws that hold for what promises nothing.
func TestContractOfHidden(t *testing.T) {
	info, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Numeric = true
	o := learntest.Options{Settings: map[string]string{"emission": "mixed", "states": "2", "restarts": "2", "iterations": "30", "decode": "posterior"}}
	if err := learntest.Check(info, o); err != nil {
		t.Error(err)
	}
}

// Where a hundred symbols were seen once they are words, told apart by what they look
// like; fewer are one unknown symbol, unless it is said otherwise.
func TestWordsByDefault(t *testing.T) {
	for _, c := range []struct {
		words   int
		unknown string
		apart   bool
	}{{99, "", false}, {100, "", true}, {100, "one", false}, {20, "shape", true}} {
		s := &table.Schema{Attributes: []table.Attribute{{Name: "word"}, {Name: "tag", Values: []string{"noun", "verb"}}}}
		columns := make([]table.Column, 2)
		for i := range c.words {
			s.Attributes[0].Values = append(s.Attributes[0].Values, fmt.Sprintf("w%c%c%s", 'a'+i%26, 'a'+i/26, []string{"ness", "ing"}[i%2]))
			columns[0].Codes, columns[1].Codes = append(columns[0].Codes, int32(i)), append(columns[1].Codes, int32(i%2))
		}
		tab, err := table.New(s, columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&Learner{Unknown: c.unknown}).Learn(t.Context(), learn.Task{Table: tab, Source: learn.Source{ID: "a"}}.At(1))
		if err != nil {
			t.Fatal(err)
		}
		a := m.(*Model).estimate().columns[0].letters
		if apart := a.guess("newness") != a.guess("newing"); apart != c.apart {
			t.Errorf("%d words, unknown=%q: told apart %v", c.words, c.unknown, apart)
		}
	}
}
