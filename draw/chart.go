package draw

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Chart is series of numbers against an axis.
type Chart struct {
	Title, XLabel, YLabel string
	Series                []Series
	// LogX draws x on a logarithmic scale; numbers ≤ 0 are left out.
	LogX bool
	// Categories names the whole numbers 0, 1, … of the x axis.
	Categories []string
	// XRange and YRange are the least extent of the axes. Where both ends
	// are 0 the data alone decide.
	XRange, YRange [2]float64
	// Percent writes y as percentages.
	Percent bool
	// Panels, if there are any, are charts that are drawn side by side instead,
	// under this one's title and the legend of the first, on one scale of y.
	Panels []Chart

	axis *Axis // of x, where it is that of regions
}

// Series is points to draw. Low and High, if given, are the ends of an
// interval around each Y: a band behind lines, whiskers on points and bars.
// Points with a number that is not finite are left out, and interrupt lines.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Kind      Kind
}

// Kind is how a series is drawn.
type Kind uint8

// The kinds of series.
const (
	Line Kind = iota
	Dashed
	Points
	Bars
	Steps // each y holds until the next x
	Dots  // small and grey, behind everything: many points that others explain
)

const (
	chartWidth  = 640.0
	chartHeight = 400.0
)

// frame maps numbers to the plotting area.
type frame struct {
	left, top, right, bottom float64
	x0, x1, y0, y1           float64
	log                      bool
}

func (f *frame) x(v float64) float64 {
	if f.log {
		v = math.Log10(v)
	}
	return f.left + (f.right-f.left)*share(v, f.x0, f.x1)
}

func (f *frame) y(v float64) float64 {
	return f.bottom - (f.bottom-f.top)*share(v, f.y0, f.y1)
}

// share returns where v lies between a and b, from 0 to 1, without overflow.
// Only numbers too large for an axis lie outside, and are drawn at its end.
func share(v, a, b float64) float64 {
	return min(max((v/2-a/2)/(b/2-a/2), 0), 1)
}

// SVG writes the chart as a picture.
func (c *Chart) SVG(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	if len(c.Panels) > 0 {
		return c.panels(w)
	}
	var p picture
	top := margin + p.title(chartWidth, c.Title)
	f, any := c.frame()
	left := margin + c.leftOf(&f)
	top += p.legend(left, top, chartWidth-margin-10-left, c.legend())
	below := c.plot(&p, f, any, margin, top+8, chartWidth-margin-10, top+8+chartHeight-120)
	return p.writeTo(w, c.Title, chartWidth, below+margin)
}

// check refuses series whose numbers do not go together.
func (c *Chart) check() error {
	for i := range c.Series {
		if err := c.Series[i].check(); err != nil {
			return err
		}
	}
	for i := range c.Panels {
		if err := c.Panels[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// leftOf is the room that the y axis takes.
func (c *Chart) leftOf(f *frame) float64 {
	_, widest := c.yLabels(ticks(f.y0, f.y1, 6))
	if c.YLabel != "" {
		widest += lineHeight + 4
	}
	return widest + 10
}

// plot draws axes and series between the corners, and returns how far down it is.
func (c *Chart) plot(p *picture, f frame, any bool, left, top, right, bottom float64) (below float64) {
	f.left, f.top, f.right, f.bottom = left+c.leftOf(&f), top, right, bottom
	y := ticks(f.y0, f.y1, 6)
	labels, _ := c.yLabels(y)
	for i, v := range y.at {
		at := f.y(v)
		p.add("line", "x1", f.left, "y1", at, "x2", f.right, "y2", at, "stroke", faint)
		p.text(f.left-7, at+4, "end", labels[i])
	}
	below = f.bottom + c.xAxis(p, &f)
	c.series(p, &f)
	p.add("path", "d", fmt.Sprintf("M%s %sV%sH%s", num(f.left), num(f.top), num(f.bottom), num(f.right)), "fill", "none", "stroke", ink)
	if !any {
		p.text((f.left+f.right)/2, (f.top+f.bottom)/2, "middle", "no data", "fill", soft)
	}
	if c.XLabel != "" {
		p.text((f.left+f.right)/2, below+14, "middle", shorten(c.XLabel, f.right-f.left))
		below += 18
	}
	p.upright(left+10, (f.top+f.bottom)/2, shorten(c.YLabel, f.bottom-f.top))
	return below
}

// The size of a panel, and how many stand in a line.
const panelWidth, panelHeight, panelsInLine = 300.0, 220.0, 3

// panels draws the charts side by side, in lines of three.
func (c *Chart) panels(w io.Writer) error {
	var p picture
	total := 2*margin + panelWidth*float64(min(len(c.Panels), panelsInLine))
	top := margin + p.title(total, c.Title)
	top += p.legend(margin, top, total-2*margin, c.Panels[0].legend())
	all := extent{}
	for i := range c.Panels {
		f, any := c.Panels[i].frame()
		if any {
			all.widen([2]float64{f.y0, f.y1})
		}
	}
	below := top
	for i := range c.Panels {
		part := c.Panels[i]
		if all.any {
			part.YRange = [2]float64{all.low, all.high}
		}
		if i > 0 && i%panelsInLine == 0 {
			top = below + panelGap
		}
		f, any := part.frame()
		x := margin + panelWidth*float64(i%panelsInLine)
		p.text(x+panelWidth/2, top+lineHeight, "middle", shorten(part.Title, panelWidth-20))
		below = max(below, part.plot(&p, f, any, x, top+lineHeight+10, x+panelWidth-14, top+lineHeight+10+panelHeight))
	}
	return p.writeTo(w, c.Title, total, below+margin)
}

// yLabels writes the ticks of the y axis, and says how wide the widest is.
func (c *Chart) yLabels(y scale) (labels []string, widest float64) {
	for _, v := range y.at {
		label := y.text(v)
		if c.Percent {
			label = strconv.FormatFloat(math.Round(v*1e6)/1e4, 'g', 6, 64) + " %"
		}
		labels = append(labels, label)
		widest = max(widest, width(label))
	}
	return labels, widest
}

// legend is the series that have a name.
func (c *Chart) legend() []item {
	var items []item
	for i, s := range c.Series {
		if s.Name != "" {
			items = append(items, item{name: s.Name, colour: c.colour(i), kind: s.Kind})
		}
	}
	return items
}

// colour is that of the i-th series.
func (c *Chart) colour(i int) rgb {
	if c.Series[i].Kind == Dots {
		return dotColour
	}
	return colour(i)
}

// xAxis draws the ticks or categories of the x axis and returns their height.
func (c *Chart) xAxis(p *picture, f *frame) float64 {
	if c.Categories != nil {
		return p.categories(*f, c.Categories)
	}
	x := ticks(f.x0, f.x1, 8)
	if c.LogX {
		x = decades(f.x0, f.x1)
	}
	if c.axis != nil && c.axis.Text != nil { // dates are wider than numbers
		x = c.axis.ticks(f.x0, f.x1, 5)
	}
	for _, v := range x.at {
		at := f.x(v)
		p.add("line", "x1", at, "y1", f.top, "x2", at, "y2", f.bottom, "stroke", faint)
		p.add("line", "x1", at, "y1", f.bottom, "x2", at, "y2", f.bottom+4, "stroke", ink)
		p.text(at, f.bottom+18, "middle", x.text(v))
	}
	return 22
}

// series draws what the chart is about: bars, above them bands, dots and the
// other marks.
func (c *Chart) series(p *picture, f *frame) {
	var bars []int
	for i := range c.Series {
		if c.Series[i].Kind == Bars {
			bars = append(bars, i)
		}
	}
	for at, i := range bars {
		p.bars(f, &c.Series[i], colour(i), at, len(bars))
	}
	for i := range c.Series {
		p.band(f, &c.Series[i], colour(i))
	}
	for _, dots := range []bool{true, false} {
		for i := range c.Series {
			if (c.Series[i].Kind == Dots) == dots {
				p.marks(f, &c.Series[i], c.colour(i))
			}
		}
	}
}

func (s *Series) check() error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("draw: series %q has %d x values for %d y values", s.Name, len(s.X), len(s.Y))
	}
	if s.Low == nil && s.High == nil {
		return nil
	}
	if len(s.Low) != len(s.Y) || len(s.High) != len(s.Y) {
		return fmt.Errorf("draw: series %q has intervals with %d and %d ends for %d y values", s.Name, len(s.Low), len(s.High), len(s.Y))
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// usable reports whether the i-th point can be drawn.
func (s *Series) usable(i int, log bool) bool {
	return finite(s.X[i]) && finite(s.Y[i]) && (!log || s.X[i] > 0)
}

func (s *Series) hasInterval(i int) bool {
	return s.Low != nil && finite(s.Low[i]) && finite(s.High[i])
}

// frame finds the extent of the axes, and whether there is anything to draw.
func (c *Chart) frame() (frame, bool) {
	xs, ys := extent{}, extent{}
	bars := 0.0 // half the width of a bar
	for i := range c.Series {
		s := &c.Series[i]
		for j := range s.X {
			if !s.usable(j, c.LogX) {
				continue
			}
			x := s.X[j]
			if c.LogX {
				x = math.Log10(x)
			}
			xs.include(x)
			ys.include(s.Y[j])
			if s.hasInterval(j) {
				ys.include(s.Low[j])
				ys.include(s.High[j])
			}
			if s.Kind == Bars {
				ys.include(0)
			}
		}
		if s.Kind == Bars && xs.any {
			bars = max(bars, s.pitch()/2)
		}
	}
	any := ys.any
	if c.Categories != nil {
		xs = extent{-0.5, float64(len(c.Categories)) - 0.5, true}
	} else if c.LogX {
		if c.XRange[0] > 0 && c.XRange[1] > 0 {
			xs.widen([2]float64{math.Log10(c.XRange[0]), math.Log10(c.XRange[1])})
		}
	} else {
		if xs.any && bars > 0 {
			xs.include(xs.low - bars)
			xs.include(xs.high + bars)
		}
		xs.widen(c.XRange)
	}
	ys.widen(c.YRange)
	f := frame{log: c.LogX}
	f.x0, f.x1 = xs.ends()
	f.y0, f.y1 = ys.ends()
	// The y axis ends at ticks, so that no mark touches the frame.
	if t := ticks(f.y0, f.y1, 6); len(t.at) > 1 {
		step := t.at[1] - t.at[0]
		low, high := math.Floor(f.y0/step+1e-9)*step, math.Ceil(f.y1/step-1e-9)*step
		if finite(low) && finite(high) {
			f.y0, f.y1 = min(low, f.y0), max(high, f.y1)
		}
	}
	return f, any
}

// pitch is the least distance between two neighbouring x.
func (s *Series) pitch() float64 {
	least := math.Inf(1)
	for i := 1; i < len(s.X); i++ {
		if d := math.Abs(s.X[i] - s.X[i-1]); d > 0 && d < least {
			least = d
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}

// extent is the least interval that holds some numbers.
type extent struct {
	low, high float64
	any       bool
}

func (e *extent) include(x float64) {
	if !e.any {
		e.low, e.high, e.any = x, x, true
		return
	}
	e.low, e.high = min(e.low, x), max(e.high, x)
}

func (e *extent) widen(r [2]float64) {
	if finite(r[0]) && finite(r[1]) && (r[0] != 0 || r[1] != 0) {
		e.include(r[0])
		e.include(r[1])
	}
}

// ends returns an interval that is not empty.
func (e *extent) ends() (low, high float64) {
	switch {
	case !e.any:
		return 0, 1
	case e.low == e.high:
		room := math.Abs(e.low) * 0.1
		if room == 0 {
			room = 0.5
		}
		low, high = e.low-room, e.high+room
	default:
		low, high = e.low, e.high
	}
	// Numbers near the greatest float64 would overflow in the arithmetic of
	// ticks.
	const most = math.MaxFloat64 / 8
	low, high = max(low, -most), min(high, most)
	if !(low < high) || low+(high-low)/1e3 == low { // closer than numbers can say
		return low - math.Abs(low)*0.1 - 0.5, high + math.Abs(high)*0.1 + 0.5
	}
	return low, high
}

// scale is the ticks of an axis and how to write them.
type scale struct {
	at       []float64
	decimals int
	exponent bool
	write    func(float64) string // of dates; nil of plain numbers
}

// ticks returns round numbers between two others, about so many (Heckbert
// 1990, nice numbers for graph labels).
func ticks(low, high float64, about int) scale {
	raw := (high/2 - low/2) / float64(about) * 2
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= raw*0.999 {
			step = m * power
			break
		}
	}
	if !finite(step) || step <= 0 {
		return scale{at: []float64{low, high}, exponent: true}
	}
	s := scale{decimals: decimalsOf(step)}
	s.exponent = step >= 1e6 || step < 1e-5 || max(math.Abs(low), math.Abs(high)) >= 1e9
	first := math.Ceil(low/step - 1e-9)
	for k := first; k*step <= high+step*1e-9 && len(s.at) < 3*about; k++ {
		v := k * step
		if k == 0 {
			v = 0
		}
		s.at = append(s.at, v)
	}
	return s
}

func decimalsOf(step float64) int {
	for d := range 8 {
		if scaled := step * math.Pow10(d); math.Abs(scaled-math.Round(scaled)) < 1e-6 {
			return d
		}
	}
	return 8
}

// decades returns ticks for a logarithmic axis between powers of ten.
func decades(low, high float64) scale {
	var s scale
	s.exponent = high > 6 || low < -4
	multiples := []float64{1, 2, 5}
	if high-low > 3 {
		multiples = []float64{1}
	}
	skip := int(math.Ceil((high - low) / 10))
	for k := int(math.Floor(low)); k <= int(math.Ceil(high)); k++ {
		if skip > 1 && k%skip != 0 {
			continue
		}
		for _, m := range multiples {
			if v := m * math.Pow(10, float64(k)); v > 0 && math.Log10(v) >= low-1e-9 && math.Log10(v) <= high+1e-9 {
				s.at = append(s.at, v)
			}
		}
	}
	s.decimals = -1
	if len(s.at) < 2 && high-low < 1 { // too narrow for round numbers
		s.at = []float64{math.Pow(10, low), math.Pow(10, high)}
	}
	return s
}

func (s scale) text(v float64) string {
	if s.write != nil {
		return s.write(v)
	}
	if s.exponent {
		return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "e+0", "e", 1)
	}
	if s.decimals < 0 {
		return printed(strconv.FormatFloat(v, 'g', 4, 64))
	}
	return printed(strconv.FormatFloat(v, 'f', s.decimals, 64))
}

// Signed writes what is added, such as +1,190 or −0.25: with three digits, without
// powers of ten.
func Signed(v float64) string {
	text := Number(v, 3)
	if v >= 0 {
		text = "+" + text
	}
	return text
}

// Number writes a number with so many digits, as a reader of pictures wants it:
// without powers of ten where it is neither tiny nor huge.
func Number(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'g', digits, 64)
	if rounded, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(rounded) >= 1e-4 && math.Abs(rounded) < 1e9 {
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return printed(text)
}

// printed writes a number as in print: with a minus, and from 10,000 on with its
// thousands apart.
func printed(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	whole, rest := s, ""
	if point := strings.IndexByte(s, '.'); point >= 0 {
		whole, rest = s[:point], s[point:]
	}
	if len(whole) > 4 && !strings.Contains(whole, "e") {
		for at := len(whole) - 3; at > 0; at -= 3 {
			whole = whole[:at] + "," + whole[at:]
		}
	}
	if negative {
		whole = "−" + whole
	}
	return whole + rest
}

// categories writes the names below the axis, slanted where they would
// touch, and returns their height.
func (p *picture) categories(f frame, names []string) float64 {
	room := (f.right - f.left) / float64(max(len(names), 1))
	longest := 0.0
	short := make([]string, len(names))
	for i, name := range names {
		// Slanted names end below their mark and must not leave the picture.
		short[i] = clip(name, min(150, (f.x(float64(i))-margin/2)/0.77))
		longest = max(longest, width(short[i]))
	}
	every := max(1, int(math.Ceil(14/room))) // of very many only some are named
	for i, name := range short {
		at := f.x(float64(i))
		switch {
		case longest+6 <= room:
			p.text(at, f.bottom+18, "middle", name)
		case i%every == 0:
			p.text(at+4, f.bottom+14, "end", name, "transform", fmt.Sprintf("rotate(-40 %s %s)", num(at+4), num(f.bottom+14)))
		}
	}
	if longest+6 <= room {
		return 22
	}
	return 22 + longest*0.65
}

func (p *picture) bars(f *frame, s *Series, c rgb, index, of int) {
	room := 24.0 // on a logarithmic axis distances say nothing
	if !f.log {
		room = math.Abs(f.x(f.x0+s.pitch()) - f.x(f.x0))
	}
	wide := min(max(room*0.8/float64(of), 1), f.right-f.left)
	for i := range s.X {
		if !s.usable(i, f.log) {
			continue
		}
		left := f.x(s.X[i]) + (float64(index)-float64(of)/2)*wide
		left = min(max(left, f.left), max(f.right-wide, f.left))
		zero, value := f.y(min(max(0, f.y0), f.y1)), f.y(s.Y[i])
		p.add("rect", "x", left, "y", min(zero, value), "width", max(wide-1, 0.5), "height", math.Abs(zero-value), "fill", c.mix(white, 0.25))
		if s.hasInterval(i) {
			p.whisker(f, left+wide/2, s.Low[i], s.High[i], c.mix(rgb{}, 0.4))
		}
	}
}

func (p *picture) whisker(f *frame, x, low, high float64, c rgb) {
	p.add("path", "d", fmt.Sprintf("M%s %sV%sM%s %sH%sM%s %sH%s", num(x), num(f.y(low)), num(f.y(high)),
		num(x-3), num(f.y(low)), num(x+3), num(x-3), num(f.y(high)), num(x+3)), "fill", "none", "stroke", c, "stroke-width", 1.2)
}

// stretches calls draw for each run of points that can be drawn.
func (s *Series) stretches(log bool, usable func(i int) bool, draw func(lo, hi int)) {
	for lo := 0; lo < len(s.X); {
		if !s.usable(lo, log) || !usable(lo) {
			lo++
			continue
		}
		hi := lo + 1
		for hi < len(s.X) && s.usable(hi, log) && usable(hi) {
			hi++
		}
		draw(lo, hi)
		lo = hi
	}
}

// corners returns the points of a line; those of steps have two each.
func (s *Series) corners(f *frame, y []float64, lo, hi int) []string {
	var points []string
	for i := lo; i < hi; i++ {
		if s.Kind == Steps && i > lo {
			points = append(points, num(f.x(s.X[i]))+" "+num(f.y(y[i-1])))
		}
		points = append(points, num(f.x(s.X[i]))+" "+num(f.y(y[i])))
	}
	return points
}

func (p *picture) band(f *frame, s *Series, c rgb) {
	if s.Kind == Points || s.Kind == Bars || s.Kind == Dots {
		return
	}
	s.stretches(f.log, s.hasInterval, func(lo, hi int) {
		outline := s.corners(f, s.High, lo, hi)
		back := s.corners(f, s.Low, lo, hi)
		for i := len(back) - 1; i >= 0; i-- {
			outline = append(outline, back[i])
		}
		p.add("path", "d", "M"+strings.Join(outline, "L")+"Z", "fill", c, "fill-opacity", "0.16")
	})
}

func (p *picture) marks(f *frame, s *Series, c rgb) {
	always := func(int) bool { return true }
	switch s.Kind {
	case Bars:
	case Dots:
		for i := range s.X {
			if s.usable(i, f.log) {
				p.add("circle", "cx", f.x(s.X[i]), "cy", f.y(s.Y[i]), "r", 1.8, "fill", c, "fill-opacity", "0.55")
			}
		}
	case Points:
		for i := range s.X {
			if !s.usable(i, f.log) {
				continue
			}
			if s.hasInterval(i) {
				p.whisker(f, f.x(s.X[i]), s.Low[i], s.High[i], c)
			}
			p.add("circle", "cx", f.x(s.X[i]), "cy", f.y(s.Y[i]), "r", 3.2, "fill", c, "fill-opacity", "0.85")
		}
	default:
		s.stretches(f.log, always, func(lo, hi int) {
			if hi-lo == 1 { // a line of one point would not be seen
				p.add("circle", "cx", f.x(s.X[lo]), "cy", f.y(s.Y[lo]), "r", 2.5, "fill", c)
				return
			}
			attributes := []any{"d", "M" + strings.Join(s.corners(f, s.Y, lo, hi), "L"), "fill", "none", "stroke", c, "stroke-width", 2.0, "stroke-linejoin", "round"}
			if s.Kind == Dashed {
				attributes = append(attributes, "stroke-dasharray", "6 4")
			}
			p.add("path", attributes...)
		})
	}
}
