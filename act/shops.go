package act

import (
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// closing is what follows when a day brings some outcomes: each also may be the
// last, with a probability.
func closing[S any](days []Outcome[S], last float64) []Outcome[S] {
	var out []Outcome[S]
	for _, o := range days {
		going, ending := o, o
		going.P *= 1 - last
		ending.P *= last
		ending.End = true
		out = append(out, going, ending)
	}
	return out
}

// inventory is a shop that orders each morning what it may sell that day: the
// newsvendor with stock that keeps (Scarf 1960). An order costs 3 and 2 a piece, a
// sale brings 5, what is left costs a half each night; demand is Poisson with mean
// 3. Any day may be the last, with a probability.
func inventory(s settings) (Environment, error) {
	most, err := s.count("capacity", 1, 100)
	if err != nil {
		return nil, err
	}
	demand, err := s.number("demand", 0, 50)
	if err != nil {
		return nil, err
	}
	last, err := s.number("last", 0, 1)
	if err != nil {
		return nil, err
	}
	wanted := make([]float64, most+1) // the last: as much as there is, or more
	left := 1.0
	for k := range most {
		logGamma, _ := math.Lgamma(float64(k) + 1)
		wanted[k] = math.Exp(float64(k)*math.Log(max(demand, 1e-300)) - demand - logGamma)
		left -= wanted[k]
	}
	wanted[most] = max(0, left)
	r := rules[int]{
		schema: numbers("stock"), cells: func(stock int, cells []float64) { cells[0] = float64(stock) },
		legal: func(stock int) []int {
			legal := make([]int, most-stock+1)
			for i := range legal {
				legal[i] = i
			}
			return legal
		},
		act: func(stock, order int) []Outcome[int] {
			have := stock + order
			cost := 2 * float64(order)
			if order > 0 {
				cost += 3
			}
			days := make([]Outcome[int], have+1)
			for k, p := range wanted {
				sold := min(k, have)
				days[sold].P += p
				days[sold].Next = have - sold
				days[sold].Reward = 5*float64(sold) - cost - 0.5*float64(have-sold)
			}
			return closing(days, last)
		},
	}
	for stock := range most + 1 {
		r.starts = append(r.starts, stock)
		r.actions = append(r.actions, "order "+strconv.Itoa(stock))
	}
	return built(r)
}

// queue is a counter with a slow and a fast clerk: each minute somebody may come,
// the one in front may be done, each who waits costs 1 and the fast clerk costs
// something. Who finds it full goes away, which costs 10.
func queue(s settings) (Environment, error) {
	room, err := s.count("room", 1, 1000)
	if err != nil {
		return nil, err
	}
	var arrival, slow, fast, price, last float64
	for _, x := range []struct {
		name string
		to   *float64
		high float64
	}{{"arrival", &arrival, 1}, {"slow", &slow, 1}, {"fast", &fast, 1}, {"price", &price, 1e6}, {"last", &last, 1}} {
		if *x.to, err = s.number(x.name, 0, x.high); err != nil {
			return nil, err
		}
	}
	r := rules[int]{
		schema: numbers("waiting"), actions: []string{"slow", "fast"}, cells: func(n int, cells []float64) { cells[0] = float64(n) },
		legal: func(int) []int { return []int{0, 1} },
		act: func(n, clerk int) []Outcome[int] {
			done, cost := slow, float64(n)
			if clerk == 1 {
				done, cost = fast, cost+price
			}
			if n == 0 {
				done = 0
			}
			var minutes []Outcome[int]
			for _, come := range []int{0, 1} {
				for _, go_ := range []int{0, 1} {
					p := arrival*float64(come) + (1-arrival)*float64(1-come)
					p *= done*float64(go_) + (1-done)*float64(1-go_)
					next, paid := n-go_+come, cost
					if next > room {
						next, paid = room, paid+10
					}
					minutes = append(minutes, Outcome[int]{P: p, Next: next, Reward: -paid})
				}
			}
			return closing(minutes, last)
		},
	}
	for n := range room + 1 {
		r.starts = append(r.starts, n)
	}
	return built(r)
}

func built[S comparable](r rules[S]) (Environment, error) {
	m, err := r.build()
	if err != nil {
		return nil, err
	}
	return m.Environment(), nil
}

// ride is a taxi's state: where it is, where the passenger is (4: within), and
// where they want to go.
type ride struct{ row, col, passenger, to int }

// taxi is Dietterich's (2000): five by five cells with walls, four stands; −1 a
// step, −10 for letting somebody in or out at the wrong place, 20 for a ride.
func taxi(settings) (Environment, error) {
	stands := []cell{{0, 0}, {0, 4}, {4, 0}, {4, 3}}
	names := []string{"red", "green", "yellow", "blue"}
	walls := map[cell]bool{{0, 1}: true, {1, 1}: true, {3, 0}: true, {4, 0}: true, {3, 2}: true, {4, 2}: true} // to the right of these
	r := rules[ride]{
		schema: &table.Schema{Attributes: []table.Attribute{
			{Name: "row", Kind: table.Numeric}, {Name: "col", Kind: table.Numeric},
			{Name: "passenger", Kind: table.Nominal, Values: append(append([]string{}, names...), "taxi")}, {Name: "destination", Kind: table.Nominal, Values: names},
		}},
		actions: []string{"up", "right", "down", "left", "pick up", "drop off"},
		cells: func(s ride, c []float64) {
			c[0], c[1], c[2], c[3] = float64(s.row), float64(s.col), float64(s.passenger), float64(s.to)
		},
		legal: func(ride) []int { return []int{0, 1, 2, 3, 4, 5} },
		act: func(s ride, action int) []Outcome[ride] {
			o := Outcome[ride]{P: 1, Next: s, Reward: -1}
			here := cell{s.row, s.col}
			switch {
			case action < 4:
				at := cell{s.row + ways[action].row, s.col + ways[action].col}
				blocked := at.row < 0 || at.col < 0 || at.row > 4 || at.col > 4 || action == 1 && walls[here] || action == 3 && walls[at]
				if !blocked {
					o.Next.row, o.Next.col = at.row, at.col
				}
			case action == 4 && s.passenger < 4 && stands[s.passenger] == here:
				o.Next.passenger = 4
			case action == 5 && s.passenger == 4 && stands[s.to] == here:
				o.Next.passenger, o.Reward, o.End = s.to, 20, true
			case action == 5 && s.passenger == 4 && standAt(stands, here) >= 0:
				o.Next.passenger = standAt(stands, here)
			default:
				o.Reward = -10
			}
			return []Outcome[ride]{o}
		},
	}
	for row := range 5 {
		for col := range 5 {
			for passenger := range 4 {
				for to := range 4 {
					if passenger != to {
						r.starts = append(r.starts, ride{row, col, passenger, to})
					}
				}
			}
		}
	}
	return built(r)
}

func standAt(stands []cell, at cell) int {
	for i, s := range stands {
		if s == at {
			return i
		}
	}
	return -1
}

// hand is the state of blackjack: what the player has, whether an ace counts 11,
// and what the dealer shows.
type hand struct {
	sum    int
	ace    bool
	dealer int
	over   bool
}

// with adds a card to a sum; an ace counts 11 where that is not too much.
func with(sum int, ace bool, card int) (int, bool) {
	sum += card
	if card == 1 && sum+10 <= 21 {
		sum, ace = sum+10, true
	}
	if sum > 21 && ace {
		sum, ace = sum-10, false
	}
	return sum, ace
}

// suit is what the cards of a suit count.
var suit = [13]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10}

// chance is the probability of a card: those with pictures count 10.
func chance(card int) float64 {
	if card == 10 {
		return 4. / 13
	}
	return 1. / 13
}

// finish adds up what the dealer ends with, who takes cards below 17; 22 is too
// much.
func finish(sum int, ace bool, p float64, ends *[23]float64) {
	if sum >= 17 {
		ends[min(sum, 22)] += p
		return
	}
	for card := 1; card <= 10; card++ {
		s, a := with(sum, ace, card)
		finish(s, a, p*chance(card), ends)
	}
}

// blackjack is the game as in Sutton and Barto (1998, example 5.1): cards from an
// endless stack, 1 for a win, −1 for a loss. It begins with two cards and one of the
// dealer's.
func blackjack(settings) (Environment, error) {
	var dealer [11][23]float64
	for card := 1; card <= 10; card++ {
		sum, ace := with(0, false, card)
		finish(sum, ace, 1, &dealer[card])
	}
	r := rules[hand]{
		schema: &table.Schema{Attributes: []table.Attribute{
			{Name: "sum", Kind: table.Numeric}, {Name: "ace", Kind: table.Nominal, Values: []string{"no", "yes"}}, {Name: "dealer", Kind: table.Numeric},
		}},
		actions: []string{"stick", "hit"},
		cells: func(s hand, c []float64) {
			if c[0], c[1], c[2] = float64(s.sum), 0, float64(s.dealer); s.ace {
				c[1] = 1
			}
		},
		legal: func(s hand) []int {
			if s.over {
				return nil
			}
			return []int{0, 1}
		},
		act: func(s hand, action int) []Outcome[hand] {
			over := s
			over.over = true
			if action == 0 {
				var p [3]float64 // lost, even, won
				for ends, q := range dealer[s.dealer] {
					switch {
					case ends > 21 || ends < s.sum:
						p[2] += q
					case ends == s.sum:
						p[1] += q
					default:
						p[0] += q
					}
				}
				return []Outcome[hand]{{p[0], over, -1, true}, {p[1], over, 0, true}, {p[2], over, 1, true}}
			}
			var out []Outcome[hand]
			for card := 1; card <= 10; card++ {
				sum, ace := with(s.sum, s.ace, card)
				if sum > 21 {
					out = append(out, Outcome[hand]{chance(card), over, -1, true})
					continue
				}
				out = append(out, Outcome[hand]{chance(card), hand{sum, ace, s.dealer, false}, 0, false})
			}
			return out
		},
	}
	for _, first := range suit {
		for _, second := range suit {
			for _, dealer := range suit {
				sum, ace := with(0, false, first)
				sum, ace = with(sum, ace, second)
				r.starts = append(r.starts, hand{sum, ace, dealer, false})
			}
		}
	}
	return built(r)
}
