package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// Token is who may do what, as the file of tokens keeps it, a line each. The
// secret itself is kept nowhere: only its hash is.
type Token struct {
	Name    string     `json:"name"`
	Scope   string     `json:"scope"`
	Models  []string   `json:"models,omitempty"` // those that may be seen; none is all
	Made    time.Time  `json:"made"`
	Expires *time.Time `json:"expires,omitempty"`
	Hash    string     `json:"hash"` // SHA-256 of the secret, in hexadecimal
}

// secretBytes are enough that nobody guesses.
const secretBytes = 32

// mostTokens is how large a file of tokens may be.
const mostTokens = 4 << 20

// NewToken adds a token to a file, which lasts as long as is said ("90d"; ""
// is until it is revoked), and returns its secret, which nobody can tell again.
func NewToken(path string, t Token, lasts string) (secret string, err error) {
	t.Made = time.Now().UTC().Truncate(time.Second)
	if lasts != "" {
		age, err := ParseAge(lasts)
		if err != nil {
			return "", err
		}
		end := t.Made.Add(age)
		t.Expires = &end
	}
	if _, err := scopeOf(t.Scope); err != nil {
		return "", err
	}
	if err := store.CheckName(t.Name); err != nil {
		return "", fmt.Errorf("a token is called as a model is: %w", err)
	}
	for _, m := range t.Models {
		if err := store.CheckName(m); err != nil {
			return "", err
		}
	}
	all, err := tokensIn(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if slices.ContainsFunc(all, func(o Token) bool { return o.Name == t.Name }) {
		return "", fmt.Errorf("there is a token called %q already; revoke it first, or choose another name", t.Name)
	}
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	secret = "accrete_" + base64.RawURLEncoding.EncodeToString(b[:])
	t.Hash = hashOf(secret)
	return secret, writeTokens(path, append(all, t))
}

// Revoke takes a token out of a file.
func Revoke(path, name string) error {
	all, err := tokensIn(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no token called %q, nor any other in %s", name, path)
	case err != nil:
		return err
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	left := slices.DeleteFunc(all, func(t Token) bool { return t.Name == name })
	if len(left) == len(names) {
		return fmt.Errorf("there is no token called %q%s", name, spell.Hint(name, names))
	}
	return writeTokens(path, left)
}

// tokensIn reads a file of tokens.
func tokensIn(path string) ([]Token, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostTokens {
		return nil, fmt.Errorf("%s is no file of tokens", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseTokens(text)
}

// ParseTokens reads the lines of a file of tokens.
func ParseTokens(text []byte) ([]Token, error) {
	var all []Token
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var t Token
		err := json.Unmarshal(line, &t)
		if err == nil {
			_, err = scopeOf(t.Scope)
		}
		if hash, bad := hex.DecodeString(t.Hash); err == nil && (bad != nil || len(hash) != sha256.Size || t.Name == "") {
			err = errors.New("it has no name, or no hash")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d is no token: %v; make tokens with accrete token new", number, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// writeTokens replaces a file of tokens, which is private to its owner.
func writeTokens(path string, all []Token) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tokens-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	e := json.NewEncoder(f)
	for _, t := range all {
		if err := e.Encode(t); err != nil {
			return err
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func scopeOf(name string) (scope, error) {
	if i := slices.Index(scopeNames[:], name); i > 0 {
		return scope(i), nil
	}
	return 0, fmt.Errorf("there is no scope %q; expected read, write or admin", name)
}

// keyring is the tokens of a file, read again when it changes, and who is
// signed in by them.
type keyring struct {
	path string // "" lets everybody in
	kept string // the file of sessions, so that who is signed in stays so when the server is started again

	mu       sync.RWMutex
	checked  time.Time
	modified time.Time
	size     int64
	tokens   []Token
	sessions map[string]session // by the hash of the cookie
}

// session is a cookie that stands for a token.
type session struct {
	token string // its hash
	until time.Time
}

const (
	sessionTime  = 12 * time.Hour
	mostSessions = 10_000
	// look is how long a revoked token may still be good.
	look = 250 * time.Millisecond
)

// open reads the tokens for the first time.
func (k *keyring) open() error {
	if k.path == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.reread(time.Now())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; make one with accrete token new --name NAME --tokens %s", err, k.path)
	}
	if err == nil && len(k.tokens) == 0 {
		err = fmt.Errorf("%s has no tokens; make one with accrete token new", k.path)
	}
	return err
}

// reread reads the file if it is another one. The caller holds the lock.
func (k *keyring) reread(now time.Time) error {
	k.checked = now
	info, err := os.Stat(k.path)
	if err != nil {
		k.tokens = nil // tokens that cannot be read let nobody in
		return err
	}
	if info.ModTime().Equal(k.modified) && info.Size() == k.size {
		return nil
	}
	tokens, err := tokensIn(k.path)
	if err != nil {
		k.tokens = nil
		return err
	}
	k.tokens, k.modified, k.size = tokens, info.ModTime(), info.Size()
	return nil
}

// find returns the token whose hash this is, unless it has expired. Every
// token is compared, in the same time.
func (k *keyring) find(hash string, now time.Time) (t Token, ok bool) {
	k.mu.RLock()
	stale := now.Sub(k.checked) > look
	k.mu.RUnlock()
	if stale {
		k.mu.Lock()
		if now.Sub(k.checked) > look {
			_ = k.reread(now) // nobody is let in then
		}
		k.mu.Unlock()
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	at := -1
	for i := range k.tokens {
		if subtle.ConstantTimeCompare([]byte(k.tokens[i].Hash), []byte(hash)) == 1 {
			at = i
		}
	}
	if at < 0 || k.tokens[at].Expires != nil && now.After(*k.tokens[at].Expires) {
		return t, false
	}
	return k.tokens[at], true
}

// signIn returns a cookie that stands for a token.
func (k *keyring) signIn(hash string, now time.Time) string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	cookie := base64.RawURLEncoding.EncodeToString(b[:])
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sessions == nil {
		k.sessions = map[string]session{}
	}
	if len(k.sessions) >= mostSessions {
		for id, s := range k.sessions {
			if now.After(s.until) {
				delete(k.sessions, id)
			}
		}
		for id := range k.sessions {
			if len(k.sessions) < mostSessions {
				break
			}
			delete(k.sessions, id)
		}
	}
	k.sessions[hashOf(cookie)] = session{hash, now.Add(sessionTime)}
	k.keep()
	return cookie
}

// keptSession is a session as it is written down: of the cookie, as of the token,
// only the hash.
type keptSession struct {
	Cookie string    `json:"cookie"`
	Token  string    `json:"token"`
	Until  time.Time `json:"until"`
}

// keep writes down who is signed in. Where that fails, they sign in again after
// the server was started again. The caller holds the lock.
func (k *keyring) keep() {
	if k.kept == "" || k.path == "" {
		return
	}
	list := []keptSession{}
	for id, s := range k.sessions {
		list = append(list, keptSession{id, s.token, s.until})
	}
	text, err := json.Marshal(list)
	if err != nil || os.MkdirAll(filepath.Dir(k.kept), 0o700) != nil {
		return
	}
	if f, err := os.OpenFile(k.kept, os.O_CREATE, 0o600); err == nil { // a file that is replaced keeps its mode
		f.Close()
	}
	_ = atomicfile.Write(context.Background(), k.kept, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// recall reads who was signed in when the server ended.
func (k *keyring) recall(now time.Time) {
	info, err := os.Stat(k.kept)
	if k.kept == "" || err != nil || info.Size() > mostTokens {
		return
	}
	var list []keptSession
	text, err := os.ReadFile(k.kept)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sessions = map[string]session{}
	for _, s := range list {
		if now.Before(s.Until) && len(k.sessions) < mostSessions {
			k.sessions[s.Cookie] = session{s.Token, s.Until}
		}
	}
}

// signedIn returns the hash of the token that a cookie stands for.
func (k *keyring) signedIn(cookie string, now time.Time) (string, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	s, ok := k.sessions[hashOf(cookie)]
	return s.token, ok && now.Before(s.until)
}

func (k *keyring) signOut(cookie string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id := hashOf(cookie); k.sessions[id] != (session{}) {
		delete(k.sessions, id)
		k.keep()
	}
}

// identity is who holds a token.
func (t *Token) identity() identity {
	sc, _ := scopeOf(t.Scope) // it was checked when it was read
	return identity{name: t.Name, scope: sc, models: t.Models}
}

// DefaultTokens is the file of tokens of a store.
func DefaultTokens(store string) string { return filepath.Join(store, "tokens") }

// TokensFor is the file of tokens for a server: the one that is named, else the
// store's, where there is one. Without any, only this machine may be served.
func TokensFor(listen, named, store string) (string, error) {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return "", errors.New("is no address; expected a host and a port, as in 127.0.0.1:8765")
	}
	if named != "" {
		return named, nil
	}
	if _, err := os.Stat(DefaultTokens(store)); err == nil {
		return DefaultTokens(store), nil
	}
	if !IsLoopback(listen) {
		return "", errors.New("can be reached from elsewhere, and there are no tokens; make one with accrete token new --name NAME")
	}
	return "", nil
}

// TokenSaid is what is said of a token that was made or revoked.
type TokenSaid struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
	Token string `json:"token,omitempty"`
}

// TokenList is the tokens of a file, without secrets.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

// ListTokens lists the tokens of a file.
func ListTokens(path string) (*TokenList, error) {
	all, err := tokensIn(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for i := range all {
		all[i].Hash = all[i].Hash[:12] // enough to name it
	}
	return &TokenList{append([]Token{}, all...)}, nil
}

// TokenHeader is the header of the table of tokens.
var TokenHeader = []string{"name", "scope", "models", "made", "expires"}

// Rows are the tokens as a table for people.
func (l *TokenList) Rows() [][]string {
	var rows [][]string
	for _, t := range l.Tokens {
		end := "never"
		if t.Expires != nil {
			end = life.Stamp(*t.Expires)
		}
		rows = append(rows, []string{t.Name, t.Scope, cmp.Or(strings.Join(t.Models, ", "), "all"), life.Stamp(t.Made), end})
	}
	return rows
}

// ParseAge reads how long something lasts: 90d, 12h, 30m.
func ParseAge(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if isDays {
		var n int
		if _, err := fmt.Sscanf(days+"\n", "%d\n", &n); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no age; expected as in 90d or 12h", cmp.Or(text, " "))
}
