// Package site builds the documents as a site, and checks it.
package site

import (
	"context"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var (
	refers = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	named  = regexp.MustCompile(`\sid="([^"]*)"`)
	loads  = regexp.MustCompile(`(?i)<(?:script|img|link|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"|@import\s+["'(]|url\(["']?(?:https?:)?//`)
)

// The site is built; every link in it leads somewhere, down to the heading; and
// nothing is loaded from elsewhere.
func TestSite(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("building the site takes half a minute: in the long run")
	}
	cache, err := os.UserCacheDir()
	if _, missing := os.Stat(filepath.Join(cache, "accrete", "site", "node_modules", ".bin", "vitepress")); err != nil || missing != nil {
		t.Skip("VitePress is not installed (scripts/site/install): the site is not built")
	}
	out := filepath.Join(t.TempDir(), "site")
	c := exec.Command("./build")
	c.Env = append(os.Environ(), "OUT="+out)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	pages := map[string]string{}
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(out, path)
		pages["/"+filepath.ToSlash(name)] = ""
		if ext := filepath.Ext(path); ext == ".html" || ext == ".css" {
			text, err := os.ReadFile(path)
			pages["/"+filepath.ToSlash(name)] = string(text)
			if found := loads.FindString(string(text)); found != "" {
				t.Errorf("%s loads %s", name, found)
			}
			return err
		}
		return nil
	})
	if err != nil || len(pages) < 60 {
		t.Fatal(err, len(pages))
	}
	for name, text := range pages {
		if strings.HasSuffix(name, ".html") && name != "/404.html" {
			checkPage(t, pages, name, text)
		}
	}
	t.Run("search", func(t *testing.T) { search(t, out) })
}

// search finds a word in a real browser, in which the site asks nobody else.
func search(t *testing.T, out string) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here (scripts/chromium installs it)")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	defer server.Close()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true))
	all, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel := chromedp.NewContext(all)
	defer cancel()
	// The context of the first call is the browser's: it has no deadline.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(server.URL+"/learners/rulenet.html")); err != nil {
		t.Fatal(err)
	}
	ask := func(expression string) string {
		text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
		return text
	}
	await := func(expression string) string {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if text := ask(expression); text != "" {
				return text
			}
		}
		t.Fatalf("waited in vain for %s", expression)
		return ""
	}
	await("(() => { const b = document.querySelector('.DocSearch-Button, #local-search button'); b?.click(); return document.querySelector('#localsearch-input') ? 'open' : '' })()")
	ask("(() => { const i = document.querySelector('#localsearch-input'); i.value = 'Voronoi'; i.dispatchEvent(new Event('input', {bubbles: true})); return 'typed' })()")
	if found := await("[...document.querySelectorAll('.VPLocalSearchBox .result')].map(e => e.href).join(' ')"); !strings.Contains(found, "draw") {
		t.Errorf("Voronoi is found in %s", found)
	}
	for loaded := range strings.FieldsSeq(ask("performance.getEntriesByType('resource').map(e => e.name).join(' ')")) {
		if !strings.HasPrefix(loaded, server.URL) && !strings.HasPrefix(loaded, "data:") {
			t.Errorf("the site loads %s", loaded)
		}
	}
	if wide := ask("String(document.documentElement.scrollWidth)"); wide != "1280" {
		t.Errorf("a page of 1280 is %s wide", wide)
	}
	if dir := os.Getenv("ACCRETE_SHOTS"); dir != "" {
		shots(t, ctx, server.URL, dir)
	}
}

// shots keeps pictures for whoever wants to look.
func shots(t *testing.T, ctx context.Context, url, dir string) {
	for _, theme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1280, 390} {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url+"/learners/tree.html#a-worked-example")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("site-%s-%d.png", theme, width)), png, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkPage(t *testing.T, pages map[string]string, name, text string) {
	base := &url.URL{Path: name}
	for _, found := range refers.FindAllStringSubmatch(text, -1) {
		to, err := base.Parse(html.UnescapeString(found[1]))
		if err != nil || to.Host != "" || to.Scheme != "" {
			continue // elsewhere
		}
		path := to.Path
		if strings.HasSuffix(path, "/") {
			path += "index.html"
		}
		page, ok := pages[path]
		if !ok {
			t.Errorf("%s points at %s, which is not there", name, found[1])
			continue
		}
		if to.Fragment != "" && strings.HasSuffix(path, ".html") && !hasID(page, to.Fragment) {
			t.Errorf("%s points at %s, which is no heading there", name, found[1])
		}
	}
}

func hasID(page, id string) bool {
	for _, found := range named.FindAllStringSubmatch(page, -1) {
		if html.UnescapeString(found[1]) == id {
			return true
		}
	}
	return false
}
