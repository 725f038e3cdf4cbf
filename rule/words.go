package rule

import (
	"fmt"
	"strings"
)

// Words says what each rule of a weighed base does to its class, as in
// "speaks against democrat: 12 %, usually 61 %"; "" for the priors, and for
// all rules of bases of other kinds.
func (b *Base) Words() []string {
	words := make([]string, len(b.Rules))
	usual := b.usual()
	for i := range b.Rules {
		if share, ok := usual[b.Rules[i].Then.Value]; ok && len(b.Rules[i].If) > 0 {
			words[i] = b.Rules[i].words(share)
		}
	}
	return words
}

// usual returns how probable a weighed base says each class is before any
// rule speaks: what its rules without tests state.
func (b *Base) usual() map[string]float64 {
	if b.Kind != Weighed {
		return nil
	}
	shares := map[string]float64{}
	for i := range b.Rules {
		if r := &b.Rules[i]; len(r.If) == 0 && r.With != nil {
			shares[r.Then.Value] = *r.With
		}
	}
	return shares
}

// against reports whether a rule of a weighed base takes from its class.
func (r *Rule) against() bool {
	return len(r.If) > 0 && r.Evidence.Weight != nil && *r.Evidence.Weight < 0
}

func (r *Rule) words(usual float64) string {
	side := "for"
	if r.against() {
		side = "against"
	}
	text := "speaks " + side + " " + r.Then.Value
	if r.With != nil {
		text += fmt.Sprintf(": %s %%, usually %s %%", percent(*r.With), percent(usual))
	}
	return text
}

// percent writes a share with as many digits as it needs.
func percent(p float64) string {
	if p > 0 && p < 0.01 || p > 0.99 && p < 1 {
		return fmt.Sprintf("%.1f", 100*p)
	}
	return fmt.Sprintf("%.0f", 100*p)
}

// oneLine returns text that no character ends the line of.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}
