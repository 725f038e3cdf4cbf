package life

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Warning is something to look at before learning: which column, what is so,
// and what to do about it.
type Warning struct {
	Kind   string `json:"kind"` // id, constant, leak, duplicates, imbalance, missing, order, group, far, code, total, date, target, odd or style
	Column string `json:"column,omitempty"`
	Row    int    `json:"row,omitempty"`
	What   string `json:"what"`
	Do     string `json:"do,omitempty"`

	Remedy Remedy `json:"-"`
}

// String says it in a line.
func (w Warning) String() string {
	text := w.What
	if w.Column != "" {
		text = w.Column + " " + text
	}
	if w.Do != "" {
		text += "; " + w.Do
	}
	return text
}

// Said returns the warnings with what to do in the words of an interface.
func Said(warnings []Warning, say func(Remedy) string) []Warning {
	said := slices.Clone(warnings)
	for i := range said {
		if words := say(said[i].Remedy); words != "" {
			said[i].Do = words
		}
	}
	return said
}

// What is worth a warning.
const (
	leastSummed   = 5 // rows above what may be their sum
	leastLeakRows = 30
	leakRight     = 0.98 // of the rows are told by one column
	leakLeft      = 0.05 // of what the most frequent answer gets wrong is left
	rare          = 0.05 // of the rows have a class
	mostMissing   = 0.5  // of the cells of a column
	leastCopies   = 0.01 // of the rows
)

// warnings looks at a table before it is learnt. What the reader remarked comes
// first.
func (p *profiler) warnings(ctx context.Context, report *table.Report) ([]Warning, error) {
	all := []Warning{}
	add := func(w Warning) {
		if w.Do == "" {
			w.Do = w.Remedy.String()
		}
		all = append(all, w)
	}
	numbered := map[string]bool{}
	for _, r := range report.Remarks {
		numbered[r.Column] = numbered[r.Column] || r.Kind == "id"
		if r.Do.Kind != "" {
			add(Warning{Kind: r.Kind, Column: r.Column, Row: r.Row, What: r.What, Remedy: r.Do})
		}
	}
	for _, name := range report.IDs {
		if !numbered[name] {
			add(Warning{Kind: "id", Column: name, What: "is left out: its values tell rows apart, as ids or texts do", Remedy: Remedy{Kind: remedy.KeepNominal}})
		}
	}
	p.aboutTarget(add)
	for col := range p.t.Columns {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if col != p.target {
			p.aboutColumn(col, add)
		}
	}
	if sums := p.total(); len(sums) > 0 {
		add(Warning{Kind: "total", Column: sums[0], Row: p.t.Rows(), What: fmt.Sprintf("has its sum in the last row, %d, which is no case", p.t.Rows()), Do: "take that row out of the data"})
	}
	copies, err := p.copies(ctx)
	if share := float64(copies) / float64(max(1, p.t.Rows())); copies > 0 && share >= leastCopies {
		but := ""
		if len(report.IDs) > 0 {
			but = " but " + remedy.List(report.IDs, 3) + ", left out"
		}
		add(Warning{Kind: "duplicates", What: fmt.Sprintf("%d of %d rows are copies of others in every column%s", copies, p.t.Rows(), but),
			Do: "take copies out if they are no cases of their own: on both sides of a split they make answers look better than they are"})
	}
	return all, err
}

// aboutTarget warns of rows without an answer and of rare answers.
func (p *profiler) aboutTarget(add func(Warning)) {
	if p.target < 0 {
		return
	}
	a := &p.t.Schema.Attributes[p.target]
	if n := unanswered(p.t, p.target); n > 0 {
		add(Warning{Kind: "target", Column: a.Name, What: fmt.Sprintf("is missing in %d of %d rows, which are not learnt", n, p.t.Rows()), Do: "fill them in if they are known"})
	}
	if a.Kind != table.Nominal {
		p.aboutCodes(p.target, add)
		return
	}
	counts, total := make([]int, len(a.Values)), 0
	for _, c := range p.class {
		if c >= 0 {
			counts[c]++
			total++
		}
	}
	var few []string
	for c, n := range counts {
		if n > 0 && float64(n) < rare*float64(total) && len(a.Values) <= 20 {
			few = append(few, fmt.Sprintf("%s in %d of %d rows (%s)", a.Values[c], n, total, console.Percent(float64(n)/float64(total))))
		}
	}
	if len(few) > 0 {
		add(Warning{Kind: "imbalance", Column: a.Name, What: "is rarely " + strings.Join(few[:min(3, len(few))], ", "), Do: "judge by recall and precision of what is rare: always answering what is frequent looks accurate"})
	}
}

// unanswered counts the rows whose target is not known.
func unanswered(t *table.Table, target int) (n int) {
	for r := range t.Rows() {
		switch t.Schema.Attributes[target].Kind {
		case table.Nominal:
			if t.Columns[target].Codes[r] == table.Missing {
				n++
			}
		case table.Numeric:
			if table.IsMissing(t.Columns[target].Floats[r]) {
				n++
			}
		}
	}
	return n
}

// aboutColumn warns of a column that tells nothing, too much, or in which order
// the rows came.
func (p *profiler) aboutColumn(col int, add func(Warning)) {
	a := &p.t.Schema.Attributes[col]
	if a.Kind == table.Text {
		return
	}
	leave := Remedy{Kind: remedy.LeaveColumn, What: a.Name}
	known, distinct, one := p.count(col)
	rows := p.t.Rows()
	being, tells := p.tellsByBeingKnown(col)
	switch {
	case known > 0 && distinct == 1 && rows > 1 && !tells:
		add(Warning{Kind: "constant", Column: a.Name, What: fmt.Sprintf("is %s in every row where it is known, and tells nothing", console.Shown(one, console.LongestCell)), Remedy: leave})
		return
	case float64(rows-known) > mostMissing*float64(rows):
		add(Warning{Kind: "missing", Column: a.Name, What: fmt.Sprintf("is missing in %d of %d rows", rows-known, rows), Remedy: leave})
	}
	if right, ok := p.leaks(col); ok {
		target := p.t.Schema.Attributes[p.target].Name
		add(Warning{Kind: "leak", Column: a.Name, What: fmt.Sprintf("alone tells %s %s, and may be known only after the answer is", target, right), Remedy: leave})
	}
	if tells {
		add(Warning{Kind: "leak", Column: a.Name, What: fmt.Sprintf("is known where %s is %s, and nowhere else (%s of the rows), and may be known only after the answer is", p.t.Schema.Attributes[p.target].Name, being.class, console.Percent(being.share)), Remedy: leave})
	}
	if x, day, ok := p.looksDated(col); ok {
		add(Warning{Kind: "date", Column: a.Name, What: fmt.Sprintf("has numbers that look like dates: %s may be %s", x, day), Remedy: Remedy{Kind: remedy.ReadDates, What: a.Name + "=ymd"}})
	}
	if ordersRows(p.t, col) {
		add(Division{Time: a.Name}.warning())
	}
	coded := p.aboutCodes(col, add)
	if row, next, ok := p.farthest(col); ok && !coded {
		add(Warning{Kind: "far", Column: a.Name, Row: row + 1, What: fmt.Sprintf("is %s in row %d, far from all others (the next is %s)", p.shown(row, col), row+1, p.shown(next, col)), Do: "look whether it is a slip of the pen"})
	}
	if groupsRows(p.t, col) {
		w := Division{Group: a.Name}.warning()
		w.What = fmt.Sprintf("names %d things with several rows each", distinct)
		add(w)
	}
}

// looksDated reports whether all numbers of a column are days in eight digits, and
// shows one.
func (p *profiler) looksDated(col int) (number, day string, ok bool) {
	a := &p.t.Schema.Attributes[col]
	if a.Kind != table.Numeric || a.Date || a.Time {
		return "", "", false
	}
	for r, x := range p.t.Columns[col].Floats {
		if table.IsMissing(x) {
			continue
		}
		days, is := table.DaysOfDigits(x)
		if !is {
			return "", "", false
		}
		if !ok {
			date := table.Attribute{Kind: table.Numeric, Date: true}
			number, day, ok = p.t.Text(r, col), date.Format(days), true
		}
	}
	return number, day, ok
}

// farthest finds a number that stands alone: beyond the outer fences of the others
// (three times the middle half's width outside of it; Tukey 1977) and farther from
// the next than that width.
func (p *profiler) farthest(col int) (row, next int, ok bool) {
	x := p.t.Columns[col].Floats
	if x == nil {
		return 0, 0, false
	}
	known := p.sorted(col)
	n := len(known)
	if n < leastLeakRows {
		return 0, 0, false
	}
	low, high := known[n/4], known[3*n/4]
	if !(high > low) {
		return 0, 0, false
	}
	for _, sign := range []float64{1, -1} {
		row, next = -1, -1
		for r := range x {
			switch {
			case table.IsMissing(x[r]):
			case row < 0 || sign*x[r] > sign*x[row]:
				row, next = r, row
			case next < 0 || sign*x[r] > sign*x[next]:
				next = r
			}
		}
		width := high - low
		if max(x[row]-high, low-x[row]) > 3*width && math.Abs(x[row]-x[next]) > width {
			return row, next, true
		}
	}
	return 0, 0, false
}

// When a number is taken for a code of what is not known: it lies farther from the
// others than these from one another.
const (
	leastCoded  = 3   // rows have it
	fewOthers   = 10  // numbers that differ: among fewer only usual codes are told
	usualApart  = .25 // of the others' range does for what people use as codes
	mostOfCodes = 2   // on either side: not asked, not answered
)

// codes finds numbers that several rows have and that stand apart from all others,
// as -999 does where there is no temperature; in how many rows, and where the
// others lie.
func (p *profiler) codes(col int) (codes []float64, rows int, low, high float64) {
	a := &p.t.Schema.Attributes[col]
	if a.Kind != table.Numeric || a.Date || a.Time {
		return nil, 0, 0, 0
	}
	count := map[float64]int{}
	for _, x := range p.t.Columns[col].Floats {
		if !table.IsMissing(x) && !math.IsInf(x, 0) {
			count[x]++
		}
	}
	values := slices.Sorted(maps.Keys(count))
	stands := func(x, gap float64, others []float64) bool {
		least := others[len(others)-1] - others[0]
		switch few := len(others) < fewOthers; {
		case isUsualCode(x) && !few:
			least *= usualApart
		case few && !isUsualCode(x):
			return false
		}
		return count[x] >= leastCoded && gap > least
	}
	for most := 2 * mostOfCodes; most > 0; most-- {
		for below := max(0, most-mostOfCodes); below <= min(most, mostOfCodes); below++ {
			end := len(values) - (most - below)
			if end-below < 3 {
				continue
			}
			others := values[below:end]
			codes = slices.Concat(values[:below], values[end:])
			if !slices.ContainsFunc(codes, func(x float64) bool {
				return !stands(x, max(others[0]-x, x-others[len(others)-1]), others)
			}) {
				for _, x := range codes {
					rows += count[x]
				}
				return codes, rows, others[0], others[len(others)-1]
			}
		}
	}
	return nil, 0, 0, 0
}

// total returns the columns of which the last row has the sum, if its other numbers
// are sums or means, too. Of a row without an answer nothing is learnt.
func (p *profiler) total() (sums []string) {
	last := p.t.Rows() - 1
	if p.target >= 0 && last >= 0 && unanswered(p.t.Slice(last, last+1), p.target) > 0 {
		return nil
	}
	for col, c := range p.t.Columns {
		a := &p.t.Schema.Attributes[col]
		if a.Kind != table.Numeric || a.Date || a.Time || last < leastSummed || table.IsMissing(c.Floats[last]) {
			continue
		}
		var n, sum, most float64
		for _, x := range c.Floats[:last] {
			if !table.IsMissing(x) {
				n, sum, most = n+1, sum+x, max(most, math.Abs(x))
			}
		}
		// Sums are often taken before what they sum up is rounded.
		near := func(x float64) bool { return math.Abs(c.Floats[last]-x) <= .001*math.Abs(x) }
		switch {
		case n >= leastSummed && near(sum) && math.Abs(sum) > most:
			sums = append(sums, a.Name)
		case !near(sum / n):
			return nil
		}
	}
	return sums
}

// isUsualCode reports whether a number is what people write for what they do not
// know: two or more nines, eights or sevens.
func isUsualCode(x float64) bool {
	digits := strings.NewReplacer("-", "", ".", "").Replace(strconv.FormatFloat(x, 'f', -1, 64))
	return len(digits) > 1 && strings.Contains("987", digits[:1]) && strings.Trim(digits, digits[:1]) == ""
}

// aboutCodes warns of numbers that stand for what is not known.
func (p *profiler) aboutCodes(col int, add func(Warning)) bool {
	codes, rows, low, high := p.codes(col)
	if len(codes) == 0 {
		return false
	}
	name := p.t.Schema.Attributes[col].Name
	var said, texts []string
	for _, x := range codes {
		said = append(said, say.Number(x))
		texts = append(texts, name+"="+strconv.FormatFloat(x, 'f', -1, 64))
	}
	add(Warning{Kind: "code", Column: name,
		What:   fmt.Sprintf("is %s in %d of %d rows, far from all others (%s to %s), as codes are for what is not known", strings.Join(said, " or "), rows, p.t.Rows(), say.Rounded(low, 4), say.Rounded(high, 4)),
		Remedy: Remedy{Kind: remedy.SayMissing, What: remedy.Listed(texts...)}})
	return true
}

// shown is a cell of numbers as people read it.
func (p *profiler) shown(row, col int) string {
	if a := &p.t.Schema.Attributes[col]; a.Date || a.Time {
		return p.t.Text(row, col)
	}
	return say.Number(p.t.Columns[col].Floats[row])
}

// count returns how many cells are known, how many differ, and one of them.
func (p *profiler) count(col int) (known, distinct int, one string) {
	c := &p.t.Columns[col]
	last := -1
	if c.Codes != nil {
		seen := make([]bool, len(p.t.Schema.Attributes[col].Values))
		for r, code := range c.Codes {
			if code >= 0 {
				if last = r; !seen[code] {
					seen[code] = true
					distinct++
				}
				known++
			}
		}
	} else {
		seen := map[float64]bool{}
		for r, x := range c.Floats {
			if !table.IsMissing(x) {
				if last = r; len(seen) < 1<<16 {
					seen[x] = true
				}
				known++
			}
		}
		distinct = len(seen)
	}
	if last >= 0 {
		one = p.t.Text(last, col)
	}
	return known, distinct, one
}

// leaks reports whether a column is a near copy of the target, and in how many
// rows: one that will not be known when the answer is asked for.
func (p *profiler) leaks(col int) (right string, ok bool) {
	if p.target < 0 {
		return "", false
	}
	if p.t.Schema.Attributes[p.target].Kind == table.Numeric {
		if p.t.Schema.Attributes[col].Kind != table.Numeric {
			return "", false
		}
		if r := p.correlation(col); math.Abs(r) >= 0.999 {
			return fmt.Sprintf("(correlation %.4f)", r), true
		}
		return "", false
	}
	byLevel, n, most := p.byLevel(col)
	if n < leastLeakRows {
		return "", false
	}
	hits := 0
	for _, counts := range byLevel {
		// A level that one row alone has is told by nobody else.
		if best := slices.Max(counts); best > 1 {
			hits += best
		}
	}
	share := float64(hits) / float64(n)
	if share < leakRight || float64(n-hits) > leakLeft*float64(n-most) || n == most {
		return "", false
	}
	return fmt.Sprintf("in %s of the rows where it is known", console.Percent(share)), true
}

// beingKnown is a class of which a column is known, and in which share of the rows
// that is so or it is neither.
type beingKnown struct {
	class string
	share float64
}

// tellsByBeingKnown reports whether cells of a column are there for one class and
// missing for the others, as what is written down after the answer is.
func (p *profiler) tellsByBeingKnown(col int) (b beingKnown, ok bool) {
	if p.target < 0 || p.t.Schema.Attributes[p.target].Kind != table.Nominal {
		return b, false
	}
	c := &p.t.Columns[col]
	known, all := make([]int, len(p.classes)), make([]int, len(p.classes))
	n, there := 0, 0
	for _, r := range p.sample {
		if p.class[r] < 0 {
			continue
		}
		n++
		all[p.class[r]]++
		if c.Codes != nil && c.Codes[r] >= 0 || c.Floats != nil && !table.IsMissing(c.Floats[r]) {
			known[p.class[r]]++
			there++
		}
	}
	if n < leastLeakRows || there == 0 || there == n {
		return b, false
	}
	class := 0
	for k := range known {
		if known[k] > known[class] {
			class = k
		}
	}
	right := known[class] + (n - all[class]) - (there - known[class])
	b = beingKnown{p.classes[class], float64(right) / float64(n)}
	return b, b.share >= leakRight && float64(n-right) <= leakLeft*float64(min(all[class], n-all[class]))
}

// byLevel counts classes by the values of a column, of numbers also by intervals
// where there are many; and the rows, and those of the most frequent class.
func (p *profiler) byLevel(col int) (byLevel map[int32][]int, n, most int) {
	levels := p.levels(col)
	if floats := p.t.Columns[col].Floats; floats != nil {
		distinct := map[float64]int32{}
		codes := make([]int32, len(p.sample))
		for i, r := range p.sample {
			if codes[i] = -1; !table.IsMissing(floats[r]) {
				code, seen := distinct[floats[r]]
				if !seen {
					code = int32(len(distinct))
					distinct[floats[r]] = code
				}
				codes[i] = code
			}
		}
		if len(distinct) <= 50 {
			levels = &coded{codes, len(distinct)}
		}
	}
	byLevel, all := map[int32][]int{}, make([]int, len(p.classes))
	for i, r := range p.sample {
		code, class := levels.codes[i], p.class[r]
		if code < 0 || class < 0 {
			continue
		}
		if byLevel[code] == nil {
			byLevel[code] = make([]int, len(p.classes))
		}
		byLevel[code][class]++
		all[class]++
		n++
	}
	if len(all) > 0 {
		most = slices.Max(all)
	}
	return byLevel, n, most
}

// correlation is that of a column of numbers with the target.
func (p *profiler) correlation(col int) float64 {
	var n, mx, my, xx, yy, xy float64
	for _, r := range p.sample {
		x, y := p.t.Columns[col].Floats[r], p.t.Columns[p.target].Floats[r]
		if table.IsMissing(x) || table.IsMissing(y) {
			continue
		}
		n++
		dx, dy := x-mx, y-my
		mx += dx / n
		my += dy / n
		xx += dx * (x - mx)
		yy += dy * (y - my)
		xy += dx * (y - my)
	}
	if n < leastLeakRows || !(xx > 0) || !(yy > 0) {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// copies counts the rows that are the same as an earlier one in all columns.
func (p *profiler) copies(ctx context.Context) (int, error) {
	if len(p.t.Columns) < 3 {
		return 0, nil // few columns repeat by themselves
	}
	hashes, err := kept.HashRows(ctx, p.t)
	if err != nil {
		return 0, err
	}
	slices.Sort(hashes)
	return len(hashes) - len(slices.Compact(hashes)), nil
}

// warn says what is worth a look in data that was just learnt, and how many of its
// rows have no answer. Built-in sets were looked at before, and of rows that were
// learnt as they came only these are counted.
func (h *Home) warn(ctx context.Context, learnt *NewLearnt, made *lectured, d *Data) error {
	if learnt.Dropped = made.dropped; made.dropped > 0 && learnt.Target != nil {
		h.note(fmt.Sprintf("%d of %d rows have no %s and are not learnt", made.dropped, made.rows, *learnt.Target))
	}
	t := made.table
	if t == nil || made.report == nil || d.Builtin != nil || t.Linked != nil || t.Sequence != nil {
		return nil
	}
	all, err := newProfiler(t, made.target).warnings(ctx, made.report)
	learnt.Warnings = all
	by := Division{}
	if made.estimate != nil {
		by = FindDivision(t, made.target)
	}
	leaks := map[string]bool{}
	for _, w := range all {
		leaks[w.Column] = leaks[w.Column] || w.Kind == "leak"
		switch w.Kind {
		case "constant", "leak", "duplicates", "imbalance", "missing", "code", "total", "date":
			note := Note{Text: Warning{Column: w.Column, What: w.What}.String(), Remedy: w.Remedy}
			if w.Remedy.Kind == "" {
				note.Text = w.String()
			}
			h.remark(note)
		case "order", "group":
			switch {
			case by == (Division{}): // else the estimate goes by it
				h.remark(Note{Text: w.Column + " " + w.What, Remedy: w.Remedy})
			case by.Group == w.Column && !leaks[w.Column]:
				h.remark(Note{Text: w.Column + " " + w.What + " and is learnt from, which says nothing of others that come", Remedy: Remedy{Kind: remedy.LeaveColumn, What: w.Column}})
			}
		}
	}
	return err
}
