package serve

import (
	"net/http"
	"slices"
	"strings"
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

// cookieName is that of the cookie that stands for a token.
const cookieName = "accrete"

// identify finds out who calls: by a token, or by a cookie that stands for
// one. Where there are no tokens, everybody who reaches the server is its
// owner.
func (c *call) identify() (identity, error) {
	if c.keys.path == "" {
		return identity{name: c.owner, scope: admin}, nil
	}
	if c.route.scope == open {
		return identity{}, nil
	}
	hash, how := "", "no token came with the request"
	if bearer, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer "); ok {
		hash, how = hashOf(strings.TrimSpace(bearer)), "the token is unknown, expired or revoked"
	} else if cookie, err := c.r.Cookie(cookieName); err == nil {
		hash, _ = c.keys.signedIn(cookie.Value, c.began)
		how = "you are no longer signed in"
	}
	if hash != "" {
		if t, ok := c.keys.find(hash, c.began); ok {
			return t.identity(), nil
		}
	}
	return identity{}, problemf(http.StatusUnauthorized, "send Authorization: Bearer TOKEN, or sign in with POST /v1/login; accrete token new makes tokens", "%s", how)
}

// allowed says why a caller may not use a route.
func (c *call) allowed() error {
	need := c.route.scope
	if c.who.scope < need {
		return problemf(http.StatusForbidden, "use a token whose scope is "+need.String(), "%s may %s, and this needs the scope %s", c.who.name, c.who.scope, need)
	}
	if c.route.whole && c.who.models != nil {
		return problemf(http.StatusForbidden, "use a token for all models", "%s may only see %s", c.who.name, strings.Join(c.who.models, ", "))
	}
	return nil
}

// sees says why a caller may not see a model.
func (i *identity) sees(model string) error {
	if i.models == nil || slices.Contains(i.models, model) {
		return nil
	}
	return problemf(http.StatusForbidden, "use a token for that model", "%s may not see the model %q", i.name, model)
}

// Login is how the page signs in.
type Login struct {
	Token string `json:"token"`
}

// login sets a cookie that stands for a token: scripts never see it, and no
// page elsewhere can have it sent.
func (c *call) login() error {
	var in Login
	if err := c.decode(&in); err != nil {
		return err
	}
	if c.keys.path == "" {
		return c.answer(http.StatusOK, Me{Name: c.owner, Scope: admin.String(), ReadOnly: c.o.ReadOnly, Version: c.o.Version})
	}
	hash := hashOf(strings.TrimSpace(in.Token))
	t, ok := c.keys.find(hash, c.began)
	if !ok {
		return problemf(http.StatusUnauthorized, "ask whoever runs the server for a token (accrete token new)", "the token is unknown, expired or revoked")
	}
	c.setCookie(c.keys.signIn(hash, c.began), int(sessionTime.Seconds()))
	c.who = t.identity()
	return c.whoami()
}

func (c *call) setCookie(value string, age int) {
	http.SetCookie(c.w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode})
}

func (c *call) logout() error {
	if cookie, err := c.r.Cookie(cookieName); err == nil {
		c.keys.signOut(cookie.Value)
	}
	c.setCookie("", -1)
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
