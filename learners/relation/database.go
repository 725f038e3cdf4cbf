package relation

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// database is relations as columns of codes, found by any of their columns. It is
// made of linked tables or of a logic program, and is never changed.
//
// Of a folder of tables every row is a thing, named by its primary key, or by its
// place if it has none; each other column is a relation of two places, items_quantity
// (I, Q), and one that names rows of another table leads there. Numbers stay numbers.
// Over the many rows that name one, their count and the least, greatest and mean of
// their numbers are relations, too.
type database struct {
	domains   []*domain
	relations []*relation // in order of names
	byName    map[string]*relation
	bias      *logic.Bias
	program   *logic.Program // the background, where it is one
	key       []string       // the columns that name the rows of the target's table
	of        int            // the domain of its rows
	linked    bool           // it is of linked tables
}

// domain is the things that a column may name.
type domain struct {
	name  string
	codes map[string]int32
	names []string
}

func (d *domain) code(name string) int32 {
	c, ok := d.codes[name]
	if !ok {
		c = int32(len(d.names))
		d.codes[name] = c
		d.names = append(d.names, name)
	}
	return c
}

// find returns the code of a name, unknown if there is none.
func (d *domain) find(name string) int32 {
	if c, ok := d.codes[name]; ok {
		return c
	}
	return unknown
}

// unknown is the code of what no relation names.
const unknown = math.MaxInt32

// place is an argument of a relation: the domain of its codes and, where one is
// stated, its type, so that only what is alike is joined. Numbers have no domain.
type place struct {
	domain int
	kind   string
}

const numbers = -1

func (p place) joins(q place) bool {
	return p.domain == q.domain && p.domain >= 0 && (p.kind == q.kind || p.kind == "" || q.kind == "")
}

// relation is tuples, each once, in columns.
type relation struct {
	name      string
	places    []place
	columns   [][]int32
	numbers   []float64       // of the last place, if it has no domain
	attribute table.Attribute // how numbers are written
	constants []bool          // places in which constants may stand
	derived   string          // an aggregate, in words
	over      *relation       // and by what the rows that it is of name one
	hidden    bool            // not for literals of its own
	cutOnly   bool            // the numbers of another relation, for ways that cut them

	indexes []index
	ranking struct {
		once     sync.Once
		rank     []int32 // of each tuple's number among the distinct ones; -1 is missing
		distinct []float64
	}
	descent struct {
		once sync.Once
		ways map[[2]int]bool
	}
}

// index finds the tuples that have a code in a column.
type index struct {
	once  sync.Once
	start []int32 // of each code's tuples, and one more
	rows  []int32
	most  int32 // tuples of one code
}

func (r *relation) size() int {
	if len(r.columns) > 0 {
		return len(r.columns[0])
	}
	return len(r.numbers)
}

func (r *relation) arity() int { return len(r.places) }

// numeric reports whether the last place is a number.
func (r *relation) numeric() bool {
	return len(r.places) > 0 && r.places[len(r.places)-1].domain == numbers
}

// with returns the tuples that have a code in a column.
func (r *relation) with(column int, code int32) []int32 {
	x := r.indexed(column)
	if code < 0 || int(code)+1 >= len(x.start) {
		return nil
	}
	return x.rows[x.start[code]:x.start[code+1]]
}

func (r *relation) indexed(column int) *index {
	x := &r.indexes[column]
	x.once.Do(func() {
		most := int32(-1)
		cells := r.columns[column]
		for _, c := range cells {
			if c != unknown {
				most = max(most, c)
			}
		}
		x.start = make([]int32, most+2)
		for _, c := range cells {
			if c >= 0 && c != unknown {
				x.start[c+1]++
			}
		}
		for c := range x.start[:most+1] {
			x.most = max(x.most, x.start[c+1])
			x.start[c+1] += x.start[c]
		}
		x.rows = make([]int32, x.start[most+1])
		at := slices.Clone(x.start)
		for i, c := range cells {
			if c >= 0 && c != unknown {
				x.rows[at[c]] = int32(i)
				at[c]++
			}
		}
	})
	return x
}

// determines reports whether what stands in a column decides all other columns.
func (r *relation) determines(column int) bool { return r.indexed(column).most <= 1 }

// ranked returns the rank of each tuple's number, and the distinct numbers.
func (r *relation) ranked() ([]int32, []float64) {
	k := &r.ranking
	k.once.Do(func() {
		for _, x := range r.numbers {
			if !table.IsMissing(x) {
				k.distinct = append(k.distinct, x)
			}
		}
		slices.Sort(k.distinct)
		k.distinct = slices.Clip(slices.Compact(k.distinct))
		k.rank = make([]int32, len(r.numbers))
		for i, x := range r.numbers {
			k.rank[i] = -1
			if !table.IsMissing(x) {
				at, _ := slices.BinarySearch(k.distinct, x)
				k.rank[i] = int32(at)
			}
		}
	})
	return k.rank, k.distinct
}

// number returns the number of what has a code in the first place, NA if there is
// none.
func (r *relation) number(code int32) float64 {
	if rows := r.with(0, code); len(rows) > 0 {
		return r.numbers[rows[0]]
	}
	return table.NA
}

func newRelation(name string, places []place, columns [][]int32) *relation {
	return &relation{name: name, places: places, columns: columns, indexes: make([]index, len(places)), constants: make([]bool, len(places))}
}

// compiled returns the database of linked tables, made once.
func compiled(l *table.Linked) *database {
	return l.Compiled(func() any {
		if l.Program != "" || len(l.Tables) == 0 {
			return ofProgram(l)
		}
		return ofTables(l)
	}).(*database)
}

func (db *database) finish() *database {
	slices.SortStableFunc(db.relations, func(a, b *relation) int { return strings.Compare(a.name, b.name) })
	db.byName = make(map[string]*relation, len(db.relations))
	for _, r := range db.relations {
		db.byName[r.name] = r
	}
	return db
}

func (db *database) domain(name string) int {
	db.domains = append(db.domains, &domain{name: name, codes: map[string]int32{}})
	return len(db.domains) - 1
}

// mostConstants is how many values a column may have for each to be worth a test.
const mostConstants = 200

// ofTables makes a database of a folder's tables.
func ofTables(l *table.Linked) *database {
	db := &database{of: -1, linked: true}
	rows := make([]int, len(l.Tables)) // the domain of each table's rows
	codes := make([][]int32, len(l.Tables))
	for i := range l.Tables {
		t := &l.Tables[i]
		rows[i] = db.domain(t.Name)
		codes[i] = db.rowCodes(rows[i], t.Table, t.Primary)
		if t.Name == l.Of {
			db.of, db.key = rows[i], t.Primary
		}
	}
	at := func(name string) int {
		return slices.IndexFunc(l.Tables, func(t table.NamedTable) bool { return t.Name == name })
	}
	for i := range l.Tables {
		db.columns(&l.Tables[i], rows[i], codes[i], l.Links, func(name string) int {
			if k := at(name); k >= 0 {
				return rows[k]
			}
			return -1
		})
	}
	db.aggregate(l)
	return db.finish()
}

// rowCodes returns the code of each row: of its key, or of its place.
func (db *database) rowCodes(of int, t *table.Table, key []string) []int32 {
	d := db.domains[of]
	codes := make([]int32, t.Rows())
	name := namer(t, key)
	for r := range codes {
		if text := name(r); text != "" {
			codes[r] = d.code(text)
		} else {
			codes[r] = d.code("#" + strconv.Itoa(r+1))
		}
	}
	return codes
}

// namer returns what a row's cells in some columns say together, "" if one of them is
// missing or there is no such column.
func namer(t *table.Table, columns []string) func(row int) string {
	var at []int
	for _, c := range columns {
		i := t.Schema.Index(c)
		if i < 0 {
			return func(int) string { return "" }
		}
		at = append(at, i)
	}
	return func(row int) string {
		text := ""
		for k, i := range at {
			cell := t.Text(row, i)
			if cell == "" {
				return ""
			}
			if k > 0 {
				text += "|"
			}
			text += cell
		}
		return text
	}
}

// columns adds the relations of a table: one for each column.
func (db *database) columns(t *table.NamedTable, of int, codes []int32, links []table.Link, domainOf func(string) int) {
	rows := place{domain: of}
	linked := map[string]bool{}
	for _, p := range t.Primary {
		linked[p] = len(t.Primary) == 1
	}
	for _, l := range links {
		to := domainOf(l.To)
		if l.Table != t.Name || to < 0 {
			continue
		}
		for _, c := range l.Columns {
			linked[c] = true
		}
		name := namer(t.Table, l.Columns)
		cells := make([]int32, t.Table.Rows())
		for r := range cells {
			cells[r] = -1
			if text := name(r); text != "" {
				cells[r] = db.domains[to].code(text)
			}
		}
		db.relations = append(db.relations, newRelation(t.Name+"_"+strings.Join(l.Columns, "_"), []place{rows, {domain: to}}, [][]int32{codes, cells}))
	}
	for i := range t.Table.Schema.Attributes {
		if a := &t.Table.Schema.Attributes[i]; !linked[a.Name] {
			db.attribute(t.Name+"_"+a.Name, rows, codes, a, &t.Table.Columns[i])
		}
	}
}

// attribute adds a column as a relation between rows and its cells.
func (db *database) attribute(name string, rows place, codes []int32, a *table.Attribute, column *table.Column) {
	switch a.Kind {
	case table.Numeric:
		r := newRelation(name, []place{rows, {domain: numbers}}, [][]int32{codes})
		r.numbers, r.attribute = column.Floats, table.Attribute{Name: a.Name, Kind: a.Kind, Date: a.Date, Time: a.Time}
		db.relations = append(db.relations, r)
	case table.Nominal:
		d := db.domain(name)
		cells := make([]int32, len(column.Codes))
		of := make([]int32, len(a.Values))
		for i, v := range a.Values {
			of[i] = db.domains[d].code(v)
		}
		for i, c := range column.Codes {
			switch {
			case c >= 0:
				cells[i] = of[c]
			case c == table.Unseen:
				cells[i] = unknown
			default:
				cells[i] = -1
			}
		}
		r := newRelation(name, []place{rows, {domain: d}}, [][]int32{codes, cells})
		r.constants[1] = len(a.Values) <= mostConstants
		r.attribute.Name = a.Name
		db.relations = append(db.relations, r)
	}
}

// aggregate adds what is counted over the many rows that name one.
func (db *database) aggregate(l *table.Linked) {
	below := beneath(l)
	for _, link := range l.Links {
		if !below[link.To] {
			continue
		}
		name := link.Table + "_" + strings.Join(link.Columns, "_")
		i := slices.IndexFunc(db.relations, func(r *relation) bool { return r.name == name })
		if i < 0 {
			continue
		}
		r := db.relations[i]
		to := r.places[1]
		ones := len(db.domains[to.domain].names)
		codes := make([]int32, ones)
		count := make([]float64, ones)
		for c := range codes {
			codes[c] = int32(c)
			count[c] = float64(len(r.with(1, int32(c))))
		}
		prefix := link.To + "_"
		suffix := "_" + link.Table
		before := len(db.relations)
		if len(parallel(l, link)) > 1 {
			suffix += "_" + strings.Join(link.Columns, "_")
		}
		db.derive(prefix+"count"+suffix, to, codes, count, "number of "+link.Table, table.Attribute{})
		for _, of := range db.relations {
			if of.derived != "" || !of.numeric() || of.places[0] != r.places[0] {
				continue
			}
			least, most, mean := spread(r, of, ones)
			column := of.attribute.Name
			db.derive(prefix+"min"+suffix+"_"+column, to, codes, least, "least "+column+" of "+link.Table, of.attribute)
			db.derive(prefix+"max"+suffix+"_"+column, to, codes, most, "greatest "+column+" of "+link.Table, of.attribute)
			db.derive(prefix+"mean"+suffix+"_"+column, to, codes, mean, "mean "+column+" of "+link.Table, of.attribute)
		}
		for _, d := range db.relations[before:] {
			d.over = r
		}
	}
}

// beneath is the table that is predicted, and those whose rows belong to one of its
// rows, or to a row that does. Over what is shared with others nothing is counted: it
// would count them, too.
func beneath(l *table.Linked) map[string]bool {
	below := map[string]bool{l.Of: true}
	for more := true; more; {
		more = false
		for _, link := range l.Links {
			if below[link.To] && !below[link.Table] {
				below[link.Table], more = true, true
			}
		}
	}
	return below
}

// parallel returns the links between the same two tables.
func parallel(l *table.Linked, link table.Link) []table.Link {
	return slices.DeleteFunc(slices.Clone(l.Links), func(o table.Link) bool { return o.Table != link.Table || o.To != link.To })
}

func (db *database) derive(name string, of place, codes []int32, numbers_ []float64, words string, a table.Attribute) {
	r := newRelation(name, []place{of, {domain: numbers}}, [][]int32{codes})
	r.numbers, r.derived, r.attribute = numbers_, words, a
	db.relations = append(db.relations, r)
}

// spread returns the least, greatest and mean number of the rows that name each one,
// missing where there is none. The mean of numbers that do not differ is that number,
// so it is left to the least.
func spread(link, of *relation, ones int) (least, most, mean []float64) {
	least, most, mean = make([]float64, ones), make([]float64, ones), make([]float64, ones)
	for c := range ones {
		least[c], most[c], mean[c] = table.NA, table.NA, table.NA
		sum, n := 0.0, 0.0
		for _, row := range link.with(1, int32(c)) {
			x := of.number(link.columns[0][row])
			if table.IsMissing(x) {
				continue
			}
			if n == 0 {
				least[c], most[c] = x, x
			}
			least[c], most[c] = min(least[c], x), max(most[c], x)
			sum += x
			n++
		}
		if n > 0 {
			mean[c] = significant(sum/n, max(math.Abs(least[c]), math.Abs(most[c])))
		}
	}
	return least, most, mean
}

// significant rounds a mean to twelve digits of the greatest number in it, so that means that
// are equal but for how they were added up are one number.
func significant(x, most float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 11-math.Floor(math.Log10(most)))
	if y := math.Round(x*scale) / scale; !math.IsInf(scale, 0) && !math.IsNaN(y) {
		return y
	}
	return x
}

// examples are rows to be told apart: a tuple of codes each.
type examples struct {
	columns [][]int32 // of the head's places
	places  []place
}

// over returns the database with the rows of a table as examples: what their cells
// say comes before what the database says of them.
func (db *database) over(t *table.Table, target int) (*database, *examples) {
	if db.program != nil {
		own := *db
		own.domains = slices.Clone(db.domains)
		return &own, own.tuples(t, target)
	}
	own := &database{domains: slices.Clone(db.domains), relations: slices.Clone(db.relations), of: db.of, key: db.key, linked: db.linked}
	prefix := ""
	var codes []int32
	if db.of < 0 { // rows that stand alone
		own.of = own.domain("row")
		codes = make([]int32, t.Rows())
		for r := range codes {
			codes[r] = int32(r)
		}
	} else {
		prefix = db.domains[db.of].name + "_"
		codes = own.keyCodes(t)
	}
	rows := place{domain: own.of}
	for i := range t.Schema.Attributes {
		a := &t.Schema.Attributes[i]
		name := prefix + a.Name
		at := slices.IndexFunc(own.relations, func(r *relation) bool { return r.name == name })
		if i == target || a.Kind == table.Text || at < 0 && slices.Contains(db.key, a.Name) {
			continue
		}
		if at < 0 {
			own.attribute(name, rows, codes, a, &t.Columns[i])
			continue
		}
		own.relations[at] = own.overlay(own.relations[at], codes, t, i)
	}
	own.compare(t, target, prefix, rows, codes)
	return own.finish(), &examples{columns: [][]int32{codes}, places: []place{rows}}
}

// keyCodes returns the codes of rows by their keys; those that no table names get
// codes of their own.
func (db *database) keyCodes(t *table.Table) []int32 {
	d := db.domains[db.of]
	codes := make([]int32, t.Rows())
	name := namer(t, db.key)
	next := int32(len(d.names))
	fresh := map[string]int32{}
	for r := range codes {
		text := name(r)
		c := d.find(text)
		if text == "" {
			c = unknown
		}
		if c == unknown {
			known, ok := fresh[text]
			if !ok || text == "" {
				known = next
				next++
				fresh[text] = known
			}
			c = known
		}
		codes[r] = c
	}
	if len(fresh) > 0 {
		names := slices.Clone(d.names)
		for range int(next) - len(names) {
			names = append(names, "")
		}
		for text, c := range fresh {
			names[c] = text
		}
		db.domains[db.of] = &domain{name: d.name, codes: d.codes, names: names}
	}
	return codes
}

// overlay returns a relation of the target's table with the cells of a column in the
// place of what it says of the same rows.
func (db *database) overlay(r *relation, codes []int32, t *table.Table, column int) *relation {
	theirs := map[int32]bool{}
	for _, c := range codes {
		theirs[c] = true
	}
	keys := slices.Clone(codes)
	var rest []int
	for i, c := range r.columns[0] {
		if !theirs[c] {
			rest = append(rest, i)
			keys = append(keys, c)
		}
	}
	own := newRelation(r.name, r.places, [][]int32{keys})
	own.attribute, own.constants = r.attribute, r.constants
	cells := &t.Columns[column]
	if r.numeric() {
		if cells.Floats == nil {
			return r
		}
		own.numbers = slices.Clone(cells.Floats)
		for _, i := range rest {
			own.numbers = append(own.numbers, r.numbers[i])
		}
		return own
	}
	d := db.domains[r.places[1].domain]
	second := make([]int32, 0, len(keys))
	for row := range codes {
		switch text := t.Text(row, column); text {
		case "":
			second = append(second, -1)
		default:
			second = append(second, d.find(text))
		}
	}
	for _, i := range rest {
		second = append(second, r.columns[1][i])
	}
	own.columns = append(own.columns, second)
	return own
}

// alone is the database of rows that point at nothing.
func alone() *database { return (&database{of: -1}).finish() }

// tuples are the examples of a program: a term for each argument.
func (db *database) tuples(t *table.Table, target int) *examples {
	x := &examples{}
	kinds := db.bias.Types[db.bias.Head.Name]
	terms := db.domains[0]
	extended := false
	code := func(text string) int32 { // what the background does not name has a name all the same
		if c := terms.find(text); c != unknown {
			return c
		}
		if !extended {
			terms = &domain{terms.name, maps.Clone(terms.codes), slices.Clone(terms.names)}
			db.domains[0], extended = terms, true
		}
		return terms.code(text)
	}
	for i := range t.Columns {
		if i == target || t.Schema.Attributes[i].Kind != table.Nominal {
			continue
		}
		codes := make([]int32, t.Rows())
		of := make([]int32, len(t.Schema.Attributes[i].Values))
		for v, text := range t.Schema.Attributes[i].Values {
			of[v] = code(text)
		}
		for r, c := range t.Columns[i].Codes {
			switch {
			case c >= 0:
				codes[r] = of[c]
			case c == table.Missing:
				codes[r] = -1
			default:
				codes[r] = unknown
			}
		}
		p := place{}
		if n := len(x.places); n < len(kinds) {
			p.kind = kinds[n]
		}
		x.columns, x.places = append(x.columns, codes), append(x.places, p)
	}
	return x
}

// ofProgram makes a database of the facts of a program.
func ofProgram(l *table.Linked) *database {
	db := &database{of: -1}
	// What does not parse was refused when it was read; nothing is known then.
	db.program, _ = logic.Read("background", l.Program)
	if db.program == nil {
		db.program = logic.NewProgram(nil)
	}
	if db.bias, _ = logic.ReadBias(l.Bias); db.bias == nil {
		db.bias = &logic.Bias{}
	}
	if name, arity, ok := strings.Cut(l.Of, "/"); ok && db.bias.Head.Name == "" {
		db.bias.Head.Name = name
		db.bias.Head.Arity, _ = strconv.Atoi(arity)
	}
	all := db.domain("term")
	for _, of := range db.program.Predicates() {
		if of == db.bias.Head || db.bias.Body != nil && !slices.Contains(db.bias.Body, of) {
			continue
		}
		if r := db.ofPredicate(of, all); r != nil {
			db.relations = append(db.relations, r)
			if n := db.measuring(r); n != nil {
				db.relations = append(db.relations, n)
			}
		}
	}
	return db.finish()
}

// numberMark ends the name of a relation of a program whose last place is read as a number;
// it is never written.
const numberMark = "#"

// fewestNumbers is how many numbers a place must have to be cut.
const fewestNumbers = 6

// measuring returns a relation again with its last place as a number, where that says how
// much of something there is: numbers of things that are none, and name nothing else.
func (db *database) measuring(r *relation) *relation {
	last := len(r.places) - 1
	if last < 1 {
		return nil
	}
	names := db.domains[r.places[last].domain].names
	read := func(column []int32) []float64 {
		var all []float64
		for _, c := range column {
			x, err := strconv.ParseFloat(names[c], 64)
			if err != nil {
				return nil
			}
			all = append(all, x)
		}
		return all
	}
	numbers_ := read(r.columns[last])
	if numbers_ == nil {
		return nil
	}
	for _, column := range r.columns[:last] {
		if read(column) != nil {
			return nil // a relation between numbers
		}
	}
	distinct := slices.Clone(numbers_)
	slices.Sort(distinct)
	if len(slices.Compact(distinct)) < fewestNumbers {
		return nil
	}
	places := slices.Clone(r.places)
	places[last] = place{domain: numbers}
	n := newRelation(r.name+numberMark, places, r.columns[:last])
	n.numbers, n.attribute, n.cutOnly = numbers_, table.Attribute{Name: r.name, Kind: table.Numeric}, true
	return n
}

// mostFacts is how many facts of a predicate that has rules are computed.
const mostFacts = 1 << 20

// ofPredicate returns the tuples of a predicate: its facts, or what its clauses prove.
// It returns nil where they are not finite or not found within limits.
func (db *database) ofPredicate(of logic.Predicate, domain int) *relation {
	var tuples [][]logic.Term
	ground := true
	for _, c := range db.program.Of(of) {
		args := c.Arguments()
		ground = ground && len(c.Body) == 0 && logic.IsGround(c.Head)
		tuples = append(tuples, args)
	}
	if !ground {
		if tuples = db.prove(of); tuples == nil {
			return nil
		}
	}
	kinds := db.bias.Types[of.Name]
	places := make([]place, of.Arity)
	for k := range places {
		places[k].domain = domain
		if k < len(kinds) {
			places[k].kind = kinds[k]
		}
	}
	d := db.domains[domain]
	coded := make([][]int32, len(tuples))
	for i, t := range tuples {
		coded[i] = make([]int32, of.Arity)
		for k, a := range t {
			coded[i][k] = d.code(logic.Format(a, nil))
		}
	}
	slices.SortFunc(coded, slices.Compare[[]int32])
	coded = slices.CompactFunc(coded, slices.Equal[[]int32])
	columns := make([][]int32, of.Arity)
	for k := range columns {
		columns[k] = make([]int32, len(coded))
		for i := range coded {
			columns[k][i] = coded[i][k]
		}
	}
	r := newRelation(of.Name, places, columns)
	if of.Arity == 0 {
		r.numbers = make([]float64, len(coded)) // the one tuple, if it holds
	}
	for k := range places {
		_, r.constants[k] = db.bias.Constants[places[k].kind]
		r.constants[k] = r.constants[k] || db.bias.Fixed(of.Name, k)
	}
	return r
}

// prove returns all tuples of a predicate with rules, nil if there are too many.
func (db *database) prove(of logic.Predicate) [][]logic.Term {
	args := make([]logic.Term, of.Arity)
	for i := range args {
		args[i] = logic.Var(i)
	}
	var goal logic.Term = logic.Atom(of.Name)
	if len(args) > 0 {
		goal = &logic.Compound{Functor: of.Name, Args: args}
	}
	tuples := [][]logic.Term{}
	ok := true
	err := db.program.Prove(context.Background(), []logic.Literal{{Atom: goal}}, logic.Limits{Steps: 1 << 20}, func(a logic.Answer) bool {
		t := make([]logic.Term, of.Arity)
		for i := range t {
			t[i] = a.Bindings[logic.Var(i)]
			ok = ok && t[i] != nil && logic.IsGround(t[i])
		}
		tuples = append(tuples, t)
		return ok && len(tuples) < mostFacts
	})
	if err != nil || !ok || len(tuples) >= mostFacts {
		return nil
	}
	return tuples
}
