package rocchio

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

const reviews = "class,said\nlike,good movie fun fun\nlike,fun plot\ndislike,bad plot bad acting\ndislike,boring bad movie\ndislike,acting boring\n"

func learnt(t testing.TB, csv string, l *Learner) (*Model, *table.Table) {
	t.Helper()
	rows, _, err := table.Read(context.Background(), strings.NewReader(csv), table.Options{Name: "reviews", Target: "class", Text: []string{"said"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "class"})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model), rows
}

// The cosine of "fun movie" and the prototype of like, by hand: words weigh
// ln(5/df), texts have the length 1, like is 16 times the mean of its two texts less
// 4 times that of the other three. (.698434945, worked out apart from this code.)
func TestCosine(t *testing.T) {
	m, _ := learnt(t, reviews, &Learner{})
	b := table.NewBuilder(m.schema)
	if err := b.String(m.schema.Index("said"), "fun movie"); err != nil {
		t.Fatal(err)
	}
	b.End()
	asked, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	cosines := make([]float64, 2)
	m.Similarities(asked, 0, cosines)
	if got := cosines[m.class().Code("like")]; math.Abs(got-.698434945) > 5e-10 {
		t.Errorf("cosine %.9f", got)
	}
}

// What is to be refused is.
func TestErrors(t *testing.T) {
	below := -1.0
	for _, l := range []*Learner{{Beta: &below}, {Gamma: &below}, {Count: "twice"}} {
		if err := l.Check(); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
	_, rows := learnt(t, reviews, &Learner{})
	if _, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: rows}); err == nil {
		t.Error("learnt without a target")
	}
}

func FuzzDecode(f *testing.F) {
	m, _ := learnt(f, reviews, &Learner{})
	parts, err := m.Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, head, rows []byte) {
		defer bounded.Start(t, len(head)+len(rows))()
		m, err := decode([]learn.Part{{Name: parts[0].Name, Data: head}, {Name: parts[1].Name, Data: rows}})
		if err != nil {
			return
		}
		if _, err := m.(*Model).Parts(); err != nil {
			t.Error(err)
		}
	})
}
