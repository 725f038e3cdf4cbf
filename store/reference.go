package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// maxName is the longest name of a model, in bytes.
const maxName = 200

// ParseRef splits a reference to a model: "votes" is the newest version,
// number 0, and "votes@3" the third.
func ParseRef(ref string) (name string, number int, err error) {
	name, digits, numbered := strings.Cut(ref, "@")
	if numbered {
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || n == 0 {
			return "", 0, fmt.Errorf("%q is not a version of a model: expected MODEL@N with N a number from 1, as in votes@3", ref)
		}
		number = int(n)
	}
	return name, number, CheckName(name)
}

// CheckName says why a model cannot have this name, or returns nil: names are
// letters, digits and _ - . and do not begin with a dot.
func CheckName(name string) error {
	wrong := ""
	switch {
	case name == "":
		return remedy.New(remedy.Remedy{Kind: remedy.GiveName}, "a model needs a name")
	case len(name) > maxName:
		wrong = fmt.Sprintf("has %d bytes, at most %d are allowed", len(name), maxName)
	case !utf8.ValidString(name):
		wrong = "is not valid UTF-8"
	case name[0] == '.':
		wrong = "begins with a dot, which is not allowed"
	default:
		for _, r := range name {
			if !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("_-.", r) {
				wrong = fmt.Sprintf("contains %q, which is not allowed: expected letters, digits and _ - .", r)
				break
			}
		}
	}
	if wrong == "" {
		return nil
	}
	return remedy.New(remedy.Remedy{Kind: remedy.GiveName}, "the model name %.40q %s", name, wrong)
}

// longestFolder leaves room for file systems that allow 143 bytes a name.
const longestFolder = 120

// escape returns the folder of a model. Only lower-case letters, digits and a
// few signs stand for themselves, for file systems that take A for a or that
// rewrite accents. Long names are cut and told apart by their hash.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	folder := b.String()
	if len(folder) <= longestFolder {
		return folder
	}
	hash := sha256.Sum256([]byte(name))
	return folder[:longestFolder-33] + "+" + hex.EncodeToString(hash[:16])
}

// unescape guesses the name of a model from its folder; the log knows better.
func unescape(folder string) string {
	name, err := url.PathUnescape(folder)
	if err != nil || !utf8.ValidString(name) {
		return folder
	}
	return name
}

// compareNames sorts as people read: without regard to case first.
func compareNames(a, b string) int {
	if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
