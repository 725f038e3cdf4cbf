package reproduce

import (
	"fmt"
	"math"
	"strings"
)

// Figure is a number to compare ours with.
type Figure struct {
	Value float64
	// Reference figures were not printed by the source: an independent
	// program found them in the same experiment, or they were worked out.
	Reference bool
	Scale     Scale
	Better    Better
	// Stands is how far the number meant may lie from Value: half a unit of
	// the last digit printed, or what can be read off a curve.
	Stands float64
}

// Scale is what a figure counts in, which says how near is near.
type Scale uint8

// The scales.
const (
	Number   Scale = iota // near is within 5 %
	Percent               // a rate; near is within 2
	Fraction              // a rate; near is within 0.02
)

// Better says on which side of a figure a result is better than it.
type Better uint8

// The sides.
const (
	Neither Better = iota // a fact, not an achievement
	Higher
	Lower
)

// Verdict says how a result compares with a known figure.
type Verdict string

// The verdicts. A figure is met if ours is better, rounds to it, or has it
// inside its interval; near if ours is within 2 points of a rate, within 5 % of
// any other figure. Nothing is added to the interval, and one that reaches
// further than near shows nothing by holding the figure: noise is no agreement.
const (
	Met    Verdict = "met"
	Near   Verdict = "near"
	NotMet Verdict = "not met"
)

// printed is a figure of the literature, reference one that is not.
func printed(x float64) Figure   { return Figure{Value: x} }
func reference(x float64) Figure { return Figure{Value: x, Reference: true} }

// digits says how many decimals the figure has.
func (f Figure) digits(n int) Figure { return f.within(0.5 * math.Pow10(-n) * (1 + 1e-9)) }

// within says how exactly the figure is known.
func (f Figure) within(x float64) Figure { f.Stands = x; return f }

func (f Figure) percent() Figure  { f.Scale = Percent; return f }
func (f Figure) fraction() Figure { f.Scale = Fraction; return f }
func (f Figure) higher() Figure   { f.Better = Higher; return f }
func (f Figure) lower() Figure    { f.Better = Lower; return f }

// near is how far a result may be off to be near.
func (f Figure) near() float64 {
	switch f.Scale {
	case Percent:
		return 2
	case Fraction:
		return .02
	}
	return .05 * math.Abs(f.Value)
}

// Judge compares a result with the figure, and says why in a few words.
func (f Figure) Judge(r Result) (Verdict, string) {
	off := max(math.Abs(r.Ours-f.Value)-f.Stands, 0)
	switch half := (r.High - r.Low) / 2; {
	case off == 0:
		return Met, "the same, as far as it is known"
	case f.Better == Higher && r.Ours > f.Value, f.Better == Lower && r.Ours < f.Value:
		return Met, "ours is better by " + f.gap(off)
	case r.Low <= f.Value && f.Value <= r.High && (half <= f.near() || off <= f.near()):
		return Met, "inside our interval"
	case r.Low <= f.Value && f.Value <= r.High:
		return NotMet, "off by " + f.gap(off) + ", and our interval is too wide to tell: ± " + f.gap(half)
	case off <= f.near():
		return Near, "off by " + f.gap(off)
	}
	return NotMet, "off by " + f.gap(off)
}

// gap writes a difference from the figure.
func (f Figure) gap(x float64) string {
	switch {
	case f.Scale == Percent:
		return fmt.Sprintf("%.2g points", x)
	case f.Scale == Fraction:
		return fmt.Sprintf("%.2g points", 100*x)
	case f.Value == 0:
		return fmt.Sprintf("%.2g", x)
	}
	share := 100 * x / math.Abs(f.Value)
	if share >= 10 {
		return fmt.Sprintf("%.0f %%", share)
	}
	return fmt.Sprintf("%.2g %%", share)
}

// Printed says what became of the figures that the sources print: how many that can be
// right, of data that were published, are met or near. It is "" where none is printed.
func Printed(outcomes []Outcome) string {
	var all, impossible, otherData, holds int
	for i := range outcomes {
		o := &outcomes[i]
		if o.Published == nil {
			continue
		}
		all++
		switch {
		case o.Beyond == Impossible:
			impossible++
		case o.Beyond == OtherData:
			otherData++
		case o.Holds:
			holds++
		}
	}
	if all == 0 {
		return ""
	}
	var parts []string
	if rest := all - impossible - otherData; rest > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d met or near (%.0f %%)", holds, rest, 100*float64(holds)/float64(rest)))
	}
	if impossible > 0 {
		parts = append(parts, fmt.Sprintf("%d that cannot be right", impossible))
	}
	if otherData > 0 {
		parts = append(parts, fmt.Sprintf("%d of data that were not published, for which ours stand", otherData))
	}
	return "figures that the sources print: " + strings.Join(parts, ", ")
}
