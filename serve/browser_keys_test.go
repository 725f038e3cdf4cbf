package serve

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys presses keys one after the other, as a person does: no pointer is used.
func (v *visitor) keys(keys ...string) {
	v.t.Helper()
	for _, k := range keys {
		if _, err := chromedp.Run(v.ctx, chromedp.KeyEvent(k)); err != nil {
			v.t.Fatal(err)
		}
	}
}

// All of it works by keys: what is looked for, found, previewed, done and undone,
// in the rule language, as tables, from screen to screen and from case to case.
func TestPageByKeys(t *testing.T) {
	s := clinic(t)
	v := visit(t, s)
	v.at("#/clinic/rules")
	v.wait("document.querySelectorAll('[role=option]').length > 2", "rules")
	v.keys("/")
	v.wait("document.activeElement.id === 'search'", "the search")
	v.eval("(document.activeElement.value = '', true)") // by this protocol the key is typed, too
	v.keys("v", "e", "s", kb.Escape)
	v.wait("location.hash.includes('find=ves') && document.activeElement.id !== 'search'", "what was looked for")
	v.at("#/clinic/rules?state=told")
	v.wait("document.querySelectorAll('[role=option]').length === 2", "the told rules")
	v.keys("j")
	v.wait("document.querySelectorAll('[role=option]')[0].ariaSelected === 'true' && document.activeElement.role === 'option'", "the first")
	v.keys("j", "k", "s")
	v.sees("Strike it, making version 4")
	v.keys(kb.Escape)
	v.wait("!location.hash.includes('show=')", "no preview")
	v.keys("s")
	v.sees("Strike it, making version 4")
	if m := s.want(s.do("GET", "/v1/models/clinic", nil), 200); m.json["version"] != 3.0 {
		t.Errorf("a key that previews made version %v", m.json["version"])
	}
	if _, err := chromedp.Run(v.ctx, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))); err != nil {
		t.Fatal(err)
	}
	v.sees("Version 4 is live.")
	v.keys("u")
	v.sees("Version 5 is live.")
	v.keys("f")
	v.wait("[...document.querySelectorAll('[role=option] code')].some(c => c.innerText.startsWith('IF '))", "the rule language")
	v.keys("t")
	v.wait("!!document.querySelector('main table caption')", "a table")
	v.keys("t", "f", "g", "v")
	v.sees("How clinic came to know this")
	v.keys("?")
	v.sees("search")
	v.wait("!!document.querySelector('[role=dialog]')", "all keys")
	v.keys(kb.Escape)
	v.wait("!document.querySelector('[role=dialog]')", "no keys")
	v.at("#/clinic/case?data=january.csv&row=2")
	v.sees("says")
	v.keys("]")
	v.sees("Row 3 of January")
	v.keys("[")
	v.sees("Row 2 of January")
	v.eval("(document.querySelector('#cell-vessels').focus(), true)")
	v.keys(kb.Escape, "l")
	v.wait("document.querySelector('button[aria-label=\"Lock vessels\"]').ariaPressed === 'true'", "the lock")
}
