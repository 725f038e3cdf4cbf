package life

import (
	"bytes"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
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
