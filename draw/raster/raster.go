// Package raster turns the pictures of package draw into PNG, for those who
// need pixels: reports, slides, chats.
//
// It reads the few elements of SVG that draw writes (rect, line, circle, path,
// text), and no others: it is no reader of SVG from elsewhere. Shapes are filled
// by the coverage of each pixel (golang.org/x/image/vector), strokes become
// shapes, and text is set in the Go fonts. Package cmd chooses it by a file's
// extension.
package raster

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const (
	sharp     = 2.0        // pixels for each unit of the picture, where there is room
	mostPixel = 64_000_000 // of a picture; a larger one is drawn smaller
	fontSize  = 13.0       // of text that does not say it
)

// PNG writes what svg writes as pixels.
func PNG(w io.Writer, svg func(io.Writer) error) error {
	var text bytes.Buffer
	if err := svg(&text); err != nil {
		return err
	}
	c := &canvas{faces: map[string]font.Face{}}
	if err := c.read(&text); err != nil {
		return fmt.Errorf("draw: as pixels: %w", err)
	}
	if c.dst == nil {
		return errors.New("draw: as pixels: there is no picture")
	}
	return png.Encode(w, c.dst)
}

// canvas is a picture in the making.
type canvas struct {
	dst   *image.RGBA
	scale float64
	faces map[string]font.Face
	fill  vector.Rasterizer
	part  image.Rectangle // that is being drawn in
	stack []attributes    // of the groups around
}

// attributes are those of an element, with what it inherits.
type attributes map[string]string

func (a attributes) number(name string, otherwise float64) float64 {
	x, err := strconv.ParseFloat(a[name], 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return otherwise
	}
	return x
}

// inherited are the attributes that elements take from those around them.
var inherited = []string{"font-family", "font-size", "fill"}

// read draws element after element.
func (c *canvas) read(r io.Reader) error {
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			a := attributes{}
			if len(c.stack) > 0 {
				for _, name := range inherited {
					if v, ok := c.stack[len(c.stack)-1][name]; ok {
						a[name] = v
					}
				}
			}
			for _, at := range t.Attr {
				a[at.Name.Local] = at.Value
			}
			c.stack = append(c.stack, a)
			if err := c.element(d, t.Name.Local, a); err != nil {
				return err
			}
		case xml.EndElement:
			if len(c.stack) > 0 {
				c.stack = c.stack[:len(c.stack)-1]
			}
		}
	}
}

// element draws one element.
func (c *canvas) element(d *xml.Decoder, name string, a attributes) error {
	if name == "svg" && c.dst == nil {
		return c.begin(a)
	}
	if c.dst == nil {
		return errors.New("expected a picture that begins with svg")
	}
	switch name {
	case "rect":
		c.rect(a)
	case "line":
		c.shape(a, []polyline{{points: []point{{a.number("x1", 0), a.number("y1", 0)}, {a.number("x2", 0), a.number("y2", 0)}}}})
	case "circle":
		c.shape(a, []polyline{disc(point{a.number("cx", 0), a.number("cy", 0)}, a.number("r", 0))})
	case "path":
		lines, err := path(a["d"])
		if err != nil {
			return err
		}
		c.shape(a, lines)
	case "text":
		text, err := content(d)
		if err != nil {
			return err
		}
		c.stack = c.stack[:len(c.stack)-1] // its end was read too
		return c.text(a, text)
	case "title":
		_, err := content(d)
		c.stack = c.stack[:len(c.stack)-1]
		return err
	}
	return nil
}

// content returns the text up to the end of the element.
func content(d *xml.Decoder) (string, error) {
	var text strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			return text.String(), nil
		}
	}
}

// begin makes room for the picture, white.
func (c *canvas) begin(a attributes) error {
	width, height := a.number("width", 0), a.number("height", 0)
	if !(width > 0 && height > 0 && width < 1e6 && height < 1e6) {
		return fmt.Errorf("a picture of %v by %v", width, height)
	}
	c.scale = min(sharp, math.Sqrt(mostPixel/(width*height)))
	c.dst = image.NewRGBA(image.Rect(0, 0, max(int(width*c.scale), 1), max(int(height*c.scale), 1)))
	draw.Draw(c.dst, c.dst.Bounds(), image.White, image.Point{}, draw.Src)
	return nil
}

// rect draws a rectangle; a width may be 100%.
func (c *canvas) rect(a attributes) {
	x, y, w, h := a.number("x", 0), a.number("y", 0), a.number("width", 0), a.number("height", 0)
	if a["width"] == "100%" {
		w, h = float64(c.dst.Bounds().Dx())/c.scale, float64(c.dst.Bounds().Dy())/c.scale
	}
	r := min(a.number("rx", 0), w/2, h/2)
	corners := polyline{closed: true}
	for i, at := range []point{{x + w - r, y + r}, {x + w - r, y + h - r}, {x + r, y + h - r}, {x + r, y + r}} {
		if r <= 0 {
			corners.points = append(corners.points, at)
			continue
		}
		for k := 0; k <= 6; k++ {
			angle := (float64(i) - 1 + float64(k)/6) * math.Pi / 2
			corners.points = append(corners.points, point{at.x + r*math.Cos(angle), at.y + r*math.Sin(angle)})
		}
	}
	c.shape(a, []polyline{corners})
}

// shape fills and strokes lines as their attributes say.
func (c *canvas) shape(a attributes, lines []polyline) {
	if ink, ok := colourOf(a["fill"], a.number("fill-opacity", 1)); ok && c.start(lines, 0) {
		for _, l := range lines {
			if len(l.points) > 2 {
				c.polygon(l.points)
			}
		}
		c.end(ink)
	}
	ink, ok := colourOf(cmp.Or(a["stroke"], "none"), a.number("stroke-opacity", 1))
	wide := a.number("stroke-width", 1)
	if !ok || wide <= 0 || !c.start(lines, wide) {
		return
	}
	for _, l := range lines {
		for _, part := range dashes(l, a["stroke-dasharray"]) {
			c.stroke(part, wide)
		}
	}
	c.end(ink)
}

// start prepares to draw lines of a width: in the part of the picture where they
// are, which is not empty.
func (c *canvas) start(lines []polyline, wide float64) bool {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, l := range lines {
		for _, p := range l.points {
			low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	pixel := func(x float64) int { return int(min(max(x*c.scale, -1e6), 1e6)) }
	c.part = image.Rect(pixel(low.x-wide)-2, pixel(low.y-wide)-2, pixel(high.x+wide)+2, pixel(high.y+wide)+2).Intersect(c.dst.Bounds())
	if c.part.Empty() {
		return false
	}
	c.fill.Reset(c.part.Dx(), c.part.Dy())
	return true
}

func (c *canvas) end(ink color.NRGBA) {
	c.fill.Draw(c.dst, c.part, image.NewUniform(ink), image.Point{})
}

// polygon adds a shape.
func (c *canvas) polygon(points []point) {
	for i, p := range points {
		x, y := float32(p.x*c.scale-float64(c.part.Min.X)), float32(p.y*c.scale-float64(c.part.Min.Y))
		if i == 0 {
			c.fill.MoveTo(x, y)
		} else {
			c.fill.LineTo(x, y)
		}
	}
	c.fill.ClosePath()
}

// stroke adds the shape of a line: ribbons along which it turns gently, round where
// it does not. All turn the same way, so that none takes another's place away.
func (c *canvas) stroke(l polyline, wide float64) {
	points := l.points
	if l.closed && len(points) > 1 {
		points = append(points[:len(points):len(points)], points[0])
	}
	points = slices.Compact(slices.Clone(points))
	last := len(points) - 1
	for from := 0; from < last; {
		to := from + 1
		for to < last && isGentle(points[to-1], points[to], points[to+1]) {
			to++
		}
		c.ribbon(points[from:to+1], wide)
		if wide*c.scale > 2 && (to < last || l.closed) {
			c.polygon(disc(points[to], wide/2).points)
		}
		from = to
	}
}

// isGentle reports whether a line turns by less than half a radian at b.
func isGentle(a, b, c point) bool {
	const most = 0.5
	ux, uy, vx, vy := b.x-a.x, b.y-a.y, c.x-b.x, c.y-b.y
	return math.Abs(math.Atan2(ux*vy-uy*vx, ux*vx+uy*vy)) < most
}

// ribbon adds one shape for all pieces of a line: shapes of their own would lie upon
// each other where they meet, and their edges, which cover pixels by half, would be
// seen as beads.
func (c *canvas) ribbon(points []point, wide float64) {
	n := len(points)
	edge := make([]point, 2*n)
	for i, p := range points {
		a, b := points[max(i-1, 0)], points[min(i+1, n-1)]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			return
		}
		nx, ny := -(b.y-a.y)/length*wide/2, (b.x-a.x)/length*wide/2
		edge[i], edge[2*n-1-i] = point{p.x - nx, p.y - ny}, point{p.x + nx, p.y + ny}
	}
	c.polygon(edge)
}

// text writes a line of text.
func (c *canvas) text(a attributes, text string) error {
	size := a.number("font-size", fontSize)
	face, err := c.face(a, size)
	if err != nil {
		return err
	}
	ink, ok := colourOf(a["fill"], a.number("fill-opacity", 1))
	if !ok || text == "" {
		return nil
	}
	x, y := a.number("x", 0)*c.scale, a.number("y", 0)*c.scale
	wide := float64(font.MeasureString(face, text)) / 64
	left := 0.0
	switch a["text-anchor"] {
	case "middle":
		left = -wide / 2
	case "end":
		left = -wide
	}
	if strings.HasPrefix(a["transform"], "rotate(-90") {
		return c.upright(face, ink, text, x, y+(-left), wide, size)
	}
	d := font.Drawer{Dst: c.dst, Src: image.NewUniform(ink), Face: face, Dot: fixed.Point26_6{X: fixed.Int26_6((x + left) * 64), Y: fixed.Int26_6(y * 64)}}
	d.DrawString(text)
	return nil
}

// upright writes text that runs upwards from a point of its base line.
func (c *canvas) upright(face font.Face, ink color.NRGBA, text string, x, y, wide, size float64) error {
	high := size * c.scale
	mask := image.NewAlpha(image.Rect(0, 0, min(int(wide)+2, 20_000), int(2*high)+2))
	d := font.Drawer{Dst: mask, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{X: 0, Y: fixed.Int26_6(1.5 * high * 64)}}
	d.DrawString(text)
	turned := image.NewAlpha(image.Rect(0, 0, mask.Bounds().Dy(), mask.Bounds().Dx()))
	for row := range mask.Bounds().Dy() {
		for col := range mask.Bounds().Dx() {
			turned.SetAlpha(row, mask.Bounds().Dx()-1-col, mask.AlphaAt(col, row))
		}
	}
	at := image.Pt(int(x-1.5*high), int(y)-mask.Bounds().Dx())
	draw.DrawMask(c.dst, turned.Bounds().Add(at), image.NewUniform(ink), image.Point{}, turned, image.Point{}, draw.Over)
	return nil
}

// face returns a font of a size.
func (c *canvas) face(a attributes, size float64) (font.Face, error) {
	file, name := goregular.TTF, "regular"
	switch {
	case a["font-weight"] == "bold":
		file, name = gobold.TTF, "bold"
	case strings.Contains(a["font-family"], "mono"):
		file, name = gomono.TTF, "mono"
	}
	key := fmt.Sprint(name, size)
	if face, ok := c.faces[key]; ok {
		return face, nil
	}
	parsed, err := opentype.Parse(file)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: min(size, 200) * c.scale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	c.faces[key] = face
	return face, nil
}
