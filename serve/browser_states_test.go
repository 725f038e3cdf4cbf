package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What the server between the page and the real one does with what is asked for.
const (
	asAsked = iota
	nothingComes
	allIsRefused
)

// moody is a server whose answers about models and tables come, do not come, or
// say what is wrong, as told. The page, and the list of models, come at once.
func moody(s *trial, mood *atomic.Int32) *trial {
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about := strings.Count(r.URL.Path, "/") > 3 || strings.HasPrefix(r.URL.Path, "/v1/data")
		for about && mood.Load() == nothingComes && r.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		if mood.Load() == allIsRefused && about {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"title":"Internal Server Error","status":500,"detail":"version 3 of heart cannot be read: bytes 812 to 1204 of its log are damaged","remedy":"accrete restore heart@2 goes back to what can be read"}`)
			return
		}
		r.Host = strings.TrimPrefix(s.url, "http://")
		s.ServeHTTP(w, r)
	}))
	s.t.Cleanup(between.Close)
	return &trial{s.Server, s.t, between.URL}
}

// rowsOf writes a table of so many rows.
func rowsOf(head string, rows int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(head + "\n")
	for i := range rows {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

const (
	longModel = "a-model-whose-name-has-sixty-letters-so-that-it-fits-nowhere"
	hostile   = "\x1b[31mred <script>document.title='stolen'</script>"
)

// models fills a store with what a page may have to show: a model with a life,
// one of three rules, hundreds of rules, twelve classes with names of sixty
// letters, names that are markup and commands to a terminal, one that found
// nothing, one that predicts a number and one that learns as rows come. It
// returns the rules of which rows and people disagree.
func models(s *trial) (disputed map[string]string) {
	s.t.Helper()
	heart(s)
	tables := map[string]string{
		"three.csv": rowsOf("light,go", 90, func(i int) string {
			return []string{"red", "amber", "green"}[i%3] + "," + []string{"no", "no", "yes"}[(i+i/89)%3]
		}),
		"hundreds.csv": rowsOf("a,b,c,d,e,answer", 1500, func(i int) string {
			x := i * 2654435761 % 1000003
			return fmt.Sprintf("v%d,v%d,v%d,%d,%d,%s", x%7, x/7%6, x/42%5, x/210%97, x/20000%31, []string{"no", "yes"}[(x%7*(x/7%6)+x/42%5+x/210%97/9)%2])
		}),
		"many.csv": many(900),
		"strange.csv": rowsOf(`"<script>document.title='stolen'</script>",a column whose name has sixty letters and then some more of them,"what <b>came</b> of it"`, 120, func(i int) string {
			return fmt.Sprintf(`"%s",%d,"%s"`, []string{hostile, "<img src=x onerror=alert(1)>"}[i%2], i%9, []string{"<i>well</i>", "\x1b]0;ill\x07 & worse"}[(i%2+i/13%5/4)%2])
		}),
		"nothing.csv": rowsOf("coin,answer", 40, func(i int) string { return []string{"head,no", "head,yes", "tail,no", "tail,yes"}[i%4] }),
	}
	for name, text := range tables {
		s.want(s.do("POST", "/v1/data?name="+name, text, "Content-Type: text/csv"), 201)
	}
	for _, lesson := range []string{
		`{"data":"three.csv","target":"go","learner":"tree","name":"three"}`,
		`{"data":"hundreds.csv","target":"answer","learner":"tree","settings":{"prune":"none"},"name":"hundreds","folds":0}`,
		`{"data":"many.csv","target":"class","learner":"tree","settings":{"prune":"none"},"name":"many","folds":0}`,
		`{"data":"strange.csv","target":"what <b>came</b> of it","name":"strange"}`,
		`{"data":"nothing.csv","target":"answer","learner":"tree","name":"` + longModel + `"}`,
		`{"data":"boston","learner":"tree","name":"prices","folds":0}`,
		`{"data":"weather","learner":"bayes","folds":0}`,
		`{"data":"tictactoe","learner":"q","settings":{"episodes":"500"}}`,
	} {
		s.want(s.do("POST", "/v1/learn", lesson, wait), 200)
	}
	s.want(s.do("POST", "/v1/models/strange/tell", map[string]any{"rules": `IF "a column whose name has sixty letters and then some more of them" > 3 THEN "what <b>came</b> of it" = "<i>well</i>" WITH 0.95 WORTH 40`, "note": hostile}), 200)
	for i := range 60 {
		s.want(s.do("POST", "/v1/models/weather/rows", map[string]any{"row": map[string]any{"outlook": []string{"sunny", "rainy"}[i%2], "play": []string{"no", "yes"}[i%2]}}), 200)
	}
	disputed = map[string]string{}
	for _, name := range []string{"heart", "strange"} {
		for _, c := range s.want(s.do("GET", "/v1/models/"+name+"/conflicts", nil), 200).json["conflicts"].([]any) {
			if rule, _ := c.(map[string]any)["rule"].(string); rule != "" {
				disputed[name] = rule
				break
			}
		}
	}
	return disputed
}

// states are all screens in all states: a name, an address, and the mood of the
// server.
func states(disputed map[string]string) []pageState {
	var all []pageState
	add := func(state string, mood int32, addresses ...string) {
		for _, address := range addresses {
			_, screen, _ := strings.Cut(address, "/")
			screen, _, _ = strings.Cut(screen, "?")
			all = append(all, pageState{state, screen, address, mood})
		}
	}
	of := func(model, table string) []string {
		list := []string{"rules", "case?data=" + table + "&row=3&show=wrong", "picture", "versions", "live", "court", "learn?data=" + table, "data?table=" + table}
		for i := range list {
			list[i] = model + "/" + list[i]
		}
		return list
	}
	rich := []string{
		"heart/rules?rule=" + disputed["heart"] + "&show=strike", "heart/case?data=april.csv&row=24&show=wrong", "heart/picture", "heart/versions?before=2&after=3",
		"weather/live", "heart/court", "heart/learn?data=january.csv", "heart/data?table=january.csv",
	}
	add("rich", asAsked, rich...)
	add("empty", asAsked, longModel+"/rules", "three/case", longModel+"/picture", "three/versions", "heart/live", longModel+"/court", "heart/learn", "heart/data")
	add("loading", nothingComes, rich...)
	add("failing", allIsRefused, rich...)
	add("three", asAsked, of("three", "three.csv")...)
	add("hundreds", asAsked, of("hundreds", "hundreds.csv")...)
	add("twelve", asAsked, of("many", "many.csv")...)
	add("strange", asAsked, append(of("strange", "strange.csv")[1:], "strange/rules?rule="+disputed["strange"]+"&show=doubt")...)
	add("acting", asAsked, "tictactoe/rules", "tictactoe/picture?play=watch")
	add("unknown", asAsked, "nobody/rules")
	add("number", asAsked, "prices/rules", "prices/case?lstat=5&rm=6", "prices/picture", "prices/versions", "prices/live", "prices/court")
	return all
}

type pageState struct {
	name, screen, address string
	mood                  int32
}

// Every screen in every state, wide and narrow, light and dark, and in grey and in
// Liberation Sans: nothing is wider than the window, no words lie over others or
// are cut off, none of them is a script, and nothing is said that is no word. Few
// of them are the short form. With ACCRETE_SHOTS=folder there are pictures for who
// wants to look; with ACCRETE_GRID only of the states whose name contains it.
func TestPageInEveryState(t *testing.T) {
	s := newTrial(t)
	disputed := models(s)
	var mood atomic.Int32
	v := visit(t, moody(s, &mood))
	only, long := os.Getenv("ACCRETE_GRID"), os.Getenv("ACCRETE_SHOTS") != "" || os.Getenv("ACCRETE_LONG") != ""
	for k, width := range []int64{1280, 390} {
		v.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 900, 390: 844}[width]))
		for i, at := range states(disputed) {
			where := fmt.Sprintf("%s-%s-%d", at.name, at.screen, width)
			if !strings.Contains(where, only) || !long && (i+k)%9 != 0 {
				continue
			}
			v.theme("light")
			if mood.Store(asAsked); at.mood == nothingComes { // who comes from another screen waits for this one
				v.at("#/three/learn?data=three.csv")
				v.settles(false, where)
				mood.Store(at.mood)
				v.eval(fmt.Sprintf("(location.hash = %q, true)", "#/"+at.address))
			} else {
				mood.Store(at.mood)
				v.at("#/" + at.address)
			}
			if !v.settles(at.mood == nothingComes, where) {
				continue
			}
			v.stands(where)
			v.full(where + "-light")
			if !long {
				continue
			}
			v.theme("dark")
			v.full(where + "-dark")
			if at.name != "rich" {
				continue
			}
			v.theme("light")
			v.eval(`(document.body.style.fontFamily = '"Liberation Sans"', document.documentElement.style.filter = "grayscale(1)", true)`)
			v.stands(where + "-liberation")
			v.full(where + "-grey")
		}
		mood.Store(asAsked)
	}
	if title := v.eval("document.title"); title == "stolen" {
		t.Error("a script from a table was run")
	}
	if elsewhere := v.eval("performance.getEntriesByType('resource').filter(e => !e.name.startsWith(location.origin)).length"); elsewhere != 0.0 {
		t.Errorf("%v requests to others", elsewhere)
	}
}

// settles waits until all that is asked for is there, or for a moment if it does
// not come.
func (v *visitor) settles(waiting bool, where string) bool {
	v.t.Helper()
	time.Sleep(400 * time.Millisecond) // what is asked for after a moment of rest
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if waiting || v.eval("!!document.querySelector('main h1, main h2, main [role=alert]') && !document.querySelector('main .grey')") == true {
			return true
		}
	}
	v.t.Errorf("%s: it is still waited for; on the page: %s", where, v.text())
	v.full(where + "-waited")
	return false
}

// stands checks what can be checked of how a page stands.
func (v *visitor) stands(where string) {
	v.t.Helper()
	v.fits(where)
	v.says(where)
	if faults, _ := v.eval(overlaps).([]any); len(faults) > 0 {
		v.t.Errorf("%s: %v", where, faults)
	}
}

// overlaps finds words that lie over others, or that are cut off without a sign
// of it. Layers that lie over the page on purpose are looked at by themselves, and
// pictures, which are moved, are left out.
const overlaps = `(() => {
	const layer = (e) => { for (; e && e !== document.body; e = e.parentElement) { const p = getComputedStyle(e).position; if (p === "fixed" || p === "sticky") return e } return null };
	const words = [], faults = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walk.nextNode()); ) {
		const e = n.parentElement, text = n.data.trim();
		if (!text || e.closest("script, style, option, title, .hidden, [hidden], .stage") || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
		const range = document.createRange();
		range.selectNodeContents(n);
		let gone = false;
		for (let a = e; a; a = a.parentElement) if (getComputedStyle(a).clipPath !== "none") gone = true; // for who hears the page
		for (const r of gone ? [] : range.getClientRects()) {
			let [left, top, right, bottom] = [r.left, r.top + 3, r.right, r.bottom - 3];
			for (let a = e; a && a !== document.body; a = a.parentElement) {
				const style = getComputedStyle(a), box = a.getBoundingClientRect();
				if (style.overflowX === "visible" && style.overflowY === "visible" || a instanceof SVGElement && a.tagName !== "svg") continue;
				if (style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && a.clientWidth > 0 && right > box.right + 1.5 && !a.closest("svg")) faults.push("cut off: " + text.slice(0, 60));
				[left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
			}
			if (right - left > 3 && bottom - top > 2) words.push({ left, top, right, bottom, text, e, layer: layer(e) });
		}
	}
	words.sort((a, b) => a.top - b.top);
	for (let i = 0; i < words.length; i++) for (let j = i + 1; j < words.length && words[j].top < words[i].bottom - 2; j++) {
		const [a, b] = [words[i], words[j]];
		if (a.layer !== b.layer || a.e === b.e) continue;
		if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) faults.push(a.text.slice(0, 40) + " | " + b.text.slice(0, 40));
	}
	return [...new Set(faults)].slice(0, 12);
})()`
