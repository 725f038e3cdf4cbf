package serve

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// slowly is a server that lets all that is asked under /v1 wait: nothing comes
// while held is true, and then each answer comes late. The page comes at once.
func slowly(s *trial, held *atomic.Bool, late time.Duration) *trial {
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for wait := late; strings.HasPrefix(r.URL.Path, "/v1/") && (wait > 0 || held.Load()) && r.Context().Err() == nil; wait -= 10 * time.Millisecond {
			time.Sleep(10 * time.Millisecond)
		}
		r.Host = strings.TrimPrefix(s.url, "http://")
		s.ServeHTTP(w, r)
	}))
	s.t.Cleanup(between.Close)
	return &trial{s.Server, s.t, between.URL}
}

// The page is painted before any data is there, in the grid that it keeps: what
// comes later comes into places that were kept free for it. Of everything in
// view, weighed by area and way as browsers do, at most a tenth moves (Web
// Vitals calls a cumulative layout shift up to 0.1 good). Then what is shown is
// what the server said.
func TestPagePaintsBeforeData(t *testing.T) {
	s := newTrial(t)
	heart(s)
	rule := s.want(s.do("GET", "/v1/models/heart/conflicts", nil), 200).json["conflicts"].([]any)[0].(map[string]any)["rule"].(string)
	var held atomic.Bool
	v := visit(t, slowly(s, &held, 60*time.Millisecond))
	screens := []string{"heart/rules?rule=" + rule + "&show=strike", "heart/case?data=april.csv&row=24", "heart/versions", "heart/court", "heart/picture", "heart/learn", "heart/data?table=january.csv", "heart/live", "heart/rules"}
	long := os.Getenv("ACCRETE_LONG") != "" || os.Getenv("ACCRETE_SHOTS") != ""
	for k, width := range []int64{390, 1280} {
		v.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 900, 390: 844}[width]))
		for i, screen := range screens {
			if !long && (i > 3 || i%2 != k) { // those with most to come, each once
				continue
			}
			where := strings.NewReplacer("/", "-", "?", "-", "=", "-", "&", "-").Replace(screen) + fmt.Sprint("-", width)
			held.Store(true)
			v.at("#/" + screen)
			v.wait("performance.getEntriesByName('first-contentful-paint').length === 1 && !!document.querySelector('main .grey')", where+", painted")
			v.shot(where + "-before")
			held.Store(false)
			v.wait("!!document.querySelector('main h1') && !document.querySelector('.grey')", where)
			time.Sleep(400 * time.Millisecond) // what is asked for after a moment of rest
			v.wait("!document.querySelector('.grey')", where)
			v.shot(where + "-after")
			v.eval(`(globalThis.moved = 0, globalThis.moves = "", new PerformanceObserver(l => l.getEntries().forEach(e => { if (!e.hadRecentInput) { moved += e.value; moves += e.value.toFixed(3) + " " + (e.sources ?? []).map(s => s.node?.className || s.node?.nodeName).join(", ") + "; " } })).observe({type: "layout-shift", buffered: true}), true)`)
			time.Sleep(50 * time.Millisecond)
			moved, _ := v.eval("moved").(float64)
			if t.Logf("%s: %.3f (%v)", where, moved, v.eval("moves")); math.IsNaN(moved) || moved > 0.1 {
				t.Errorf("%s: %.3f of the page moved while it was loaded: %v", where, moved, v.eval("moves"))
			}
		}
	}
	v.saysWhatTheServerSays(s, rule)
}

// Every number that the page shows of rules, of an effect and of a case is one
// that the server said, with its interval.
func (v *visitor) saysWhatTheServerSays(s *trial, rule string) {
	v.t.Helper()
	v.do(chromedp.EmulateViewport(1280, 900))
	shown := func(selector string) []string {
		texts, _ := v.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText.replaceAll("\u00a0", " ").replaceAll("\u2060", "").replace(/\s+/g, " "))`, selector)).([]any)
		var all []string
		for _, text := range texts {
			all = append(all, text.(string))
		}
		return all
	}
	must := func(where, text string, want ...string) {
		for _, words := range want {
			if !strings.Contains(text, words) {
				v.t.Errorf("%s: the server says %q, the page %q", where, words, text)
			}
		}
	}
	of := func(x map[string]any, key string) float64 { return x[key].(float64) }
	whole := func(x float64) float64 { return math.Round(100 * x) }

	v.at("#/heart/rules?rule=" + rule + "&show=strike")
	v.sees("Strike it, making version")
	options := shown("[role=option]")
	var list []map[string]any
	for _, r := range s.want(s.do("GET", "/v1/models/heart/rules?sort=decides", nil), 200).json["rules"].([]any) {
		if r := r.(map[string]any); len(r["if"].([]any)) > 0 {
			list = append(list, r)
		}
	}
	if len(options) != len(list) {
		v.t.Fatalf("%d rules are shown of %d", len(options), len(list))
	}
	for i, r := range list {
		decides := r["decides"].(map[string]any)
		must("rules", options[i], fmt.Sprintf("%.0f of %.0f (%.0f–%.0f %%)", of(r, "correct"), of(r, "covered"), whole(of(r, "low")), whole(of(r, "high"))), fmt.Sprintf(" %.0f", of(decides, "rows")))
	}
	effect := s.want(s.do("POST", "/v1/models/heart/strike", map[string]any{"rule": rule, "preview": true, "on": []string{"april.csv"}}), 200).json["effect"].(map[string]any)
	unseen := effect["tables"].([]any)[0].(map[string]any)
	becomes := func(n float64, what string) string {
		if n == 1 {
			return "1 becomes " + what
		}
		return fmt.Sprintf("%.0f become %s", n, what)
	}
	must("effect", shown(".effect")[0], fmt.Sprintf("%.0f of %.0f patients get another answer", of(effect, "changed"), of(effect, "rows")),
		becomes(of(effect, "fixed"), "right"), becomes(of(effect, "broken"), "wrong"),
		fmt.Sprintf("%.0f %% → %.0f %% right", whole(of(unseen, "accuracy_before")), whole(of(unseen, "accuracy_after"))),
		strings.ReplaceAll(fmt.Sprintf("(%+.0f to %+.0f points)", whole(of(unseen, "low")), whole(of(unseen, "high"))), "-", "−"))

	v.at("#/heart/case?data=april.csv&row=24")
	v.sees("not seen before to whom it gave")
	row := s.want(s.do("GET", "/v1/data/april.csv/rows?offset=23&limit=1", nil), 200).json["rows"].([]any)[0].(map[string]any)
	delete(row, "num")
	for cell, x := range row {
		if x == nil {
			delete(row, cell)
		}
	}
	e := s.want(s.do("POST", "/v1/models/heart/explain", map[string]any{"row": row}), 200).json
	c := e["calibration"].(map[string]any)
	must("case", shown(".answer")[0], fmt.Sprintf(", %.0f %%", whole(of(e["probabilities"].(map[string]any), e["prediction"].(string)))),
		fmt.Sprintf("Of %.0f patients not seen before to whom it gave %.0f–%.0f %%, it was right on %.0f (%.0f–%.0f %%)", of(c, "rows"), whole(of(c, "from")), whole(of(c, "to")), of(c, "right"), whole(of(c, "low")), whole(of(c, "high"))))
}
