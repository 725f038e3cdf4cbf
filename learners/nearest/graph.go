package nearest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
)

// graph is an approximate index for many rows of many columns, where trees have
// to look nearly everywhere. Every case knows some cases near to it; a search
// begins in the leaf of a tree where the question would be and goes on to
// whichever known case is nearest, until the best that it has found, effort of
// them, know nobody nearer (best-first search; Malkov and Yashunin 2020).
//
// It is built without any search: leaves of a few trees parted by random
// hyperplanes propose neighbours (Dasgupta and Freund 2008), neighbours of
// neighbours improve on them (NN-descent; Dong, Charikar and Li 2011), and of
// those only the ones are kept that no nearer one leads to (relative
// neighbourhood). All is a function of the cases and their order alone, for any
// number of cores: hyperplanes come from fixed seeds, and each round reads the
// lists of the round before.
type graph struct {
	space  *space
	door   *tree   // where searches begin
	links  []int32 // of each case degree, -1 behind the last
	degree int
	wanted int // how many of the nearest the effort is for
	effort int
	recall float64 // of the nearest cases, the share that was found
	held   int     // cases that were held out to measure it
	saved  func() ([]byte, error)
}

// Sizes of the graph, measured on 60,000 rows of 50 columns.
const (
	proposed    = 12 // neighbours in the making
	plantedLeaf = 100
	planted     = 4 // trees that propose
	rounds      = 1
	nearer      = 9  // of each neighbour, that are asked about
	named       = 10 // by how many a case is heard of
	leastEffort = 12
)

// newGraph builds a graph, and makes as much of an effort as it takes to find a
// share of the nearest.
func newGraph(ctx context.Context, s *space, wanted int, recall float64) (index, error) {
	door, err := newTree(ctx, s, false)
	if err != nil {
		return nil, err
	}
	g := &graph{space: s, door: door, degree: 2 * proposed, wanted: wanted}
	near, err := g.propose(ctx)
	for round := 0; round < rounds && err == nil; round++ {
		near, err = g.improve(ctx, near)
	}
	if err != nil {
		return nil, err
	}
	if err := g.link(ctx, near); err != nil {
		return nil, err
	}
	g.saved = sync.OnceValues(g.save)
	return g, g.tune(ctx, recall)
}

// tunedBy is how many cases are held out to measure the recall, and tunedFor how
// many of the nearest are looked for where k is not given.
const (
	tunedBy  = 300
	tunedFor = 10
)

// tune raises the effort until a share of the nearest is found. It asks about
// some of the cases, as if none of them were there.
func (g *graph) tune(ctx context.Context, recall float64) error {
	s, count := g.space, g.space.count
	held := min(tunedBy, count/20)
	if held == 0 {
		g.effort, g.recall = count, 1
		return nil
	}
	g.held = held
	hidden := make([]bool, count)
	at := func(q int) int { return q * count / held }
	for q := range held {
		hidden[at(q)] = true
	}
	reach := make([]float32, held) // of the last of the nearest
	err := learn.Each(ctx, held, func(q int) {
		out := make([]float32, leafSize)
		near := make([]link, 0, g.wanted)
		for from := 0; from < count; from += leafSize {
			to := min(from+leafSize, count)
			squares(s.points[at(q)*s.stride:(at(q)+1)*s.stride], s.points[from*s.stride:to*s.stride], out[:to-from])
			for i := from; i < to; i++ {
				if !hidden[i] && (len(near) < g.wanted || out[i-from] < near[g.wanted-1].square) {
					near = insert(near, link{out[i-from], int32(i)}, g.wanted)
				}
			}
		}
		reach[q] = near[len(near)-1].square
	})
	if err != nil {
		return err
	}
	want := min(g.wanted, count-held)
	for effort := max(leastEffort, want); ; effort += max(1, effort/8) {
		found := make([]int, held)
		err := learn.Each(ctx, held, func(q int) {
			r := &room{asked: s.points[at(q)*s.stride : (at(q)+1)*s.stride]}
			r.walk.hidden = hidden
			g.walk(r, effort)
			for _, l := range r.walk.best[:min(want, len(r.walk.best))] {
				if l.square <= reach[q] {
					found[q]++
				}
			}
		})
		if err != nil {
			return err
		}
		total := 0
		for _, n := range found {
			total += n
		}
		if g.effort, g.recall = effort, float64(total)/float64(want*held); g.recall >= recall || effort >= count {
			return nil
		}
	}
}

// link is somebody near, and how near.
type link struct {
	square float32
	at     int32
}

func (a link) before(b link) bool { return a.square < b.square || a.square == b.square && a.at < b.at }

// insert puts a link into a list in order, of at most so many, each once.
func insert(list []link, l link, most int) []link {
	at := len(list)
	for at > 0 && l.before(list[at-1]) {
		at--
	}
	if at == most || at > 0 && list[at-1] == l {
		return list
	}
	if len(list) < most {
		list = append(list, link{})
	}
	copy(list[at+1:], list[at:])
	list[at] = l
	return list
}

// propose finds neighbours in the leaves of random trees.
func (g *graph) propose(ctx context.Context) ([]link, error) {
	s, count := g.space, g.space.count
	near := make([]link, count*proposed)
	filled := make([]uint8, count)
	for t := range planted {
		order := make([]int32, count)
		for i := range order {
			order[i] = int32(i)
		}
		leaves := [][]int32{order}
		if t == 0 { // the first is there already
			leaves = leaves[:0]
			for _, n := range g.door.nodes {
				if n.right == 0 {
					leaves = append(leaves, g.door.order[n.from:n.to])
				}
			}
		} else if err := g.plant(ctx, &leaves, uint64(t)); err != nil {
			return nil, err
		}
		propose := func(i int32, l link) {
			list := near[int(i)*proposed : int(i)*proposed+int(filled[i]) : (int(i)+1)*proposed]
			if len(list) < proposed || l.square <= list[len(list)-1].square {
				filled[i] = uint8(len(insert(list, l, proposed)))
			}
		}
		rooms := sync.Pool{New: func() any { return &[2][]float32{} }}
		err := learn.Each(ctx, len(leaves), func(l int) {
			leaf := leaves[l]
			room := rooms.Get().(*[2][]float32) // the points of the leaf, and squares
			defer rooms.Put(room)
			room[0], room[1] = room[0][:0], append(room[1][:0], make([]float32, len(leaf))...)
			for _, i := range leaf {
				room[0] = append(room[0], s.points[int(i)*s.stride:(int(i)+1)*s.stride]...)
			}
			for at, i := range leaf {
				rest, out := room[0][at*s.stride:], room[1][:len(leaf)-at-1]
				squares(rest[:s.stride], rest[s.stride:], out)
				for n, square := range out {
					j := leaf[at+1+n]
					propose(i, link{square, j})
					propose(j, link{square, i})
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for i, n := range filled {
		for at := int(n); at < proposed; at++ {
			near[i*proposed+at] = link{float32(math.Inf(1)), -1}
		}
	}
	return near, nil
}

// plant parts cases by random hyperplanes through the middle of two of them,
// until leaves are small.
func (g *graph) plant(ctx context.Context, leaves *[][]int32, seed uint64) error {
	type job struct {
		cases []int32
		seed  uint64
	}
	s := g.space
	jobs := []job{{(*leaves)[0], seed}}
	*leaves = (*leaves)[:0]
	for len(jobs) > 0 {
		next := make([][2]job, len(jobs))
		err := learn.Each(ctx, len(jobs), func(at int) {
			cases := jobs[at].cases
			random := rand.New(rand.NewPCG(jobs[at].seed, uint64(len(cases))))
			a, b := cases[random.IntN(len(cases))], cases[random.IntN(len(cases))]
			p, q := s.points[int(a)*s.stride:(int(a)+1)*s.stride], s.points[int(b)*s.stride:(int(b)+1)*s.stride]
			sides := make([]float32, 2*len(cases))
			squaresAt(p, s.points, cases, sides)
			squaresAt(q, s.points, cases, sides[len(cases):])
			left, right := make([]int32, 0, len(cases)), make([]int32, 0, len(cases)/2)
			for i, c := range cases {
				if sides[i] < sides[len(cases)+i] {
					left = append(left, c)
				} else {
					right = append(right, c)
				}
			}
			if min(len(left), len(right)) < len(cases)/20 { // of one kind: any halves will do
				left, right = cases[:len(cases)/2], cases[len(cases)/2:]
			}
			next[at] = [2]job{{left, random.Uint64()}, {right, random.Uint64()}}
		})
		if err != nil {
			return err
		}
		jobs = jobs[:0]
		for _, pair := range next {
			for _, j := range pair {
				if len(j.cases) <= plantedLeaf {
					*leaves = append(*leaves, j.cases)
				} else {
					jobs = append(jobs, j)
				}
			}
		}
	}
	return nil
}

// improve makes new lists from the neighbours of neighbours, and of those who
// name a case.
func (g *graph) improve(ctx context.Context, near []link) ([]link, error) {
	s, count := g.space, g.space.count
	back := make([]int32, count*named)
	heard := make([]uint8, count)
	for at := range proposed {
		for i := range count {
			if j := near[i*proposed+at].at; j >= 0 && heard[j] < named {
				back[int(j)*named+int(heard[j])] = int32(i)
				heard[j]++
			}
		}
	}
	better := slices.Clone(near)
	const batch = 1024
	rooms := sync.Pool{New: func() any { return &walk{seen: make([]uint32, count)} }}
	err := learn.Each(ctx, (count+batch-1)/batch, func(chunk int) {
		w := rooms.Get().(*walk)
		defer rooms.Put(w)
		for i := chunk * batch; i < min((chunk+1)*batch, count) && ctx.Err() == nil; i++ {
			list := better[i*proposed : (i+1)*proposed]
			w.begin(count)
			w.seen[i] = w.now
			for _, l := range list {
				if l.at >= 0 {
					w.seen[l.at] = w.now
				}
			}
			for _, l := range near[i*proposed : (i+1)*proposed] {
				if l.at < 0 {
					break
				}
				for _, of := range near[int(l.at)*proposed : int(l.at)*proposed+nearer] {
					w.ask(of.at)
				}
			}
			for _, j := range back[i*named : i*named+int(heard[i])] {
				w.ask(j)
			}
			w.measure(s, s.points[i*s.stride:(i+1)*s.stride], list[proposed-1].square)
			for at, j := range w.asked {
				if w.out[at] < list[proposed-1].square {
					list = insert(list, link{w.out[at], j}, proposed)
				}
			}
		}
	})
	return better, err
}

// link keeps of each list those whom no nearer one leads to, and both ways.
func (g *graph) link(ctx context.Context, near []link) error {
	s, count := g.space, g.space.count
	keep := make([]bool, len(near))
	err := learn.Each(ctx, count, func(i int) {
		kept := 0
		list := near[i*proposed : (i+1)*proposed]
		for at, l := range list {
			if l.at < 0 {
				break
			}
			p := s.points[int(l.at)*s.stride : (int(l.at)+1)*s.stride]
			led := false
			for before, n := range list[:at] {
				if keep[i*proposed+before] && 1.2*square(p, s.points[int(n.at)*s.stride:(int(n.at)+1)*s.stride]) < l.square {
					led = true
					break
				}
			}
			if !led {
				keep[i*proposed+at] = true
				kept++
			}
		}
	})
	if err != nil {
		return err
	}
	g.links = make([]int32, count*g.degree)
	used := make([]int, count)
	add := func(i, j int32) {
		if list := g.links[int(i)*g.degree : int(i)*g.degree+used[i]]; used[i] < g.degree && !slices.Contains(list, j) {
			g.links[int(i)*g.degree+used[i]] = j
			used[i]++
		}
	}
	for at := range proposed {
		for i := range count {
			if keep[i*proposed+at] {
				add(int32(i), near[i*proposed+at].at)
				add(near[i*proposed+at].at, int32(i))
			}
		}
	}
	for i, n := range used {
		list := g.links[i*g.degree : (i+1)*g.degree]
		slices.Sort(list[:n])
		for at := n; at < g.degree; at++ {
			list[at] = -1
		}
	}
	return ctx.Err()
}

// walk is a search's way through a graph.
type walk struct {
	seen   []uint32 // the walk in which a case was seen last
	now    uint32
	hidden []bool // cases that are not to be found; nil: none
	best   []link // so far, in order
	done   []bool // whose links were followed
	asked  []int32
	out    []float32
}

// begin forgets who was seen.
func (w *walk) begin(count int) {
	if len(w.seen) != count {
		w.seen, w.now = make([]uint32, count), 0
	}
	if w.now++; w.now == 0 {
		clear(w.seen)
		w.now = 1
	}
	w.asked = w.asked[:0]
}

// ask asks about a case, once.
func (w *walk) ask(j int32) {
	if j >= 0 && w.seen[j] != w.now && (w.hidden == nil || !w.hidden[j]) {
		w.seen[j] = w.now
		w.asked = append(w.asked, j)
	}
}

// measure finds how far those are that are asked about, and drops the ones that
// are farther than so much.
func (w *walk) measure(s *space, from []float32, most float32) {
	for len(w.out) < len(w.asked) {
		w.out = append(w.out, 0)
	}
	first := s.first()
	squaresAt(from[:first], s.heads, w.asked, w.out)
	left := w.asked[:0]
	for at, j := range w.asked {
		if !(w.out[at] > most) {
			w.out[len(left)] = w.out[at]
			left = append(left, j)
		}
	}
	if w.asked = left; first < s.stride {
		squaresAt(from, s.points, w.asked, w.out)
	}
}

// find walks from the door, and looks at the best cases on the way.
func (g *graph) find(s *search) {
	s.room.ask(s, g.space)
	effort := g.effort
	if wanted := float64(g.wanted); s.k > wanted {
		effort = int(min(float64(effort)*s.k/wanted, float64(g.space.count)))
	}
	g.walk(&s.room, effort)
	for _, l := range s.room.walk.best {
		if l.square > s.room.above(s) {
			break // and so are all that come after it
		}
		s.look(int(l.at))
	}
	if s.total < s.k { // weights that are small, or a walk that ended early
		g.door.find(s.again())
	}
}

func (g *graph) walk(r *room, effort int) {
	w := &r.walk
	w.begin(g.space.count)
	w.best, w.done = w.best[:0], w.done[:0]
	leaf := &g.door.nodes[g.door.place(r.asked)]
	for _, j := range g.door.order[leaf.from:min(leaf.to, leaf.from+4*leafSize)] {
		w.ask(j)
	}
	g.consider(r, effort)
	for at := 0; at < len(w.best); {
		if w.done[at] {
			at++
			continue
		}
		w.done[at] = true
		from := int(w.best[at].at)
		w.asked = w.asked[:0]
		for _, j := range g.links[from*g.degree : (from+1)*g.degree] {
			if j < 0 {
				break
			}
			w.ask(j)
		}
		at = min(at, g.consider(r, effort))
	}
}

// consider puts the cases that are asked about among the best. It returns the
// first place that changed.
func (g *graph) consider(r *room, effort int) int {
	w := &r.walk
	most := float32(math.Inf(1))
	if len(w.best) == effort {
		most = w.best[effort-1].square
	}
	w.measure(g.space, r.asked, most)
	first := len(w.best)
	for i, j := range w.asked {
		l := link{w.out[i], j}
		if len(w.best) == effort && !l.before(w.best[effort-1]) {
			continue
		}
		at, to := 0, len(w.best) // the first that is not before it
		for at < to {
			if middle := (at + to) / 2; w.best[middle].before(l) {
				at = middle + 1
			} else {
				to = middle
			}
		}
		if len(w.best) < effort {
			w.best, w.done = append(w.best, link{}), append(w.done, false)
		}
		copy(w.best[at+1:], w.best[at:])
		copy(w.done[at+1:], w.done[at:])
		w.best[at], w.done[at] = l, false
		first = min(first, at)
	}
	return first
}

func (g *graph) place(asked []float32) int32 { return g.door.place(asked) }
func (g *graph) in() *space                  { return g.space }
