package life

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// MostText bounds files that are read as a whole: rules, networks, cases,
// settings.
const MostText = 64 << 20

// mostText is how many bytes of text may be read at once: an eighth of the
// memory, as what is read takes several times its text, and MostText at most.
func (h *Home) mostText() int64 {
	if h.Memory > 0 {
		return min(MostText, h.Memory/8)
	}
	return MostText
}

// readSmall returns the text of a file, which may be packed.
func readSmall(path string, most int64) ([]byte, error) {
	text, err := patient.Regular(path, most)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if text, err = io.ReadAll(io.LimitReader(r, most+1)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s: more than the %.1f MiB of text that may be read at once; give a smaller file, or allow more memory", path, float64(most)/(1<<20))
	}
	return text, nil
}

// networks are the endings of files of belief networks.
var networks = []string{".bif", ".xml", ".xmlbif", ".net", ".arcs"}

// importNetwork makes a model of no rows of a file of a belief network.
func (h *Home) importNetwork(ctx context.Context, path, name string, set map[string]string) (*Learnt, error) {
	at := h.now()
	text, err := readSmall(path, h.mostText())
	if err != nil {
		return nil, fmt.Errorf("the network cannot be read: %w", err)
	}
	settings, err := learn.Marshal(set)
	if err != nil {
		return nil, err
	}
	m, err := learn.DecodeParts("belief", []learn.Part{{Name: "network file", Data: []byte(path + "\n" + string(text))}, {Name: "network settings", Data: settings}})
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), learn.ErrDamaged.Error()+": "))
	}
	// As it would be learnt with rows: each row of its tables is worth a case.
	as := map[string]string{"network": path, "worth": "1"}
	maps.Copy(as, set)
	return h.imported(ctx, m, path, name, text, at, as)
}

// Together are values of several columns that are most probable together.
type Together struct {
	Values      map[string]string `json:"values"`
	Probability float64           `json:"probability"`
}

// mostProbable asks for the columns together, if the model can tell; nil if not.
func mostProbable(m learn.Model, row *table.Table, wanted []int) (*Together, error) {
	able, ok := learn.Ability[interface {
		MostProbable(t *table.Table, row int, columns []int) ([]int32, float64, error)
	}](m)
	if !ok || len(wanted) < 2 || slices.ContainsFunc(wanted, func(c int) bool { return m.Schema().Attributes[c].Kind != table.Nominal }) {
		return nil, nil
	}
	codes, p, err := able.MostProbable(row, 0, wanted)
	if err != nil || codes == nil {
		return nil, err
	}
	t := &Together{Values: map[string]string{}, Probability: p}
	for i, c := range wanted {
		t.Values[m.Schema().Attributes[c].Name] = m.Schema().Attributes[c].Values[codes[i]]
	}
	return t, nil
}

// namesOnly reports whether no number is given.
func namesOnly(row *table.Table) bool {
	for j := range row.Columns {
		if f := row.Columns[j].Floats; len(f) > 0 && !table.IsMissing(f[0]) {
			return false
		}
	}
	return true
}

// askIndependence answers whether "a ⟂ b | c, d" holds by the graph alone, and how
// much the two tell of each other by the tables.
func askIndependence(m learn.Model, question string) (*Answers, error) {
	able, ok := learn.Ability[interface {
		Separated(a, b int, given []int) bool
		Shared(a, b int, given []int) (bits float64, ok bool)
	}](m)
	if !ok {
		return nil, fmt.Errorf("a model of %s has no graph that says what is independent; belief has", m.Learner())
	}
	pair, given, _ := strings.Cut(question, "|")
	a, b, _ := strings.Cut(pair, "⟂")
	var columns []int
	for _, part := range append([]string{a, b}, SplitOutside(given, ',')...) {
		if strings.TrimSpace(part) == "" && len(columns) >= 2 {
			continue
		}
		name, err := Unquote(part)
		if err != nil {
			return nil, remedy.Misuse(err)
		}
		j := m.Schema().Index(name)
		if j < 0 {
			return nil, remedy.Misusef("the model has no column %q%s; expected a ⟂ b | c, d", name, spell.Hint(name, m.Schema().Names()))
		}
		columns = append(columns, j)
	}
	yes := able.Separated(columns[0], columns[1], columns[2:])
	answers := &Answers{Answers: []Answered{}, Independent: &yes}
	if bits, ok := able.Shared(columns[0], columns[1], columns[2:]); ok {
		answers.SharedBits = &bits
	}
	return answers, nil
}

// softEvidence takes parts such as alarm=yes:0.8|no:0.2 out of a question: how
// probable what was seen is under each value.
func softEvidence(question string, m learn.Model) (rest string, soft map[int][]float64, err error) {
	if _, ok := learn.Ability[softAsker](m); !ok || !strings.Contains(question, "|") {
		return question, nil, nil
	}
	var parts []string
	for _, part := range SplitOutside(question, ',') {
		sides := SplitOutside(part, '=')
		if len(sides) != 2 || !strings.Contains(sides[1], "|") || !strings.Contains(sides[1], ":") {
			parts = append(parts, part)
			continue
		}
		name, err := Unquote(sides[0])
		if err != nil {
			return "", nil, err
		}
		j := m.Schema().Index(name)
		if j < 0 || m.Schema().Attributes[j].Kind != table.Nominal {
			return "", nil, fmt.Errorf("the model has no nominal column %q%s", name, spell.Hint(name, m.Schema().Names()))
		}
		l, err := likelihood(&m.Schema().Attributes[j], sides[1])
		if err != nil {
			return "", nil, err
		}
		if soft == nil {
			soft = map[int][]float64{}
		}
		soft[j] = l
	}
	return strings.Join(parts, ","), soft, nil
}

// likelihood reads yes:0.8|no:0.2; values that are not named have 0.
func likelihood(a *table.Attribute, text string) ([]float64, error) {
	l := make([]float64, len(a.Values))
	for _, part := range strings.Split(text, "|") {
		at := strings.LastIndex(part, ":")
		if at < 0 {
			return nil, fmt.Errorf("%q: expected value:number", strings.TrimSpace(part))
		}
		value, err := Unquote(part[:at])
		if err != nil {
			return nil, err
		}
		code := a.Code(value)
		x, err := strconv.ParseFloat(strings.TrimSpace(part[at+1:]), 64)
		if code < 0 || err != nil || !(x >= 0 && x <= 1) {
			return nil, fmt.Errorf("column %q: %q: expected one of its values and a number from 0 to 1", a.Name, strings.TrimSpace(part))
		}
		l[code] = x
	}
	return l, nil
}

// softAsker is a model that takes soft evidence.
type softAsker interface {
	AskWith(t *table.Table, row, column int, likelihoods map[int][]float64) (*learn.Answer, error)
}

// askWith asks with soft evidence, if there is any.
func askWith(m learn.Asker, row *table.Table, column int, soft map[int][]float64) (*learn.Answer, error) {
	if able, ok := learn.Ability[softAsker](m); ok && len(soft) > 0 {
		return able.AskWith(row, 0, column, soft)
	}
	return m.Ask(row, 0, column)
}

// Write says for people what is not about one column.
func (a *Answers) Write(w io.Writer) {
	if a.Together != nil {
		texts := make([]string, 0, len(a.Answers))
		for i := range a.Answers {
			texts = append(texts, a.Answers[i].Variable+" = "+a.Together.Values[a.Answers[i].Variable])
		}
		fmt.Fprintf(w, "most probable together: %s (%.4g)\n", strings.Join(texts, ", "), a.Together.Probability)
	}
	if a.Independent != nil {
		text := map[bool]string{true: "independent, by the graph", false: "not independent, by the graph"}[*a.Independent]
		if a.SharedBits != nil && !*a.Independent {
			text += fmt.Sprintf("; they share %.3g bits, by the tables", *a.SharedBits)
		}
		fmt.Fprintln(w, text)
	}
	if a.EvidenceProbability != nil && *a.EvidenceProbability < 1-1e-6 {
		fmt.Fprintf(w, "what is given has the probability %.4g\n", *a.EvidenceProbability)
	}
}
