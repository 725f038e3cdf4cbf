package life

import (
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

// Standing is how a WHEN … EXPECT rule fares.
type Standing struct {
	Unit     string   `json:"unit"`
	Source   string   `json:"source"`
	State    string   `json:"state"`
	Worth    float64  `json:"worth"`
	Rows     float64  `json:"rows"`
	Of       float64  `json:"of"`
	Moved    float64  `json:"moved"`
	Column   string   `json:"column,omitempty"`
	Expected *float64 `json:"expected,omitempty"`
	Found    *float64 `json:"found,omitempty"`
}

func newStandings(standings []expert.UnitStanding) []Standing {
	entries := make([]Standing, len(standings))
	for i, s := range standings {
		entries[i] = Standing{Unit: s.Unit, Source: s.Expert.Name, State: string(s.State), Worth: s.Worth, Rows: s.Rows, Of: s.Of, Moved: s.Moved}
		if s.Column != "" {
			entries[i].Column, entries[i].Expected, entries[i].Found = s.Column, &s.Expected, &s.Found
		}
	}
	return entries
}

// setStates says of an expert's own units how they fare and who told them.
func setStates(entries []RuleEntry, units []rule.Unit, standings []expert.UnitStanding) {
	first := len(entries) - len(units)
	for i := range units {
		for _, s := range standings {
			if units[i].Worth != nil && s.Unit == units[i].Name {
				entries[first+i].State, entries[first+i].Sources = string(s.State), []SourceEntry{{Source: s.Expert.Name}}
			}
		}
	}
}
