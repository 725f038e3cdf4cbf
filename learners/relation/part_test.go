package relation

import "testing"

// TestPart looks for a clause among fewer examples, of which as large a share is positive.
func TestPart(t *testing.T) {
	f := &search{db: &database{}}
	var active []int32
	for e := range int32(60000) {
		f.positive, f.weight = append(f.positive, e%6 == 0), append(f.weight, 1)
		active = append(active, e)
	}
	part, weight := f.part(active)
	of := map[bool]float64{}
	for _, e := range part {
		of[f.positive[e]] += weight[e]
	}
	if n := len(part); n != mostPositive+mostNegative || of[false] < 4.99*of[true] || of[false] > 5.01*of[true] {
		t.Errorf("%d examples, %v by class; expected five times as many negative ones", n, of)
	}
	if part, _ := f.part(active[:6000]); part != nil {
		t.Errorf("of 6,000 examples %d are looked at", len(part))
	}
}

// TestNeeded drops a clause that is a special case of one that was learnt behind it.
func TestNeeded(t *testing.T) {
	db := &database{}
	d := db.domain("thing")
	for _, name := range []string{"a", "b", "c"} {
		db.domains[d].code(name)
	}
	few := newRelation("few", []place{{}}, [][]int32{{0}})
	most := newRelation("most", []place{{}}, [][]int32{{0, 1}})
	all := []int32{0, 1, 2}
	f := &search{db: db, examples: &examples{columns: [][]int32{all}, places: []place{{}}}, positive: []bool{true, true, false}, weight: []float64{1, 1, 1}, options: options{exact: true}}
	clause := func(r *relation) *found { return &found{body: []literal{{relation: r, args: []int{0}}}} }
	set := f.needed([]*found{clause(few), clause(most)}, all)
	if len(set) != 1 || set[0].body[0].relation != most {
		t.Errorf("%d clauses are kept, expected the one of most", len(set))
	}
}
