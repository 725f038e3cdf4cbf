package rulebase

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

var _ expert.Striker = (*Model)(nil)

// Strike returns the base without some of its IF rules.
func (m *Model) Strike(_ context.Context, ids ...string) (learn.Model, error) {
	base := *m.base
	base.Rules = slices.DeleteFunc(slices.Clone(m.base.Rules), func(r rule.Rule) bool { return slices.Contains(ids, r.ID()) })
	if len(base.Rules) == 0 && base.Else == nil && len(base.Units) == 0 {
		return nil, fmt.Errorf("a base needs one rule at least")
	}
	return New(&base)
}
