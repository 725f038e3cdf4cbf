package logic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// Task is a relation to be learnt, as Popper's folders state it: examples of it and
// what is known around them. The background and the bias are kept as text.
type Task struct {
	Of         Predicate
	Examples   []Example
	Background string
	Bias       string
}

// Example is a tuple that belongs to the relation, or does not.
type Example struct {
	Args     []Term
	Positive bool
}

// ReadTask reads background knowledge (bk.pl), examples (exs.pl: pos(…) and neg(…))
// and, if it is not empty, what may be used (bias.pl).
func ReadTask(background, examples, bias string) (*Task, error) {
	p, err := Read("examples", examples)
	if err != nil {
		return nil, err
	}
	known, err := Read("background", background)
	if err != nil {
		return nil, err
	}
	if err := known.Understood(); err != nil {
		return nil, fmt.Errorf("background: %w", err)
	}
	bias += declarations(known)
	if _, err := ReadBias(bias); err != nil {
		return nil, err
	}
	t := &Task{Background: background, Bias: bias}
	for _, c := range p.Clauses {
		if err := t.add(c); err != nil {
			return nil, err
		}
	}
	if len(t.Examples) == 0 {
		return t, &NoExamplesError{"there are no examples; write them as pos(p(a)). and neg(p(b))"}
	}
	return t, nil
}

func (t *Task) add(c *Clause) error {
	head, ok := c.Head.(*Compound)
	if !ok || len(c.Body) > 0 || len(head.Args) != 1 || head.Functor != "pos" && head.Functor != "neg" || !isGround(c.Head) {
		return fmt.Errorf("line %d: %v is no example; expected pos(p(a)) or neg(p(b))", c.Line, c)
	}
	of, ok := predicateOf(head.Args[0])
	if !ok || len(t.Examples) > 0 && of != t.Of {
		return fmt.Errorf("line %d: %v is not of the relation %v of the other examples", c.Line, c, t.Of)
	}
	t.Of = of
	t.Examples = append(t.Examples, Example{arguments(head.Args[0]), head.Functor == "pos"})
	return nil
}

// Split takes the examples out of a program that has them among its clauses. For a
// program that has none, the facts of a predicate such as grandmother/2 belong to it; all
// other tuples of the constants in its places do not once the world is closed (Close). A
// program without examples is returned with a NoExamplesError.
func Split(text, of string) (*Task, error) {
	p, err := Read("program", text)
	if err != nil {
		return nil, err
	}
	if err := p.Understood(); err != nil {
		return nil, err
	}
	var rest strings.Builder
	for _, d := range p.Directives {
		rest.WriteString(":- " + Format(d, nil) + ".\n")
	}
	t := &Task{Bias: declarations(p)}
	bias, err := ReadBias(t.Bias)
	if err != nil {
		return nil, err
	}
	if of == "" && bias.Head.Name != "" {
		of = bias.Head.String()
	}
	isExample := func(of Predicate) bool { return of == Predicate{"pos", 1} || of == Predicate{"neg", 1} }
	closed := !slices.ContainsFunc(p.Predicates(), isExample)
	name, arity, _ := strings.Cut(of, "/")
	for _, c := range p.Clauses {
		head, _ := predicateOf(c.Head)
		switch {
		case !closed && isExample(head):
			if err := t.add(c); err != nil {
				return nil, err
			}
		case closed && head.Name == name && (arity == "" || arity == strconv.Itoa(head.Arity)):
			if len(c.Body) > 0 || !isGround(c.Head) || len(t.Examples) > 0 && t.Of != head {
				return nil, fmt.Errorf("line %d: %v is not a fact of %s; expected facts of what is to be learnt", c.Line, c, of)
			}
			t.Of = head
			t.Examples = append(t.Examples, Example{arguments(c.Head), true})
		default:
			rest.WriteString(c.String() + "\n")
		}
	}
	t.Background = rest.String()
	if len(t.Examples) == 0 {
		return t, &NoExamplesError{t.nothing(p, of)}
	}
	return t, nil
}

// NoExamplesError says that a task has background knowledge alone.
type NoExamplesError struct{ text string }

func (e *NoExamplesError) Error() string { return e.text }

func (t *Task) nothing(p *Program, of string) string {
	var names []string
	for _, known := range p.Predicates() {
		names = append(names, known.String())
	}
	if of == "" {
		return fmt.Sprintf("what is to be learnt? the program has no examples pos(…) and neg(…); name one of its predicates as the target: %s", shortList(names))
	}
	return fmt.Sprintf("the program has no facts of %s to learn from; it has %s", of, shortList(names))
}

// About makes background knowledge alone a task about a predicate such as grandmother/2,
// without examples.
func (t *Task) About(of string) error {
	name, arity, _ := strings.Cut(of, "/")
	n, err := strconv.Atoi(arity)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no predicate; expected one such as grandmother/2", of)
	}
	t.Of = Predicate{name, n}
	return nil
}

// mostClosed is how many tuples a closed world may have.
const mostClosed = 1 << 21

// Close adds the tuples that do not belong: all others of the constants that occur in
// each place, or in a place of the background that has one of them.
func (t *Task) Close() error {
	if t.Of.Arity == 0 {
		return nil
	}
	places := make([][]Term, t.Of.Arity)
	known := map[string]bool{}
	for _, e := range t.Examples {
		known[tupleKey(e.Args)] = true
		for i, a := range e.Args {
			places[i] = append(places[i], a)
		}
	}
	background, err := Read("background", t.Background)
	if err != nil {
		return err
	}
	tuples := 1
	for i := range places {
		places[i] = background.alike(places[i])
		if tuples *= len(places[i]); tuples > mostClosed {
			return fmt.Errorf("%v has more than %d tuples of the constants in its places; write the examples out as pos(…) and neg(…)", t.Of, mostClosed)
		}
	}
	args := make([]Term, t.Of.Arity)
	var fill func(i int)
	fill = func(i int) {
		if i == len(args) {
			if !known[tupleKey(args)] {
				t.Examples = append(t.Examples, Example{slices.Clone(args), false})
			}
			return
		}
		for _, a := range places[i] {
			args[i] = a
			fill(i + 1)
		}
	}
	fill(0)
	return nil
}

// alike returns terms and those that stand with one of them in a place of the facts,
// each once, in order.
func (p *Program) alike(terms []Term) []Term {
	key := func(t Term) string { return Format(t, nil) }
	in := map[string]Term{}
	for _, t := range terms {
		in[key(t)] = t
	}
	first := len(in)
	all := map[string]Term{}
	for k, t := range in {
		all[k] = t
	}
	for _, of := range p.Predicates() {
		for place := range of.Arity {
			column := map[string]Term{}
			shared := false
			for _, c := range p.Of(of) {
				if t := c.Arguments()[place]; len(c.Body) == 0 && isGround(t) {
					k := key(t)
					column[k] = t
					shared = shared || in[k] != nil
				}
			}
			if shared && first > 0 {
				for k, t := range column {
					all[k] = t
				}
			}
		}
	}
	var sorted []Term
	for _, t := range all {
		sorted = append(sorted, t)
	}
	slices.SortFunc(sorted, Compare)
	return sorted
}

func tupleKey(args []Term) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(Format(a, nil) + "\x00")
	}
	return b.String()
}

// The classes of examples.
const (
	Belongs = "pos"
	Other   = "neg"
)

// Place names the columns of a relation's arguments: a, b, c, …
func Place(i int) string { return strings.ToLower(letters(i)) }

// Table returns the examples as rows: a column for each argument, and one with the
// name of the relation that says pos or neg. It is linked to the background.
func (t *Task) Table() (*table.Table, error) {
	schema := &table.Schema{}
	for i := range t.Of.Arity {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: Place(i)})
	}
	target := t.Of.Name
	if schema.Index(target) >= 0 {
		target += "/" + strconv.Itoa(t.Of.Arity)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: target, Values: []string{Other, Belongs}})
	b := table.NewBuilder(schema)
	for _, e := range t.Examples {
		for i, a := range e.Args {
			if err := b.String(i, Format(a, nil)); err != nil {
				return nil, err
			}
		}
		class := Other
		if e.Positive {
			class = Belongs
		}
		if err := b.String(t.Of.Arity, class); err != nil {
			return nil, err
		}
		b.End()
	}
	rows, err := b.Table()
	if err != nil {
		return nil, err
	}
	return rows.WithLinked(&table.Linked{Of: t.Of.String(), Target: target, Program: t.Background, Bias: t.Bias}), nil
}

// Bias is what a learner may use of the background, as Popper writes it: predicates
// in bodies, the types and directions of arguments, constants by type, and limits.
// Zero values say nothing.
type Bias struct {
	Head       Predicate
	Body       []Predicate
	Types      map[string][]string
	Directions map[string][]string // in or out; either or constant by modes
	Constants  map[string][]string // by type
	Recursion  bool

	MaxVars, MaxBody, MaxClauses int
}

// ReadBias reads bias.pl, or modes. Tuples of one are written (list,), which is not Prolog.
func ReadBias(text string) (*Bias, error) {
	b := &Bias{Types: map[string][]string{}, Directions: map[string][]string{}, Constants: map[string][]string{}}
	for number, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "%")
		for _, fact := range strings.Split(line, ").") {
			fact = strings.TrimSuffix(strings.TrimSpace(fact), ".")
			if directive, ok := strings.CutPrefix(fact, ":-"); ok && isDeclaration(directive) {
				fact = strings.TrimSpace(directive)
			}
			if fact == "" || strings.HasPrefix(fact, ":-") {
				continue
			}
			for { // a name alone, such as enable_recursion, before it on the line
				name, rest, more := strings.Cut(fact, ".")
				if !more || strings.ContainsAny(name, "(") {
					break
				}
				if err := b.fact(strings.TrimSpace(name)); err != nil {
					return nil, fmt.Errorf("bias:%d: %w", number+1, err)
				}
				fact = strings.TrimSpace(rest)
			}
			if err := b.fact(fact); err != nil {
				return nil, fmt.Errorf("bias:%d: %w", number+1, err)
			}
		}
	}
	b.Recursion = b.Recursion || slices.Contains(b.Body, b.Head)
	return b, nil
}

func (b *Bias) fact(fact string) error {
	name, rest, _ := strings.Cut(fact, "(")
	var words []string
	for _, w := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("(), \t", r) }) {
		words = append(words, strings.Trim(w, "'"))
	}
	number := func(i int) (n int, err error) {
		if i >= len(words) {
			return 0, fmt.Errorf("%s: expected a number", fact)
		}
		if n, err = strconv.Atoi(words[i]); err != nil || n < 0 || n > 255 {
			return 0, fmt.Errorf("%s: %q is not a number up to 255", fact, words[i])
		}
		return n, nil
	}
	var err error
	switch name {
	case "head_pred", "body_pred":
		arity, err := number(1)
		if err != nil {
			return err
		}
		if name == "head_pred" {
			b.Head = Predicate{words[0], arity}
			return nil
		}
		b.Body = append(b.Body, Predicate{words[0], arity})
	case "type":
		if len(words) > 0 {
			b.Types[words[0]] = words[1:]
		}
	case "direction":
		if len(words) > 0 {
			b.Directions[words[0]] = words[1:]
		}
	case "constant":
		if len(words) != 2 {
			return fmt.Errorf("%s: expected constant(name,type)", fact)
		}
		b.Constants[words[1]] = append(b.Constants[words[1]], words[0])
	case "modeh", "modeb":
		err = b.mode(fact, words)
	case "determination":
		err = b.determination(fact)
	case "enable_recursion":
		b.Recursion = true
	case "max_vars":
		b.MaxVars, err = number(0)
	case "max_body":
		b.MaxBody, err = number(0)
	case "max_clauses":
		b.MaxClauses, err = number(0)
	}
	return err // what a bias may say besides is for other programs
}
