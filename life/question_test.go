package life

import (
	"bytes"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// asked are the columns that questions of tests are about.
func asked() *table.Schema {
	return &table.Schema{Attributes: []table.Attribute{
		{Name: "rm", Kind: table.Numeric}, {Name: "zone, inner", Kind: table.Nominal, Values: []string{"a", "b=c", "d\"e"}},
		{Name: "note", Kind: table.Text}, {Name: "medv", Kind: table.Numeric},
	}}
}

// FuzzQuestion: a question is a row and the columns that are wanted, or is
// refused in one line.
func FuzzQuestion(f *testing.F) {
	for _, q := range []string{
		"rm=6, medv=?", `"zone, inner"="b=c", rm=?`, `"zone, inner"="d\"e", medv=?`, "medv", "rm=6, rm=7, medv=?", `"rm=?`, "note=some words, medv=?", "rm=1e999,medv=?", ",,,=?", "rm=?,medv=?",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, question string) {
		defer bounded.Start(t, len(question))()
		schema := asked()
		row, wanted, err := parseQuestion(question, schema)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(question, "\n") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		if row.Rows() != 1 || len(wanted) == 0 || len(wanted) > len(schema.Attributes) {
			t.Errorf("%q: %d rows, %d columns wanted", question, row.Rows(), len(wanted))
		}
		for _, column := range wanted {
			if row.Text(0, column) != "" {
				t.Errorf("%q: column %d is wanted and given", question, column)
			}
		}
	})
}

// parseQuestion, life.SplitOutside, life.Unquote: however long a question is.
func TestQuestionsGrowInProportion(t *testing.T) {
	for _, part := range []string{"rm=6, ", "rm=?", `"`, `\"`, "=", ",", `"zone, inner"="a",`, "note=word word ", `"\u0041`} {
		bounded.Worst(t, func(size int) []byte { return bytes.Repeat([]byte(part), size/len(part)) }, func(b []byte) {
			_, _, _ = parseQuestion(string(b), asked())
			_, _, _ = parseQuestion("note=\""+string(b)+"\", medv=?", asked())
		})
	}
}

// FuzzSplit: what is split outside of quotes is the same when joined again.
func FuzzSplit(f *testing.F) {
	f.Add(`a=1, "b,c"=2`)
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		if again := strings.Join(SplitOutside(text, ','), ","); again != text {
			t.Errorf("%q is %q", text, again)
		}
		_, _ = Unquote(text)
	})
}

// Of a model of sequences, a row that is asked about is a sequence by itself.
func TestAskAModelOfSequences(t *testing.T) {
	rows, _, err := table.Read(t.Context(), strings.NewReader("game,roll,die\na,6,loaded\na,6,loaded\na,1,fair\nb,6,loaded\nb,2,fair\nb,1,fair\n"),
		table.Options{Name: "rolls.csv", Sequence: "game", Nominal: []string{"roll"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn.New("markov", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(t.Context(), learn.Task{Table: rows, Target: "die"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Ask(m, "roll=6, die=?")
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Answers[0]; got.Prediction == nil || *got.Prediction != "loaded" {
		t.Errorf("a six as the first roll: %+v", got)
	}
	if _, err := Ask(m, "roll=?"); err == nil || !strings.HasPrefix(err.Error(), `a markov model cannot be asked for "roll", only for "die"`) {
		t.Errorf("asked for the roll: %v", err)
	}
}

// An answer that was drawn says so.
func TestDrawnAnswersSaySo(t *testing.T) {
	rows, _, err := table.Read(t.Context(), strings.NewReader("a,b\nx,u\nx,u\ny,v\ny,u\n"), table.Options{Name: "rows.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for inference, samples := range map[string]int{"exact": 0, "weighting": 300, "gibbs": 300} {
		l, err := learn.New("belief", map[string]string{"structure": "naive", "inference": inference, "samples": "300"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Target: "a"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Ask(m, "b=v, a=?")
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		all.Answers[0].Write(&said)
		if got := all.Answers[0].Samples; got != samples || strings.Contains(said.String(), "drawn from 300 samples") != (samples > 0) {
			t.Errorf("%s: %d samples, want %d; it says %s", inference, got, samples, said.String())
		}
	}
}
