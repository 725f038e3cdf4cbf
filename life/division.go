package life

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Rows that belong together, of one patient say, flatter a learner that is
// judged on some after it learnt others; and rows that come in time flatter one
// that may look into the future. A division says by which column rows are kept
// together or in time when a learner is judged.

// Division is how rows are divided between learning and testing: those with one
// value of the column Group together, or in the order of the column Time.
type Division struct{ Group, Time string }

// Reading is how data is to be read so that the division can be made: its column
// is not learnt from then, whether it is to be ignored or not.
func (d Division) Reading(r Reading) Reading {
	if d.Group != "" && d.Group != NoDivision {
		r.Nominal = append(slices.Clone(r.Nominal), d.Group)
	}
	r.Ignore = slices.DeleteFunc(slices.Clone(r.Ignore), func(name string) bool { return name != "" && name == d.Group+d.Time })
	return r
}

// column finds the column to divide by.
func (d Division) column(t *table.Table, target int) (int, error) {
	name := d.Group + d.Time
	if d.Group != "" && d.Time != "" {
		return 0, remedy.Misusef("rows are kept together or in time; expected one of %q and %q", d.Group, d.Time)
	}
	col := t.Schema.Index(name)
	switch {
	case col < 0:
		return 0, remedy.Misusef("there is no column %q to divide rows by%s", name, spell.Hint(name, t.Schema.Names()))
	case col == target:
		return 0, remedy.Misusef("%q is the column to predict; expected another one to divide rows by", name)
	}
	return col, nil
}

// of returns which rows stay together, or when each row was.
func (d Division) of(t *table.Table, col int) (groups []int, times []float64, err error) {
	if d.Group != "" {
		groups, err = evaluate.Groups(t, col)
	} else {
		times, err = evaluate.Times(t, col)
	}
	return groups, times, err
}

// Divide makes the specs, which share a table, keep rows together or in time.
// The column that says so is not learnt from.
func (h *Home) Divide(specs []evaluate.Spec, d Division) error {
	if d == (Division{}) || d.Group == NoDivision || d.Time == NoDivision {
		return nil
	}
	t, target := specs[0].Table, specs[0].Target
	col, err := d.column(t, target)
	if err != nil {
		return err
	}
	groups, times, err := d.of(t, col)
	if err != nil {
		return err
	}
	rest := evaluate.Without(t, col)
	if target != learn.NoTarget && target > col {
		target--
	}
	for i := range specs {
		specs[i].Table, specs[i].Target, specs[i].Groups, specs[i].Times = rest, target, groups, times
	}
	h.note(fmt.Sprintf("column %q divides the rows, and is not learnt from", d.Group+d.Time))
	return nil
}

// SuggestDivision says which division is worth asking for, where none was and rows
// belong together or come in time.
func (h *Home) SuggestDivision(spec evaluate.Spec, asked Division) {
	if found := FindDivision(spec.Table, spec.Target); asked == (Division{}) && found != asked && spec.Table.Sequence == nil {
		w := found.warning()
		h.remark(Note{Text: Warning{Column: w.Column, What: w.What}.String(), Remedy: w.Remedy})
	}
}

// warning says why rows ought to be divided so.
func (d Division) warning() Warning {
	if d.Group != "" {
		return Warning{Kind: "group", Column: d.Group, What: "names things with several rows each", Remedy: Remedy{Kind: remedy.SplitByGroup, What: d.Group}}
	}
	return Warning{Kind: "order", Column: d.Time, What: "orders the rows: later ones may differ from earlier ones", Remedy: Remedy{Kind: remedy.SplitByTime, What: d.Time}}
}

// Apart says how rows are divided, after a comma; nothing if each stands alone.
func (d Division) Apart() string {
	switch {
	case d.Group == NoDivision || d.Time == NoDivision:
		return ""
	case d.Group != "":
		return fmt.Sprintf(", all rows of one %q together", d.Group)
	case d.Time != "":
		return fmt.Sprintf(", past learnt and future judged by %q", d.Time)
	}
	return ""
}

// NoDivision is what to ask for where rows stand alone in spite of how their
// columns are called.
const NoDivision = "none"

// divideEstimate makes the estimate of a lesson keep rows together or in time: by the
// columns that were asked for, or else by those that FindDivision finds. The
// model has learnt the column, so the estimate does too.
func (h *Home) divideEstimate(ctx context.Context, d *Data, l *Lesson, asked Division, spec *evaluate.Spec) (Division, error) {
	if asked.Group == NoDivision || asked.Time == NoDivision || spec.Table.Sequence != nil {
		return Division{}, nil
	}
	if slices.Contains(d.Reading.Ignore, asked.Group) {
		if spec.Groups = d.groupsBy(ctx, l, asked.Group); spec.Groups == nil {
			return asked, remedy.Misusef("there is no column %q by which rows could be divided", asked.Group)
		}
		return asked, nil
	}
	if asked != (Division{}) {
		col, err := asked.column(spec.Table, spec.Target)
		if err == nil {
			spec.Groups, spec.Times, err = asked.of(spec.Table, col)
		}
		return asked, err
	}
	if name := somebodyIn(leftOut(l.Report, d.Reading)); name != "" {
		if groups := d.groupsBy(ctx, l, name); groups != nil {
			spec.Groups = groups
			return Division{Group: name}, nil
		}
	}
	found := FindDivision(spec.Table, spec.Target)
	if found == (Division{}) {
		return found, nil
	}
	var err error
	spec.Groups, spec.Times, err = found.of(spec.Table, spec.Table.Schema.Index(found.Group+found.Time))
	return found, err
}

// leftOut are the columns that are not learnt from: ids, and what is ignored.
func leftOut(report *table.Report, r Reading) []string { return slices.Concat(report.IDs, r.Ignore) }

// somebodyIn returns the first of some columns that names somebody, "" for none.
func somebodyIn(columns []string) string {
	if at := slices.IndexFunc(columns, NamesSomebody); at >= 0 {
		return columns[at]
	}
	return ""
}

// groupsBy returns which rows are of one somebody, by a column that was left out
// and is read again for this; nil if it does not tell.
func (d *Data) groupsBy(ctx context.Context, l *Lesson, name string) []int {
	if d.reader() != nil || d.isLinked() {
		return nil
	}
	o := d.options()
	o.Nominal = append(slices.Clone(o.Nominal), name)
	o.Ignore = slices.DeleteFunc(slices.Clone(o.Ignore), func(n string) bool { return n == name })
	t, _, err := d.Read(ctx, o)
	if err != nil || t.Rows() != l.Table.Rows() {
		return nil
	}
	col := t.Schema.Index(name)
	if col < 0 || !groupsRows(t, col) {
		return nil
	}
	groups, err := evaluate.Groups(t, col)
	if err != nil {
		return nil
	}
	return groups
}

// FindDivision returns the column by which rows have to be kept together or in
// time, as far as that can be told from their names and cells: one that names a
// person or a thing several times, or a date that goes one way. Describing a
// table warns of the same columns.
func FindDivision(t *table.Table, target int) Division {
	for col := range t.Columns {
		if col != target && groupsRows(t, col) {
			return Division{Group: t.Schema.Attributes[col].Name}
		}
	}
	for col := range t.Columns {
		if col != target && ordersRows(t, col) && known(t.Columns[col].Floats) {
			return Division{Time: t.Schema.Attributes[col].Name}
		}
	}
	return Division{}
}

// somebody are words for those who come back, and tags what may stand beside them.
var (
	somebody = []string{"patient", "customer", "client", "user", "person", "subject", "member", "employee", "student", "household", "visitor", "device", "machine", "driver", "player", "respondent", "participant",
		"kunde", "kunden", "kundin", "patienten", "patientin", "nutzer", "benutzer", "proband", "probanden", "teilnehmer", "mitglied", "mitarbeiter", "schüler", "haushalt", "gerät", "maschine", "fahrer", "spieler",
		"utilisateur", "personne", "sujet", "membre", "employé", "élève", "étudiant", "ménage", "joueur",
		"cliente", "paciente", "usuario", "persona", "empleado", "alumno", "paziente", "utente", "usuário", "pessoa", "klant", "patiënt", "gebruiker"}
	tags    = []string{"id", "no", "nr", "number", "name", "key", "code", "uuid", "nummer", "numéro", "num", "número", "numero"}
	moments = []string{"date", "time", "day", "month", "year", "week", "timestamp", "datetime", "datum", "zeit", "tag", "monat", "jahr", "woche", "jour", "mois", "année", "fecha", "mes", "año", "data", "giorno", "mese", "anno"}
)

// NamesSomebody reports whether a column is called after somebody who may come
// back: patient, customer_id, UserNo.
func NamesSomebody(name string) bool {
	words := wordsOf(name)
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(tags, w) })
	return len(words) == 1 && slices.Contains(somebody, words[0])
}

// namesTime reports whether a column is called after when its row was.
func namesTime(name string) bool {
	words := wordsOf(name)
	return len(words) == 1 && slices.Contains(moments, words[0])
}

// wordsOf cuts a name into words: at what is no letter, and before capitals.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// ordersRows reports whether a column says when its row was, and rows came in
// that order: nearly all steps go one way, and there are twenty.
func ordersRows(t *table.Table, col int) bool {
	a := &t.Schema.Attributes[col]
	if a.Kind != table.Numeric || !((a.Date || a.Time) && a.Style.IsDay() || namesTime(a.Name)) {
		return false
	}
	up, down, last := 0, 0, table.NA
	for _, x := range t.Columns[col].Floats {
		if table.IsMissing(x) {
			continue
		}
		if x > last {
			up++
		} else if x < last {
			down++
		}
		last = x
	}
	return up+down >= 20 && min(up, down)*50 <= max(up, down)
}

// groupsRows reports whether a column names somebody or something that comes
// several times.
func groupsRows(t *table.Table, col int) bool {
	name := t.Schema.Attributes[col].Name
	somebody := NamesSomebody(name)
	if !somebody && !table.IsIDName(name) || t.Columns[col].Words != nil {
		return false
	}
	groups, err := evaluate.Groups(t, col)
	if err != nil || len(groups) == 0 {
		return false
	}
	rows, different := float64(len(groups)), slices.Max(groups)+1
	return somebody && different >= 5 && rows >= 1.2*float64(different) || different > 10 && rows >= 2*float64(different)
}

// known reports whether a column has a number in every row.
func known(x []float64) bool {
	return !slices.ContainsFunc(x, table.IsMissing)
}
