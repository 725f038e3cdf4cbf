package reproduce

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/relation"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Michalski's ten trains, and the two families of Hinton 1986 (relation, who, of whom).
var (
	//go:embed trains.pl
	trainsText string
	//go:embed kinship.csv
	kinshipText string
)

// relations are what learners of relations are known by: chess positions, trains,
// families, lists, and sorting.
func relations() []Experiment {
	var experiments []Experiment
	add := func(name, source, measure string, figure Figure, seeds int, run Runner, why string) {
		experiments = append(experiments, Experiment{Name: "relations-" + name, Tags: append(chapter(10), "relations"), Source: source, Measure: measure, Figure: figure, Seeds: seeds, Run: run, Why: why})
	}
	const quinlan = "Quinlan 1990"
	add("chess-1000", quinlan, "percent of 10,000 unseen king-rook-king positions that foil tells right after 1,000 positions (published 99.4)", printed(99.4).percent().higher(), 2, OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
		return chessAfter(ctx, 1000, seed)
	}), "")
	add("chess-10000", quinlan, "the same after 10,000", printed(99.4).percent().higher(), 1, Fixed(func(ctx context.Context) (float64, error) { return chessAfter(ctx, 10000, 1) }), "")
	add("trains", "Michalski & Larson 1977", "literals of the shortest clause that tells Michalski's trains, found by foil: a short closed car", reference(4).lower(), 1, Fixed(trainLiterals), "")
	add("kinship", "Hinton 1986; "+quinlan, "percent of all pairs of all 12 relations of two families that clauses over the 11 others tell right", reference(100).percent().higher(), 1, Fixed(families), "")
	add("ancestor", mitchell("section 10.5.3"), "1 if foil finds both clauses of Ancestor", printed(1), 1, Fixed(ancestorClauses), "")
	add("member", "Quinlan 1990; "+mitchell("section 10.5.3"), "1 if foil finds both clauses of Member, from lists of up to three elements", printed(1), 1, Fixed(memberClauses), "")
	add("quicksort", mitchell("section 10.5"), "percent of pairs of lists of up to four numbers of which golem's program, learnt from lists of up to three, says rightly whether one is the other sorted", printed(100).percent().higher(), 1, Fixed(sorting), "")
	return experiments
}

// learnTask learns a task and returns the model and its rows.
func learnTask(ctx context.Context, learner string, settings map[string]string, task *logic.Task, seed uint64) (learn.Model, *table.Table, error) {
	t, err := task.Table()
	if err != nil {
		return nil, nil, err
	}
	l, err := learn.New(learner, settings)
	if err != nil {
		return nil, nil, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Target: t.Linked.Target, Seed: seed})
	return m, t, err
}

// The bias of chess positions: files are compared with files, and ranks with ranks.
const chessBias = `head_pred(illegal,6). body_pred(lt,2). body_pred(adj,2). body_pred(eq,2).
type(illegal,(file,rank,file,rank,file,rank)).`

// chessFacts compare the numbers of files and ranks.
func chessFacts() string {
	var b strings.Builder
	for x := 1; x <= 8; x++ {
		for y := 1; y <= 8; y++ {
			if x < y {
				fmt.Fprintf(&b, "lt(%d,%d).\n", x, y)
			}
			if x == y {
				fmt.Fprintf(&b, "eq(%d,%d).\n", x, y)
			}
			if x-y >= -1 && x-y <= 1 {
				fmt.Fprintf(&b, "adj(%d,%d).\n", x, y)
			}
		}
	}
	return b.String()
}

// chess returns positions as examples of illegal(WKfile, WKrank, WRfile, …).
func chess(ctx context.Context, set string) ([]logic.Example, error) {
	t, s, err := datasets.Load(ctx, set)
	if err != nil {
		return nil, err
	}
	target := t.Schema.Index(s.Target)
	all := make([]logic.Example, t.Rows())
	for r := range all {
		for i := range t.Schema.Attributes {
			text := t.Text(r, i)
			switch {
			case i == target:
				all[r].Positive = text == "1"
			case text[0] >= 'a':
				all[r].Args = append(all[r].Args, logic.Int(text[0]-'a'+1))
			default:
				all[r].Args = append(all[r].Args, logic.Int(text[0]-'0'))
			}
		}
	}
	return all, nil
}

func chessTask(examples []logic.Example) *logic.Task {
	return &logic.Task{Of: logic.Predicate{Name: "illegal", Arity: 6}, Examples: examples, Background: chessFacts(), Bias: chessBias}
}

// chessAfter is the percent of unseen positions that foil tells right after some.
func chessAfter(ctx context.Context, size int, seed uint64) (float64, error) {
	train, err := chess(ctx, "krk")
	if err != nil {
		return 0, err
	}
	rand.New(rand.NewPCG(seed, 0x6368657373)).Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
	m, _, err := learnTask(ctx, relation.FoilName, nil, chessTask(train[:size]), seed)
	if err != nil {
		return 0, err
	}
	return chessRight(ctx, m)
}

// chessRight is the percent of the positions that nobody learnt from which a model tells
// right.
func chessRight(ctx context.Context, m learn.Model) (float64, error) {
	test, err := chess(ctx, "krk-test")
	if err != nil {
		return 0, err
	}
	t, err := chessTask(test).Table()
	if err != nil {
		return 0, err
	}
	wrong, err := errorRate(ctx, m, t, t.Linked.Target)
	return 100 - wrong, err
}

func trainLiterals(ctx context.Context) (float64, error) {
	task, err := logic.Split(trainsText, "")
	if err != nil {
		return 0, err
	}
	m, t, err := learnTask(ctx, relation.FoilName, nil, task, 1)
	if err != nil {
		return 0, err
	}
	if wrong, err := errorRate(ctx, m, t, t.Linked.Target); err != nil || wrong > 0 {
		return 100, err
	}
	literals := 0.0
	for _, c := range m.(*relation.Model).Clauses() {
		if p, err := logic.Read("clause", c.Text); err == nil && len(p.Clauses) == 1 {
			literals += float64(1 + len(p.Clauses[0].Body))
		}
	}
	return literals, nil
}

// families is the percent of pairs of people of one family that clauses tell right, each
// relation being learnt from the others.
func families(ctx context.Context) (float64, error) {
	facts := map[string]string{}
	pairs := map[string]bool{}
	people := map[string][]string{}
	for i, line := range strings.Split(strings.TrimSpace(kinshipText), "\n") {
		cells := strings.Split(strings.ToLower(line), ",")
		if i == 0 || len(cells) != 4 {
			continue
		}
		facts[cells[0]] += fmt.Sprintf("%s(%s,%s).\n", cells[0], cells[1], cells[2])
		pairs[cells[0]+" "+cells[1]+" "+cells[2]] = true
		for _, who := range cells[1:3] {
			if !slices.Contains(people[cells[3]], who) {
				people[cells[3]] = append(people[cells[3]], who)
			}
		}
	}
	right, of := 0, 0
	names := slices.Sorted(maps.Keys(facts))
	for _, name := range names {
		task := &logic.Task{Of: logic.Predicate{Name: name, Arity: 2}}
		for _, other := range names {
			if other != name {
				task.Background += facts[other]
			}
		}
		for _, which := range slices.Sorted(maps.Keys(people)) {
			family := people[which]
			for _, a := range family {
				for _, b := range family {
					task.Examples = append(task.Examples, logic.Example{Args: []logic.Term{logic.Atom(a), logic.Atom(b)}, Positive: pairs[name+" "+a+" "+b]})
				}
			}
		}
		m, t, err := learnTask(ctx, relation.FoilName, nil, task, 1)
		if err != nil {
			return 0, err
		}
		said, err := saidTo(ctx, m, t)
		if err != nil {
			return 0, err
		}
		for r, class := range said {
			of++
			if class == t.Text(r, t.Schema.Index(t.Linked.Target)) {
				right++
			}
		}
	}
	return 100 * float64(right) / float64(of), nil
}

// isProgram is 1 if foil learns just these clauses.
func isProgram(ctx context.Context, facts string, tuples relation.Tuples, o relation.FoilOptions, want ...string) (float64, error) {
	p, err := logic.Read("facts", facts)
	if err != nil {
		return 0, err
	}
	learnt, err := relation.Foil(ctx, p, tuples, o)
	if err != nil || len(learnt) != len(want) {
		return 0, err
	}
	for i, c := range learnt {
		if c.Clause.String() != want[i] {
			return 0, nil
		}
	}
	return 1, nil
}

func ancestorClauses(ctx context.Context) (float64, error) {
	const facts = "parent(ann,bea). parent(ann,bob). parent(bea,cid). parent(cid,dot). parent(bob,eve).\n"
	known, err := logic.Read("facts", facts+"ancestor(X,Y) :- parent(X,Y).\nancestor(X,Y) :- parent(X,Z), ancestor(Z,Y).")
	if err != nil {
		return 0, err
	}
	t := relation.Tuples{Of: logic.Predicate{Name: "ancestor", Arity: 2}}
	names := []logic.Term{logic.Atom("ann"), logic.Atom("bea"), logic.Atom("bob"), logic.Atom("cid"), logic.Atom("dot"), logic.Atom("eve")}
	for _, x := range names {
		for _, y := range names {
			holds, err := known.Holds(ctx, []logic.Literal{{Atom: &logic.Compound{Functor: "ancestor", Args: []logic.Term{x, y}}}}, logic.Limits{})
			if err != nil {
				return 0, err
			}
			if holds {
				t.Positives = append(t.Positives, []logic.Term{x, y})
			} else {
				t.Negatives = append(t.Negatives, []logic.Term{x, y})
			}
		}
	}
	return isProgram(ctx, facts, t, relation.FoilOptions{Recursion: true}, "ancestor(A,B) :- parent(A,B).", "ancestor(A,B) :- parent(A,C), ancestor(C,B).")
}

func memberClauses(ctx context.Context) (float64, error) {
	var facts strings.Builder
	t := relation.Tuples{Of: logic.Predicate{Name: "member", Arity: 2}}
	lists := []string{""}
	for at := 0; at < len(lists); at++ {
		l := lists[at]
		for _, x := range "12" {
			if len(l) < 3 {
				lists = append(lists, string(x)+l)
				fmt.Fprintf(&facts, "components(l%c%s,%c,l%s).\n", x, l, x, l)
			}
			tuple := []logic.Term{logic.Int(x - '0'), logic.Atom("l" + l)}
			if strings.ContainsRune(l, x) {
				t.Positives = append(t.Positives, tuple)
			} else {
				t.Negatives = append(t.Negatives, tuple)
			}
		}
	}
	return isProgram(ctx, facts.String(), t, relation.FoilOptions{Recursion: true, NewVariables: 2}, "member(A,B) :- components(B,A,C).", "member(A,B) :- components(B,C,D), member(A,D).")
}

// sortingTask is lists of different numbers, how they are made, parted and joined, and
// which of them is which sorted.
func sortingTask(most int) *logic.Task {
	lists := []string{""}
	for at := 0; at < len(lists); at++ {
		for x := range most {
			if d := fmt.Sprint(x); !strings.Contains(lists[at], d) {
				lists = append(lists, d+lists[at])
			}
		}
	}
	name := func(l string) string {
		if l == "" {
			return "nil"
		}
		return "l" + l
	}
	var b strings.Builder
	task := &logic.Task{Of: logic.Predicate{Name: "sorted", Arity: 2}, Bias: `enable_recursion. head_pred(sorted,2).
body_pred(components,3). body_pred(partition,4). body_pred(append,3). body_pred(empty,1).
type(sorted,(list,list)). type(components,(list,element,list)). type(partition,(element,list,list,list)).
type(append,(list,list,list)). type(empty,(list,)).`}
	b.WriteString("empty(nil).\n")
	for _, l := range lists {
		if l != "" {
			fmt.Fprintf(&b, "components(%s,%c,%s).\n", name(l), l[0], name(l[1:]))
		}
		for x := range most {
			d := byte('0' + x)
			if strings.IndexByte(l, d) >= 0 {
				continue
			}
			small := strings.Map(func(r rune) rune { return keep(r, r < rune(d)) }, l)
			large := strings.Map(func(r rune) rune { return keep(r, r > rune(d)) }, l)
			fmt.Fprintf(&b, "partition(%d,%s,%s,%s).\n", x, name(l), name(small), name(large))
		}
		for k := range len(l) + 1 {
			fmt.Fprintf(&b, "append(%s,%s,%s).\n", name(l[:k]), name(l[k:]), name(l))
		}
		in := strings.Split(l, "")
		slices.Sort(in)
		for _, other := range lists {
			task.Examples = append(task.Examples, logic.Example{Args: []logic.Term{logic.Atom(name(l)), logic.Atom(name(other))}, Positive: other == strings.Join(in, "")})
		}
	}
	task.Background = b.String()
	return task
}

func keep(r rune, is bool) rune {
	if is {
		return r
	}
	return -1
}

func sorting(ctx context.Context) (float64, error) {
	m, _, err := learnTask(ctx, relation.GolemName, nil, sortingTask(3), 1)
	if err != nil {
		return 0, err
	}
	t, err := sortingTask(4).Table()
	if err != nil {
		return 0, err
	}
	wrong, err := errorRate(ctx, m, t, t.Linked.Target)
	return 100 - wrong, err
}
