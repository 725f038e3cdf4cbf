package rule

import "slices"

// Equal reports whether two bases hold the same statements in the same order.
// Notes and CompleteOnly, which are not read back, do not count.
func (b *Base) Equal(other *Base) bool {
	return b.Kind == other.Kind && equalPointers(b.Header, other.Header, equalHeaders) &&
		slices.EqualFunc(b.Rules, other.Rules, func(x, y Rule) bool { return equalRules(&x, &y) }) &&
		equalPointers(b.Else, other.Else, equalRules) &&
		slices.EqualFunc(b.Units, other.Units, func(x, y Unit) bool { return equalUnits(&x, &y) })
}

func equalPointers[T any](x, y *T, equal func(x, y *T) bool) bool {
	if x == nil || y == nil {
		return x == y
	}
	return equal(x, y)
}

func equalNumbers(x, y *float64) bool {
	return equalPointers(x, y, func(x, y *float64) bool { return *x == *y })
}

func equalRules(x, y *Rule) bool {
	return slices.EqualFunc(x.If, y.If, func(s, t Test) bool { return equalTests(&s, &t) }) &&
		equalConclusions(&x.Then, &y.Then) &&
		equalNumbers(x.With, y.With) && equalNumbers(x.Worth, y.Worth) &&
		equalNumbers(x.Evidence.Covered, y.Evidence.Covered) &&
		equalNumbers(x.Evidence.Correct, y.Evidence.Correct) &&
		equalNumbers(x.Evidence.Bits, y.Evidence.Bits) &&
		equalNumbers(x.Evidence.Weight, y.Evidence.Weight) &&
		equalNumbers(x.Evidence.Templates, y.Evidence.Templates)
}

func equalConclusions(x, y *Conclusion) bool {
	return x.Column == y.Column && x.Value == y.Value && x.Numeric == y.Numeric &&
		x.Mean == y.Mean && x.Deviation == y.Deviation && slices.Equal(x.Classes, y.Classes) &&
		slices.Equal(x.By, y.By) && x.Adds == y.Adds &&
		equalPointers(x.Line, y.Line, func(x, y *Line) bool { return *x == *y })
}

func equalTests(x, y *Test) bool {
	return x.Op == y.Op && x.Column == y.Column && x.Value == y.Value && slices.Equal(x.Values, y.Values) &&
		x.Number == y.Number && x.Low == y.Low && x.High == y.High &&
		x.LowClosed == y.LowClosed && x.HighOpen == y.HighOpen &&
		slices.Equal(x.Terms, y.Terms) && x.Below == y.Below && x.Count == y.Count &&
		slices.EqualFunc(x.Of, y.Of, func(s, t Test) bool { return equalTests(&s, &t) })
}

func equalUnits(x, y *Unit) bool {
	return x.Name == y.Name && x.Prior == y.Prior && equalNumbers(x.Worth, y.Worth) &&
		slices.EqualFunc(x.Expect, y.Expect, func(d, e Expectation) bool { return equalExpectations(&d, &e) })
}

func equalExpectations(x, y *Expectation) bool {
	return x.Column == y.Column && x.Mean == y.Mean && x.MeanSD == y.MeanSD &&
		x.Deviation == y.Deviation && x.DeviationSD == y.DeviationSD &&
		x.Normal == y.Normal && slices.Equal(x.Shares, y.Shares)
}
