package genetic

import "math/rand/v2"

// Bits is a string of zeros and ones.
type Bits []byte

// String writes the digits.
func (b Bits) String() string {
	text := make([]byte, len(b))
	for i, bit := range b {
		text[i] = '0' + bit
	}
	return string(text)
}

// BitsOf reads digits; anything else is left out.
func BitsOf(text string) Bits {
	var b Bits
	for _, c := range text {
		if c == '0' || c == '1' {
			b = append(b, byte(c-'0'))
		}
	}
	return b
}

// RandomBits returns n fair coins.
func RandomBits(r *rand.Rand, n int) Bits {
	b := make(Bits, n)
	for i := range b {
		b[i] = byte(r.IntN(2))
	}
	return b
}

// CrossByMask makes two offspring of strings of one length: the first has a's
// bit where the mask is 1 and b's where it is 0, the second the others
// (table 9.2).
func CrossByMask(a, b, mask Bits) (Bits, Bits) {
	c, d := make(Bits, len(a)), make(Bits, len(a))
	for i, m := range mask {
		if m == 1 {
			c[i], d[i] = a[i], b[i]
		} else {
			c[i], d[i] = b[i], a[i]
		}
	}
	return c, d
}

// SinglePointMask is n ones, then zeros.
func SinglePointMask(length, n int) Bits { return TwoPointMask(length, 0, n) }

// TwoPointMask is n0 zeros, n1 ones, then zeros.
func TwoPointMask(length, n0, n1 int) Bits {
	mask := make(Bits, length)
	for i := n0; i < min(n0+n1, length); i++ {
		mask[i] = 1
	}
	return mask
}

// SinglePoint crosses two strings at a random point between two bits.
func SinglePoint(r *rand.Rand, a, b Bits) (Bits, Bits) {
	if len(a) < 2 {
		return a, b
	}
	return CrossByMask(a, b, SinglePointMask(len(a), 1+r.IntN(len(a)-1)))
}

// TwoPoint crosses what lies between two random points.
func TwoPoint(r *rand.Rand, a, b Bits) (Bits, Bits) {
	from, to := r.IntN(len(a)+1), r.IntN(len(a)+1)
	return CrossByMask(a, b, TwoPointMask(len(a), min(from, to), max(from, to)-min(from, to)))
}

// Uniform crosses each bit by a fair coin.
func Uniform(r *rand.Rand, a, b Bits) (Bits, Bits) {
	return CrossByMask(a, b, RandomBits(r, len(a)))
}

// FlipOne inverts one random bit.
func FlipOne(r *rand.Rand, b Bits) Bits {
	c := append(Bits(nil), b...)
	if len(c) > 0 {
		c[r.IntN(len(c))] ^= 1
	}
	return c
}

// FlipEach inverts each bit with a probability.
func FlipEach(rate float64) func(r *rand.Rand, b Bits) Bits {
	return func(r *rand.Rand, b Bits) Bits {
		c := append(Bits(nil), b...)
		for i := range c {
			if r.Float64() < rate {
				c[i] ^= 1
			}
		}
		return c
	}
}

// Hamming counts the bits in which two strings differ, and those that only one
// has.
func Hamming(a, b Bits) float64 {
	short := min(len(a), len(b))
	n := max(len(a), len(b)) - short
	for i := range short {
		if a[i] != b[i] {
			n++
		}
	}
	return float64(n)
}

// CrossRules is GABIL's two-point crossover of rule sets of any number of rules,
// each of length bits (section 9.3): two points are chosen in a, and in b two
// that are as far from the rule boundary on their left; what lies between them
// is swapped. Offspring have at least one rule, and at most so many.
func CrossRules(r *rand.Rand, a, b Bits, length, most int) (Bits, Bits) {
	for range 20 {
		p1, p2 := r.IntN(len(a)+1), r.IntN(len(a)+1)
		if p1 > p2 {
			p1, p2 = p2, p1
		}
		legal := LegalPoints(len(b), length, p1, p2)
		if p1 == p2 || len(legal) == 0 {
			continue
		}
		q := legal[r.IntN(len(legal))]
		c, d := SwapBetween(a, b, p1, p2, q[0], q[1])
		if len(c) >= length && len(d) >= length && len(c) <= most*length && len(d) <= most*length {
			return c, d
		}
	}
	return a, b
}

// CrossTails crosses rule sets behind one point, which in b lies as far from the
// rule boundary on its left as in a. Offspring are as many rules as CrossRules'.
func CrossTails(r *rand.Rand, a, b Bits, length, most int) (Bits, Bits) {
	for range 20 {
		p := r.IntN(len(a) + 1)
		within := p % length
		q := within + length*r.IntN((len(b)-within)/length+1)
		c, d := SwapBetween(a, b, p, len(a), q, len(b))
		if len(c) >= length && len(d) >= length && len(c) <= most*length && len(d) <= most*length {
			return c, d
		}
	}
	return a, b
}

// CrossEach crosses rule sets bit by bit, by fair coins, as far as both reach;
// each keeps the rules that the other has no partner for.
func CrossEach(r *rand.Rand, a, b Bits) (Bits, Bits) {
	short := min(len(a), len(b))
	c, d := Uniform(r, a[:short], b[:short])
	return append(c, a[short:]...), append(d, b[short:]...)
}

// LegalPoints returns the pairs of points of a rule set of size bits that lie as
// far from the boundaries on their left as p1 and p2 do.
func LegalPoints(size, length, p1, p2 int) [][2]int {
	var pairs [][2]int
	for q1 := p1 % length; q1 <= size; q1 += length {
		for q2 := p2 % length; q2 <= size; q2 += length {
			if q1 <= q2 {
				pairs = append(pairs, [2]int{q1, q2})
			}
		}
	}
	return pairs
}

// SwapBetween exchanges a's bits from p1 to p2 with b's from q1 to q2.
func SwapBetween(a, b Bits, p1, p2, q1, q2 int) (Bits, Bits) {
	c := append(append(append(make(Bits, 0, len(a)+len(b)), a[:p1]...), b[q1:q2]...), a[p2:]...)
	d := append(append(append(make(Bits, 0, len(a)+len(b)), b[:q1]...), a[p1:p2]...), b[q2:]...)
	return c, d
}
