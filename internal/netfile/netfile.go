// Package netfile reads and writes files of Bayesian belief networks: the
// Bayesian interchange format in its text form (BIF), its XML form (XMLBIF 0.3),
// the language of Hugin (.net) and a short form to be written by hand (short.go),
// all for variables with a few named states.
//
// A network is a list of variables, each with its states, its parents and a
// table. Whatever order a format has, tables here have the child's states
// fastest and the first parent's slowest, so that each run of as many numbers
// as the child has states is a distribution; it is divided by its sum, which
// files round. What is wrong with a file is said with its line and what was
// expected: a cycle, a row that does not sum to 1, too few numbers, a variable
// or a state that nobody declared.
//
// It knows nothing of learning; the learner belief makes models of networks,
// and life gives it the files.
package netfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Network is the variables of a file, in its order.
type Network struct {
	Name      string
	File      string // as errors name it
	Variables []Variable
}

// Variable is a node of the network. States and Table are nil where the short form
// leaves them to the rows.
type Variable struct {
	Name    string
	Line    int // where the file declares it, or names it first
	States  []string
	Parents []int // places of other variables
	// Table has a distribution over the states for each combination of the
	// parents' states, that of the last parent changing fastest.
	Table []float64
}

// Limits on what a file may ask for.
const (
	MaxVariables = 20_000
	MaxStates    = 60_000
	MaxTable     = 1 << 24 // numbers in one table
)

// sumError is how far the sum of a row may be from 1, which is the rounding of
// numbers of four digits.
const sumError = 1e-4

// Error is what is wrong with a file.
type Error struct {
	File string
	Line int
	What string
}

// Wrong returns an error about a variable, with the place where the file declares it.
func (n *Network) Wrong(variable int, format string, args ...any) error {
	return &Error{n.File, n.Variables[variable].Line, fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What) }

// Parse reads a network in whichever of the formats it is.
func Parse(file string, text []byte) (*Network, error) {
	d := &draft{file: file, net: Network{File: file}, places: map[string]int{}}
	var err error
	switch head := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n"); {
	case len(head) == 0:
		return nil, &Error{file, 1, "the file is empty; expected a network in BIF, XMLBIF, Hugin's language or the short form (a -> b)"}
	case head[0] == '<':
		err = readXML(d, text)
	default:
		words := newLexer(file, text)
		first := words.peek()
		switch word := first.text; {
		case strings.HasPrefix(word, "%"), slices.Contains([]string{"net", "class", "node", "discrete", "continuous", "potential"}, word):
			err = readHugin(d, words)
		case word == "network" || word == "variable" || word == "probability":
			err = readBIF(d, words)
		default:
			if err := readShort(d, text); err != nil {
				return nil, err
			}
			return d.acyclic()
		}
	}
	if err != nil {
		return nil, err
	}
	return d.finish()
}

// draft is a network in the making.
type draft struct {
	file   string
	net    Network
	places map[string]int
	lines  []int            // where each variable was declared
	tables []int            // where each table began; 0: there is none yet
	states []map[string]int // places of each variable's states
}

func (d *draft) fail(line int, format string, args ...any) error {
	return &Error{d.file, line, fmt.Sprintf(format, args...)}
}

// declare adds a variable.
func (d *draft) declare(line int, name string, states []string) error {
	if len(states) == 0 && name != "" {
		return d.fail(line, "variable %q has no states", name)
	}
	if first, twice := d.places[name]; twice {
		return d.fail(line, "variable %q is declared twice, first in line %d", name, d.lines[first])
	}
	if err := d.append(line, name); err != nil {
		return err
	}
	return d.setStates(line, len(d.net.Variables)-1, states)
}

// append adds a variable whose states are not known yet.
func (d *draft) append(line int, name string) error {
	switch {
	case name == "":
		return d.fail(line, "a variable without a name")
	case !utf8.ValidString(name):
		return d.fail(line, "the name %q is not UTF-8; save the file as UTF-8", name)
	case len(d.net.Variables) >= MaxVariables:
		return d.fail(line, "variable %q is one too many; expected at most %d", name, MaxVariables)
	}
	d.places[name] = len(d.net.Variables)
	d.net.Variables = append(d.net.Variables, Variable{Name: name, Line: line})
	d.lines = append(d.lines, line)
	d.tables = append(d.tables, 0)
	d.states = append(d.states, nil)
	return nil
}

// setStates gives a variable its states.
func (d *draft) setStates(line, variable int, states []string) error {
	v := &d.net.Variables[variable]
	if len(states) > MaxStates {
		return d.fail(line, "variable %q has %d states; expected at most %d", v.Name, len(states), MaxStates)
	}
	seen := make(map[string]int, len(states))
	for i, s := range states {
		if _, twice := seen[s]; s == "" || twice {
			return d.fail(line, "variable %q: state %q is empty or comes twice", v.Name, s)
		}
		if !utf8.ValidString(s) {
			return d.fail(line, "variable %q: state %q is not UTF-8; save the file as UTF-8", v.Name, s)
		}
		seen[s] = i
	}
	v.States, d.states[variable] = states, seen
	return nil
}

// variable returns the place of a variable that is declared.
func (d *draft) variable(line int, name string) (int, error) {
	if i, ok := d.places[name]; ok {
		return i, nil
	}
	names := make([]string, len(d.net.Variables))
	for i := range d.net.Variables {
		names[i] = d.net.Variables[i].Name
	}
	return 0, d.fail(line, "unknown variable %q%s; expected one that the file declares before its tables", name, hint(name, names))
}

// state returns the place of one of a variable's states.
func (d *draft) state(line, variable int, name string) (int, error) {
	v := &d.net.Variables[variable]
	if i, ok := d.states[variable][name]; ok {
		return i, nil
	}
	return 0, d.fail(line, "variable %q has no state %q%s; expected one of %s", v.Name, name, hint(name, v.States), shown(v.States))
}

// hint is spell.Hint for names as people write them.
func hint(name string, known []string) string {
	const most = 100
	known = slices.DeleteFunc(slices.Clone(known[:min(len(known), 1000)]), func(k string) bool { return len(k) > most })
	if len(name) > most {
		return ""
	}
	return spell.Hint(name, known)
}

// shown lists names, the first ones if they are many.
func shown(names []string) string {
	if len(names) > 6 {
		return strings.Join(names[:6], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// given begins the table of a variable, all of it unknown.
func (d *draft) given(line int, child string, parents []string) (int, error) {
	i, err := d.variable(line, child)
	if err != nil {
		return 0, err
	}
	if first := d.tables[i]; first > 0 {
		return 0, d.fail(line, "variable %q has a second table, the first is in line %d", child, first)
	}
	v := &d.net.Variables[i]
	size := len(v.States)
	has := map[int]bool{i: true}
	for _, name := range parents {
		p, err := d.variable(line, name)
		if err != nil {
			return 0, err
		}
		if has[p] {
			return 0, d.fail(line, "variable %q has the parent %q twice, or is its own", child, name)
		}
		has[p] = true
		v.Parents = append(v.Parents, p)
		if size *= len(d.net.Variables[p].States); size > MaxTable {
			return 0, d.fail(line, "the table of %q would have more than %d numbers", child, MaxTable)
		}
	}
	v.Table = make([]float64, size)
	for k := range v.Table {
		v.Table[k] = math.NaN()
	}
	d.tables[i] = line
	return i, nil
}

// whole gives a table all of its numbers, the child's state fastest or, as in
// BIF, slowest.
func (d *draft) whole(line, variable int, numbers []float64, childSlowest bool) error {
	v := &d.net.Variables[variable]
	if len(numbers) != len(v.Table) {
		return d.fail(line, "the table of %q has %s, expected %d: %s", v.Name, count(len(numbers)), len(v.Table), d.shape(v))
	}
	copy(v.Table, numbers)
	if childSlowest {
		states, rows := len(v.States), len(v.Table)/len(v.States)
		for k, x := range numbers {
			v.Table[k%rows*states+k/rows] = x
		}
	}
	return d.sums(line, variable)
}

// shape says how many numbers a table has, and why.
func (d *draft) shape(v *Variable) string {
	text := fmt.Sprintf("%d states", len(v.States))
	for _, p := range v.Parents {
		text += fmt.Sprintf(" × %d of %s", len(d.net.Variables[p].States), d.net.Variables[p].Name)
	}
	return text
}

// sums checks every row of a table, and divides it by its sum.
func (d *draft) sums(line, variable int) error {
	v := &d.net.Variables[variable]
	r := len(v.States)
	for k := 0; k < len(v.Table); k += r {
		if err := d.row(line, variable, k/r); err != nil {
			return err
		}
	}
	return nil
}

// row checks one row of a table.
func (d *draft) row(line, variable, row int) error {
	v := &d.net.Variables[variable]
	r := len(v.States)
	numbers, sum := v.Table[row*r:][:r], 0.0
	for _, x := range numbers {
		if !(x >= 0 && x <= 1+sumError) {
			return d.fail(line, "the table of %q has the number %v%s; expected probabilities from 0 to 1", v.Name, x, d.when(v, row))
		}
		sum += x
	}
	if !(math.Abs(sum-1) <= sumError) {
		return d.fail(line, "the probabilities of %q%s sum to %.6g, expected 1", v.Name, d.when(v, row), sum)
	}
	for k := range numbers {
		numbers[k] /= sum
	}
	return nil
}

// when names a row of a table by the states of the parents.
func (d *draft) when(v *Variable, row int) string {
	if len(v.Parents) == 0 {
		return ""
	}
	texts := make([]string, len(v.Parents))
	for i := len(v.Parents) - 1; i >= 0; i-- {
		p := &d.net.Variables[v.Parents[i]]
		texts[i] = p.Name + "=" + p.States[row%len(p.States)]
		row /= len(p.States)
	}
	return " given " + strings.Join(texts, ", ")
}

// finish checks that every variable has a table, and that there is no cycle.
func (d *draft) finish() (*Network, error) {
	for i := range d.net.Variables {
		v := &d.net.Variables[i]
		if d.tables[i] == 0 {
			return nil, d.fail(d.lines[i], "variable %q has no table", v.Name)
		}
		if k := slices.IndexFunc(v.Table, math.IsNaN); k >= 0 {
			return nil, d.fail(d.tables[i], "the table of %q lacks the row%s", v.Name, d.when(v, k/len(v.States)))
		}
	}
	return d.acyclic()
}

// acyclic checks that there is no cycle.
func (d *draft) acyclic() (*Network, error) {
	if len(d.net.Variables) == 0 {
		return nil, d.fail(1, "the file declares no variable")
	}
	if cycle := d.net.Cycle(); cycle != nil {
		names := make([]string, len(cycle))
		for i, v := range cycle {
			names[i] = d.net.Variables[v].Name
		}
		return nil, d.fail(d.tables[cycle[0]], "the arcs go in a circle: %s → %s; expected a network without", strings.Join(names, " → "), names[0])
	}
	return &d.net, nil
}

// Cycle returns variables each of which is a parent of the next, and the last
// of the first; nil if there are none.
func (n *Network) Cycle() []int {
	const (
		fresh = iota
		open
		done
	)
	state, from := make([]uint8, len(n.Variables)), make([]int, len(n.Variables))
	for start := range n.Variables {
		if state[start] != fresh {
			continue
		}
		stack := []int{start}
		from[start] = -1
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if state[v] != fresh {
				state[v] = done
				stack = stack[:len(stack)-1]
				continue
			}
			state[v] = open
			for _, p := range n.Variables[v].Parents {
				switch state[p] {
				case fresh:
					from[p] = v
					stack = append(stack, p)
				case open:
					cycle := []int{p}
					for c := v; c != p && c >= 0; c = from[c] {
						cycle = append(cycle, c)
					}
					slices.Reverse(cycle[1:])
					slices.Reverse(cycle)
					return cycle
				}
			}
		}
	}
	return nil
}

// count says how many numbers there are.
func count(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// number reads a number of a table.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errors.New("not a number")
	}
	return x, nil
}
