package logic

// Rule is a clause that was learnt, with what speaks for it: the rows that it is the
// first to cover, and those among them that are of its class. The last of a list may
// be no clause, but what holds otherwise.
type Rule struct {
	ID, Text, Words  string
	Class            string
	Probability      float64
	Covered, Correct float64
	Told             float64 // how many rows it is worth if somebody said it, 0 if it was learnt
	Note             string  // of what else it is worth, where rows do not say it
}
