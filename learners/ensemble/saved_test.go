package ensemble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A member is written once: when others retire, or sessions come, its part
// stays as it is.
func TestMembersAreWrittenOnce(t *testing.T) {
	ctx := context.Background()
	rows := func(seed uint64) *table.Table {
		random := rand.New(rand.NewPCG(seed, 2))
		s := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "z", Kind: table.Numeric}, {Name: "y", Values: []string{"in", "out"}}}}
		columns := make([]table.Column, 3)
		for range 80 {
			x, z := random.NormFloat64(), random.NormFloat64()
			class := int32(0)
			if x*x+z*z > 1 {
				class = 1
			}
			columns[0].Floats, columns[1].Floats = append(columns[0].Floats, x), append(columns[1].Floats, z)
			columns[2].Codes = append(columns[2].Codes, class)
		}
		tbl, err := table.New(s, columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tbl
	}
	info, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	every := true
	l := &Learner{Base: "tree", Members: 3, Limit: 8, Every: &every}
	m, err := l.Learn(ctx, learn.Task{Table: rows(0), Target: "y", Seed: 1, Source: learn.Source{ID: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	retired := 0
	for i := 1; i <= 10; i++ {
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if old, ok := written[p.Name]; ok && old != string(p.Data) && (strings.Contains(p.Name, "member") || strings.Contains(p.Name, "rows")) {
				t.Errorf("after %d sessions part %q is written again", i, p.Name)
			}
			written[p.Name] = string(p.Data)
		}
		if m, err = info.Decode(parts); err != nil {
			t.Fatal(err)
		}
		u, err := m.(learn.Updater).Begin(learn.Source{ID: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(ctx, rows(uint64(i))); err != nil {
			t.Fatal(err)
		}
		if m, err = u.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		own := m.(*ruled).Model
		retired += own.sessions[len(own.sessions)-1].facts.Retired
	}
	if retired == 0 {
		t.Error("no member retired, so that nothing was tried")
	}
}
