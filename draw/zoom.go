package draw

import (
	"bytes"
	"fmt"
	"html"
	"io"
)

// ZoomHTML writes a picture as a page of its own that one can zoom with the
// wheel, the keys + and −, or two fingers, and move with the mouse: what is too
// large to read at once. It needs nothing from elsewhere.
func ZoomHTML(w io.Writer, title string, svg func(io.Writer) error) error {
	var picture bytes.Buffer
	if err := svg(&picture); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, zoomPage, html.EscapeString(title), picture.String())
	return err
}

const zoomPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%s</title>
<style>
html,body{margin:0;height:100%%;overflow:hidden;background:#fff;font:14px sans-serif}
svg{width:100%%;height:100%%;cursor:grab;touch-action:none}
svg:active{cursor:grabbing}
nav{position:fixed;right:12px;top:12px}
button{font:16px sans-serif;min-width:34px;height:34px;margin-left:4px;border:1px solid #888;border-radius:4px;background:#fffd}
@media (prefers-color-scheme:dark){html,body{background:#000}svg{filter:invert(.93) hue-rotate(180deg)}button{color:#ddd;background:#000d}}
</style>
%s<nav><button id="out" aria-label="smaller">−</button><button id="in" aria-label="larger">+</button><button id="all">all of it</button></nav>
<script>
"use strict";
const svg = document.querySelector("svg"), whole = svg.getAttribute("viewBox").split(" ").map(Number);
svg.removeAttribute("width"); svg.removeAttribute("height");
let box = whole.slice();
const least = Math.min(innerWidth / whole[2], innerHeight / whole[3]);
if (least < 0.5) { // too small to read: begin at the box that is first from the left
  const w = innerWidth / 0.7, h = innerHeight / 0.7, boxes = [...svg.querySelectorAll("rect[x][rx]")].map(r => r.getBBox()).filter(b => b.width > 20);
  const first = boxes.reduce((a, b) => b.x < a.x ? b : a, boxes[0] || {x: whole[0], y: whole[1] + whole[3] / 2, height: 0});
  box = [whole[0] + Math.min(0, (whole[2] - w) / 2), first.y + first.height / 2 - h / 2, w, h];
}
const show = () => svg.setAttribute("viewBox", box.join(" "));
const at = e => { const p = svg.createSVGPoint(); p.x = e.clientX; p.y = e.clientY; return p.matrixTransform(svg.getScreenCTM().inverse()); };
const zoom = (by, p) => {
  by = Math.min(Math.max(by, whole[2] / 100 / box[2]), 2 * whole[2] / box[2]);
  box = [p.x - (p.x - box[0]) * by, p.y - (p.y - box[1]) * by, box[2] * by, box[3] * by]; show();
};
const middle = () => ({x: box[0] + box[2] / 2, y: box[1] + box[3] / 2});
svg.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(e.deltaY / 400), at(e)); }, {passive: false});
const held = new Map();
svg.addEventListener("pointerdown", e => { svg.setPointerCapture(e.pointerId); held.set(e.pointerId, at(e)); });
svg.addEventListener("pointerup", e => held.delete(e.pointerId));
svg.addEventListener("pointercancel", e => held.delete(e.pointerId));
svg.addEventListener("pointermove", e => {
  const from = held.get(e.pointerId);
  if (!from) return;
  const to = at(e);
  if (held.size === 2) {
    const other = [...held].find(([id]) => id !== e.pointerId)[1];
    zoom(Math.hypot(from.x - other.x, from.y - other.y) / Math.max(Math.hypot(to.x - other.x, to.y - other.y), 1e-9), other);
    held.set(e.pointerId, at(e));
    return;
  }
  box[0] += from.x - to.x; box[1] += from.y - to.y; show();
});
document.getElementById("in").onclick = () => zoom(1 / 1.4, middle());
document.getElementById("out").onclick = () => zoom(1.4, middle());
document.getElementById("all").onclick = () => { box = whole.slice(); show(); };
show();
addEventListener("keydown", e => { if (e.key === "+" || e.key === "=") zoom(1 / 1.4, middle()); else if (e.key === "-") zoom(1.4, middle()); else if (e.key === "0") { box = whole.slice(); show(); } });
</script>
</html>
`
