package genetic

import (
	"math/bits"
	"math/rand/v2"
)

// Logical is a program over true and false in postfix order: a main branch, which
// gives the answer, and branches that define subroutines of two arguments which it
// may call (automatically defined functions, Koza 1994). Branches evolve together;
// a later subroutine may call those before it.
type Logical struct {
	Main []LogicalNode
	Subs [][]LogicalNode
}

// LogicalNode is a function, an argument or a call.
type LogicalNode struct {
	Kind  LogicalKind
	Index int // of an argument, or of the subroutine that is called
}

// LogicalKind is what a node does.
type LogicalKind uint8

// The kinds of nodes.
const (
	Argument LogicalKind = iota
	And
	Or
	Nand
	Nor
	Call
)

func logicalArity(n LogicalNode) int {
	if n.Kind == Argument {
		return 0
	}
	return 2
}

// run evaluates a branch for 64 cases at once.
func (l *Logical) run(branch []LogicalNode, arguments []uint64) uint64 {
	stack := make([]uint64, 0, 16)
	for _, n := range branch {
		if n.Kind == Argument {
			stack = append(stack, arguments[n.Index])
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		switch n.Kind {
		case And:
			a &= b
		case Or:
			a |= b
		case Nand:
			a = ^(a & b)
		case Nor:
			a = ^(a | b)
		case Call:
			a = l.run(l.Subs[n.Index], []uint64{a, b})
		}
		stack[len(stack)-2] = a
		stack = stack[:len(stack)-1]
	}
	return stack[0]
}

// Parity judges programs by even parity: of all 2ⁿ cases, n to 6, those in which a
// program says rightly whether the number of true arguments is even.
func Parity(n, subroutines, most int) Species[Logical] {
	arguments, want := make([]uint64, n), uint64(0)
	for c := range uint(1) << n {
		for i := range arguments {
			arguments[i] |= uint64(c>>i&1) << c
		}
		if bits.OnesCount(c)%2 == 0 {
			want |= 1 << c
		}
	}
	all := uint64(1)<<(uint(1)<<n) - 1
	if n == 6 {
		all = ^uint64(0)
	}
	// grow makes a branch of a depth at most over arguments and subroutines before it.
	var grow func(r *rand.Rand, depth, arguments, callable int) []LogicalNode
	grow = func(r *rand.Rand, depth, arguments, callable int) []LogicalNode {
		if depth == 0 || r.IntN(5) == 0 {
			return []LogicalNode{{Argument, r.IntN(arguments)}}
		}
		node := LogicalNode{Kind: And + LogicalKind(r.IntN(4))}
		if callable > 0 && r.IntN(3) == 0 {
			node = LogicalNode{Call, r.IntN(callable)}
		}
		t := append(grow(r, depth-1, arguments, callable), grow(r, depth-1, arguments, callable)...)
		return append(t, node)
	}
	return Species[Logical]{
		Random: func(r *rand.Rand) Logical {
			l := Logical{Main: grow(r, 5, n, subroutines)}
			for s := range subroutines {
				l.Subs = append(l.Subs, grow(r, 4, 2, s))
			}
			return l
		},
		Fitness: func(l Logical) float64 {
			return float64(bits.OnesCount64(^(l.run(l.Main, arguments) ^ want) & all))
		},
		Cross: func(r *rand.Rand, a, b Logical) (Logical, Logical) {
			branch := r.IntN(1 + subroutines) // the same of both: a subtree fits where it comes from
			if branch == 0 {
				c, d := CrossTrees(r, a.Main, b.Main, logicalArity, most)
				return Logical{c, a.Subs}, Logical{d, b.Subs}
			}
			c, d := CrossTrees(r, a.Subs[branch-1], b.Subs[branch-1], logicalArity, most/2)
			return Logical{a.Main, replaced(a.Subs, branch-1, c)}, Logical{b.Main, replaced(b.Subs, branch-1, d)}
		},
	}
}

func replaced(all [][]LogicalNode, at int, by []LogicalNode) [][]LogicalNode {
	out := append([][]LogicalNode(nil), all...)
	out[at] = by
	return out
}
