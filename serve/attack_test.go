package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Names and cells that would be script in a page, or colours on a terminal, are
// only ever text: JSON keeps them, pictures and logs escape them.
func TestHostileNames(t *testing.T) {
	var log bytes.Buffer
	s := newTrial(t, func(o *Options) { o.Log = &log })
	script := `<script>alert(1)</script>`
	csv := fmt.Sprintf("%s,y\n%s,a\nplain,b\n%s,a\nplain,b\n%s,a\nplain,b\n", script, script, script, script)
	s.want(s.do("POST", "/v1/data?name=hostile", strings.NewReader(csv), "Content-Type: text/csv"), 201)
	s.want(s.do("POST", "/v1/learn", `{"data":"hostile","target":"y","learner":"tree","folds":0}`, wait), 200)
	for _, path := range []string{"/v1/models/hostile/draw", "/v1/models/hostile/rules", "/v1/models/hostile", "/v1/data/hostile", "/docs", "/"} {
		r := s.want(s.do("GET", path, nil), 200)
		kind := r.header.Get("Content-Type")
		if strings.Contains(string(r.body), script) && !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s has script in %s", path, kind)
		}
		if r.header.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(r.header.Get("Content-Security-Policy"), "'unsafe-inline'; script") || r.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v", path, r.header)
		}
	}
	ansi := "\x1b[31mred\x1b]0;title\a"
	r := s.do("POST", "/v1/models/hostile/predict", map[string]any{"row": map[string]any{ansi: 1}})
	if r.status != 422 || bytes.Contains(r.body, []byte{0x1b}) {
		t.Errorf("%d %q", r.status, r.body)
	}
	s.do("GET", "/v1/models/%1b%5b31m", nil)
	if bytes.Contains(log.Bytes(), []byte{0x1b}) {
		t.Errorf("%q", log.Bytes())
	}
}

// Secrets are in no log, and in no answer.
func TestNoSecretsInLogs(t *testing.T) {
	var log bytes.Buffer
	path := t.TempDir() + "/tokens"
	secret, err := NewToken(path, Token{Name: "a", Scope: "admin"}, "")
	if err != nil {
		t.Fatal(err)
	}
	s := newTrial(t, func(o *Options) { o.Tokens, o.Log, o.Verbose = path, &log, true })
	for _, h := range []string{"Authorization: Bearer " + secret, "Authorization: Bearer " + secret + "x", "Cookie: accrete=" + secret} {
		r := s.do("GET", "/v1/models", nil, h)
		s.do("POST", "/v1/login", map[string]string{"token": secret})
		s.do("DELETE", "/v1/models/nothing", nil, h)
		if bytes.Contains(r.body, []byte(secret)) {
			t.Errorf("%s", r.body)
		}
	}
	if bytes.Contains(log.Bytes(), []byte(secret)) || log.Len() == 0 {
		t.Errorf("%s", &log)
	}
}

// Every route that needs a token refuses who has none, and who has too small a
// scope, whatever else is wrong with the request.
func TestEveryRouteIsGuarded(t *testing.T) {
	s, secrets := guarded(t)
	for i := range routes {
		rt := &routes[i]
		path := strings.NewReplacer("{m}", "weather", "{v}", "1", "{d}", "weather", "{l}", "tree", "{id}", "x").Replace(rt.path)
		if rt.scope == open {
			continue
		}
		s.problem(s.do(rt.method, path, nil), http.StatusUnauthorized, "token")
		if rt.scope > read {
			s.problem(s.do(rt.method, path, nil, secrets["reader"]), http.StatusForbidden, "scope")
		}
		if strings.Contains(rt.path, "{m}") || rt.whole {
			r := s.do(rt.method, path, "{}", secrets["narrow"])
			if r.status != http.StatusForbidden {
				t.Errorf("%s %s: %d for who may not see the model: %s", rt.method, rt.path, r.status, r.body)
			}
		}
		s.problem(s.do(rt.method, path, nil, secrets["boss"], "Host: evil.example"), http.StatusForbidden, "not called")
	}
}
