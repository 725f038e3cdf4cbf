package life_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/logic"
)

// bought is the orders of a customer, pieces and whether they came back, and whether the
// customer leaves: who has sent back a large order.
func bought(customer int) (orders [][2]int, leaves bool) {
	rng := rand.New(rand.NewPCG(uint64(customer), 5))
	for range 1 + rng.IntN(3) {
		o := [2]int{1 + rng.IntN(6), rng.IntN(2)}
		orders, leaves = append(orders, o), leaves || o[0] > 3 && o[1] == 1
	}
	return orders, leaves
}

// shops writes a folder of customers and their orders.
func shops(t *testing.T, from, to int) string {
	t.Helper()
	dir := t.TempDir()
	var customers, orders strings.Builder
	customers.WriteString("customer_id,age,leaves\n")
	orders.WriteString("order_id,customer_id,pieces,returned\n")
	for c := from; c < to; c++ {
		all, leaves := bought(c)
		for k, o := range all {
			fmt.Fprintf(&orders, "o%d_%d,c%d,%d,%d\n", c, k, c, o[0], o[1])
		}
		fmt.Fprintf(&customers, "c%d,%d,%d\n", c, 20+c*13%50, map[bool]int{true: 1}[leaves])
	}
	for name, text := range map[string]string{"customers.csv": customers.String(), "orders.csv": orders.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLifeOfClauses learns clauses over linked tables, and goes through what may happen
// to them: what is to be predicted is never a condition, also where the folder of an
// update has it.
func TestLifeOfClauses(t *testing.T) {
	ctx, h := context.Background(), newHome(t)
	first, second := shops(t, 0, 150), shops(t, 150, 240)
	learnt, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, first), Target: "customers.leaves", Choice: life.Choice{Learner: "foil"}, Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	clauses := func(p *life.Part) string {
		t.Helper()
		base := life.Clauses(p, nil)
		if base == nil {
			t.Fatal("no clauses")
		}
		var text bytes.Buffer
		base.WriteClauses(&text)
		return text.String()
	}
	churn := regexp.MustCompile(`(?m)^leaves\(A\) :- orders_customer_id\(B,A\), orders_(pieces\(B,C\), C > 3, orders_returned\(B,D\), D > 0|returned\(B,C\), C > 0, orders_pieces\(B,D\), D > 3)\.`)
	if got := clauses(learnt.Part); !churn.MatchString(got) {
		t.Fatalf("learnt\n%s", got)
	}
	if _, err := h.Update(ctx, "m", find(t, h, second), false); err != nil {
		t.Fatal(err)
	}
	p, err := h.Load("m")
	if err != nil {
		t.Fatal(err)
	}
	if got := clauses(p); !churn.MatchString(got) || strings.Contains(got, "customers_leaves") {
		t.Errorf("after an update\n%s", got)
	}
	if v, err := h.Verify(ctx, "m", nil); err != nil || !v.Holds {
		t.Errorf("verify: %+v, %v", v, err)
	}

	told, err := h.Tell(ctx, "m", life.Rules{File: "known.pl", Text: []byte("leaves(A) :- customers_age(A,B), B > 68."), Worth: 20}, life.Edit{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.Diff(ctx, "m@1", fmt.Sprintf("m@%d", told.Version), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := d.Write(&page, 9, func(int, int) string { return "" }); err != nil {
		t.Fatal(err)
	}
	if got := page.String(); !strings.Contains(got, ": 1 added, 0 dropped, ") || !strings.Contains(got, "a customer with age more than 68") {
		t.Errorf("diff\n%s", got)
	}
	if e := d.Entry(); len(e.Added) != 1 || len(e.Stronger)+len(e.Weaker) != 2 {
		t.Errorf("diff as JSON: %+v", e)
	}
	p, err = h.Load("m@2")
	if err != nil {
		t.Fatal(err)
	}
	prover, ok := p.Model.(interface{ Program() *logic.Program })
	if !ok {
		t.Fatal("the model answers no goals")
	}
	s, err := prover.Program().Solve(ctx, "leaves(X)")
	if err != nil {
		t.Fatal(err)
	}
	leave := 0
	for c := range 240 {
		if _, leaves := bought(c); leaves {
			leave++
		}
	}
	if len(s.Bindings) != leave {
		t.Errorf("%d customers are proved to leave, expected %d", len(s.Bindings), leave)
	}
}

// TestProgolCutsNumbers learns the same by compression, from a folder one table of which
// has nothing but keys, with a column left out.
func TestProgolCutsNumbers(t *testing.T) {
	ctx, h := context.Background(), newHome(t)
	dir := shops(t, 0, 150)
	var friends strings.Builder
	friends.WriteString("club_id,customer_id\n")
	for c := range 150 {
		fmt.Fprintf(&friends, "club%d,c%d\n", c, c)
	}
	keys := `{"tables":{"customers":"customers.csv","orders":"orders.csv","clubs":"clubs.csv"},"primary":{"customers":["customer_id"],"orders":["order_id"],"clubs":["club_id","customer_id"]},
		"foreign":[{"table":"orders","columns":["customer_id"],"references":"customers","ref_columns":["customer_id"]},{"table":"clubs","columns":["customer_id"],"references":"customers","ref_columns":["customer_id"]}]}`
	for name, text := range map[string]string{"clubs.csv": friends.String(), "keys.json": keys} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := h.Find(dir, life.Reading{Ignore: []string{"age"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.LearnInMemory(ctx, life.LearnOptions{Data: d, Target: "customers.leaves", Choice: life.Choice{Learner: "progol"}})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	life.Clauses(p, nil).WriteClauses(&text)
	if got := text.String(); !strings.Contains(got, ", orders_pieces(") || !strings.Contains(got, " > 3") || !strings.Contains(got, "orders_returned(") || strings.Contains(got, "customers_age") {
		t.Errorf("learnt\n%s", got)
	}
}

// TestKeysOfOtherThings updates from a folder that numbers its own orders, other ones, from
// the first on: what one was of would be said of the other.
func TestKeysOfOtherThings(t *testing.T) {
	ctx, h := context.Background(), newHome(t)
	first, second := shops(t, 0, 60), shops(t, 60, 120)
	for _, dir := range []string{first, second} {
		name := filepath.Join(dir, "orders.csv")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i := range lines[1:] {
			_, rest, _ := strings.Cut(lines[i+1], ",")
			lines[i+1] = fmt.Sprintf("%d,%s", i, rest)
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, first), Target: "customers.leaves", Choice: life.Choice{Learner: "foil"}, Name: "m"}); err != nil {
		t.Fatal(err)
	}
	_, err := h.Update(ctx, "m", find(t, h, second), false)
	if err == nil || !strings.Contains(err.Error(), "table orders: ") || !strings.Contains(err.Error(), "point elsewhere now") {
		t.Errorf("an update with the keys of other things: %v", err)
	}
}

// TestProgolFollowsLinks learns what lies three tables away: a dose above 12 of a drug of one
// kind, at a visit.
func TestProgolFollowsLinks(t *testing.T) {
	ctx, h, dir := context.Background(), newHome(t), t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	texts := map[string]*strings.Builder{}
	for name, header := range map[string]string{"patients": "patient_id,age,ill", "visits": "visit_id,patient", "doses": "dose_id,visit,drug,grains", "drugs": "drug_id,kind"} {
		texts[name] = &strings.Builder{}
		fmt.Fprintln(texts[name], header)
	}
	for d := range 20 {
		fmt.Fprintf(texts["drugs"], "d%d,%s\n", d, []string{"salt", "root", "oil", "leaf"}[d%4])
	}
	visit, dose := 0, 0
	for p := range 400 {
		ill := false
		for range rng.IntN(4) {
			visit++
			fmt.Fprintf(texts["visits"], "v%d,p%d\n", visit, p)
			for range rng.IntN(3) {
				drug, grains := rng.IntN(20), 1+rng.IntN(20)
				dose++
				fmt.Fprintf(texts["doses"], "n%d,v%d,d%d,%d\n", dose, visit, drug, grains)
				ill = ill || drug%4 == 2 && grains > 12
			}
		}
		fmt.Fprintf(texts["patients"], "p%d,%d,%t\n", p, 20+rng.IntN(60), ill)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := h.LearnInMemory(ctx, life.LearnOptions{Data: find(t, h, dir), Target: "patients.ill", Choice: life.Choice{Learner: "progol"}})
	if err != nil {
		t.Fatal(err)
	}
	rules := life.Clauses(p, nil).Rules
	if len(rules) != 2 || !strings.Contains(rules[0].Text, "visits_patient(B,A), doses_visit(C,B)") || !strings.Contains(rules[0].Text, " > 12") || !strings.Contains(rules[0].Text, ",oil)") {
		t.Errorf("learnt %+v", rules)
	}
}
