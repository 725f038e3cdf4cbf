package raster

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
)

type point struct{ x, y float64 }

// polyline is points in a row.
type polyline struct {
	points []point
	closed bool
}

// disc is a circle as a polygon, turning the way that stroke does.
func disc(at point, r float64) polyline {
	const corners = 24
	d := polyline{closed: true}
	for k := range corners {
		angle := 2 * math.Pi * float64(k) / corners
		d.points = append(d.points, point{at.x + r*math.Cos(angle), at.y + r*math.Sin(angle)})
	}
	return d
}

// path reads the commands M, L, H, h, V, v, C and Z of a path, curves cut into pieces.
func path(d string) ([]polyline, error) {
	var lines []polyline
	var at point
	rest := d
	for rest != "" {
		command := rest[0]
		end := strings.IndexAny(rest[1:], "MLHhVvCZ")
		text := rest[1:]
		if end >= 0 {
			text = rest[1 : 1+end]
		}
		rest = rest[1+len(text):]
		n, err := numbers(text)
		if err != nil {
			return nil, err
		}
		if command != 'M' && len(lines) == 0 {
			return nil, fmt.Errorf("a path begins with %q", command)
		}
		wants := map[byte]int{'M': 2, 'L': 2, 'H': 1, 'h': 1, 'V': 1, 'v': 1, 'C': 6, 'Z': 0}
		want, known := wants[command]
		if !known || len(n) != want {
			return nil, fmt.Errorf("a path has %q with %d numbers", command, len(n))
		}
		switch command {
		case 'M':
			at = point{n[0], n[1]}
			lines = append(lines, polyline{points: []point{at}})
			continue
		case 'L':
			at = point{n[0], n[1]}
		case 'H':
			at.x = n[0]
		case 'h':
			at.x += n[0]
		case 'V':
			at.y = n[0]
		case 'v':
			at.y += n[0]
		case 'C':
			from := at
			for k := 1; k < pieces; k++ {
				lines[len(lines)-1].points = append(lines[len(lines)-1].points, bezier(from, n, float64(k)/pieces))
			}
			at = point{n[4], n[5]}
		case 'Z':
			lines[len(lines)-1].closed = true
			continue
		}
		lines[len(lines)-1].points = append(lines[len(lines)-1].points, at)
	}
	return lines, nil
}

// pieces is what a curve is cut into: so many that the corners of a thick one,
// across a large picture, are not seen.
const pieces = 40

// bezier is a point of a cubic curve.
func bezier(from point, n []float64, t float64) point {
	u := 1 - t
	a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return point{a*from.x + b*n[0] + c*n[2] + d*n[4], a*from.y + b*n[1] + c*n[3] + d*n[5]}
}

// numbers reads numbers with spaces or commas between them.
func numbers(text string) ([]float64, error) {
	var all []float64
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%q is no number", field)
		}
		all = append(all, x)
	}
	return all, nil
}

// dashes cuts a line into pieces as a pattern of two lengths says; "" leaves it
// whole.
func dashes(l polyline, pattern string) []polyline {
	lengths, err := numbers(pattern)
	if err != nil || len(lengths) != 2 || !(lengths[0] > 0.1 && lengths[1] > 0.1) {
		return []polyline{l}
	}
	points := l.points
	if l.closed && len(points) > 1 {
		points = append(points[:len(points):len(points)], points[0])
	}
	var parts []polyline
	on, left := true, lengths[0]
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if on {
			parts = begun(parts, a, i == 1)
		}
		for length := math.Hypot(b.x-a.x, b.y-a.y); length > left; length = math.Hypot(b.x-a.x, b.y-a.y) {
			share := left / length
			a = point{a.x + share*(b.x-a.x), a.y + share*(b.y-a.y)}
			if on {
				parts[len(parts)-1].points = append(parts[len(parts)-1].points, a)
			} else {
				parts = begun(parts, a, true)
			}
			if on = !on; on {
				left = lengths[0]
			} else {
				left = lengths[1]
			}
		}
		left -= math.Hypot(b.x-a.x, b.y-a.y)
		if on {
			parts[len(parts)-1].points = append(parts[len(parts)-1].points, b)
		}
	}
	return parts
}

// begun begins a piece, or goes on with the last one.
func begun(parts []polyline, at point, fresh bool) []polyline {
	if fresh || len(parts) == 0 {
		return append(parts, polyline{points: []point{at}})
	}
	return parts
}

// colourOf reads a colour such as #0072b2 or #fff; ok is false for none. What
// says nothing is black.
func colourOf(text string, opacity float64) (ink color.NRGBA, ok bool) {
	ink.A = uint8(math.Round(255 * min(max(opacity, 0), 1)))
	switch {
	case text == "none":
		return ink, false
	case text == "":
		return ink, true
	case len(text) == 4 && text[0] == '#':
		text = string([]byte{'#', text[1], text[1], text[2], text[2], text[3], text[3]})
	}
	x, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 32)
	if err != nil || len(text) != 7 {
		return ink, true
	}
	ink.R, ink.G, ink.B = uint8(x>>16), uint8(x>>8), uint8(x)
	return ink, true
}
