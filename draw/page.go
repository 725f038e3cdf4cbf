package draw

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
)

// TextHTML writes a page of text as one that browsers show: its first lines,
// then a list for each section, whose title is a word on a line.
func TextHTML(w io.Writer, title, text string) error {
	_, err := fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>body{font:15px/1.5 sans-serif;margin:2em;max-width:70em}li{margin:.3em 0}.was{color:#777}code{font-size:14px}</style>\n%s</html>\n", html.EscapeString(title), pageHTML(text))
	return err
}

// pageHTML marks up the text page: its first lines, then a list a section.
func pageHTML(text string) string {
	var b strings.Builder
	list := false
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case plain == "":
			continue
		case indent == 4:
			fmt.Fprintf(&b, "<br><code class=\"was\">%s</code>\n", html.EscapeString(plain))
			continue
		case indent == 2:
			fmt.Fprintf(&b, "<li><code>%s</code>\n", html.EscapeString(plain))
			continue
		case list:
			b.WriteString("</ul>\n")
		}
		if list = !strings.ContainsAny(plain, " "); list {
			fmt.Fprintf(&b, "<h2>%s</h2>\n<ul>\n", plain)
		} else {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(plain))
		}
	}
	if list {
		b.WriteString("</ul>\n")
	}
	return b.String()
}

// TextSVG writes a page of text as a picture.
func TextSVG(w io.Writer, title, text string) error {
	title = html.EscapeString(title)
	const size, leading = 14, 20
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, l := range lines {
		widest = max(widest, len([]rune(l)))
	}
	width, height := 40+widest*size*61/100, 40+leading*len(lines)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<g font-family=\"monospace\" font-size=\"%d\" xml:space=\"preserve\">\n", width, height, width, height, title, size)
	for i, l := range lines {
		fmt.Fprintf(&b, "<text x=\"20\" y=\"%d\">%s</text>\n", 30+leading*i, html.EscapeString(l))
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := b.WriteTo(w)
	return err
}
