package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/life"
)

// guarded is a server with a token of each scope, one for another model, and
// one that has expired.
func guarded(t *testing.T) (s *trial, secrets map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	secrets = map[string]string{}
	for _, token := range []Token{
		{Name: "reader", Scope: "read"}, {Name: "writer", Scope: "write"}, {Name: "boss", Scope: "admin"},
		{Name: "narrow", Scope: "admin", Models: []string{"other"}}, {Name: "late", Scope: "admin"},
	} {
		lasts := "1d"
		if token.Name == "late" {
			lasts = "0h"
		}
		secret, err := NewToken(path, token, lasts)
		if err != nil {
			t.Fatal(err)
		}
		secrets[token.Name] = "Authorization: Bearer " + secret
	}
	if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("accrete_")) {
		t.Error("the file has a secret")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
	s = newTrial(t, func(o *Options) { o.Tokens = path })
	return s.learn("weather", "bayes"), secrets
}

func TestTokens(t *testing.T) {
	s, secrets := guarded(t)
	s.want(s.do("GET", "/healthz", nil), 200)
	s.want(s.do("GET", "/", nil), 200)
	s.problem(s.do("GET", "/v1/models", nil), 401, "no token")
	s.problem(s.do("GET", "/v1/models", nil, "Authorization: Bearer accrete_x"), 401, "unknown")
	s.problem(s.do("GET", "/v1/models", nil, secrets["late"]), 401, "expired")
	me := s.want(s.do("GET", "/v1/whoami", nil, secrets["reader"]), 200)
	if me.json["name"] != "reader" || me.json["scope"] != "read" {
		t.Errorf("%s", me.body)
	}
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather"}`, secrets["reader"]), 403, "scope")
	s.problem(s.do("DELETE", "/v1/models/weather", nil, secrets["writer"]), 403, "admin")
	s.problem(s.do("GET", "/v1/models/weather", nil, secrets["narrow"]), 403, "may not see")
	s.problem(s.do("POST", "/v1/merge", `{"first":"weather","second":"weather","name":"other"}`, secrets["narrow"]), 403, "may not see")
	s.problem(s.do("POST", "/v1/diff", `{"before":"weather","after":"weather@1"}`, secrets["narrow"]), 403, "may not see")
	if r := s.want(s.do("GET", "/v1/models", nil, secrets["narrow"]), 200); !strings.Contains(string(r.body), `"models":[]`) {
		t.Errorf("%s", r.body)
	}
	if err := Revoke(s.o.Tokens, "reader"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(look + 50*time.Millisecond)
	s.problem(s.do("GET", "/v1/models", nil, secrets["reader"]), 401, "revoked")
	s.want(s.do("GET", "/v1/models", nil, secrets["writer"]), 200)
}

func TestLogin(t *testing.T) {
	s, secrets := guarded(t)
	secret := strings.TrimPrefix(secrets["writer"], "Authorization: Bearer ")
	s.problem(s.do("POST", "/v1/login", `{"token":"accrete_no"}`), 401, "unknown")
	r := s.want(s.do("POST", "/v1/login", map[string]string{"token": secret}), 200, "name", "scope")
	cookie := r.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("no %s in %s", part, cookie)
		}
	}
	if strings.Contains(cookie, secret) {
		t.Error("the cookie is the token")
	}
	held := "Cookie: " + strings.SplitN(cookie, ";", 2)[0]
	s.want(s.do("GET", "/v1/whoami", nil, held), 200)
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather"}`, held, "Origin: http://evil.example"), 403, "elsewhere")
	s.want(s.do("DELETE", "/v1/login", nil, held), 204)
	s.problem(s.do("GET", "/v1/whoami", nil, held), 401, "signed in")
}

func TestTokensAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	for _, token := range []Token{{Name: "a", Scope: "all"}, {Name: "../a", Scope: "read"}, {Name: "", Scope: "read"}, {Name: "a", Scope: "read", Models: []string{"../x"}}} {
		if _, err := NewToken(path, token, ""); err == nil {
			t.Errorf("%v is a token", token)
		}
	}
	if _, err := NewToken(path, Token{Name: "a", Scope: "read"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := NewToken(path, Token{Name: "a", Scope: "read"}, ""); err == nil {
		t.Error("two tokens of one name")
	}
	if err := Revoke(path, "b"); err == nil {
		t.Error("what is not there was revoked")
	}
	if err := Revoke(path, "a"); err != nil {
		t.Error(err)
	}
	if _, err := New(Options{Home: newHome(t, t.TempDir()), Tokens: path}); err == nil {
		t.Error("a server without any token")
	}
	for text, ok := range map[string]bool{"90d": true, "12h": true, "d": false, "-1d": false, "": false, "9e9d": false, "1": false} {
		if _, err := ParseAge(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte(`{"name":"a","scope":"read","made":"2026-01-01T00:00:00Z","hash":"` + strings.Repeat("0", 64) + `"}`))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		tokens, err := ParseTokens(text)
		for _, token := range tokens {
			if _, bad := scopeOf(token.Scope); err == nil && (bad != nil || len(token.Hash) != 64) {
				t.Errorf("%v", token)
			}
		}
	})
}

// What serve.ParseTokens and serve.ParseAge read may be of any size.
func TestGrowthOfParsers(t *testing.T) {
	line := fmt.Sprintf(`{"name":"a","scope":"read","made":"2026-01-01T00:00:00Z","hash":"%064d"}`+"\n", 0)
	bounded.Worst(t, func(size int) []byte { return bytes.Repeat([]byte(line), size/len(line)) }, func(b []byte) { ParseTokens(b) })
	bounded.Worst(t, func(size int) []byte { return bytes.Repeat([]byte("9"), size) }, func(b []byte) { ParseAge(string(b)) })
	bounded.Worst(t, func(size int) []byte { return bytes.Repeat([]byte("1rows,"), size/6) }, func(b []byte) { life.ParseFreezing(string(b)) })
}

// waits is how many requests of a caller wait.
func (b *busy) waits(who string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.of[who].waiting)
}

// A caller takes no more places than others are left; who has none waits in line.
func TestBusy(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.MostBusy, o.MostQueue = 1, 500*time.Millisecond })
	if !s.busy.enter(t.Context(), s.owner, 1, 0) {
		t.Fatal("no place")
	}
	r := s.do("GET", "/v1/models", nil)
	s.problem(r, http.StatusTooManyRequests, "under way")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	waits := make(chan int)
	go func() { waits <- s.do("GET", "/v1/models", nil).status }()
	for s.busy.waits(s.owner) == 0 {
		time.Sleep(time.Millisecond)
	}
	s.busy.leave(s.owner) // to who waits
	if status := <-waits; status != 200 {
		t.Errorf("who waited got %d", status)
	}
	if !s.busy.enter(t.Context(), s.owner, 1, time.Minute) {
		t.Fatal("no place")
	}
	s.problem(s.do("POST", "/v1/models/nothing/tell", `{"rules":"x"}`), http.StatusNotFound, "nothing") // writes have places of their own
	s.busy.leave(s.owner)
	s.want(s.do("GET", "/v1/models", nil), 200)
}
