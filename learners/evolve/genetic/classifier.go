package genetic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Classifier is a rule of a Michigan-style system (Holland 1986; section 9.8): a
// condition over bits, '#' for either, an action, and its strength. The
// population is the rule set.
type Classifier struct {
	If       string
	Then     byte
	Strength float64
}

// Matches reports whether a situation satisfies the condition.
func (c *Classifier) Matches(b Bits) bool {
	for i, x := range b {
		if c.If[i] != '#' && c.If[i] != '0'+x {
			return false
		}
	}
	return true
}

// specific is the share of the condition that is not '#'.
func (c *Classifier) specific() float64 {
	return 1 - float64(strings.Count(c.If, "#"))/float64(len(c.If))
}

// ClassifierSystem is a population of rules that act, pay each other and breed.
//
// Rules that match the situation bid a share of their strength, the more the
// more specific they are. One of them is chosen in proportion to its bid, and
// acts; all that proposed its action pay their bid. What they pay goes to the
// rules that acted before it (the bucket brigade), and a reward to those that act
// now; every rule pays a little for living. Now and then two strong rules, chosen
// by roulette, have offspring in place of weak ones, and a situation that no rule
// matches makes one that does.
type ClassifierSystem struct {
	Rules   []Classifier
	actions int
	last    []int // that acted in the step before
	random  *rand.Rand
	steps   int
	// Bid is the share of its strength that a rule stakes, Tax what living costs,
	// Every how many steps lie between offspring; Chain whether steps follow on
	// each other, so that those before are paid.
	Bid, Tax float64
	Every    int
	Chain    bool
}

// NewClassifierSystem makes random rules over situations of so many bits.
func NewClassifierSystem(size, bits, actions int, seed uint64) *ClassifierSystem {
	s := &ClassifierSystem{actions: actions, random: rand.New(rand.NewPCG(seed, 1<<44)), Bid: 0.1, Tax: 0.001, Every: 25}
	for range size {
		c := Classifier{Then: byte(s.random.IntN(actions)), Strength: 10}
		for range bits {
			c.If += string("01###"[s.random.IntN(5)])
		}
		s.Rules = append(s.Rules, c)
	}
	return s
}

// Act chooses an action: by the bids of the rules that match, or, if best, the
// one that they speak for most.
func (s *ClassifierSystem) Act(b Bits, best bool) (action byte, actors []int) {
	bids := make([]float64, s.actions)
	var matching []int
	for i := range s.Rules {
		if c := &s.Rules[i]; c.Matches(b) {
			matching = append(matching, i)
			bids[c.Then] += c.Strength * (0.2 + c.specific())
		}
	}
	if len(matching) == 0 {
		if best {
			return 0, nil
		}
		s.cover(b)
		return s.Act(b, best)
	}
	action = byte(slices.Index(bids, slices.Max(bids)))
	if !best {
		action = byte(Selection{}.chooser(bids)(s.random))
	}
	for _, i := range matching {
		if s.Rules[i].Then == action {
			actors = append(actors, i)
		}
	}
	return action, actors
}

// cover replaces the weakest rule by one that matches a situation.
func (s *ClassifierSystem) cover(b Bits) {
	c := Classifier{Then: byte(s.random.IntN(s.actions)), Strength: 10}
	for _, x := range b {
		if s.random.IntN(2) == 0 {
			c.If += "#"
		} else {
			c.If += string('0' + rune(x))
		}
	}
	s.Rules[s.weakest()] = c
}

func (s *ClassifierSystem) weakest() int {
	at := 0
	for i := range s.Rules {
		if s.Rules[i].Strength < s.Rules[at].Strength {
			at = i
		}
	}
	return at
}

// Reward pays the rules that acted, and lets them pay those before them.
func (s *ClassifierSystem) Reward(actors []int, reward float64) {
	paid := 0.0
	for _, i := range actors {
		bid := s.Bid * s.Rules[i].Strength
		s.Rules[i].Strength += reward/float64(len(actors)) - bid
		paid += bid
	}
	if s.Chain {
		for _, i := range s.last {
			s.Rules[i].Strength += paid / float64(len(s.last))
		}
		s.last = actors
	}
	for i := range s.Rules {
		s.Rules[i].Strength *= 1 - s.Tax
	}
	if s.steps++; s.steps%s.Every == 0 {
		s.breed()
	}
}

// End says that what comes next does not follow on what was.
func (s *ClassifierSystem) End() { s.last = nil }

// breed puts the offspring of two strong rules in the places of weak ones.
func (s *ClassifierSystem) breed() {
	strength := make([]float64, len(s.Rules))
	for i := range s.Rules {
		strength[i] = s.Rules[i].Strength
	}
	choose := Selection{}.chooser(strength)
	a, b := s.Rules[choose(s.random)], s.Rules[choose(s.random)]
	cut := s.random.IntN(len(a.If) + 1)
	for _, c := range []Classifier{{a.If[:cut] + b.If[cut:], a.Then, 0}, {b.If[:cut] + a.If[cut:], b.Then, 0}} {
		text := []byte(c.If)
		for i := range text {
			if s.random.IntN(50) == 0 {
				text[i] = "01#"[s.random.IntN(3)]
			}
		}
		if s.random.IntN(50) == 0 {
			c.Then = byte(s.random.IntN(s.actions))
		}
		c.If, c.Strength = string(text), (a.Strength+b.Strength)/4
		s.Rules[s.weakest()] = c
	}
	s.last = nil // rules may have gone
}

// String lists the ten strongest rules.
func (s *ClassifierSystem) String() string {
	order := slices.Clone(s.Rules)
	slices.SortStableFunc(order, func(a, b Classifier) int {
		switch {
		case a.Strength > b.Strength:
			return -1
		case a.Strength < b.Strength:
			return 1
		}
		return strings.Compare(a.If, b.If)
	})
	var text strings.Builder
	for _, c := range order[:min(10, len(order))] {
		fmt.Fprintf(&text, "IF %s THEN %d  strength %.1f\n", c.If, c.Then, c.Strength)
	}
	return text.String()
}

// Multiplexer trains a classifier system on the six-bit multiplexer (two bits
// say which of the other four is the answer) for so many steps, and returns the
// share of all 64 situations that it then answers rightly.
func Multiplexer(ctx context.Context, steps int, seed uint64) (float64, error) {
	s := NewClassifierSystem(400, 6, 2, seed)
	truth := func(b Bits) byte { return b[2+2*b[0]+b[1]] }
	for range steps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := RandomBits(s.random, 6)
		action, actors := s.Act(b, false)
		reward := 0.0
		if action == truth(b) {
			reward = 100
		}
		s.Reward(actors, reward)
	}
	right := 0.0
	for n := range 64 {
		b := make(Bits, 6)
		for i := range b {
			b[i] = byte(n >> i & 1)
		}
		if action, _ := s.Act(b, true); action == truth(b) {
			right++
		}
	}
	return right / 64, nil
}

// Doors trains a classifier system on a task of two steps: of two doors one, as
// the situation says, leads to a room in which any act is rewarded, the other to
// an empty room. Doors themselves are never rewarded: what a rule for a door is
// worth it hears from the rules of the room, by the bucket brigade, if there is
// one (chain). It returns the share of situations whose right door it opens.
func Doors(ctx context.Context, walks int, chain bool, seed uint64) (float64, error) {
	s := NewClassifierSystem(100, 4, 2, seed)
	s.Chain, s.Every = chain, 100
	for range walks {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s.End()
		b := RandomBits(s.random, 4)
		b[0] = 0
		door, actors := s.Act(b, false)
		s.Reward(actors, 0)
		room, reward := Bits{1, 0, 0, 0}, 0.0
		if door == b[1] {
			room, reward = Bits{1, 1, 1, 1}, 100
		}
		_, actors = s.Act(room, false)
		s.Reward(actors, reward)
	}
	right := 0.0
	for n := range 8 {
		b := Bits{0, byte(n & 1), byte(n >> 1 & 1), byte(n >> 2)}
		if door, _ := s.Act(b, true); door == b[1] {
			right++
		}
	}
	return right / 8, nil
}
