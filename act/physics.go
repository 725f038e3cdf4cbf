package act

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/table"
)

func numbers(names ...string) *table.Schema {
	s := &table.Schema{}
	for _, name := range names {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
	}
	return s
}

// cartPole is a pole on a cart that is pushed left or right at each step, and
// earns 1 as long as it stands (Barto, Sutton and Anderson 1983; Florian 2007).
// An episode ends when the pole leans by more than 12 degrees, the cart is 2.4
// away from the middle, or after 500 steps.
type cartPole struct {
	x, speed, angle, spin float64
	steps                 int
	ended                 bool
}

func (c *cartPole) Schema() *table.Schema { return numbers("position", "speed", "angle", "spin") }

func (c *cartPole) Actions() []string { return []string{"left", "right"} }

func (c *cartPole) Reset(seed uint64) {
	random := begin(seed)
	near := func() float64 { return random.Float64()*0.1 - 0.05 }
	*c = cartPole{x: near(), speed: near(), angle: near(), spin: near()}
}

// Ranges are what states are made of, as far as it matters: the rest is the end,
// or near it.
func (c *cartPole) Ranges() [][2]float64 {
	return [][2]float64{{-2.4, 2.4}, {-3, 3}, {-0.21, 0.21}, {-3, 3}}
}

// Cut reports whether the episode ended because it was long enough.
func (c *cartPole) Cut() bool {
	return c.steps >= 500 && math.Abs(c.x) <= 2.4 && math.Abs(c.angle) <= 12*math.Pi/180
}

func (c *cartPole) State(cells []float64) { copy(cells, []float64{c.x, c.speed, c.angle, c.spin}) }

func (c *cartPole) Legal() []int {
	if c.ended {
		return nil
	}
	return []int{0, 1}
}

func (c *cartPole) Step(action int) (float64, bool, error) {
	const gravity, cart, pole, half, push, tick = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
	if c.ended || action < 0 || action > 1 {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	force := push * float64(2*action-1)
	sin, cos := math.Sincos(c.angle)
	drag := (force + pole*half*c.spin*c.spin*sin) / (cart + pole)
	turn := (gravity*sin - cos*drag) / (half * (4.0/3 - pole*cos*cos/(cart+pole)))
	pull := drag - pole*half*turn*cos/(cart+pole)
	c.x, c.speed = c.x+tick*c.speed, c.speed+tick*pull
	c.angle, c.spin = c.angle+tick*c.spin, c.spin+tick*turn
	c.steps++
	c.ended = math.Abs(c.x) > 2.4 || math.Abs(c.angle) > 12*math.Pi/180 || c.steps >= 500
	return 1, c.ended, nil
}

// mountainCar is a car in a valley that is too weak to drive straight out of it
// (Moore 1990; Sutton and Barto 1998). Each step costs 1, for 200 steps at most.
type mountainCar struct {
	x, speed float64
	steps    int
	ended    bool
	random   *rand.Rand
}

func (c *mountainCar) Schema() *table.Schema { return numbers("position", "speed") }

func (c *mountainCar) Actions() []string { return []string{"back", "coast", "forward"} }

func (c *mountainCar) Reset(seed uint64) {
	c.random = begin(seed)
	c.x, c.speed, c.steps, c.ended = -0.6+0.2*c.random.Float64(), 0, 0, false
}

// Ranges are what states are made of.
func (c *mountainCar) Ranges() [][2]float64 { return [][2]float64{{-1.2, 0.6}, {-0.07, 0.07}} }

// Cut reports whether the episode ended because it was long enough.
func (c *mountainCar) Cut() bool { return c.steps >= 200 && c.x < 0.5 }

func (c *mountainCar) State(cells []float64) { cells[0], cells[1] = c.x, c.speed }

func (c *mountainCar) Legal() []int {
	if c.ended {
		return nil
	}
	return []int{0, 1, 2}
}

func (c *mountainCar) Step(action int) (float64, bool, error) {
	if c.ended || action < 0 || action > 2 {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	c.speed = min(max(c.speed+0.001*float64(action-1)-0.0025*math.Cos(3*c.x), -0.07), 0.07)
	if c.x = min(max(c.x+c.speed, -1.2), 0.6); c.x == -1.2 {
		c.speed = max(c.speed, 0)
	}
	c.steps++
	c.ended = c.x >= 0.5 || c.steps >= 200
	return -1, c.ended, nil
}
