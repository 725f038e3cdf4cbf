package serve

import (
	"net/http"
	"slices"
)

// scope is what a caller may do.
type scope int

// The scopes, each of which has those before it.
const (
	open scope = iota // nobody is asked
	read
	write
	admin
)

var scopeNames = [...]string{"", "read", "write", "admin"}

func (s scope) String() string { return scopeNames[s] }

// identity is who calls.
type identity struct {
	name   string
	scope  scope
	models []string // that may be seen; nil is all
}

// identify finds out who calls.
func (c *call) identify() (identity, error) {
	return identity{name: c.owner, scope: admin}, nil
}

// allowed says why a caller may not use a route.
func (c *call) allowed() error {
	if need := c.route.scope; c.who.scope < need {
		return problemf(http.StatusForbidden, "use a token whose scope is "+need.String(), "%s may %s, and this needs the scope %s", c.who.name, c.who.scope, need)
	}
	return nil
}

// sees says why a caller may not see a model: it is as if it were not there.
func (i *identity) sees(model string) error {
	if i.models == nil || slices.Contains(i.models, model) {
		return nil
	}
	return problemf(http.StatusForbidden, "use a token for that model", "%s may not see the model %q", i.name, model)
}
