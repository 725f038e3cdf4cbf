package act

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/table"
)

// Program is an environment in a program of its own, in any language, that speaks
// lines of JSON on its pipes:
//
//	{"reset": 7}            → {"state": {"x": 0.5, "light": "red"}, "actions": ["stop", "go"]}
//	{"action": "go"}        → {"state": {…}, "actions": […], "reward": 1, "end": false}
//
// A state is an object of numbers, names, true, false or null (not known), with
// the same keys in each line; actions are those that are legal in it, and may be
// left out where they are the same as before. "cut": true beside an end says that
// the episode only was long enough. Names and actions are numbered as they come:
// Schema and Actions grow. A program that ends, is silent for too long or says
// something else is an error, after which it is gone, and all that it started.
type Program struct {
	name    string
	wait    time.Duration
	ctx     context.Context
	release func()
	command *exec.Cmd
	in      io.WriteCloser
	pipe    io.Closer // that it speaks on
	out     *bufio.Reader
	said    tail
	lines   int // that it has written

	schema  *table.Schema
	actions []string
	cells   []float64
	legal   []int
	ended   bool
	cut     bool
	err     error
}

var (
	_ Environment = (*Program)(nil)
	_ Cutter      = (*Program)(nil)
)

// Words are a command and its arguments, as they are separated by blanks; between
// ' or " blanks are part of a word.
func Words(line string) ([]string, error) {
	var words []string
	var word []rune
	within, begun := rune(0), false
	for _, r := range line {
		switch {
		case within != 0 && r == within:
			within = 0
		case within == 0 && (r == '\'' || r == '"'):
			within, begun = r, true
		case within == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, string(word))
			}
			word, begun = word[:0], false
		default:
			word, begun = append(word, r), true
		}
	}
	if within != 0 {
		return nil, fmt.Errorf("%s: expected another %c at the end of a word", line, within)
	}
	if begun {
		words = append(words, string(word))
	}
	return words, nil
}

// longestLine is how many bytes a program may say at once.
const longestLine = 1 << 20

// Start runs a program and its arguments, and begins an episode to see what states
// it has. Close ends it.
func Start(ctx context.Context, argv []string, wait time.Duration) (*Program, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("which program? as in exec:./simulator")
	}
	p := &Program{name: argv[0], wait: wait, schema: &table.Schema{}, ended: true}
	p.ctx, p.release = enough.Heed(ctx, 0)
	if err := p.start(argv); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// start runs the program and hears of its first state.
func (p *Program) start(argv []string) error {
	p.command = exec.CommandContext(p.ctx, argv[0], argv[1:]...)
	p.command.Stderr = &p.said
	p.command.WaitDelay = time.Second
	apart(p.command)
	p.command.Cancel = func() error { return killAll(p.command) }
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.pipe, p.out = out, bufio.NewReaderSize(out, 1<<16)
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("%s does not start: %w", p.name, err)
	}
	p.Reset(0)
	return p.err
}

// Close ends the program.
func (p *Program) Close() error {
	p.end(0)
	p.release()
	return nil
}

// lastWords is how long a program that says no more has to end by itself.
const lastWords = 2 * time.Second

// end lets the program end by itself within a time, or kills it, and takes in what
// it still says: all of its standard error is known afterwards. It returns how the
// program ended, "" if it had to be killed.
func (p *Program) end(within time.Duration) string {
	p.in.Close()
	kill := time.AfterFunc(within, func() { _ = killAll(p.command) }) // it may have ended
	_ = p.command.Wait()                                              // ProcessState has it
	alone := kill.Stop()
	_ = killAll(p.command) // what it started
	if alone && p.command.ProcessState != nil {
		return p.command.ProcessState.String()
	}
	return ""
}

// Err is what went wrong; nothing works after it.
func (p *Program) Err() error { return p.err }

// Schema is the columns of states so far.
func (p *Program) Schema() *table.Schema { return p.schema }

// Actions are all actions so far.
func (p *Program) Actions() []string { return p.actions }

// State fills in the cells of the present state.
func (p *Program) State(cells []float64) { copy(cells, p.cells) }

// Legal returns the actions that may be taken now.
func (p *Program) Legal() []int {
	if p.ended || p.err != nil {
		return nil
	}
	return p.legal
}

// Reset begins an episode.
func (p *Program) Reset(seed uint64) {
	p.ended, p.cut = false, false
	// JSON's numbers are exact up to 2⁵³ in every language.
	_ = p.tell(`{"reset":` + strconv.FormatUint(seed>>11, 10) + "}") // Err has it
	if p.err == nil && len(p.legal) == 0 {
		p.fail(errors.New(`it begins without actions; expected {"state":{…},"actions":[…]}`))
	}
}

// Step takes a legal action.
func (p *Program) Step(action int) (float64, bool, error) {
	if p.err != nil {
		return 0, false, p.err
	}
	if p.ended || action < 0 || action >= len(p.actions) {
		return 0, false, fmt.Errorf("action %d is not legal here", action)
	}
	name, err := json.Marshal(p.actions[action])
	if err != nil {
		return 0, false, p.fail(err)
	}
	a := p.tell(`{"action":` + string(name) + "}")
	if p.err != nil {
		return 0, false, p.err
	}
	if a.reward == nil {
		return 0, false, p.fail(errors.New(`it gives no reward; expected {"state":{…},"reward":0,"end":false}`))
	}
	p.ended, p.cut = a.end, a.end && a.cut
	return *a.reward, p.ended, nil
}

// Cut reports whether the episode ended because it was long enough.
func (p *Program) Cut() bool { return p.cut }

// errGone is of a program that says no more.
var errGone = errors.New("it ended in the middle of an episode")

// fail ends the program, and notes what is wrong, where, and what it said of it. One
// that says no more has a time to end by itself.
func (p *Program) fail(err error) error {
	if p.err != nil {
		return p.err
	}
	within := time.Duration(0)
	if err == errGone {
		within = lastWords
	}
	if how := p.end(within); err == errGone && how != "" {
		err = fmt.Errorf("%w (%s)", err, how)
	}
	p.err = fmt.Errorf("%s, line %d: %w", p.name, p.lines, err)
	if said := p.said.last(); said != "" {
		p.err = fmt.Errorf("%w; it said: %s", p.err, said)
	}
	return p.err
}

// answer is a line of a program.
type answer struct {
	reward   *float64
	end, cut bool
}

// tell says a line and reads the answer, which must come in time.
func (p *Program) tell(line string) answer {
	if p.err != nil {
		return answer{}
	}
	silent := false
	var mu sync.Mutex
	timer := time.AfterFunc(p.wait, func() {
		mu.Lock()
		silent = true
		mu.Unlock()
		_ = killAll(p.command)
		_ = p.pipe.Close() // which ends the wait below, whoever else holds its other end
	})
	_, err := io.WriteString(p.in, line+"\n")
	var text []byte
	p.lines++
	if err == nil {
		text, err = p.line()
	}
	timer.Stop()
	if err != nil {
		mu.Lock()
		late := silent
		mu.Unlock()
		switch {
		case p.ctx.Err() != nil:
			p.fail(p.ctx.Err())
		case late:
			p.fail(fmt.Errorf("it says nothing for %v; a slower one needs a longer wait", p.wait))
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || strings.Contains(err.Error(), "pipe"):
			p.fail(errGone)
		default:
			p.fail(err)
		}
		return answer{}
	}
	a, err := p.read(text)
	if err != nil {
		p.fail(err)
	}
	return a
}

// line reads a line of bounded length.
func (p *Program) line() ([]byte, error) {
	var text []byte
	for {
		piece, err := p.out.ReadSlice('\n')
		text = append(text, piece...)
		switch {
		case len(text) > longestLine:
			return nil, fmt.Errorf("it says more than %d bytes in a line", longestLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		return text, nil
	}
}

// read takes in an answer: the state, the actions, the reward.
func (p *Program) read(text []byte) (a answer, err error) {
	var said struct {
		State   json.RawMessage `json:"state"`
		Actions []string        `json:"actions"`
		Reward  *float64        `json:"reward"`
		End     bool            `json:"end"`
		Cut     bool            `json:"cut"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		for _, number := range []string{"NaN", "Infinity"} {
			if bytes.Contains(text, []byte(number)) {
				return a, fmt.Errorf("it says %s, and %s is no number: rewards and states are finite, a cell that is not known is null", shortened(text), number)
			}
		}
		return a, fmt.Errorf(`it says %s; expected a line of JSON, {"state":{…},"actions":[…],"reward":0,"end":false}%s`, shortened(text), misread(err))
	}
	a.reward, a.end, a.cut = said.Reward, said.End, said.Cut
	if said.State == nil && said.End {
		return a, nil
	}
	if err := p.readState(said.State); err != nil {
		return a, fmt.Errorf("it says %s: %w", shortened(text), err)
	}
	if said.Actions != nil {
		p.legal = p.legal[:0]
		for _, name := range said.Actions {
			p.legal = append(p.legal, p.number(name))
		}
	}
	if len(p.legal) == 0 && !a.end {
		return a, errors.New("it has no legal actions, and the episode goes on")
	}
	return a, nil
}

// misread is what JSON found wrong, in its own words where they are for people.
func misread(err error) string {
	var other *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &other):
		return ": " + err.Error()
	case other.Field == "":
		return ", and not " + other.Value
	}
	return fmt.Sprintf(": %q is %s", other.Field, other.Value)
}

// mostNames is how many actions, and names of a column, there may be.
const mostNames = 1 << 16

// number returns the number of an action, a new one if need be.
func (p *Program) number(name string) int {
	for i, known := range p.actions {
		if known == name {
			return i
		}
	}
	p.actions = append(p.actions, name)
	return len(p.actions) - 1
}

// readState reads the cells of a state, in the order of the first one.
func (p *Program) readState(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New(`expected "state" to be an object of numbers and names`)
	}
	first, seen := p.cells == nil, 0
	if first {
		p.cells = []float64{}
	}
	for i := range p.cells {
		p.cells[i] = math.NaN()
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name := key.(string)
		value, err := d.Token()
		if err != nil {
			return err
		}
		at := p.schema.Index(name)
		if at < 0 {
			if !first {
				return fmt.Errorf("%q is not one of the columns that states had so far: %s", name, strings.Join(p.schema.Names(), ", "))
			}
			at = len(p.cells)
			kind := table.Nominal
			if _, number := value.(float64); number || value == nil {
				kind = table.Numeric
			}
			p.schema.Attributes = append(p.schema.Attributes, table.Attribute{Name: name, Kind: kind})
			p.cells = append(p.cells, math.NaN())
		}
		if p.cells[at], err = p.cell(at, value); err != nil {
			return err
		}
		seen++
	}
	if seen == 0 {
		return errors.New("the state has no columns")
	}
	return nil
}

// cell is a value of a state.
func (p *Program) cell(at int, value any) (float64, error) {
	a := &p.schema.Attributes[at]
	switch v := value.(type) {
	case nil:
		return math.NaN(), nil
	case float64:
		if a.Kind != table.Numeric {
			return 0, fmt.Errorf("%q is a number, and was a name before", a.Name)
		}
		return v, nil
	case bool:
		return p.named(a, strconv.FormatBool(v))
	case string:
		return p.named(a, v)
	}
	return 0, fmt.Errorf("%q is neither a number nor a name", a.Name)
}

// named returns the code of a name, a new one if need be.
func (p *Program) named(a *table.Attribute, name string) (float64, error) {
	if a.Kind != table.Nominal {
		return 0, fmt.Errorf("%q is a name, and was a number before", a.Name)
	}
	if code := a.Code(name); code >= 0 {
		return float64(code), nil
	}
	if len(a.Values) == mostNames {
		return 0, fmt.Errorf("%q has more than %d names; use numbers", a.Name, mostNames)
	}
	a.Values = append(a.Values, name)
	return float64(len(a.Values) - 1), nil
}

// Know numbers names and actions as somebody does who has acted here before, with
// these columns of states.
func (p *Program) Know(states *table.Schema, actions []string) error {
	if len(states.Attributes) != len(p.schema.Attributes) {
		return fmt.Errorf("a state of %s is %s; expected the %d columns that were learnt with", p.name, strings.Join(p.schema.Names(), ", "), len(states.Attributes))
	}
	for i := range p.schema.Attributes {
		a, known := &p.schema.Attributes[i], &states.Attributes[i]
		if a.Name != known.Name || a.Kind != known.Kind {
			return fmt.Errorf("%s has the column %q where %q was", p.name, a.Name, known.Name)
		}
	}
	for i := range p.schema.Attributes {
		a := &p.schema.Attributes[i]
		before := a.Values
		a.Values = append([]string(nil), states.Attributes[i].Values...)
		if a.Kind == table.Nominal && !math.IsNaN(p.cells[i]) {
			code, err := p.named(a, before[int(p.cells[i])])
			if err != nil {
				return err
			}
			p.cells[i] = code
		}
	}
	before := p.actions
	p.actions = append([]string(nil), actions...)
	for i, a := range p.legal {
		p.legal[i] = p.number(before[a])
	}
	return nil
}

// shortened is a line for a message.
func shortened(text []byte) string {
	const most = 80
	line := strings.TrimSpace(string(text))
	if len(line) > most {
		return strconv.Quote(line[:most]) + "…"
	}
	return strconv.Quote(line)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 4096; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// last is the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
