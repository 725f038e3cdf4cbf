package act

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// checkers is the game of 8 by 8 squares (American checkers, English draughts):
// twelve men a side on the dark squares, which are numbered 1 to 32 from the
// mover's side; men go forward, kings also back; who can jump must, and jumps on as
// long as that piece can; a man that reaches the last row becomes a king, and its
// turn ends; who cannot move has lost. A game is a draw when a position comes back
// for the third time, or after forty moves of each side without a jump or a move
// of a man. Each action is one step or one jump, so that a turn may take several.
//
// Squares are bits, always as the mover sees them: when the turn passes, the board
// is turned around, which reverses the bits.
type checkers struct {
	draughts
	seen   []uint64 // positions since the last jump or move of a man, as hashes
	legal  []int
	wide   bool // judged by more numbers than the six of the book
	copied bool
	ended  bool
}

// draughts is a position.
type draughts struct {
	mine, theirs, kings uint32
	jumping             int8 // square of the piece that has to jump on, −1 if none has
	mover               int8
	quiet               uint8 // turns since the last jump or move of a man
}

const (
	won        = 100. // reward of winning
	quietTurns = 80
	home       = 0x00000fff // where a player's men begin, as they see it
	farthest   = 0xf0000000 // where men become kings
)

// steps and jumps are where a piece gets from a square in one of four directions
// (0 and 1 forward, 2 and 3 back), −1 beyond the board; over is what it jumps.
var steps, jumps [4][32]int8

// distances are how many steps a king needs from square to square, at least.
var distances [32][32]int8

// actionOf numbers the moves of a square in a direction, steps and jumps; moveOf is
// the other way round.
var (
	actionOf [2][32][4]int16
	moveOf   []struct{ from, way, to, over int8 }
	notation []string
)

func init() {
	at := func(row, x int) int8 {
		if row < 0 || row > 7 || x < 0 || x > 7 {
			return -1
		}
		return int8(row*4 + x/2)
	}
	for i := range 32 {
		row := i / 4
		x := 2*(i%4) + 1 - row%2
		for way, d := range [4][2]int{{1, -1}, {1, 1}, {-1, -1}, {-1, 1}} {
			steps[way][i] = at(row+d[0], x+d[1])
			jumps[way][i] = at(row+2*d[0], x+2*d[1])
		}
	}
	for i := range 32 {
		for j := range 32 {
			rows, columns := i/4-j/4, 2*(i%4)-i/4%2-2*(j%4)+j/4%2
			distances[i][j] = int8(max(rows, -rows, columns, -columns))
		}
	}
	for jump, sign := range []string{"-", "x"} {
		for i := range 32 {
			for way := range 4 {
				to := steps[way][i]
				if jump == 1 {
					to = jumps[way][i]
				}
				if actionOf[jump][i][way] = -1; to < 0 {
					continue
				}
				over := int8(-1)
				if jump == 1 {
					over = steps[way][i]
				}
				actionOf[jump][i][way] = int16(len(moveOf))
				moveOf = append(moveOf, struct{ from, way, to, over int8 }{int8(i), int8(way), to, over})
				notation = append(notation, strconv.Itoa(i+1)+sign+strconv.Itoa(int(to)+1))
			}
		}
	}
}

func openCheckers(s settings) (Environment, error) {
	g := &checkers{ended: true}
	switch s["measures"] {
	case "six":
	case "more":
		g.wide = true
	default:
		return nil, fmt.Errorf("measures=%s: expected six or more", s["measures"])
	}
	depth, err := s.count("depth", 1, 6)
	if err != nil {
		return nil, err
	}
	return against(g, s["opponent"], depth)
}

// Schema describes boards: x and X are the men and kings of the mover, o and O
// those of the other; jumping is the square of a piece that has to jump on, 0 if
// there is none; the rest are the measures.
func (c *checkers) Schema() *table.Schema {
	s := &table.Schema{}
	for i := range 32 {
		s.Attributes = append(s.Attributes, table.Attribute{Name: "s" + strconv.Itoa(i+1), Kind: table.Nominal, Values: []string{"_", "x", "X", "o", "O"}})
	}
	s.Attributes = append(s.Attributes, numbers(append([]string{"jumping"}, c.Measures()...)...).Attributes...)
	return s
}

func (c *checkers) Actions() []string { return slices.Clone(notation) }

// Reset sets up the first board. Chance has no part in the game.
func (c *checkers) Reset(uint64) {
	c.draughts = draughts{mine: home, theirs: bits.Reverse32(home), jumping: -1}
	c.begin()
}

// begin takes the position as the first of a game.
func (c *checkers) begin() {
	c.seen = c.seen[:0]
	c.moves()
	c.ended = len(c.legal) == 0
}

func (c *checkers) Mover() int { return int(c.mover) }

func (c *checkers) Legal() []int {
	if c.ended {
		return nil
	}
	return c.legal
}

// find finds the legal actions: of each piece that can jump, or else can step, in
// the order of squares and of directions.
func (d *draughts) find(legal []int) []int {
	legal = legal[:0]
	free := ^(d.mine | d.theirs)
	pieces := d.mine
	if d.jumping >= 0 {
		pieces = 1 << d.jumping
	}
	jump, from := 1, d.jumpers(pieces, free)
	if from == 0 && d.jumping < 0 {
		jump, from = 0, d.steppers(free)
	}
	for ; from != 0; from &= from - 1 {
		i := bits.TrailingZeros32(from)
		ways := 2
		if d.kings>>i&1 == 1 {
			ways = 4
		}
		for way := range ways {
			a := actionOf[jump][i][way]
			if a < 0 {
				continue
			}
			m := &moveOf[a]
			if free>>m.to&1 == 1 && (jump == 0 || d.theirs>>m.over&1 == 1) {
				legal = append(legal, int(a))
			}
		}
	}
	return legal
}

// Sets of squares one step away, all at once: in even rows the square before the
// left one lies a row on, in odd rows that before the right one.
const (
	evenRows    = 0x0f0f0f0f
	oddRows     = 0xf0f0f0f0
	notFirst    = 0xeeeeeeee // of the four squares of a row
	notLast     = 0x77777777
	leftOfOdd   = oddRows & notFirst
	rightOfEven = evenRows & notLast
)

func step0(s uint32) uint32 { return s&evenRows<<4 | s&leftOfOdd<<3 }
func step1(s uint32) uint32 { return s&rightOfEven<<5 | s&oddRows<<4 }
func step2(s uint32) uint32 { return s&evenRows>>4 | s&leftOfOdd>>5 }
func step3(s uint32) uint32 { return s&rightOfEven>>3 | s&oddRows>>4 }

// jumpers are those of some pieces of the mover that can take something: who
// stands in one direction from what has a free square in the other.
func (d *draughts) jumpers(pieces, free uint32) uint32 {
	kings := pieces & d.kings
	return pieces&(step3(step3(free)&d.theirs)|step2(step2(free)&d.theirs)) |
		kings&(step1(step1(free)&d.theirs)|step0(step0(free)&d.theirs))
}

// steppers are the mover's pieces that can step.
func (d *draughts) steppers(free uint32) uint32 {
	return d.mine&(step3(free)|step2(free)) | d.mine&d.kings&(step1(free)|step0(free))
}

func (c *checkers) moves() { c.legal = c.find(c.legal) }

// Do takes an action.
func (c *checkers) Do(action int) (reward float64, end bool) {
	m := &moveOf[action]
	bit, to := uint32(1)<<m.from, uint32(1)<<m.to
	king := c.kings&bit != 0
	c.mine ^= bit | to
	if king {
		c.kings ^= bit | to
	}
	if m.over >= 0 {
		c.theirs &^= 1 << m.over
		c.kings &^= 1 << m.over
	}
	crowned := !king && to&farthest != 0
	if crowned {
		c.kings |= to
	}
	if c.quiet++; m.over >= 0 || !king {
		c.quiet = 0
		c.seen = c.seen[:0]
	}
	if m.over >= 0 && !crowned {
		c.jumping = m.to
		if c.moves(); len(c.legal) > 0 {
			return 0, false
		}
	}
	c.pass()
	c.moves()
	if len(c.legal) == 0 {
		c.ended = true
		return won, true
	}
	c.ended = c.quiet >= quietTurns || c.again()
	return 0, c.ended
}

// pass turns the board around.
func (d *draughts) pass() {
	d.mine, d.theirs = bits.Reverse32(d.theirs), bits.Reverse32(d.mine)
	d.kings = bits.Reverse32(d.kings)
	d.jumping = -1
	d.mover = 1 - d.mover
}

// again reports whether the position is there for the third time. Who looks ahead
// in a copy does not count.
func (c *checkers) again() bool {
	if c.copied {
		return false
	}
	hash := uint64(c.mine)*0x9e3779b97f4a7c15 ^ uint64(c.theirs)*0xc2b2ae3d27d4eb4f ^ uint64(c.kings)*0x165667b19e3779f9 ^ uint64(c.mover)
	times := 1
	for _, s := range c.seen {
		if s == hash {
			times++
		}
	}
	c.seen = append(c.seen, hash)
	return times >= 3
}

// Step takes a legal action.
func (c *checkers) Step(action int) (float64, bool, error) {
	if c.ended || !slices.Contains(c.legal, action) {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	reward, end := c.Do(action)
	return reward, end, nil
}

func (c *checkers) State(cells []float64) {
	for i := range 32 {
		cells[i] = c.square(i)
	}
	cells[32] = float64(c.jumping + 1)
	c.Measure(c.Mover(), cells[33:])
}

// square is what stands on one: 0 nothing, 1 and 2 the mover's man and king, 3 and
// 4 the other's.
func (d *draughts) square(i int) float64 {
	bit := uint32(1) << i
	king := float64(d.kings >> i & 1)
	switch {
	case d.mine&bit != 0:
		return 1 + king
	case d.theirs&bit != 0:
		return 3 + king
	}
	return 0
}

// Put sets up a board.
func (c *checkers) Put(cells []float64, mover int) error {
	if len(cells) < 33 {
		return fmt.Errorf("%d cells are no board", len(cells))
	}
	d := draughts{jumping: -1, mover: int8(mover)}
	for i, x := range cells[:32] {
		bit := uint32(1) << i
		switch x {
		case 1, 2:
			d.mine |= bit
		case 3, 4:
			d.theirs |= bit
		}
		if x == 2 || x == 4 {
			d.kings |= bit
		}
	}
	if x := cells[32]; x >= 1 && x <= 32 && d.mine>>(int(x)-1)&1 == 1 {
		d.jumping = int8(x) - 1
	}
	c.draughts = d
	c.begin()
	return nil
}

func (c *checkers) Fork() Game {
	f := &checkers{wide: c.wide, copied: true}
	f.Copy(c)
	return f
}

func (c *checkers) Copy(from Game) {
	f := from.(*checkers)
	c.draughts, c.ended = f.draughts, f.ended
	c.legal = append(c.legal[:0], f.legal...)
}

func (c *checkers) Dice() bool { return false }

// Material counts a king as one and a half men.
func (c *checkers) Material(player int) float64 {
	d := c.draughts
	side := func(s uint32) float64 {
		return float64(bits.OnesCount32(s)) + 0.5*float64(bits.OnesCount32(s&d.kings))
	}
	more := side(d.mine) - side(d.theirs)
	if player != int(d.mover) {
		return -more
	}
	return more
}

var (
	sixMeasures  = []string{"mine", "theirs", "my-kings", "their-kings", "my-threatened", "their-threatened"}
	moreMeasures = []string{"my-moves", "their-moves", "my-centre", "their-centre", "my-lead", "their-lead", "my-chase", "their-chase"}
)

// Measures are the six of Mitchell 1997, section 1.2.3: pieces, kings, and pieces
// that can be taken in the next turn, of either side; or more.
func (c *checkers) Measures() []string {
	if c.wide {
		return slices.Concat(sixMeasures, moreMeasures)
	}
	return slices.Clone(sixMeasures)
}

// Measure counts for a player.
func (c *checkers) Measure(player int, x []float64) {
	d := c.draughts
	if player != int(d.mover) {
		d.pass()
	}
	d.jumping = -1
	count := func(b uint32) float64 { return float64(bits.OnesCount32(b)) }
	other := d
	other.pass()
	x[0], x[1] = count(d.mine), count(d.theirs)
	x[2], x[3] = count(d.mine&d.kings), count(d.theirs&d.kings)
	x[4], x[5] = count(other.threatened()), count(d.threatened())
	if !c.wide {
		return
	}
	x[6], x[7] = d.mobility(), other.mobility()
	const centre = 0x00666600
	x[8], x[9] = count(d.mine&centre), count(d.theirs&centre)
	lead := 12 * d.material() / max(1, x[0]+x[1]) // exchanges make a lead larger
	x[10], x[11] = max(0, lead), max(0, -lead)
	if x[12], x[13] = 0, 0; lead > 0 {
		x[12] = d.chase()
	} else if lead < 0 {
		x[13] = other.chase()
	}
}

// material is the lead in men.
func (d *draughts) material() float64 {
	return float64(bits.OnesCount32(d.mine)-bits.OnesCount32(d.theirs)) + 0.5*float64(bits.OnesCount32(d.mine&d.kings)-bits.OnesCount32(d.theirs&d.kings))
}

// threatened are the other's pieces that the mover can take in one turn.
func (d *draughts) threatened() (taken uint32) {
	free := ^(d.mine | d.theirs)
	for from := d.jumpers(d.mine, free); from != 0; from &= from - 1 {
		i := int8(bits.TrailingZeros32(from))
		taken |= d.taken(i, d.kings>>i&1 == 1, free|1<<i, d.theirs)
	}
	return taken
}

// taken are what a piece can take from a square, jumping on.
func (d *draughts) taken(from int8, king bool, free, theirs uint32) (taken uint32) {
	ways := 2
	if king {
		ways = 4
	}
	for way := range ways {
		over, to := steps[way][from], jumps[way][from]
		if to < 0 || theirs>>over&1 == 0 || free>>to&1 == 0 {
			continue
		}
		taken |= 1 << over
		if king || to < 28 {
			taken |= d.taken(to, king, free, theirs&^(1<<over))
		}
	}
	return taken
}

// mobility is in how many ways the mover could step.
func (d *draughts) mobility() float64 {
	free, kings := ^(d.mine | d.theirs), d.mine&d.kings
	return float64(bits.OnesCount32(step0(d.mine)&free) + bits.OnesCount32(step1(d.mine)&free) +
		bits.OnesCount32(step2(kings)&free) + bits.OnesCount32(step3(kings)&free))
}

// chase is how near the mover's kings are to the nearest of the other's pieces, on
// average: 6 is beside it.
func (d *draughts) chase() float64 {
	sum, n := 0, 0
	for k := d.mine & d.kings; k != 0; k &= k - 1 {
		apart := &distances[bits.TrailingZeros32(k)]
		nearest := int8(7)
		for t := d.theirs; t != 0; t &= t - 1 {
			nearest = min(nearest, apart[bits.TrailingZeros32(t)])
		}
		sum += 7 - int(nearest)
		n++
	}
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// Show is a board for people, from the mover's side: their home below.
func (c *checkers) Show(cells []float64) string {
	marks := [5]string{".", "x", "X", "o", "O"}
	var b strings.Builder
	for row := 7; row >= 0; row-- {
		for x := 7; x >= 0; x-- {
			mark := " "
			if (x+row)%2 == 1 {
				mark = marks[int(cells[row*4+x/2])%5]
			}
			b.WriteString(mark + " ")
		}
		fmt.Fprintf(&b, "  %2d-%d", row*4+4, row*4+1)
		if row > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Shuffle plays so many turns at random from the first board: a position that may
// come up.
func Shuffle(g Game, turns int, random *rand.Rand) {
	g.Reset(random.Uint64())
	for range turns {
		legal := g.Legal()
		if len(legal) == 0 {
			g.Reset(random.Uint64())
			continue
		}
		g.Do(legal[random.IntN(len(legal))])
	}
	if len(g.Legal()) == 0 {
		g.Reset(random.Uint64())
	}
}
