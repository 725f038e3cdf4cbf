package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/relation"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// What ours stands for.
const (
	theirTheory = "the theory of the experiment was not published; this one has four faults of its own"
	otherLoans  = "the faults of telephone lines were not published; these are students, drawn at random"
)

// elsewhere are the reasons that are other data.
var elsewhere = map[string]Beyond{theirTheory: OtherData, otherLoans: OtherData, otherDigits: OtherData, otherCups: OtherData, otherRobot: OtherData}

// guided are figures of Mitchell 1997, section 12.5: FOIL, a theory that is wrong in
// places, and FOCL, which has both.
func guided() []Experiment {
	var experiments []Experiment
	add := func(name, measure string, figure Figure, seeds int, run func(context.Context, uint64) (float64, error), why string) {
		experiments = append(experiments, Experiment{Name: "focl-" + name, Tags: append(chapter(12), "relations"), Source: mitchell("section 12.5.2"), Measure: measure, Figure: figure, Seeds: seeds, Run: OverSeeds(run), Why: why, Beyond: elsewhere[why]})
	}
	const unseen = "percent of 10,000 unseen king-rook-king positions told right "
	add("chess-theory", unseen+"by a theory with four faults (published 76)", printed(76).percent().higher(), 1, func(ctx context.Context, _ uint64) (float64, error) { return chessTheory(ctx) }, theirTheory)
	add("chess-foil", unseen+"by foil after 60, half of them illegal (published 86)", printed(86).percent().higher(), 10, func(ctx context.Context, seed uint64) (float64, error) {
		return guidedChess(ctx, relation.FoilName, "", 60, seed)
	}, "which 60 positions those were was not published")
	add("chess-focl", unseen+"by focl after 60, with the theory that has four faults (published 94)", printed(94).percent().higher(), 10, func(ctx context.Context, seed uint64) (float64, error) {
		return guidedChess(ctx, relation.FoclName, faultyChess, 60, seed)
	}, theirTheory)
	for _, spoilt := range []float64{0, .2, .4, .6} {
		add(fmt.Sprintf("spoilt-%.0f", 100*spoilt), fmt.Sprintf("points by which focl is above foil on unseen positions after 30, half of them illegal, with a theory of which %.0f %% of the literals are spoilt", 100*spoilt), reference(0).percent().higher(), 10, func(ctx context.Context, seed uint64) (float64, error) {
			with, err := guidedChess(ctx, relation.FoclName, spoiltChess(spoilt, seed), 30, seed)
			if err != nil {
				return 0, err
			}
			without, err := guidedChess(ctx, relation.FoilName, "", 30, seed)
			return with - without, err
		}, "a theory that is mostly wrong proposes conditions that fit by chance")
	}
	experiments[len(experiments)-1].Picture, experiments[len(experiments)-1].PictureName = spoiltPicture, "focl-spoilt"
	for _, size := range []int{10, 20, 40, 60, 80} {
		add(fmt.Sprintf("promoters-%d", size), fmt.Sprintf("points of error on unseen promoters that focl with the theory is below foil after %d rows; better is above 0", size), reference(0).percent().higher(), 10, func(ctx context.Context, seed uint64) (float64, error) {
			without, err := guidedPromoters(ctx, relation.FoilName, size, seed)
			if err != nil {
				return 0, err
			}
			with, err := guidedPromoters(ctx, relation.FoclName, size, seed)
			return without - with, err
		}, "")
	}
	experiments[len(experiments)-1].Picture, experiments[len(experiments)-1].PictureName = promotersPicture, "focl-promoters"
	cup := func(name, where, measure string, figure Figure, of func(relation.Proposal) float64, zero ...string) {
		experiments = append(experiments, Experiment{Name: "focl-cup-" + name, Tags: append(chapter(12), "relations"), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1,
			Run: Fixed(func(ctx context.Context) (float64, error) {
				p, err := proposedCup(ctx, zero...)
				return of(p), err
			})})
	}
	cup("literals", "figure 12.8", "literals that are left of what the theory of cups proposes for the first clause, which wins over every single one", printed(4), func(p relation.Proposal) float64 {
		if !p.Wins {
			return 0
		}
		return float64(len(p.Columns))
	})
	cup("gain", "figure 12.8", "gain of these, which cover 4 cups and 2 that are none", reference(2.9479).digits(4), func(p relation.Proposal) float64 { return p.Gain })
	cup("no-handle", "exercise 12.6", "cups that what the theory proposes covers after ¬HasHandle, less objects that are none", reference(2), func(p relation.Proposal) float64 { return p.Positive - p.Negative }, "has_handle")
	const loans = "percent of 1,000 unseen students whose loans fall due or not, told right "
	add("faults-theory", loans+"by a theory with four faults (published 95, of telephone faults)", printed(95).percent().higher(), 5, func(ctx context.Context, seed uint64) (float64, error) { return guidedLoans(ctx, "", 500, seed) }, otherLoans)
	add("faults-foil", loans+"by foil after 500 (published 90)", printed(90).percent().higher(), 5, func(ctx context.Context, seed uint64) (float64, error) {
		return guidedLoans(ctx, relation.FoilName, 500, seed)
	}, otherLoans)
	add("faults-focl", loans+"by focl after 500, with that theory (published 98)", printed(98).percent().higher(), 5, func(ctx context.Context, seed uint64) (float64, error) {
		return guidedLoans(ctx, relation.FoclName, 500, seed)
	}, otherLoans)
	return experiments
}

// proposedCup is what the theory of cups proposes, of objects without what is named.
func proposedCup(ctx context.Context, zero ...string) (relation.Proposal, error) {
	rows, set, err := datasets.Load(ctx, "cup")
	if err != nil {
		return relation.Proposal{}, err
	}
	text, _ := datasets.Theory("cup")
	return relation.Propose(ctx, &relation.Focl{Theory: "cup.pl\n" + string(text)}, learn.Task{Table: rows, Target: set.Target}, "1", zero...)
}

// The theory of illegal positions, and one with four faults: that the rook attacks along
// a rank is missing, adjacent kings stand on one rank, the white king is never in the
// rook's way, and rook and white king on one file are held to be illegal.
const (
	rightChess = `illegal(A,B,C,D,E,F) :- same_square(A,B,C,D,E,F).
illegal(A,B,C,D,E,F) :- kings_adjacent(A,B,E,F).
illegal(A,B,C,D,E,F) :- rook_attacks(A,B,C,D,E,F).
same_square(A,B,C,D,E,F) :- eq(A,C), eq(B,D).
same_square(A,B,C,D,E,F) :- eq(C,E), eq(D,F).
same_square(A,B,C,D,E,F) :- eq(A,E), eq(B,F).
kings_adjacent(A,B,E,F) :- adj(A,E), adj(B,F).
rook_attacks(A,B,C,D,E,F) :- eq(C,E), \+ between(A,B,C,D,F).
rook_attacks(A,B,C,D,E,F) :- eq(D,F), \+ between(B,A,D,C,E).
between(A,B,C,D,F) :- eq(A,C), lt(D,B), lt(B,F).
between(A,B,C,D,F) :- eq(A,C), lt(F,B), lt(B,D).
`
	faultyChess = `illegal(A,B,C,D,E,F) :- same_square(A,B,C,D,E,F).
illegal(A,B,C,D,E,F) :- kings_adjacent(A,B,E,F).
illegal(A,B,C,D,E,F) :- rook_attacks(A,B,C,D,E,F).
same_square(A,B,C,D,E,F) :- eq(A,C), eq(B,D).
same_square(A,B,C,D,E,F) :- eq(C,E), eq(D,F).
same_square(A,B,C,D,E,F) :- eq(A,E), eq(B,F).
kings_adjacent(A,B,E,F) :- adj(A,E), eq(B,F).
rook_attacks(A,B,C,D,E,F) :- eq(C,E).
rook_attacks(A,B,C,D,E,F) :- eq(A,C).
`
)

// spoiltChess is the theory of positions with a share of its comparisons changed: left
// out, of another kind, or with one of the two squares exchanged.
func spoiltChess(share float64, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0x73706f696c))
	p, err := logic.Read("theory", rightChess)
	if err != nil {
		return rightChess
	}
	kinds := []string{"eq", "adj", "lt"}
	text := ""
	for _, c := range p.Clauses {
		var body []logic.Literal
		for i, l := range c.Body {
			of, _ := l.Predicate()
			if !slices.Contains(kinds, of.Name) || random.Float64() >= share {
				body = append(body, l)
				continue
			}
			args := slices.Clone(l.Atom.(*logic.Compound).Args)
			switch kind := random.IntN(3); {
			case kind == 0 && (i > 0 || len(c.Body) > 1) && len(body)+len(c.Body)-i > 1:
				continue
			case kind == 1:
				of.Name = kinds[(slices.Index(kinds, of.Name)+1+random.IntN(2))%3]
			default:
				args[random.IntN(2)] = logic.Var(random.IntN(min(len(c.Names), 4)))
			}
			body = append(body, logic.Literal{Negated: l.Negated, Atom: &logic.Compound{Functor: of.Name, Args: args}})
		}
		text += logic.NewClause(c.Head, body).String() + "\n"
	}
	return text
}

// guidedChess is the percent of unseen positions told right after some, of which half
// are illegal.
func guidedChess(ctx context.Context, learner, theory string, size int, seed uint64) (float64, error) {
	all, err := chess(ctx, "krk")
	if err != nil {
		return 0, err
	}
	rand.New(rand.NewPCG(seed, 0x6368657373)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var some []logic.Example
	var of [2]int
	for _, e := range all {
		k := 0
		if e.Positive {
			k = 1
		}
		if of[k] < size/2 {
			of[k]++
			some = append(some, e)
		}
	}
	m, _, err := learnTask(ctx, learner, withClauses(theory), chessTask(some), seed)
	if err != nil {
		return 0, err
	}
	return chessRight(ctx, m)
}

// withClauses are the settings of a learner that is given a theory; "" is none.
func withClauses(theory string) map[string]string {
	if theory == "" {
		return nil
	}
	return map[string]string{"theory": "theory.pl\n" + theory}
}

// chessTheory is the percent of positions that the theory with four faults tells right.
func chessTheory(ctx context.Context) (float64, error) {
	test, err := chess(ctx, "krk-test")
	if err != nil {
		return 0, err
	}
	p, err := logic.Read("theory", chessFacts()+faultyChess)
	if err != nil {
		return 0, err
	}
	right := 0.0
	for _, e := range test {
		holds, err := p.Holds(ctx, []logic.Literal{{Atom: &logic.Compound{Functor: "illegal", Args: e.Args}}}, logic.Limits{})
		if err != nil {
			return 0, err
		}
		if holds == e.Positive {
			right += 100 / float64(len(test))
		}
	}
	return right, nil
}

// guidedPromoters is the percent of unseen promoters answered wrongly after some rows.
func guidedPromoters(ctx context.Context, learner string, size int, seed uint64) (float64, error) {
	t, target, theory, err := withTheory(ctx, "promoters")
	if err != nil {
		return 0, err
	}
	order := rand.New(rand.NewPCG(seed, 0x637572766573)).Perm(t.Rows())
	m, err := reasoned(ctx, learner, nil, t.Select(order[:size]), target, theory, seed)
	if err != nil {
		return 0, err
	}
	return errorRate(ctx, m, t.Select(order[size:]), target)
}

// curves draws what a measure is after more and more rows, a line for each name.
func curves(ctx context.Context, first uint64, seeds int, chart *draw.Chart, sizes []int, names []string, of func(ctx context.Context, name string, size int, seed uint64) (float64, error)) (*draw.Chart, error) {
	for _, name := range names {
		s := draw.Series{Name: name, Kind: draw.Line}
		for _, size := range sizes {
			r, err := OverSeeds(func(ctx context.Context, seed uint64) (float64, error) { return of(ctx, name, size, seed) })(ctx, first, seeds)
			if err != nil {
				return nil, err
			}
			s.X, s.Y = append(s.X, float64(size)), append(s.Y, r.Ours/100)
		}
		chart.Series = append(chart.Series, s)
	}
	return chart, nil
}

func spoiltPicture(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
	chart := &draw.Chart{Title: "Chess positions: rows alone, and with a theory that is spoilt", XLabel: "positions learnt from", YLabel: "unseen positions told right", LogX: true, Percent: true}
	theories := map[string]float64{"focl, perfect theory": 0, "focl, 20 % spoilt": .2, "focl, 40 % spoilt": .4, "focl, 60 % spoilt": .6}
	names := []string{"foil, no theory", "focl, perfect theory", "focl, 20 % spoilt", "focl, 40 % spoilt", "focl, 60 % spoilt"}
	return curves(ctx, first, seeds, chart, []int{20, 40, 60, 120, 240}, names, func(ctx context.Context, name string, size int, seed uint64) (float64, error) {
		share, ok := theories[name]
		if !ok {
			return guidedChess(ctx, relation.FoilName, "", size, seed)
		}
		return guidedChess(ctx, relation.FoclName, spoiltChess(share, seed), size, seed)
	})
}

func promotersPicture(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
	chart := &draw.Chart{Title: "Promoters: with the theory and without", XLabel: "rows learnt from", YLabel: "error on unseen rows", Percent: true}
	return curves(ctx, first, seeds, chart, []int{10, 20, 40, 60, 80}, []string{relation.FoilName, relation.FoclName}, guidedPromoters)
}

// loanTheory says when no payment of a student's loan is due, with four faults: who is
// disabled is forgotten, only men serve, absence from school does not matter, and
// few courses are enough.
const loanTheory = `deferred(S) :- enrolled(S).
deferred(S) :- serves(S).
deferred(S) :- students_organisation(S,peace_corps).
deferred(S) :- students_bankrupt(S).
deferred(S) :- students_unemployed(S).
enrolled(S) :- courses_student(C,S), courses_units(C,U), U > 5.
serves(S) :- students_male(S), students_organisation(S,army).
serves(S) :- students_male(S), students_organisation(S,navy).
serves(S) :- students_male(S), students_organisation(S,marines).
`

// loans draws students and their courses; whose payment is deferred follows Pazzani &
// Brunk's theory of student loans.
func loans(random *rand.Rand, students int) (*table.Table, error) {
	flags := []string{"male", "bankrupt", "unemployed", "disabled"}
	chances := []float64{.5, .09, .11, .09}
	s := table.NewBuilder(loanSchema(append([]string{"id", "organisation"}, flags...), "absence", "deferred"))
	c := table.NewBuilder(loanSchema([]string{"student", "school"}, "units", ""))
	for i := range students {
		units := 0
		if random.Float64() < .55 {
			for range 1 + random.IntN(4)/3 {
				u := 1 + random.IntN(14)
				units = max(units, u)
				if err := fill(c, fmt.Sprint("s", i), fmt.Sprint("school", random.IntN(6)), float64(u)); err != nil {
					return nil, err
				}
			}
		}
		organisation := "none"
		if x := random.Float64(); x < .07 {
			organisation = []string{"army", "navy", "marines"}[random.IntN(3)]
		} else if x < .11 {
			organisation = "peace_corps"
		} else if x < .17 {
			organisation = "police"
		}
		cells := []any{fmt.Sprint("s", i), organisation}
		deferred := organisation != "none" && organisation != "police"
		for k, p := range chances {
			is := random.Float64() < p
			deferred = deferred || is && k > 0
			cells = append(cells, map[bool]string{true: "yes", false: "no"}[is])
		}
		absence := random.IntN(10)
		deferred = deferred || units > 11 || units > 5 && absence < 6
		if err := fill(s, append(cells, float64(absence), map[bool]string{true: "yes", false: "no"}[deferred])...); err != nil {
			return nil, err
		}
	}
	rows, err := s.Table()
	if err != nil {
		return nil, err
	}
	courses, err := c.Table()
	if err != nil {
		return nil, err
	}
	shown := make([]int, len(rows.Columns)-1) // all but what is predicted
	for i := range shown {
		shown[i] = i
	}
	return rows.WithLinked(&table.Linked{Of: "students", Target: "deferred", Tables: []table.NamedTable{
		{Name: "students", Primary: []string{"id"}, Table: rows.Project(shown)}, {Name: "courses", Table: courses},
	}, Links: []table.Link{{Table: "courses", Columns: []string{"student"}, To: "students", ToColumns: []string{"id"}}}}), nil
}

func loanSchema(names []string, number, target string) *table.Schema {
	s := &table.Schema{}
	for _, n := range names {
		s.Attributes = append(s.Attributes, table.Attribute{Name: n})
	}
	s.Attributes = append(s.Attributes, table.Attribute{Name: number, Kind: table.Numeric})
	if target != "" {
		s.Attributes = append(s.Attributes, table.Attribute{Name: target, Values: []string{"no", "yes"}})
	}
	return s
}

// fill adds a row of names and numbers.
func fill(b *table.Builder, cells ...any) error {
	for i, c := range cells {
		var err error
		switch c := c.(type) {
		case string:
			err = b.String(i, c)
		case float64:
			err = b.Float(i, c)
		}
		if err != nil {
			return err
		}
	}
	b.End()
	return nil
}

// guidedLoans is the percent of unseen students told right after some; the theory alone
// if no learner is named.
func guidedLoans(ctx context.Context, learner string, size int, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 0x6c6f616e73))
	train, err := loans(random, size)
	if err != nil {
		return 0, err
	}
	test, err := loans(random, 1000)
	if err != nil {
		return 0, err
	}
	if learner == "" {
		return loansByTheory(test), nil
	}
	var settings map[string]string
	if learner == relation.FoclName {
		settings = withClauses(loanTheory)
	}
	l, err := learn.New(learner, settings)
	if err != nil {
		return 0, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: train, Target: "deferred", Seed: seed})
	if err != nil {
		return 0, err
	}
	wrong, err := errorRate(ctx, m, test, "deferred")
	return 100 - wrong, err
}

// loansByTheory is the percent of students that loanTheory tells right.
func loansByTheory(t *table.Table) float64 {
	most := map[string]float64{}
	courses := t.Linked.Table("courses").Table
	for r := range courses.Rows() {
		who := courses.Text(r, 0)
		most[who] = max(most[who], courses.Columns[2].Floats[r])
	}
	right := 0.0
	for r := range t.Rows() {
		cell := func(name string) string { return t.Text(r, t.Schema.Index(name)) }
		organisation := cell("organisation")
		said := most[cell("id")] > 5 || organisation == "peace_corps" || cell("bankrupt") == "yes" || cell("unemployed") == "yes" ||
			cell("male") == "yes" && slices.Contains([]string{"army", "navy", "marines"}, organisation)
		if said == (cell("deferred") == "yes") {
			right += 100 / float64(t.Rows())
		}
	}
	return right
}
