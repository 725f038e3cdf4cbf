package evolve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
)

// plan is a hypothesis: expressions whose weighted sum, weights found by least
// squares, is the formula. It is immutable but for what judging it found.
type plan struct {
	terms  []formula.Tree
	judged atomic.Pointer[judgement]
}

// judgement is what least squares make of a plan.
type judgement struct {
	weights  []float64
	constant float64
	left     float64
}

func (p *plan) length() int {
	n := 0
	for _, t := range p.terms {
		n += len(t) + 2
	}
	return n
}

// search is the search for the formulas of one number.
type search struct {
	d         *data
	settings  *gpSettings
	seed      uint64
	report    func(float64)
	all       *sample // rows that are learnt from
	few       *sample // some of them, for the search
	judges    *sample // rows held out; those learnt from where there are none
	held      bool
	functions []formula.Op
	ranges    []formula.Interval // of the variables
	short     *shortSet
	unary     []formula.Op
	binary    []formula.Op
	machines  sync.Pool
	front     map[int]candidate // by length: the formula that leaves least
	bar       float64           // what a form is to leave less than
	history   []step
	tried     int
}

// candidate is a whole formula.
type candidate struct {
	tree formula.Tree
	left float64 // on the rows of the search
}

// step is a generation that brought a better formula.
type step struct {
	Generation int     `cbor:"generation"`
	R2         float64 `cbor:"r2"`
	Length     int     `cbor:"length"`
	Text       string  `cbor:"text"`
}

// String says it in a line.
func (s step) String() string {
	return fmt.Sprintf("generation %d: R² %.6g with %d nodes: %s", s.Generation, s.R2, s.Length, s.Text)
}

// searched is how many rows the search looks at.
const searched = 400

// fitted is how many rows the formulas of the front are fitted to, and judged on.
const fitted = 4000

func newSearch(d *data, y []float64, settings *gpSettings, seed uint64, report func(float64)) *search {
	s := &search{d: d, settings: settings, seed: seed, report: report, front: map[int]candidate{}, held: d.train < len(y), ranges: rangesOf(d.inputs)}
	s.machines.New = func() any { return &formula.Machine{} }
	centre := d.units == nil || len(d.units[len(d.units)-1]) == 0
	cut := func(rows []int) *sample {
		x := make([][]float64, len(d.x))
		for j := range x {
			x[j] = pick(d.x[j], rows)
		}
		return newSample(x, pick(y, rows), pick(d.weight, rows), centre)
	}
	train := stride(0, d.train, fitted)
	s.all, s.few = cut(train), cut(stride(0, d.train, searched))
	if s.judges = s.all; s.held {
		s.judges = cut(stride(d.train, len(y), fitted))
	}
	s.functions, _ = settings.functions() // which were checked
	for _, o := range s.functions {
		if o.Arity() == 1 {
			s.unary = append(s.unary, o)
		} else {
			s.binary = append(s.binary, o)
		}
	}
	return s
}

// stride returns about so many of the numbers from lo to hi, evenly spaced.
func stride(lo, hi, most int) []int {
	n := hi - lo
	k := min(n, most)
	rows := make([]int, k)
	for i := range rows {
		rows[i] = lo + i*n/k
	}
	return rows
}

func pick(v []float64, rows []int) []float64 {
	some := make([]float64, len(rows))
	for i, r := range rows {
		some[i] = v[r]
	}
	return some
}

// whole writes a plan as a formula.
func whole(terms []formula.Tree, j *judgement) formula.Tree {
	var t formula.Tree
	for k, term := range terms {
		one := formula.Apply(formula.Mul, formula.Number(j.weights[k]), term)
		if t == nil {
			t = one
		} else {
			t = formula.Apply(formula.Add, t, one)
		}
	}
	if j.constant != 0 || t == nil {
		if t == nil {
			return formula.Number(j.constant)
		}
		t = formula.Apply(formula.Add, t, formula.Number(j.constant))
	}
	return t
}

// judge finds a plan's weights on the rows of the search.
func (s *search) judge(p *plan) *judgement {
	if j := p.judged.Load(); j != nil {
		return j
	}
	m := s.machines.Get().(*formula.Machine)
	defer s.machines.Put(m)
	j := s.judgeTerms(p.terms, m, s.few)
	p.judged.Store(j)
	return j
}

func (s *search) judgeTerms(terms []formula.Tree, m *formula.Machine, on *sample) *judgement {
	bad := &judgement{left: math.Inf(1)}
	values := make([][]float64, len(terms))
	for k, t := range terms {
		if !s.measures(t) || !s.settings.Nested && nests(t) || !s.safe(t) {
			return bad
		}
		values[k] = make([]float64, len(on.y))
		m.Eval(t, on.x, values[k])
	}
	weights, constant, left, ok := on.weigh(values)
	if !ok {
		return bad
	}
	return &judgement{weights, constant, left}
}

// measures reports whether a term has the unit of the answer.
func (s *search) measures(t formula.Tree) bool {
	if s.d.units == nil {
		return true
	}
	u, ok := unitOf(t, s.d.units)
	want := s.d.units[len(s.d.units)-1]
	return ok && sameUnit(u, want)
}

func sameUnit(a, b unit) bool {
	if len(a) != len(b) {
		return false
	}
	for name, exponent := range a {
		if b[name] != exponent {
			return false
		}
	}
	return true
}

// offer puts a formula on the front, if nothing as short leaves less.
func (s *search) offer(t formula.Tree, left float64) {
	s.tried++
	if math.IsNaN(left) || math.IsInf(left, 0) || !t.Sound(len(s.d.x)) {
		return
	}
	simple := formula.Simplify(dropTiny(formula.Snap(t, 1e-9)))
	if len(simple) > s.settings.Length || !simple.Sound(len(s.d.x)) || !s.settings.Nested && nests(simple) || !s.safe(simple) {
		return
	}
	for n := 1; n <= len(simple); n++ {
		if c, ok := s.front[n]; ok && c.left <= left {
			return
		}
	}
	s.front[len(simple)] = candidate{simple, left}
	for n, c := range s.front {
		if n > len(simple) && c.left >= left {
			delete(s.front, n)
		}
	}
}

// dropTiny makes constants nothing that are what rounding leaves of it.
func dropTiny(t formula.Tree) formula.Tree {
	for i := range t {
		if t[i].Op == formula.Const && math.Abs(t[i].Value) < 1e-12 {
			t[i].Value = 0
		}
	}
	return t
}

// promising reports whether a plan could be on the front.
func (s *search) promising(left float64, length int) bool {
	for n, c := range s.front {
		if n <= length/3 && c.left <= left {
			return false
		}
	}
	least := math.Inf(1)
	for n, c := range s.front {
		if n <= length {
			least = min(least, c.left)
		}
	}
	return left < least
}

// exact is the share of the variance below which a formula is taken to be the
// law itself.
const exact = 1e-20

// reached reports whether the law was found: on the rows held out too.
func (s *search) reached() bool {
	for _, c := range s.front {
		if c.left < exact {
			m := s.machines.Get().(*formula.Machine)
			defer s.machines.Put(m)
			return s.judges.left(c.tree, m) < 1e-16
		}
	}
	return false
}

// run fills the front: short formulas, then evolution.
func (s *search) run(ctx context.Context) (stopped string, err error) {
	if !(s.few.spread > 0) || len(s.d.x) == 0 {
		s.front[1] = candidate{formula.Number(s.all.mean), 1}
		return "there is nothing to tell rows apart by", nil
	}
	if s.few.centre {
		s.offer(formula.Number(s.few.mean), 1)
	}
	if err = s.tryShort(ctx); err != nil {
		return "it was told to be done", err
	}
	s.note(0)
	if s.reached() {
		return "a short formula leaves nothing", nil
	}
	if s.settings.Generations == 0 {
		return "short formulas were tried alone", nil
	}
	return s.evolve(ctx)
}

// note keeps the best formula in the history.
func (s *search) note(generation int) {
	best := candidate{left: math.Inf(1)}
	for _, c := range s.front {
		if c.left < best.left {
			best = c
		}
	}
	if n := len(s.history); best.tree != nil && (n == 0 || 1-best.left > s.history[n-1].R2) {
		s.history = append(s.history, step{generation, 1 - best.left, len(best.tree), best.tree.Text(inputNames(s.d.inputs, s.d.table.Schema), 6)})
	}
}

// tryShort tries short expressions, alone, in products and in sums.
func (s *search) tryShort(ctx context.Context) error {
	rows := stride(0, len(s.few.y), probes)
	x := make([][]float64, len(s.few.x))
	for j := range x {
		x[j] = pick(s.few.x[j], rows)
	}
	y := pick(s.few.y, rows)
	functions := slices.Clone(s.functions)
	for _, w := range [][2]formula.Op{{formula.Mul, formula.Square}, {formula.Div, formula.Inverse}} {
		if slices.Contains(functions, w[0]) && !slices.Contains(functions, w[1]) {
			functions = append(functions, w[1])
		}
	}
	var ranges []formula.Interval
	if s.settings.Operators == interval {
		ranges = s.ranges
	}
	s.short = newShortSet(ctx, x, functions, s.settings.Short, s.d.units, ranges, s.settings.Nested)
	m := &formula.Machine{}
	for _, b := range s.short.best(y, 300) {
		s.tryTerms(m, []formula.Tree{s.short.tree(b.at)}, shapes[0], nil, false)
	}
	for _, f := range s.short.products(ctx, y, functions, 300) {
		var factor formula.Tree
		if f.factor >= 0 {
			factor = s.short.tree(f.factor)
		}
		s.tryTerms(m, []formula.Tree{s.short.tree(f.terms[0])}, shapes[f.shape], factor, f.under)
	}
	s.report(0.1)
	s.powers(m)
	s.tryForms(ctx, m)
	for k, sh := range shapes[:7] {
		if ctx.Err() != nil || k == 5 || k > 0 && (s.d.units != nil || !slices.Contains(functions, sh.op)) {
			continue
		}
		z := make([]float64, len(y))
		for i, v := range y {
			z[i] = sh.undo(v)
		}
		if k > 0 && slices.ContainsFunc(z, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			continue
		}
		for _, sum := range s.short.pursue(ctx, z, min(s.settings.Terms, len(rows)/5), 12, 20_000) {
			terms := make([]formula.Tree, len(sum))
			for i, at := range sum {
				terms[i] = s.short.tree(at)
			}
			s.tryTerms(m, terms, sh, nil, false)
		}
		s.report(0.1 + 0.025*float64(k+1))
	}
	return ctx.Err()
}

// tryTerms offers factor · shape(Σ terms), or its quotient: the weights are
// found on what is left of y, then all constants together on y.
func (s *search) tryTerms(m *formula.Machine, terms []formula.Tree, sh shape, factor formula.Tree, under bool) {
	on := s.few
	plain := factor == nil && sh.op == formula.Add
	if !plain {
		z := slices.Clone(s.few.y)
		if factor != nil {
			f := make([]float64, len(z))
			m.Eval(factor, s.few.x, f)
			for i := range z {
				if under {
					z[i] *= f[i]
				} else {
					z[i] /= f[i]
				}
			}
		}
		for i := range z {
			if z[i] = sh.undo(z[i]); math.IsNaN(z[i]) || math.IsInf(z[i], 0) {
				return
			}
		}
		if on = newSample(s.few.x, z, s.few.w, true); !(on.spread > 0) {
			return
		}
	}
	values := make([][]float64, len(terms))
	for k, t := range terms {
		if plain && !s.measures(t) {
			return
		}
		values[k] = make([]float64, len(on.y))
		m.Eval(t, on.x, values[k])
	}
	weights, constant, left, ok := on.weigh(values)
	if !ok {
		return
	}
	t := whole(terms, &judgement{weights, constant, left})
	if plain {
		s.offer(t, left)
		return
	}
	t = sh.wrap(formula.Simplify(dropTiny(formula.Snap(t, 1e-9))))
	if factor != nil {
		o := formula.Mul
		if under {
			o = formula.Div
		}
		t = formula.Apply(o, t, factor)
		if under {
			t = formula.Apply(o, sh.wrap(formula.Simplify(dropTiny(formula.Snap(whole(terms, &judgement{weights, constant, left}), 1e-9)))), factor)
		}
	}
	if s.d.units != nil && !s.measures(t) {
		return
	}
	s.offer(t, s.few.left(t, m))
}

// powers tries the polynomial of all powers and products of few variables, and
// takes away what is not needed, one by one.
func (s *search) powers(m *formula.Machine) {
	if s.d.units != nil || !slices.Contains(s.functions, formula.Mul) {
		return
	}
	degree := map[int]int{1: 8, 2: 5, 3: 3, 4: 3, 5: 2}[len(s.d.x)]
	if len(s.d.x) > 5 {
		degree = 1
	}
	terms := monomials(len(s.d.x), degree)
	for len(terms) > len(s.few.y)-2 && degree > 1 {
		degree--
		terms = monomials(len(s.d.x), degree)
	}
	values := s.values(m, terms)
	for len(terms) > 0 && len(terms) < 60 {
		weights, constant, left, ok := s.few.weigh(values)
		if !ok {
			return
		}
		s.offer(whole(terms, &judgement{weights, constant, left}), left)
		at := s.addsLeast(values, weights)
		terms = slices.Delete(slices.Clone(terms), at, at+1)
		values = slices.Delete(slices.Clone(values), at, at+1)
	}
}

// monomials returns the products of powers of variables up to a degree.
func monomials(variables, degree int) []formula.Tree {
	var all []formula.Tree
	var make func(from, left int, t formula.Tree)
	make = func(from, left int, t formula.Tree) {
		if t != nil {
			all = append(all, t)
		}
		for v := from; v < variables && left > 0; v++ {
			one := formula.Variable(v)
			if t != nil {
				one = formula.Apply(formula.Mul, t, one)
			}
			make(v, left-1, one)
		}
	}
	make(0, degree, nil)
	return all
}

// evolve breeds plans, or lets a rival of evolution search.
func (s *search) evolve(ctx context.Context) (string, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := false
	watch := func(generation int, members ...*plan) {
		for _, member := range members {
			if j := member.judged.Load(); j != nil && s.promising(j.left, member.length()) {
				s.offer(whole(member.terms, j), j.left)
			}
		}
		s.note(generation)
		s.report(0.3 + 0.65*float64(generation)/float64(s.settings.Generations))
		if done = s.reached(); done {
			cancel()
		}
	}
	var r *genetic.Result[*plan]
	var err error
	if s.settings.rivalled() {
		r, err = s.rival(inner, watch)
	} else {
		r, err = s.algorithm(watch).Evolve(inner, s.seed)
	}
	switch {
	case done:
		return "a formula leaves nothing", nil
	case err != nil:
		return "it was told to be done", err
	}
	return r.Stopped, nil
}

// species says how plans are made, judged and bred.
func (s *search) species() genetic.Species[*plan] {
	return genetic.Species[*plan]{
		Random: s.random, Cross: s.cross, Mutate: s.mutate, Learn: s.learn,
		Fitness: func(p *plan) float64 {
			left := s.judge(p).left
			return 1 / (left*(1+0.005*float64(p.length())) + 1e-24)
		},
	}
}

// algorithm is the genetic algorithm that the settings ask for.
func (s *search) algorithm(watch func(generation int, members ...*plan)) *genetic.GA[*plan] {
	const elite = 6
	ga := &genetic.GA[*plan]{
		Species: s.species(), Size: s.settings.Population, Replaced: 0.7, Mutation: 0.4, Generations: s.settings.Generations, Lamarckian: s.settings.Learning != "baldwin",
		Selection: genetic.Selection{Method: methods[cmp.Or(s.settings.Selection, "tournament")]}, Elite: min(elite, s.settings.Population), First: s.first(),
		Islands: genetic.Islands{Count: s.settings.Islands},
		Watch:   func(generation int, p *genetic.Population[*plan]) { watch(generation, p.Lived()...) },
	}
	if s.settings.Learning == "none" {
		ga.Learn = nil
	}
	return ga
}

// rival searches by mutants alone, one after the other. What it begins with is
// what evolution would, and constants are fitted as they are there.
func (s *search) rival(ctx context.Context, watch func(generation int, members ...*plan)) (*genetic.Result[*plan], error) {
	species := s.species()
	tried, given := 0, s.first()
	species.Random = func(r *rand.Rand) *plan {
		if len(given) > 0 {
			p := given[len(given)-1]
			given = given[:len(given)-1]
			return p
		}
		return s.random(r)
	}
	species.Mutate = func(r *rand.Rand, p *plan) *plan { return s.learn(r, s.mutate(r, p)) }
	fitness := species.Fitness
	species.Fitness = func(p *plan) float64 {
		f := fitness(p)
		tried++
		watch(tried/s.settings.Population, p)
		return f
	}
	switch tries := s.settings.Population * s.settings.Generations; s.settings.Search {
	case "climb":
		return genetic.Climb(ctx, &species, tries, 20*s.settings.Population, 0, s.seed)
	case "anneal":
		return genetic.Anneal(ctx, &species, tries, 1, 1e-3, 0, s.seed)
	}
	return genetic.Program(ctx, &species, s.settings.Population, s.settings.Generations, 0, s.seed)
}

// first returns plans of the front, and of the best short expressions.
func (s *search) first() []*plan {
	var all []*plan
	rows := stride(0, len(s.few.y), probes)
	for _, b := range s.short.best(pick(s.few.y, rows), s.settings.Population/4) {
		all = append(all, &plan{terms: []formula.Tree{s.short.tree(b.at)}})
	}
	lengths := make([]int, 0, len(s.front))
	for n := range s.front {
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	for _, n := range lengths {
		all = append(all, &plan{terms: split(s.front[n].tree, s.settings.Terms)})
	}
	return all[:min(len(all), s.settings.Population/2)]
}

// split takes a sum apart into its terms.
func split(t formula.Tree, most int) []formula.Tree {
	root := t[len(t)-1].Op
	if most > 1 && (root == formula.Add || root == formula.Sub) {
		at := t.Start(len(t) - 2)
		left, right := t[:at], t[at:len(t)-1]
		return append(split(left, most-1), split(right, 1)...)
	}
	if len(t) == 1 && t[0].Op == formula.Const {
		return nil
	}
	return []formula.Tree{t}
}

// random is a plan of one to three expressions: short ones, or grown at random.
func (s *search) random(r *rand.Rand) *plan {
	p := &plan{}
	for range 1 + r.IntN(min(3, s.settings.Terms)) {
		p.terms = append(p.terms, s.expression(r))
	}
	return p
}

// expression is a short one, or grown.
func (s *search) expression(r *rand.Rand) formula.Tree {
	if r.IntN(2) == 0 {
		return s.short.tree(min(r.IntN(len(s.short.made)), r.IntN(len(s.short.made))))
	}
	return s.grown(r, 3)
}

// grown is a random tree of a depth at most.
func (s *search) grown(r *rand.Rand, depth int) formula.Tree {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(4) == 0 {
			return formula.Number(math.Round(r.NormFloat64()*200) / 100)
		}
		return formula.Variable(r.IntN(len(s.d.x)))
	}
	if len(s.unary) > 0 && (len(s.binary) == 0 || r.IntN(3) == 0) {
		return formula.Apply(s.unary[r.IntN(len(s.unary))], s.grown(r, depth-1))
	}
	if len(s.binary) == 0 {
		return formula.Variable(r.IntN(len(s.d.x)))
	}
	return formula.Apply(s.binary[r.IntN(len(s.binary))], s.grown(r, depth-1), s.grown(r, depth-1))
}

// cross swaps whole terms, or subtrees of two of them.
func (s *search) cross(r *rand.Rand, a, b *plan) (*plan, *plan) {
	c, d := &plan{terms: slices.Clone(a.terms)}, &plan{terms: slices.Clone(b.terms)}
	if len(c.terms) == 0 || len(d.terms) == 0 {
		return a, b
	}
	i, j := r.IntN(len(c.terms)), r.IntN(len(d.terms))
	if r.IntN(3) == 0 {
		c.terms[i], d.terms[j] = d.terms[j], c.terms[i]
	} else {
		c.terms[i], d.terms[j] = genetic.CrossTrees(r, c.terms[i], d.terms[j], func(n formula.Node) int { return n.Op.Arity() }, s.settings.Length/2)
	}
	if c.length() > s.settings.Length+10 || d.length() > s.settings.Length+10 {
		return a, b
	}
	return c, d
}

// mutate changes one term, adds one or takes one away.
func (s *search) mutate(r *rand.Rand, p *plan) *plan {
	q := &plan{terms: slices.Clone(p.terms)}
	if len(q.terms) == 0 {
		return s.random(r)
	}
	i := r.IntN(len(q.terms))
	switch r.IntN(6) {
	case 0:
		if len(q.terms) < s.settings.Terms {
			q.terms = append(q.terms, s.expression(r))
		}
	case 1:
		if len(q.terms) > 1 {
			q.terms = slices.Delete(q.terms, i, i+1)
		}
	case 2: // another operator, variable or constant at one node
		t := slices.Clone(q.terms[i])
		at := r.IntN(len(t))
		switch n := &t[at]; {
		case n.Op == formula.Const:
			n.Value += r.NormFloat64() * (0.1 + math.Abs(n.Value)/2)
		case n.Op == formula.Var:
			n.Index = int32(r.IntN(len(s.d.x)))
		case n.Op.Arity() == 1 && len(s.unary) > 0:
			n.Op = s.unary[r.IntN(len(s.unary))]
		case n.Op.Arity() == 2 && len(s.binary) > 0:
			n.Op = s.binary[r.IntN(len(s.binary))]
		}
		q.terms[i] = t
	case 3: // a constant within: at a node, + c or · c
		t := q.terms[i]
		end := r.IntN(len(t))
		start := t.Start(end)
		o := []formula.Op{formula.Add, formula.Mul}[r.IntN(2)]
		q.terms[i] = slices.Concat(t[:start], formula.Apply(o, t[start:end+1], formula.Number(1+r.NormFloat64())), t[end+1:])
	default: // a subtree is replaced
		t := q.terms[i]
		end := r.IntN(len(t))
		q.terms[i] = slices.Concat(t[:t.Start(end)], s.expression(r), t[end+1:])
	}
	if q.length() > s.settings.Length+10 {
		return p
	}
	return q
}

// learn fits the constants within a plan's terms, for one plan in ten.
func (s *search) learn(r *rand.Rand, p *plan) *plan {
	inner := 0
	for _, t := range p.terms {
		inner += len(freeConstants(t))
	}
	if r.IntN(10) > 0 || inner == 0 || inner > 8 {
		return p
	}
	j := s.judge(p)
	if math.IsInf(j.left, 0) {
		return p
	}
	m := s.machines.Get().(*formula.Machine)
	defer s.machines.Put(m)
	better := s.few.refine(whole(p.terms, j), m, 6)
	q := &plan{}
	at := 0
	for _, t := range p.terms { // weight, term, ·, and + from the second on
		at++
		q.terms = append(q.terms, slices.Clone(better[at:at+len(t)]))
		at += len(t) + 1
		if len(q.terms) > 1 {
			at++
		}
	}
	if s.judge(q).left < j.left {
		return q
	}
	return p
}
