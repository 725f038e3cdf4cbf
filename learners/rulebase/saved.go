package rulebase

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/rulebase/foreign"
	"github.com/accrete-ml/accrete/rule"
)

// basePart is the one part that is saved: the text of the base.
const basePart = "base"

// Parts saves the base as its text.
func (m *Model) Parts() ([]learn.Part, error) {
	var text strings.Builder
	if err := m.base.Write(&text); err != nil {
		return nil, err
	}
	return []learn.Part{{Name: basePart, Data: []byte(text.String())}}, nil
}

// decode reads the text of a base, or a model of another program, in a part that has
// the name of its format.
func decode(parts []learn.Part) (learn.Model, error) {
	for _, format := range foreign.Formats {
		if text := learn.FindPart(parts, format); text != nil {
			base, err := foreign.Parse(format, text)
			if err != nil {
				return nil, err
			}
			var names struct {
				Target  string   `json:"target"`
				Classes []string `json:"classes"`
			}
			if said := learn.FindPart(parts, "names"); said != nil {
				if err := json.Unmarshal(said, &names); err != nil {
					return nil, err
				}
				if err := foreign.Call(base, names.Target, names.Classes); err != nil {
					return nil, err
				}
			}
			return New(base)
		}
	}
	text := learn.FindPart(parts, basePart)
	if text == nil {
		return nil, fmt.Errorf("%w: it has no rules", learn.ErrDamaged)
	}
	base, err := rule.Parse("rules", text)
	if err != nil {
		return nil, err
	}
	return New(base)
}
