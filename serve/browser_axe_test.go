package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe has axe-core, the usual judge of pages for people who hear them or use the
// keyboard, look at what is shown, and returns what it finds.
func (v *visitor) axe(source string) []string {
	v.t.Helper()
	if _, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](source+"; true")); err != nil {
		v.t.Fatal(err)
	}
	v.eval(`(globalThis.heard = null, axe.run(document, {resultTypes: ["violations"]}).then(r => heard = JSON.stringify(r.violations.map(v => v.impact + " " + v.id + ": " + v.nodes[0].html.slice(0, 160)))), true)`)
	v.wait("heard !== null", "axe-core")
	var found []string
	if err := json.Unmarshal([]byte(v.eval("heard").(string)), &found); err != nil {
		v.t.Fatal(err)
	}
	return found
}

// theme has the page follow a system that is light or dark.
func (v *visitor) theme(name string) {
	v.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
	if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, media); err != nil {
		v.t.Fatal(err)
	}
}

// many is rows with 12 classes whose names have sixty letters, so that a model of
// them has hundreds of rules.
func many(rows int) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,class\n")
	for i := range rows {
		a, x, c, d := i%7, i/7%6, i/42%5, i*i%11
		fmt.Fprintf(&b, "v%d,v%d,v%d,%d,class %d %s\n", a, x, c, d, (a*x+c+d/3)%12, strings.Repeat("long ", 10))
	}
	return b.String()
}

// axe-core finds nothing on any screen, light and dark, wide and narrow, empty,
// with two classes and with twelve, with few rules and with hundreds, nor while
// something is corrected; and nothing is wider than the window.
func TestPageIsForEverybody(t *testing.T) {
	source, err := os.ReadFile("page/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("there is no axe-core here (scripts/axe installs it)")
	}
	s := newTrial(t).learn("votes", "rulenet")
	s.want(s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": `IF "mx-missile" = y THEN class = republican WITH 0.9 WORTH 30`}), 200)
	rule := s.want(s.do("GET", "/v1/models/votes/conflicts", nil), 200).json["conflicts"].([]any)[0].(map[string]any)["rule"].(string)
	s.want(s.do("POST", "/v1/data?name=many.csv", many(900), "Content-Type: text/csv"), 201)
	s.want(s.do("POST", "/v1/learn", `{"data":"many.csv","target":"class","learner":"tree","settings":{"prune":"none"},"name":"many","folds":0}`, wait), 200)
	if n := len(s.do("GET", "/v1/models/many/rules", nil).json["rules"].([]any)); n < 200 {
		t.Errorf("only %d rules to try", n)
	}
	s.want(s.do("POST", "/v1/learn", `{"data":"gridworld","learner":"q"}`, wait), 200)
	v := visit(t, s)
	screens := []string{
		"votes/rules?rule=" + rule + "&show=doubt", "many/rules", "votes/case?physician-fee-freeze=y&show=wrong", "many/case?data=many.csv&row=3", "votes/picture", "many/picture",
		"votes/versions", "votes/live", "votes/court", "votes/learn?data=many.csv", "many/data?table=many.csv", "nobody/rules", "gridworld/picture?play=watch", "gridworld/rules",
	}
	looks := [][2]string{{"1280", "light"}, {"390", "dark"}}
	long := os.Getenv("ACCRETE_LONG") != ""
	if long {
		looks = append(looks, [2]string{"1280", "dark"}, [2]string{"390", "light"}, [2]string{"760", "light"})
	}
	for k, look := range looks {
		var width int64
		_, _ = fmt.Sscan(look[0], &width)
		v.do(chromedp.EmulateViewport(width, 844))
		v.theme(look[1])
		for i, screen := range screens {
			if !long && i%2 != k { // each once, in turn
				continue
			}
			v.at("#/" + screen)
			v.wait("!!document.querySelector('main h1, main h2, main [role=alert]') && !document.querySelector('.grey')", screen)
			where := strings.NewReplacer("/", "-", "?", "-", "=", "-", "&", "-").Replace(screen) + "-" + look[0] + "-" + look[1]
			for _, found := range v.axe(string(source)) {
				t.Errorf("%s: %s", where, found)
			}
			v.fits(where)
			v.shot(where)
		}
	}
}

// What goes wrong stands in its place, with what to do, and the page goes on when
// the server is there again.
func TestPageWithoutServer(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	down := false
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down && strings.HasPrefix(r.URL.Path, "/v1/") {
			panic(http.ErrAbortHandler)
		}
		r.Host = strings.TrimPrefix(s.url, "http://")
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close) // after the browser, which follows its events
	v := visit(t, &trial{s.Server, t, between.URL})
	v.at("#/votes/rules")
	v.sees("What votes knows")
	down = true
	v.at("#/votes/rules")
	v.sees("The server cannot be reached. Nothing was changed.")
	v.shot("lost-1280")
	down = false
	v.at("#/votes/rules")
	v.sees("What votes knows")
}
