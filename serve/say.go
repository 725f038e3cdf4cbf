package serve

import (
	"encoding/json"
	"net/http"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule/say"
)

// ToSay is rules to be said as sentences.
type ToSay struct {
	Rules  string `json:"rules" doc:"in the rule language"`
	Target string `json:"target,omitempty" doc:"of a table: the column to predict"`
}

// SaidRules are the sentences.
type SaidRules struct {
	Rules []life.SaidRule `json:"rules"`
}

// sayModel says rules as they would be told to a model; nothing is told.
func (c *call) sayModel() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	var in ToSay
	if err := c.decode(&in); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	said, err := c.home().SayTo(ctx, p, []byte(in.Rules))
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, SaidRules{said})
}

// sayData says rules about the columns of a table, before it is learnt from.
func (c *call) sayData() error {
	up, find, err := c.table()
	if err != nil {
		return err
	}
	var in ToSay
	if err := c.decode(&in); err != nil {
		return err
	}
	var words say.Words
	if up != nil && up.Words != nil {
		if err := json.Unmarshal(up.Words, &words); err != nil {
			return err
		}
	}
	h := c.home()
	d, err := find(h)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	said, err := h.SayAbout(ctx, d, in.Target, []byte(in.Rules), words)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, SaidRules{said})
}
