package genetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Block stacking (Koza 1992; section 9.5.2): nine lettered blocks on a table or
// in one stack are to be stacked so that they spell a word. Programs are trees
// of three terminals and five functions.

// Word is the number of blocks; block 0 belongs at the bottom of the stack.
const Word = 9

// World is where the blocks are: the stack from the bottom up. The others are on
// the table.
type World struct {
	stack [Word]int8
	high  int8
	on    uint16 // blocks in the stack
	Moves int
}

// NewWorld returns a world with such a stack.
func NewWorld(stack ...int) World {
	var w World
	for _, b := range stack {
		w.push(int8(b))
	}
	return w
}

func (w *World) push(b int8) {
	w.stack[w.high] = b
	w.high++
	w.on |= 1 << b
}

// Solved reports whether the whole word is spelt.
func (w *World) Solved() bool { return w.right() == Word }

// right returns how many blocks from the bottom up are in their place.
func (w *World) right() int8 {
	n := int8(0)
	for n < w.high && w.stack[n] == n {
		n++
	}
	return n
}

// BlockOp is a node of a program.
type BlockOp uint8

// The terminals and functions: CS is the top block of the stack, TB the topmost
// block such that it and all below are right, NN the next one needed above it;
// MS moves a block from the table to the stack, MT the top of the stack, if a
// block is in it, to the table; EQ compares; NOT; DU does its first argument
// until the second holds.
const (
	CS BlockOp = iota
	TB
	NN
	MS
	MT
	EQ
	NOT
	DU
)

var blockNames = []string{"CS", "TB", "NN", "MS", "MT", "EQ", "NOT", "DU"}

// BlockArity is how many arguments a node takes.
func BlockArity(o BlockOp) int { return []int{0, 0, 0, 1, 1, 2, 1, 2}[o] }

// Blocks is a program: its nodes, arguments before their function.
type Blocks []BlockOp

// String writes a program as it is printed in the text.
func (p Blocks) String() string {
	var stack []string
	for _, o := range p {
		n := BlockArity(o)
		text := blockNames[o]
		if n > 0 {
			text = "(" + strings.Join(append([]string{text}, stack[len(stack)-n:]...), " ") + ")"
		}
		stack = append(stack[:len(stack)-n], text)
	}
	return stack[0]
}

// parseBlocks reads what String writes.
func parseBlocks(text string) (Blocks, error) {
	text = strings.NewReplacer("(", " ", ")", " ").Replace(text)
	words := strings.Fields(text)
	at := 0
	var read func() (Blocks, error)
	read = func() (Blocks, error) {
		if at >= len(words) {
			return nil, fmt.Errorf("the program ends too early")
		}
		o := slices.Index(blockNames, words[at])
		if o < 0 {
			return nil, fmt.Errorf("%q is no function of blocks", words[at])
		}
		at++
		var p Blocks
		for range BlockArity(BlockOp(o)) {
			q, err := read()
			if err != nil {
				return nil, err
			}
			p = append(p, q...)
		}
		return append(p, BlockOp(o)), nil
	}
	p, err := read()
	if err == nil && at < len(words) {
		err = fmt.Errorf("the program goes on after its end")
	}
	return p, err
}

// MustBlocks is a program that is known to be sound.
func MustBlocks(text string) Blocks {
	p, err := parseBlocks(text)
	if err != nil {
		panic(err)
	}
	return p
}

// Values of nodes: a block, or truth or falsehood.
const (
	falsehood int8 = -1
	truth     int8 = Word
)

// mostLoops bounds a DU, mostSteps a whole run.
const (
	mostLoops = 25
	mostSteps = 2000
)

// Run runs a program in a world.
func (p Blocks) Run(w *World) {
	steps := 0
	p.eval(len(p)-1, w, &steps)
}

// eval returns the value of the subtree that ends at a node.
func (p Blocks) eval(at int, w *World, steps *int) int8 {
	if *steps++; *steps > mostSteps {
		return falsehood
	}
	switch p[at] {
	case CS:
		if w.high == 0 {
			return falsehood
		}
		return w.stack[w.high-1]
	case TB:
		return w.right() - 1
	case NN:
		if n := w.right(); n < Word {
			return n
		}
		return falsehood
	case MS:
		b := p.eval(at-1, w, steps)
		if b < 0 || b >= Word || w.on>>b&1 == 1 {
			return falsehood
		}
		w.push(b)
		w.Moves++
		return truth
	case MT:
		b := p.eval(at-1, w, steps)
		if b < 0 || b >= Word || w.on>>b&1 == 0 {
			return falsehood
		}
		w.high--
		w.on &^= 1 << w.stack[w.high]
		w.Moves++
		return truth
	case NOT:
		if p.eval(at-1, w, steps) == falsehood {
			return truth
		}
		return falsehood
	}
	first := Subtree(p, BlockArity, at-1) - 1 // where the first argument ends
	if p[at] == EQ {
		if p.eval(first, w, steps) == p.eval(at-1, w, steps) {
			return truth
		}
		return falsehood
	}
	for range mostLoops {
		p.eval(first, w, steps)
		if p.eval(at-1, w, steps) != falsehood {
			return truth
		}
		if *steps > mostSteps {
			break
		}
	}
	return falsehood
}

// EachWorld calls a function with every stack of blocks that there is.
func EachWorld(visit func(w World)) {
	var grow func(w World)
	grow = func(w World) {
		visit(w)
		for b := range int8(Word) {
			if w.on>>b&1 == 0 {
				next := w
				next.push(b)
				grow(next)
			}
		}
	}
	grow(World{})
}

// BlockCases returns 166 worlds to try programs on, after Koza: the ten correct
// beginnings, each correct beginning with a wrong block on top, and random
// stacks.
func BlockCases(r *rand.Rand) []World {
	const cases = 166
	var all []World
	for n := 0; n <= Word; n++ {
		var w World
		for b := range n {
			w.push(int8(b))
		}
		all = append(all, w)
		for b := n + 1; b < Word; b++ {
			next := w
			next.push(int8(b))
			all = append(all, next)
		}
	}
	for len(all) < cases {
		var w World
		for _, b := range r.Perm(Word)[:r.IntN(Word+1)] {
			w.push(int8(b))
		}
		all = append(all, w)
	}
	return all[:cases]
}

// BlockSpecies are programs that stack blocks: their fitness is how many cases
// they solve.
func BlockSpecies(cases []World) Species[Blocks] {
	return Species[Blocks]{
		Random: func(r *rand.Rand) Blocks { return RandomBlocks(r, 2+r.IntN(3), r.IntN(2) == 0) },
		Fitness: func(p Blocks) float64 {
			solved := 0.0
			for _, w := range cases {
				if p.Run(&w); w.Solved() {
					solved++
				}
			}
			return solved
		},
		Cross: func(r *rand.Rand, a, b Blocks) (Blocks, Blocks) {
			c, d := CrossTrees(r, a, b, BlockArity, 40)
			return c, d
		},
		Mutate: func(r *rand.Rand, p Blocks) Blocks {
			at := r.IntN(len(p))
			return slices.Concat(p[:Subtree(p, BlockArity, at)], RandomBlocks(r, 2, false), p[at+1:])
		},
	}
}

// RandomBlocks is a random program of a depth: all branches as deep (full), or
// some shorter (grow).
func RandomBlocks(r *rand.Rand, depth int, full bool) Blocks {
	if depth == 0 || !full && r.IntN(4) == 0 {
		return Blocks{BlockOp(r.IntN(3))}
	}
	o := MS + BlockOp(r.IntN(5))
	var p Blocks
	for range BlockArity(o) {
		p = append(p, RandomBlocks(r, depth-1, full)...)
	}
	return append(p, o)
}
