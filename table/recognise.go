package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// What people write into tables is recognised column by column, when all of a
// column has been read, on its dictionary: that costs by distinct values, not by
// rows, and nothing in a column of plain numbers. What a column alone does not
// tell (1,234; 03/04/2024) the others do, or it is decided and said.

// mostOdd is how many distinct cells may keep a column from being numbers and
// still be worth showing.
const mostOdd = 5

// locale is what the input as a whole tells of how its numbers are written.
type locale struct {
	semicolons bool // divide the cells, as where a comma divides decimals
	points     bool // divide decimals of some column
	commas     bool
	order      Style // of dates in some column
}

// look is what the distinct values of a column are.
type look struct {
	names   *dictionary
	numbers []written
	dates   []dates
	clocks  []float64
	marked  []bool // they mean a missing cell
	markers []string
	odd     []int32 // codes of those that are none of these
	count   struct{ numbers, dates, clocks int }
}

// lookAt looks at the names of a column until too many are no quantities.
func lookAt(names *dictionary, f *field) *look {
	n := names.len()
	l := &look{names: names, marked: make([]bool, n)}
	var scratch []byte
	for code := range int32(n) {
		v := names.value(code)
		if !f.only && isNoAmount(v) {
			l.marked[code] = true
			l.markers = append(l.markers, string(v))
			continue
		}
		if l.numbers == nil {
			l.numbers, l.dates, l.clocks = make([]written, n), make([]dates, n), make([]float64, n)
		}
		scratch = scratch[:0]
		w, ok := lookNumber(v, scratch), true
		if w.asPoint && slices.Contains(f.codes, w.point) || w.asComma && slices.Contains(f.codes, w.comma) {
			l.marked[code] = true
			l.markers = append(l.markers, string(v))
			continue
		}
		d := dates{days: [3]float64{NA, NA, NA}}
		clock := NA
		switch {
		case w.asPoint || w.asComma:
			l.count.numbers++
		default:
			if days, iso := parseDate(v); iso {
				d.days = [3]float64{days, days, days}
			} else {
				d = lookDate(v)
			}
			if d.days[0] == d.days[0] || d.days[1] == d.days[1] || d.days[2] == d.days[2] {
				l.count.dates++
			} else if clock, ok = parseClock(v); ok {
				l.count.clocks++
			} else {
				clock = NA
			}
		}
		l.numbers[code], l.dates[code], l.clocks[code] = w, d, clock
		if !ok {
			if l.odd = append(l.odd, code); len(l.odd) > mostOdd {
				return l
			}
		}
	}
	return l
}

// reading of a column: what its distinct values are worth.
type recognised struct {
	state  state     // number, date or text
	style  Style     // the form alone
	cells  []float64 // of numbers and dates, by code; dates in days
	clock  bool      // dates have a time of day
	odd    []int32   // codes of the values that keep it from being that
	sample int32     // a value that shows the style, -1 for none
	doubt  string    // what was decided without being told, "" for nothing
	unsure remedy.Remedy
}

// decide returns what a column is.
func (l *look) decide(here *locale, f *field) *recognised {
	most := max(l.count.numbers, l.count.dates, l.count.clocks)
	switch {
	case len(l.odd) > mostOdd || most == 0:
		return &recognised{state: text}
	case most == l.count.numbers:
		return l.asNumbers(here, f)
	case f.order == "iso":
		return &recognised{state: text}
	case most == l.count.dates:
		return l.asDates(here, f)
	}
	r := &recognised{state: date, style: Clock, clock: true, sample: -1, cells: l.clocks}
	for code, x := range l.clocks {
		if IsMissing(x) && !l.marked[code] {
			r.odd = append(r.odd, int32(code))
		} else if r.sample < 0 && !l.marked[code] {
			r.sample = int32(code)
		}
		if l.marked[code] {
			l.clocks[code] = NA
		}
	}
	return r
}

// tells counts the values that allow only a comma, or only a point, before
// decimals, and finds one that allows both.
func (l *look) tells() (commas, points int, either int32) {
	either = -1
	for code := range l.numbers {
		w := &l.numbers[code]
		comma, point := w.telling()
		switch {
		case comma:
			commas++
		case point:
			points++
		case w.ambiguous() && either < 0:
			either = int32(code)
		}
	}
	return commas, points, either
}

// groups looks at how the values stand beside a sign between thousands.
func (l *look) groups(by byte) (g grouped) {
	for code := range int32(l.names.len()) {
		if !l.marked[code] {
			g.add(l.names.value(code), by)
		}
	}
	return g
}

// asNumbers reads the values as numbers of one style.
func (l *look) asNumbers(here *locale, f *field) *recognised {
	r := &recognised{state: number, sample: -1, cells: make([]float64, len(l.numbers))}
	commas, points, either := l.tells()
	switch {
	case f.decimal != "":
		r.style = f.decimal
	case commas > points:
		r.style = Comma
	case points > 0:
		r.style = Point
	case either >= 0:
		l.guessDecimal(here, r, either, f)
	}
	signs, sign := 0, ""
	first, other := int32(0), int32(0)
	var percents mixture
	for code := range l.numbers {
		w := &l.numbers[code]
		x, ok := w.point, w.asPoint
		if r.style == Comma {
			x, ok = w.comma, w.asComma
		}
		if r.cells[code] = x; l.marked[code] {
			r.cells[code] = NA
			continue
		} else if !ok {
			r.odd = append(r.odd, int32(code))
			continue
		}
		if of := w.sign; of != "" && of != "%" && of != sign {
			sign = of
			if signs++; signs == 2 {
				other = int32(code)
			}
		}
		percents.add(int32(code), x, w.sign)
		first = cmp.Or(first, int32(code)+1)
		v := l.names.value(int32(code))
		if plain, ok := parseNumber(v); (!ok || plain != x) && (r.sample < 0 || len(v) > len(l.names.value(r.sample))) {
			r.sample = int32(code)
		}
	}
	if signs > 1 { // amounts of different currencies are not to be compared
		return &recognised{state: text, doubt: fmt.Sprintf("is read as names: %s and %s are of different currencies, which cannot be compared; write them in one", quote(l.names.value(first-1)), quote(l.names.value(other)))}
	}
	if percents.doubtful() && r.doubt == "" {
		r.doubt = fmt.Sprintf("%s and %s are read as %s and %s, though the second may be a share of 1; write them in one way",
			quote(l.names.value(percents.of[1])), quote(l.names.value(percents.of[0])), numberText(r.cells[percents.of[1]]), numberText(r.cells[percents.of[0]]))
	}
	return r
}

// mixture is numbers some of which, but not all, are per cent.
type mixture struct {
	seen [2]bool  // without and with the sign
	of   [2]int32 // one of each that shows it best
	most [2]float64
}

func (m *mixture) add(code int32, x float64, sign string) {
	k := 0
	if sign == "%" {
		k = 1
	}
	if x = math.Abs(x); !m.seen[k] || x > m.most[k] {
		m.seen[k], m.of[k], m.most[k] = true, code, x
	}
}

// doubtful reports whether what has no sign may be shares of 1: 0.5 beside 60 %.
func (m *mixture) doubtful() bool {
	return m.seen[0] && m.seen[1] && m.most[0] <= 1 && m.most[1] > 1
}

// guessDecimal decides what 1,234 or 1.234 means where all values are like that.
func (l *look) guessDecimal(here *locale, r *recognised, either int32, f *field) {
	w := &l.numbers[either]
	text := l.names.value(either)
	byComma := bytes.IndexByte(text, ',') >= 0
	between, decimals := byte('.'), here.points && !here.commas // of other columns
	money := w.sign != "" && w.sign != "%"                      // which has no three decimals
	european := (here.commas || here.semicolons) && !here.points
	if byComma {
		between, decimals = ',', european
	}
	groups := l.groups(between)
	told := !decimals && groups.tell()
	switch {
	case byComma && (money || !european), !byComma && !money && !european && !told:
		r.style = Point
	default:
		r.style = Comma
	}
	if money || told {
		return
	}
	x, other := w.point, Comma
	if r.style == Comma {
		x, other = w.comma, Point
	}
	what := "decimals"
	if x == float64(int64(x)) && w.ambiguous() {
		what = "thousands"
	}
	r.doubt = fmt.Sprintf("%s is read as %s, with %s, which no cell tells", quote(text), numberText(x), what)
	r.unsure = remedy.Remedy{Kind: remedy.SayDecimal, What: f.name + "=" + string(other)}
	if r.style == Point && !byComma {
		r.style = ""
	}
}

// asDates reads the values as dates of one order.
func (l *look) asDates(here *locale, f *field) *recognised {
	var fits [3]int
	differ, dots := false, false
	first := int32(-1)
	for code := range l.dates {
		d := &l.dates[code]
		for k, x := range d.days {
			if !l.marked[code] && !IsMissing(x) {
				fits[k]++
			}
		}
		if day, month := d.days[0], d.days[1]; day == day && month == month && day != month && !l.marked[code] {
			if differ = true; first < 0 {
				first = int32(code)
			}
		}
		dots = dots || d.dots
	}
	k := 0
	r := &recognised{state: date, sample: -1, cells: make([]float64, len(l.dates))}
	switch {
	case f.order != "":
		k = orderOf(f.order)
	case fits[2] > max(fits[0], fits[1]):
		k = 2
	case fits[1] > fits[0]:
		k = 1
	case fits[0] == fits[1] && differ:
		k = l.guessOrder(here, dots)
		r.doubt = fmt.Sprintf("%s is read as %s, which no cell tells", quote(l.names.value(first)), dateText(l.dates[first].days[k]))
		r.unsure = remedy.Remedy{Kind: remedy.SayDate, What: f.name + "=" + string(orders[1-k])}
		if dots {
			r.doubt = "" // nobody puts points behind the month first
		}
	}
	r.style = orders[k]
	for code := range l.dates {
		x := l.dates[code].days[k]
		if r.cells[code] = x; l.marked[code] {
			r.cells[code] = NA
		} else if IsMissing(x) {
			r.odd = append(r.odd, int32(code))
		} else {
			r.clock = r.clock || x != float64(int64(x))
			if _, iso := parseDate(l.names.value(int32(code))); !iso && r.sample < 0 {
				r.sample = int32(code)
			}
		}
	}
	return r
}

// guessOrder decides whether the day or the month comes first where no date
// tells: by the other columns, by what divides, or by which makes the days lie
// closer together.
func (l *look) guessOrder(here *locale, dots bool) int {
	if dots || here.order == DayFirst {
		return 0
	}
	if here.order == MonthFirst {
		return 1
	}
	if here.commas || here.semicolons {
		return 0
	}
	span := func(k int) float64 {
		least, most := NA, NA
		for code := range l.dates {
			if x := l.dates[code].days[k]; !l.marked[code] && !IsMissing(x) {
				if !(x >= least) {
					least = x
				}
				if !(x <= most) {
					most = x
				}
			}
		}
		return most - least
	}
	if span(0) < span(1)/2 {
		return 0
	}
	return 1
}

// recognise looks at the columns of names and makes quantities of those that
// are.
func (a *assembly) recognise(notes *notes) error {
	looks := map[*column]*look{}
	here := a.locale
	here.commas = here.commas || a.plan.decimals.all == Comma
	for _, col := range a.columns {
		if !col.field.styled() || col.state != text || col.known == 0 || col.tally != nil {
			continue
		}
		l := lookAt(&col.names, col.field)
		looks[col] = l
		if len(l.odd) > mostOdd {
			continue
		}
		if l.count.numbers > 0 {
			commas, points, _ := l.tells()
			here.commas, here.points = here.commas || commas > points, here.points || points > commas
		} else if l.count.dates > 0 && l.count.clocks == 0 {
			if r := l.asDates(&here, col.field); r.doubt == "" && (r.style == DayFirst || r.style == MonthFirst) {
				here.order = r.style
			}
		}
	}
	for _, col := range a.columns {
		if l := looks[col]; l != nil {
			if err := a.become(col, l, &here, notes); err != nil {
				return err
			}
		} else if err := a.unsaid(col); err != nil {
			return err
		} else if col.isGrouped() {
			notes.remark(Remark{Kind: "style", Column: col.field.name, What: fmt.Sprintf("%s is read with decimals, which no cell tells", quote([]byte(strconv.FormatFloat(col.grouped, 'f', 3, 64)))), Do: remedy.Remedy{Kind: remedy.SayDecimal, What: col.field.name + "=,"}})
		}
		if len(col.gone) > 0 && col.state != text {
			notes.remark(Remark{Kind: "marker", Column: col.field.name, What: quotedList(col.gone) + missingVerb(col.gone)})
		}
	}
	return nil
}

// isGrouped reports whether all numbers of a column are like 1.234, which was
// read with decimals and may be thousands.
func (c *column) isGrouped() bool {
	return c.state == number && c.field.grouped && c.field.decimal == "" && c.known > 0 && !c.telling
}

// group looks whether numbers are like 1.234 further on.
func (c *column) group(xs []float64) {
	for _, x := range xs {
		if c.grouped == 0 && !IsMissing(x) {
			c.grouped = x
		}
		c.telling = c.telling || math.Abs(x) < 1 || math.Abs(x) >= 1000 || math.Abs(x*1000-math.Round(x*1000)) > 1e-6
	}
}

func missingVerb(texts []string) string {
	if len(texts) == 1 {
		return " is read as missing"
	}
	return " are read as missing"
}

func keptVerb(texts []string) string {
	if len(texts) == 1 {
		return " is kept as a name"
	}
	return " are kept as names"
}

// become makes a column of names what it was recognised as, or says which cells
// keep it from that.
func (a *assembly) become(col *column, l *look, here *locale, notes *notes) error {
	r := l.decide(here, col.field)
	name := col.field.name
	good := col.names.len() - len(l.markers) - len(r.odd)
	if r.state == text || len(r.odd) > 0 {
		if col.field.how == asQuantity {
			odd := append(slices.Clone(r.odd), l.odd...)
			if len(odd) == 0 {
				odd = []int32{0}
			}
			return fmt.Errorf("%s:%s %s", a.plan.name, a.rowOf(col, odd[0]), notQuantity.say(name, col.names.value(odd[0])))
		}
		if told, err := a.contradicts(col, l, here, notes); told || err != nil {
			return err
		}
		if r.doubt != "" && r.state == text {
			notes.remark(Remark{Kind: "odd", Column: name, What: r.doubt})
		}
		if r.state != text && len(r.odd) <= mostOdd && (good >= 5 && good >= 3*len(r.odd) || good >= 2 && col.rarely(r.odd)) {
			a.sayOdd(col, r, good, notes)
		}
		return nil
	}
	for _, m := range l.markers {
		col.mark([]byte(m))
	}
	if r.doubt != "" {
		notes.remark(Remark{Kind: "style", Column: name, What: r.doubt, Do: r.unsure})
	} else if r.sample >= 0 {
		shown := Attribute{Kind: Numeric, Date: r.state == date && !r.clock, Time: r.clock, Style: r.style}
		x := r.cells[r.sample]
		if r.clock {
			x = secondsOf(x)
		}
		as := shown.Format(x)
		if r.style == Clock {
			as = "a time of day"
		}
		notes.remark(Remark{Kind: "style", Column: name, What: fmt.Sprintf("%s is read as %s", quote(col.names.value(r.sample)), as)})
	}
	col.state, col.form, col.clock = r.state, r.style, r.clock
	if a.survey && name == a.plan.options.Target && r.state == number {
		col.few.add(r.cells)
	}
	col.floats = make([]float64, len(col.codes), max(len(col.codes), a.rows))
	for i, code := range col.codes {
		if col.floats[i] = NA; code >= 0 {
			col.floats[i] = r.cells[code]
		}
	}
	col.codes, col.names = nil, dictionary{}
	return nil
}

// contradicts reports whether a column is read as names because its cells are not
// written as the user says: an error if that was said of this column, else a remark
// if it would be quantities by itself.
func (a *assembly) contradicts(col *column, l *look, here *locale, notes *notes) (told bool, err error) {
	f := col.field
	itself := l.decide(here, &field{name: f.name})
	alone := itself.state != text && len(itself.odd) == 0
	said := l.decide(here, f)
	odd := append(slices.Clone(said.odd), l.odd...)
	if len(odd) == 0 {
		return false, nil
	}
	cell := quote(col.names.value(odd[0]))
	var what string
	var do remedy.Remedy
	switch {
	case f.order != "" && f.order != "iso" && (f.dated || alone && itself.state == date):
		what = fmt.Sprintf("%s is no date in the order %s", cell, f.order)
		if alone && itself.style != "" && itself.style != f.order {
			do = remedy.Remedy{Kind: remedy.SayDate, What: f.name + "=" + string(itself.style)}
		}
	case f.decimal != "" && (f.pointed || alone && itself.state == number):
		what = fmt.Sprintf("%s is no number with %s before its decimals", cell, signNames[f.decimal])
		if alone && itself.style != "" && itself.style != f.decimal {
			do = remedy.Remedy{Kind: remedy.SayDecimal, What: f.name + "=" + string(itself.style)}
		}
	default:
		return false, nil
	}
	if f.dated || f.pointed {
		err := fmt.Errorf("%s:%s column %q: %s, as was said of it", a.plan.name, a.rowOf(col, odd[0]), f.name, what)
		return true, &remedy.Error{Err: err, Remedy: do, Misuse: true}
	}
	row, _ := a.first(col, odd[0])
	notes.remark(Remark{Kind: "odd", Column: f.name, Row: row, What: fmt.Sprintf("is read as names: %s, as was said of all columns", what), Do: do})
	return true, nil
}

var signNames = map[Style]string{Comma: "a comma", Point: "a point"}

// unsaid is an error where a column of numbers was said to have dates, or one of
// dates to have decimals.
func (a *assembly) unsaid(col *column) error {
	f := col.field
	switch {
	case !f.judged() || col.known == 0:
	case f.dated && col.state == number && f.order != "iso":
		return remedy.Misusef("%s: column %q: its cells are numbers, no dates in the order %s, as was said of it", a.plan.name, f.name, f.order)
	case f.pointed && col.state == date:
		return remedy.Misusef("%s: column %q: its cells are dates, no numbers with %s before their decimals, as was said of it", a.plan.name, f.name, signNames[f.decimal])
	}
	return nil
}

// rarely reports whether values of a column stand in hardly any of its rows: one
// of twenty at most.
func (c *column) rarely(values []int32) bool {
	n, rows := 0, len(c.codes)
	for _, code := range c.codes {
		if slices.Contains(values, code) {
			n++
		}
	}
	if c.length > 0 && c.names.len() <= counted { // of a survey, which kept no codes
		rows = c.length
		for _, code := range values {
			n += c.counts[code]
		}
	}
	return n > 0 && 20*n <= rows
}

// counted is up to how many names a survey knows how often each came. Of more, no
// few odd ones are of a kind with so few others that it matters how often.
const counted = 64

// count takes note of how often names came.
func (a *assembly) count(col *column, codes []int32) {
	n := col.names.len()
	if n > counted {
		return
	}
	col.length = a.rows + len(codes)
	col.counts = append(col.counts, make([]int, n-len(col.counts))...)
	for _, local := range codes {
		if code := col.recode[local+1]; code >= 0 {
			col.counts[code]++
		}
	}
}

// sayOdd shows the cells because of which a column is read as names.
func (a *assembly) sayOdd(col *column, r *recognised, good int, notes *notes) {
	what := "numbers"
	if r.state == date {
		what = "dates or times"
	}
	var cells, texts []string
	for _, code := range r.odd {
		value := string(col.names.value(code))
		texts = append(texts, value)
		cell := quote([]byte(value))
		if row := a.rowOf(col, code); row != "" {
			cell += " (" + strings.Trim(row, " :") + ")"
		}
		cells = append(cells, cell)
	}
	row, _ := a.first(col, r.odd[0])
	notes.remark(Remark{Kind: "odd", Column: col.field.name, Row: row, What: fmt.Sprintf("is read as names because of %s: its other %d values are %s", strings.Join(cells, ", "), good, what),
		Do: remedy.Remedy{Kind: remedy.SayMissing, What: remedy.Listed(texts...)}})
}

// rowOf says in which row a value first stands, "" if rows were not kept.
func (a *assembly) rowOf(col *column, code int32) string {
	if row, ok := a.first(col, code); ok {
		return fmt.Sprintf(" row %d:", row)
	}
	return ""
}

// first returns the row, from 1, in which a value first stands, if it is one of
// the first values of its column.
func (a *assembly) first(col *column, code int32) (row int, ok bool) {
	switch {
	case code >= placed:
		return 0, false
	case a.survey:
		return col.rows[code], true
	}
	return slices.Index(col.codes, code) + 1, true
}

// placed is of how many values a survey knows where they stand.
const placed = 1 << 16

// place takes note of where names that are new stand.
func (a *assembly) place(col *column, codes []int32, known int) {
	last := min(col.names.len(), placed)
	if !col.field.styled() && a.plan.options.Schema != nil || known >= last {
		return
	}
	col.rows = append(col.rows, make([]int, last-len(col.rows))...)
	left := last - known
	for i, local := range codes {
		if code := int(col.recode[local+1]); code >= known && code < last && col.rows[code] == 0 {
			col.rows[code] = a.rows + i + 1
			if left--; left == 0 {
				return
			}
		}
	}
}

// judge takes the texts that mean a missing cell out of a column of names, and
// returns the others, in order, with the new code of each old one.
func (a *assembly) judge(col *column, notes *notes) (values []string, recode []int32) {
	values, recode = col.names.sorted()
	if !col.field.judged() {
		return values, recode
	}
	like := likeThese(values)
	like.any = col.field.only
	var gone, kept []string
	to := make([]int32, len(values))
	left := values[:0:0]
	for i, v := range values {
		to[i] = int32(len(left))
		if like.isMissing([]byte(v)) {
			to[i] = Missing
			gone = append(gone, v)
			continue
		}
		if left = append(left, v); !like.any && isMarker([]byte(v)) {
			kept = append(kept, v)
		}
	}
	if len(kept) > 0 && len(kept) < len(left) {
		// That NA is Namibia is surprising; that none is a name is not.
		silent := !slices.ContainsFunc(kept, func(v string) bool { return isStrong([]byte(v)) })
		notes.remark(Remark{Kind: "marker", Column: col.field.name, What: quotedList(kept) + keptVerb(kept), Do: remedy.Remedy{Kind: remedy.SayMissing, What: remedy.Listed(kept...)}, Silent: silent})
	}
	if len(gone) == 0 {
		return values, recode
	}
	col.gone = nil
	for _, v := range gone {
		col.mark([]byte(v))
	}
	if len(col.gone) > 0 {
		notes.remark(Remark{Kind: "marker", Column: col.field.name, What: quotedList(col.gone) + missingVerb(col.gone)})
	}
	for i, code := range recode {
		recode[i] = to[code]
	}
	return left, recode
}

// quotedList shows a few texts.
func quotedList(texts []string) string {
	const most = 5
	var quoted []string
	for _, t := range texts[:min(most, len(texts))] {
		quoted = append(quoted, quote([]byte(t)))
	}
	if len(texts) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// mark takes note of a text that was read as missing, if it is not one of the
// most usual ones.
func (c *column) mark(text []byte) { markIn(&c.gone, text) }

func markIn(gone *[]string, text []byte) {
	if !isMissing(text) && len(*gone) < mostOdd && !slices.Contains(*gone, string(text)) {
		*gone = append(*gone, string(text))
	}
}

// styled reports whether a column of names may turn out to be quantities, and
// judged whether its names may turn out to mean missing cells: not where a
// schema, a declaration or the user says what they are.
func (f *field) styled() bool { return f.judged() && (f.how == auto || f.how == asQuantity) }

func (f *field) judged() bool { return f.attr < 0 && !f.closed && !f.group && !f.weight }

// formOf returns the style of a column: as it turned out, or as it was said.
func (f *field) formOf(col *column) Style {
	switch {
	case col.form != "":
		return col.form
	case col.state == number:
		return f.decimal
	case col.state == date && f.order != "iso":
		return f.order
	}
	return ""
}

// rereads reports whether columns must be read again as names: they turned out
// to be, or may be, some of their cells having been taken otherwise before.
func (a *assembly) rereads() bool {
	commas := a.locale.semicolons
	for _, col := range a.columns {
		if col.tally != nil && !col.regrets() {
			continue
		}
		if col.state == text && (col.marked > 0 || col.tally != nil) && col.field.judged() {
			col.state, a.again = mixed, true
		}
		if col.state == mixed {
			commas = true
		}
		if !commas && col.state == text && col.field.styled() {
			if l := lookAt(&col.names, col.field); len(l.odd) <= mostOdd {
				n, points, _ := l.tells()
				commas = n > points
			}
		}
	}
	for _, col := range a.columns {
		f := col.field
		if col.state == number && f.how == auto && (commas && f.mayGroup || f.groups && !a.locale.points) {
			col.state, col.floats, a.again = mixed, nil, true
		}
	}
	return a.again
}

// others counts the columns that rows can be told apart by, so that the only one
// of them is not left out.
func (a *assembly) others() (n int) {
	for _, col := range a.columns {
		if !col.field.weight && !col.field.group && col.field.name != a.plan.options.Target {
			n++
		}
	}
	return n
}

// serial tells whether the numbers of a column only number the rows: they go up
// by one from 0 or 1, or in equal steps from where numbers of files and customers
// begin, or the column is called an id and hardly a number comes twice.
// So that little is kept, only the first ones are compared.
type serial struct {
	over, called, gap bool
	uneven            bool // steps differ
	n, compared       int
	first, step, last float64
	seen              map[float64]bool
}

const (
	serialSeen  = 1 << 14
	serialFirst = 100 // a number of a file, if steps are equal
	serialLeast = 30  // of so many rows
)

// add looks at further numbers.
func (s *serial) add(name string, xs []float64) {
	if s.n == 0 {
		if s.called = IsIDName(name); s.called {
			s.seen = map[float64]bool{}
		}
		s.gap = isClockName(name)
		s.uneven = s.gap
	}
	for _, x := range xs {
		if !isInteger(x) || IsMissing(x) {
			s.over, s.seen = true, nil
			return
		}
		s.gap = s.gap || s.n == 0 && x != 0 && x != 1 || s.n > 0 && x != s.last+1
		switch s.n {
		case 0:
			s.first, s.uneven = x, s.uneven || x < serialFirst
		case 1:
			s.step, s.uneven = x-s.last, s.uneven || x <= s.last
		default:
			s.uneven = s.uneven || x-s.last != s.step
		}
		s.last = x
		s.n++
		if s.called && s.compared < serialSeen {
			s.seen[x] = true
			s.compared++
		} else if s.gap && s.uneven && !s.called {
			s.over = true
			return
		}
	}
}

func (s *serial) is() bool {
	return !s.over && s.n > 0 && (!s.gap || !s.uneven && s.n >= serialLeast || s.called && 10*len(s.seen) >= 9*s.compared)
}

// IsIDName reports whether a column is called as those are that name rows.
func IsIDName(name string) bool {
	lower := strings.ToLower(strings.TrimSpace(name))
	for _, word := range []string{"id", "key", "index", "idx", "uuid", "guid", "nr", "no", "no.", "#", "rownum", "rowid", "row", "pk", "unnamed: 0"} {
		if lower == word {
			return true
		}
	}
	for _, end := range []string{"_id", " id", "-id", ".id", "_no", "_nr", " no", " nr", "_key", "_number", " number", "nummer", "nr"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	for _, begin := range []string{"n°", "nº", "no. ", "nr. ", "id ", "id_"} {
		if strings.HasPrefix(lower, begin) {
			return true
		}
	}
	return len(name) > 2 && strings.HasSuffix(name, "ID") && name[len(name)-3] >= 'a' || len(name) > 2 && strings.HasSuffix(name, "Id") && name[len(name)-3] >= 'a'
}

// isClockName reports whether a column is called as time is, which goes up by
// one as well.
func isClockName(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{"year", "month", "week", "day", "hour", "minute", "second", "time", "date", "step", "age", "epoch", "jahr", "tag"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return lower == "t" || lower == "x"
}
