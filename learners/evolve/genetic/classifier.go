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

// ClassifierSystem is a population of rules that act, pay each other and breed
// (Holland 1986, reduced to its core as in Wilson's ZCS of 1994).
//
// Rules that match the situation bid for its action by their strength, the more
// the more specific they are. One action
// is chosen in proportion to what is bid; all that proposed it pay a share of
// their strength. What they pay goes, discounted, to the rules that acted before
// (the bucket brigade), and the reward to those that act now; who matched and was
// not heard pays too, for living in the way. Now and then two strong rules, chosen
// by roulette, have offspring in place of weak ones, to which they leave half of
// what they have, and a situation that no rule matches makes one that does.
type ClassifierSystem struct {
	Rules    []Classifier
	actions  int
	last     []int // that acted in the step before
	matching []int // those that match the situation that was acted in
	random   *rand.Rand
	steps    int
	// Bid is the share of its strength that a rule stakes, Losers what is paid by
	// those that were not heard, Discount what a reward one step later is worth,
	// Every how many steps lie between offspring; Chain whether steps follow on
	// each other, so that those before are paid.
	Bid, Losers, Discount float64
	Every                 int
	Chain                 bool
}

// first is the strength of rules that were not tried.
const first = 10

// NewClassifierSystem makes random rules over situations of so many bits.
func NewClassifierSystem(size, bits, actions int, seed uint64) *ClassifierSystem {
	s := &ClassifierSystem{actions: actions, random: rand.New(rand.NewPCG(seed, 1<<44)), Bid: 0.2, Losers: 0.1, Discount: 0.9, Every: 4}
	for range size {
		c := Classifier{Then: byte(s.random.IntN(actions)), Strength: first}
		for range bits {
			c.If += string("01####"[s.random.IntN(6)])
		}
		s.Rules = append(s.Rules, c)
	}
	return s
}

// Bids returns what is bid for each action in a situation, and the rules that
// match it.
func (s *ClassifierSystem) Bids(b Bits) (bids []float64, matching []int) {
	bids = make([]float64, s.actions)
	for i := range s.Rules {
		if c := &s.Rules[i]; c.Matches(b) {
			matching = append(matching, i)
			bids[c.Then] += c.Strength * (0.2 + c.specific())
		}
	}
	return bids, matching
}

// Act chooses one of the legal actions (nil: all) by what is bid for them or, if
// best, the one for which most is.
func (s *ClassifierSystem) Act(b Bits, legal []int, best bool) (action byte, actors []int) {
	bids, matching := s.Bids(b)
	some := bids
	if legal != nil {
		some = make([]float64, s.actions)
		for _, a := range legal {
			some[a] = bids[a]
		}
	}
	switch highest := slices.Max(some); {
	case highest > 0 && best:
		action = byte(slices.Index(some, highest))
	case highest > 0:
		action = byte(Selection{}.chooser(some)(s.random))
	case best:
		if legal != nil {
			action = byte(legal[0])
		}
		return action, nil
	default:
		s.cover(b, legal)
		return s.Act(b, legal, best)
	}
	for _, i := range matching {
		if s.Rules[i].Then == action {
			actors = append(actors, i)
		}
	}
	s.matching = matching
	return action, actors
}

// cover replaces a weak rule by one that matches a situation.
func (s *ClassifierSystem) cover(b Bits, legal []int) {
	c := Classifier{Then: byte(s.random.IntN(s.actions)), Strength: first}
	if legal != nil {
		c.Then = byte(legal[s.random.IntN(len(legal))])
	}
	for _, x := range b {
		if x > 1 || s.random.IntN(3) > 0 {
			c.If += "#"
		} else {
			c.If += string('0' + rune(x))
		}
	}
	s.replace(c)
}

// replace puts a rule in the place of a weak one, chosen by roulette.
func (s *ClassifierSystem) replace(c Classifier) {
	weak := make([]float64, len(s.Rules))
	for i := range s.Rules {
		weak[i] = 1 / (s.Rules[i].Strength + 1e-9)
	}
	i := Selection{}.chooser(weak)(s.random)
	s.Rules[i] = c
	s.last = slices.DeleteFunc(s.last, func(k int) bool { return k == i })
}

// Reward pays the rules that acted, and lets them pay those before them.
func (s *ClassifierSystem) Reward(actors []int, reward float64) {
	bucket := 0.0
	for _, i := range actors {
		bid := s.Bid * s.Rules[i].Strength
		s.Rules[i].Strength = max(0, s.Rules[i].Strength+s.Bid*reward/float64(len(actors))-bid)
		bucket += bid
	}
	if len(actors) > 0 {
		for _, i := range s.matching {
			if s.Rules[i].Then != s.Rules[actors[0]].Then {
				s.Rules[i].Strength *= 1 - s.Losers
			}
		}
	}
	if s.Chain {
		for _, i := range s.last {
			s.Rules[i].Strength += s.Discount * bucket / float64(len(s.last))
		}
		s.last = slices.Clone(actors)
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
	a, b := &s.Rules[choose(s.random)], &s.Rules[choose(s.random)]
	a.Strength /= 2
	b.Strength /= 2
	cut := len(a.If)
	if s.random.IntN(2) == 0 {
		cut = s.random.IntN(len(a.If) + 1)
	}
	left := (a.Strength + b.Strength) / 2
	for _, c := range []Classifier{{a.If[:cut] + b.If[cut:], a.Then, left}, {b.If[:cut] + a.If[cut:], b.Then, left}} {
		text := []byte(c.If)
		for i := range text {
			if s.random.IntN(500) == 0 {
				text[i] = "01#"[s.random.IntN(3)]
			}
		}
		if s.random.IntN(500) == 0 {
			c.Then = byte(s.random.IntN(s.actions))
		}
		c.If = string(text)
		s.replace(c)
	}
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
		action, actors := s.Act(b, nil, false)
		reward := 0.0
		if action == truth(b) {
			reward = 1000
		}
		s.Reward(actors, reward)
	}
	right := 0.0
	for n := range 64 {
		b := make(Bits, 6)
		for i := range b {
			b[i] = byte(n >> i & 1)
		}
		if action, _ := s.Act(b, nil, true); action == truth(b) {
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
	s.Chain, s.Losers, s.Every = chain, 0.01, 25
	for range walks {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s.End()
		b := RandomBits(s.random, 4)
		b[0] = 0
		door, actors := s.Act(b, nil, false)
		s.Reward(actors, 0)
		room, reward := Bits{1, 0, 0, 0}, 0.0
		if door == b[1] {
			room, reward = Bits{1, 1, 1, 1}, 1000
		}
		_, actors = s.Act(room, nil, false)
		s.Reward(actors, reward)
	}
	right := 0.0
	for n := range 8 {
		b := Bits{0, byte(n & 1), byte(n >> 1 & 1), byte(n >> 2)}
		if door, _ := s.Act(b, nil, true); door == b[1] {
			right++
		}
	}
	return right / 8, nil
}
