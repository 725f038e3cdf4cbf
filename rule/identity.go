package rule

import (
	"crypto/sha256"
	"encoding/hex"
)

// ID returns the first 8 hex digits of the SHA-256 of the rule's canonical IF
// and THEN, cuts included. Probabilities, worth and evidence do not count, so
// that a rule stays itself while the data behind it grows: a distribution
// counts by its most probable class alone, and neither the weights of a BY
// nor the numbers of a += count.
func (r *Rule) ID() string { return identify(r.identity()) }

// identity is the text that the id is the hash of.
func (r *Rule) identity() []byte {
	text := appendTests([]byte("IF "), Canonical(r.If), nil)
	switch {
	case len(r.Then.By) > 0:
		return append(appendName(append(text, " THEN "...), r.Then.Column), " BY"...)
	case r.Then.Line != nil:
		text = append(appendName(append(text, " THEN "...), r.Then.Column), " += *"...)
		return appendName(text, r.Then.Line.Column)
	case r.Then.Adds:
		return append(appendName(append(text, " THEN "...), r.Then.Column), " +="...)
	}
	then := Conclusion{Column: r.Then.Column, Numeric: r.Then.Numeric, Mean: r.Then.Mean, Deviation: r.Then.Deviation}
	if !then.Numeric {
		then.Value, _ = r.Answer()
	}
	return appendConclusion(append(text, " THEN "...), &then)
}

// ID returns the first 8 hex digits of the SHA-256 of what the unit expects,
// with its name and without its prior.
func (u *Unit) ID() string {
	return identify(appendUnit(nil, &Unit{Name: u.Name, Expect: u.Expect}))
}

func identify(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
