package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// points clicks with the pointer where words are drawn, as a person does: what lies
// over them, or stands outside the window, is not clicked through.
func (v *visitor) points(selector, words string) {
	v.t.Helper()
	find := fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%q)].find(e => e.checkVisibility() && !e.disabled && e.innerText.replaceAll("\u00a0", " ").replaceAll("\u2060", "").includes(%q));
		if (!e) return null;
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect(), x = r.left + Math.min(r.width / 2, 60), y = r.top + Math.min(r.height / 2, 14), hit = document.elementFromPoint(x, y);
		return [x, y, e.contains(hit)];
	})()`, selector, words)
	v.wait("!!"+find, words)
	at := v.eval(find).([]any)
	if at[2] != true {
		v.t.Fatalf("something lies over %q", words)
	}
	v.do(chromedp.MouseClickXY(at[0].(float64), at[1].(float64)))
}

// The two stories for which there is a page, with the pointer, on a wide screen and
// on a phone, each in three clicks, and what they will do is said before the last:
// a person strikes the rule of which the rows say otherwise, and corrects a patient
// who was called healthy. How the patient came to be called so stands on the first
// screen, with no click.
func TestPageStories(t *testing.T) {
	s := newTrial(t)
	heart(s)
	v := visit(t, s)
	healthy := wronglyHealthy(s)
	for _, width := range []int64{1280, 390} {
		v.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 900, 390: 844}[width]))
		v.at("#/heart/rules")
		v.points("[role=option]", "chest pain is typical angina")
		v.points("aside button", "Strike")
		v.sees("of 303 patients get another answer.")
		v.sees("become right")
		v.sees("On April’s 53, which it has not learnt:")
		v.shot(fmt.Sprintf("story-strike-%d", width))
		v.points("aside button", "Strike it, making version")
		v.sees("answers changed.")
		v.points("[role=status] button", "Undo")
		v.sees("is live.")
		v.wait("!document.querySelector('.done button')", "what was taken back")

		v.at(fmt.Sprintf("#/heart/case?data=april.csv&row=%d", healthy))
		v.sees("before any evidence")
		if top, _ := v.eval(`[...document.querySelectorAll(".answer .big, .answer h3, .answer h2")].at(-1).getBoundingClientRect().bottom`).(float64); top > 600 {
			t.Errorf("at %d the reasons begin at %v", width, top)
		}
		v.shot(fmt.Sprintf("story-why-%d", width))
		v.points(".wrong button", "This is wrong")
		v.points(".chips button", "")
		v.sees("Nothing is done yet.")
		v.sees("of 303 patients get another answer")
		v.shot(fmt.Sprintf("story-wrong-%d", width))
		v.points(".wrong button", "Tell heart, making version")
		v.sees("changed.")
		v.points("[role=status] button", "Undo")
		v.sees("is live.")
		v.wait("!document.querySelector('.done button')", "what was taken back")
	}
}

// wronglyHealthy is the first patient of April who is ill and is called healthy.
func wronglyHealthy(s *trial) int {
	s.t.Helper()
	for n := 1; n <= 53; n++ {
		row := s.want(s.do("GET", fmt.Sprintf("/v1/data/april.csv/rows?offset=%d&limit=1", n-1), nil), 200).json["rows"].([]any)[0].(map[string]any)
		ill := strings.HasPrefix(row["num"].(string), ">")
		delete(row, "num")
		for column, cell := range row {
			if cell == nil {
				delete(row, column)
			}
		}
		if said := s.want(s.do("POST", "/v1/models/heart/predict", map[string]any{"row": row}), 200).json["prediction"]; ill && said == "<50" {
			return n
		}
	}
	s.t.Fatal("nobody is wrongly called healthy")
	return 0
}
