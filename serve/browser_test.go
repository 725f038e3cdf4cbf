package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// visitor looks at a server's page in a real browser.
type visitor struct {
	t   *testing.T
	ctx context.Context
	url string
}

// visit starts a browser. Debian's chromium is what the page is tried in;
// scripts/chromium installs it, and where there is none, this test says so.
func visit(t *testing.T, s *trial) *visitor {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here (scripts/chromium installs it)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	all, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(all)
	t.Cleanup(cancel)
	v := &visitor{t, ctx, s.url}
	// The context of the first call is the browser's: it has no deadline.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		v.shot("failed")
		v.t.Fatalf("%v\non the page: %s", err, v.text())
	}
}

// at opens an address of the page, freshly.
func (v *visitor) at(hash string) {
	v.t.Helper()
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(v.url+"/"+hash))
	v.eval("(globalThis.faults ??= [], addEventListener('error', e => faults.push(e.message)), addEventListener('unhandledrejection', e => faults.push(String(e.reason))), true)")
}

// sees waits for words on the page.
func (v *visitor) sees(words string) {
	v.t.Helper()
	v.wait(fmt.Sprintf("document.body.innerText.replaceAll('\\u00a0', ' ').replaceAll('\\u2060', '').includes(%q)", words), words)
}

func (v *visitor) wait(condition, what string) {
	v.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		// While a page is replaced there is nothing to ask: then it is asked again.
		if ok, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](condition)); err == nil && ok {
			return
		}
	}
	v.shot("failed")
	v.t.Fatalf("waited in vain for %s; on the page: %s", what, v.text())
}

// clicks presses the button, link or option that has certain words.
func (v *visitor) clicks(words string) {
	v.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('main button, main a, [role=option], [role=status] button')].find(e => !e.disabled && e.innerText.replaceAll('\\u00a0', ' ').replaceAll('\\u2060', '').includes(%q))", words)
	v.wait("!!"+find, "something to click that says "+words)
	if _, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool]("("+find+".click(), true)")); err != nil {
		v.t.Fatal(err)
	}
}

// presses clicks what a selector finds.
func (v *visitor) presses(selector string) {
	v.t.Helper()
	v.wait(fmt.Sprintf("!!document.querySelector(%q)", selector), selector)
	v.eval(fmt.Sprintf("(document.querySelector(%q).click(), true)", selector))
}

func (v *visitor) eval(expression string) any {
	v.t.Helper()
	value, err := chromedp.Run(v.ctx, chromedp.Evaluate[any](expression))
	if err != nil {
		v.t.Fatal(err)
	}
	return value
}

func (v *visitor) text() string {
	text, _ := chromedp.Run(v.ctx, chromedp.Evaluate[string]("(document.body?.innerText ?? '') + (globalThis.faults ?? []).map(f => '\\nfault: ' + f).join('')"))
	return text
}

// shot keeps a picture for whoever wants to look: ACCRETE_SHOTS=folder.
func (v *visitor) shot(name string) {
	dir := os.Getenv("ACCRETE_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		v.t.Log(err)
	}
}

// fits checks that nothing is wider than the window.
func (v *visitor) fits(where string) {
	v.t.Helper()
	if over, ok := v.eval("document.documentElement.scrollWidth - innerWidth").(float64); !ok || over > 0 {
		v.t.Errorf("%s is %v pixels too wide: %v", where, over, v.eval(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).slice(0, 5).map(e => e.outerHTML.slice(0, 90))`))
	}
}

// From an empty store to a learnt model: a table is dropped, looked at and learnt from.
func TestPageFromATableToRules(t *testing.T) {
	s := newTrial(t)
	v := visit(t, s)
	v.at("")
	v.sees("Drop a table")
	v.shot("first-1280")
	table := filepath.Join(t.TempDir(), "visits.csv")
	var rows strings.Builder
	rows.WriteString("fever,age,ill\n")
	for i := range 120 {
		fmt.Fprintf(&rows, "%s,%d,%s\n", []string{"no", "yes"}[i%2], 20+i%50, []string{"no", "yes"}[i%2*((i+1)%7+6)/7%2])
	}
	if err := os.WriteFile(table, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	v.do(chromedp.SetUploadFiles("input[type=file]", []string{table}, chromedp.NodeReady))
	v.sees("120 rows, 3 columns.")
	v.shot("data-1280")
	v.clicks("Learn from visits.csv")
	v.sees("Learn to tell ill")
	v.clicks("Learn, making version 1")
	v.sees("Right on")
	v.shot("learn-1280")
	v.clicks("Read its rules")
	v.sees("What visits knows")
	v.sees("fever = yes")
}

// Work that ends does not take a person away from where they went: the link is
// followed in the very moment before the page hears of the new version.
func TestPageStaysWhereAPersonWent(t *testing.T) {
	s := newTrial(t)
	v := visit(t, s)
	v.at("#/learn?data=labor")
	v.sees("Learn, making version 1")
	v.eval(`(() => {
		const text = Response.prototype.text;
		Response.prototype.text = async function () {
			const answer = await text.call(this);
			if (this.url.endsWith("/v1/models")) [...document.querySelectorAll("main a")].find(a => a.innerText === "Read its rules")?.click();
			return answer;
		};
		return true;
	})()`)
	v.clicks("Learn, making version 1")
	v.sees("What labor knows")
}

// An expert strikes a rule in three clicks, sees beforehand whose answers
// change, and takes it back.
func TestPageStrikes(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	if r := s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": `IF "mx-missile" = y THEN class = republican WITH 0.9 WORTH 30`, "note": "From memory."}); r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	v := visit(t, s)
	v.at("#/votes/rules")
	v.sees("1 told by you.")
	v.sees("Disputed 1")
	v.clicks("mx-missile = y: ◆ republican in 90 %") // one
	v.sees("From memory.")
	v.clicks("Strike") // two
	v.sees("Nothing is done yet.")
	v.sees("of 435 rows")
	v.shot("strike-1280")
	v.clicks("Strike it, making version 3") // three
	v.sees("Version 3 is live.")
	v.at("#/votes/court")
	v.sees("Nobody disagrees")
	v.sees("From memory.")
	v.at("#/votes/versions")
	v.sees("From 2 to 3")
	v.sees("Gone 1")
	v.shot("versions-1280")
}

// A case that is answered wrongly becomes a rule that is told: this is wrong,
// the cell that should have decided, tell.
func TestPageCorrectsACase(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	v := visit(t, s)
	v.at("#/votes/case?physician-fee-freeze=y&mx-missile=y&immigration=y")
	v.sees("version 1, says")
	v.sees("Why: both sides")
	v.clicks("This is wrong")
	v.clicks("immigration: y")
	v.sees("Nothing is done yet.")
	v.shot("case-1280")
	v.clicks("Tell votes, making version 2")
	v.sees("Version 2 is live.")
	v.sees("version 2, says")
}

// Who has no token is asked for one; who may only read is offered no change.
func TestPageSignsIn(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	secret, err := NewToken(tokens, Token{Name: "reader", Scope: "read"}, "")
	if err != nil {
		t.Fatal(err)
	}
	s := newTrial(t, func(o *Options) { o.Tokens = tokens }).learn("votes", "rulenet")
	v := visit(t, s)
	v.at("#/votes/rules")
	v.sees("Sign in")
	v.do(chromedp.SendKeys("#token", secret, chromedp.NodeReady))
	v.clicks("Sign in")
	v.sees("What votes knows")
	v.sees("may read")
	v.presses(".tools button") // sign out
	v.sees("This server wants a token")
	v.at("#/votes/rules")
	v.sees("Sign in")
}

// The table says which row went which way; who teaches more rows sees the model
// learn on, and a column is read as it is said to be.
func TestPageTeachesMore(t *testing.T) {
	s := newTrial(t)
	send := func(name string, from, to int) {
		t.Helper()
		var b strings.Builder
		b.WriteString("fever,vessels,ill\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "%s,%d,%s\n", []string{"no", "yes"}[i%2], i%4, []string{"no", "yes"}[(i%2+i/5%2)/2])
		}
		s.want(s.do("POST", "/v1/data?name="+name, b.String(), "Content-Type: text/csv"), 201)
	}
	send("january.csv", 0, 90)
	send("february.csv", 90, 150)
	s.want(s.do("POST", "/v1/learn", `{"data":"january.csv","target":"ill","name":"clinic"}`, wait), 200)
	v := visit(t, s)
	v.at("#/clinic/data?table=january.csv")
	v.sees("clinic learnt from this table in version 1.")
	v.do(chromedp.SetValue("select[aria-label='Type of vessels']", "nominal", chromedp.NodeReady))
	v.eval("document.querySelector(\"select[aria-label='Type of vessels']\").dispatchEvent(new Event('change', {bubbles: true}))")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if r := s.do("GET", "/v1/data/january.csv", nil); strings.Contains(string(r.body), `"nominal":["vessels"]`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the column is not read as names: %s", v.text())
		}
	}
	// A table is looked at for what the model in view predicts.
	s.want(s.do("POST", "/v1/learn", `{"data":"february.csv","target":"fever","name":"fevers","learner":"bayes","folds":0}`, wait), 200)
	v.at("#/fevers/data?table=february.csv")
	v.sees("no (30), yes (30)")
	v.at("#/fevers/learn?data=february.csv")
	v.sees("Learn to tell fever")
	v.at("#/clinic/data?table=february.csv")
	v.clicks("Teach clinic these 60 rows too")
	v.sees("Teach clinic more")
	v.clicks("Teach clinic, making version 2")
	v.sees("Learnt February")
	v.sees("Version 2 of clinic is live.")
}

// The way of a case through the model is lit, from the case itself.
func TestPageLightsACase(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet").learn("zoo", "tree")
	v := visit(t, s)
	v.at("#/votes/case?physician-fee-freeze=y&mx-missile=n")
	v.sees("Of ") // how honest it is
	v.sees("not seen before to which it gave")
	v.shot("honest-1280")
	v.clicks("Light it in Picture")
	v.sees("How this row becomes republican")
	v.sees("met: ")
	v.wait("document.querySelectorAll('rect.lit').length > 2", "lit nodes")
	v.shot("lit-1280")
	v.at("#/zoo/picture?cells=" + `%7B%22milk%22%3A%22true%22%7D`)
	v.wait("document.querySelectorAll('rect.lit').length > 1", "a lit path")
	v.shot("lit-tree-1280")
}

// Rows that come are seen as they come.
func TestPageLive(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	v := visit(t, s)
	v.at("#/weather/live")
	v.sees("Waiting for rows. Send them to this address.")
	for i := range 30 {
		s.want(s.do("POST", "/v1/models/weather/rows", map[string]any{"row": map[string]any{"outlook": []string{"sunny", "rainy"}[i%2], "play": []string{"no", "yes"}[i%2]}}), 200)
	}
	v.sees("weather is right on")
	v.sees("30 rows judged before they were learnt")
	v.sees("often right")
	v.at("#/weather/live") // loaded again, it still tells how it came to this
	v.sees("30 rows judged before they were learnt")
	v.wait("(document.querySelector('main path.line')?.getAttribute('d') ?? '').split('L').length > 1", "the curve so far")
}
