package portable

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// ONNX writes the program as a model of ONNX (opset 15, ai.onnx.ml 2) in double
// precision: an input [N, 1] for each column, numbers or strings, of which NaN and ""
// are missing; the outputs are prediction and probabilities [N, classes], or
// prediction, low and high [N, 1].
func (p *Program) ONNX() ([]byte, error) {
	g := &onnxGraph{program: p, codes: make([]string, len(p.Columns)), known: map[string]string{}}
	for i := range p.Columns {
		kind := onnxDouble
		if p.Columns[i].Nominal() {
			kind = onnxString
		}
		g.inputs = append(g.inputs, valueInfo(p.Columns[i].Name, kind, []string{"N", "1"}))
	}
	if len(p.Columns) == 0 { // something has to say how many rows there are
		g.inputs = append(g.inputs, valueInfo("row", onnxDouble, []string{"N", "1"}))
	}
	for i := range p.Steps {
		g.steps = append(g.steps, g.step(&p.Steps[i]))
	}
	g.answer()
	return g.model(), nil
}

// tensor is a value of the graph: a name, and whether it has one row for all.
type tensor struct {
	name   string
	single bool
	faint  float64 // a constant that is 0 in single precision, and not in double
}

type onnxGraph struct {
	program *Program
	inputs  []message
	outputs []message
	nodes   []message
	data    []message
	codes   []string // of nominal columns: where their codes are
	known   map[string]string
	steps   []tensor
	count   int
}

// op adds a node and returns what it gives.
func (g *onnxGraph) op(kind string, inputs []string, attributes ...message) string {
	g.count++
	out := fmt.Sprintf("n%d", g.count)
	g.opTo(out, kind, "", inputs, attributes...)
	return out
}

func (g *onnxGraph) opTo(out, kind, domain string, inputs []string, attributes ...message) {
	var n message
	for _, in := range inputs {
		n.text(1, in)
	}
	n.text(2, out)
	n.text(3, out)
	n.text(4, kind)
	for _, a := range attributes {
		n.bytes(5, a)
	}
	if domain != "" {
		n.text(7, domain)
	}
	g.nodes = append(g.nodes, n)
}

// zip is an op of two tensors.
//
// Runtimes leave out additions of a constant that is 0 in single precision, though
// it may be much beside numbers of 1e-300; not so where it is a term of a Sum.
func (g *onnxGraph) zip(kind string, a, b tensor) tensor {
	switch {
	case kind == "Add" && (a.faint != 0 || b.faint != 0):
		kind = "Sum"
	case kind == "Sub" && b.faint != 0:
		kind, b = "Sum", g.number(-b.faint)
	}
	return tensor{name: g.op(kind, []string{a.name, b.name}), single: a.single && b.single}
}

// constant adds numbers as a matrix with so many columns.
func (g *onnxGraph) constant(x []float64, width int) tensor {
	raw := make([]byte, 0, 8*len(x))
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	t := tensor{name: g.initial(onnxDouble, raw, len(x)/width, width), single: len(x) == width}
	if len(x) == 1 && float32(x[0]) == 0 {
		t.faint = x[0]
	}
	return t
}

func (g *onnxGraph) number(x float64) tensor { return g.constant([]float64{x}, 1) }

// whole adds a vector of whole numbers.
func (g *onnxGraph) whole(x ...int) string {
	var raw []byte
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.initial(onnxInt64, raw, len(x))
}

// initial adds data, of which the same stands once.
func (g *onnxGraph) initial(kind int, raw []byte, dims ...int) string {
	key := fmt.Sprint(kind, dims, string(raw))
	if name, ok := g.known[key]; ok {
		return name
	}
	g.count++
	name := fmt.Sprintf("d%d", g.count)
	var t message
	for _, d := range dims {
		t.number(1, d)
	}
	t.number(2, kind)
	t.text(8, name)
	t.bytes(9, raw)
	g.data = append(g.data, t)
	g.known[key] = name
	return name
}

// zeros is a column of as many rows as there are.
func (g *onnxGraph) zeros() tensor {
	if name, ok := g.known["zeros"]; ok {
		return tensor{name: name}
	}
	name := "row"
	if len(g.program.Columns) > 0 {
		name = g.program.Columns[0].Name
	}
	if len(g.program.Columns) > 0 && g.program.Columns[0].Nominal() {
		name = g.op("Cast", []string{g.code(0)}, attributeInt("to", onnxDouble))
	}
	zero := g.number(0).name
	name = g.op("Where", []string{g.op("IsNaN", []string{name}), zero, zero})
	g.known["zeros"] = name
	return tensor{name: name}
}

// each gives a tensor a row for each row.
func (g *onnxGraph) each(t tensor) string {
	if !t.single {
		return t.name
	}
	return g.op("Add", []string{g.zeros().name, t.name})
}

// code gives the codes of a nominal column: 0 unseen, 1 missing, then the values.
func (g *onnxGraph) code(column int) string {
	if g.codes[column] != "" {
		return g.codes[column]
	}
	c := &g.program.Columns[column]
	keys, values := []string{""}, []int{1}
	for i, v := range c.Values {
		keys, values = append(keys, v), append(values, i+2)
	}
	g.count++
	g.codes[column] = fmt.Sprintf("c%d", g.count)
	g.opTo(g.codes[column], "LabelEncoder", "ai.onnx.ml", []string{c.Name}, attributeStrings("keys_strings", keys), attributeInts("values_int64s", values), attributeInt("default_int64", 0))
	return g.codes[column]
}

func (g *onnxGraph) step(s *Step) tensor {
	switch s.Op {
	case Constant:
		return g.constant(s.Numbers, s.Width)
	case Cell:
		x := g.program.Columns[s.Column].Name
		return tensor{name: g.op("Where", []string{g.op("IsNaN", []string{x}), g.number(s.Numbers[0]).name, x})}
	case Lookup:
		rows := slices.Clone(s.Numbers)
		for len(rows) < (len(g.program.Columns[s.Column].Values)+2)*s.Width {
			rows = append(rows, s.row(0)...)
		}
		found := g.op("Gather", []string{g.constant(rows, s.Width).name, g.code(s.Column)}, attributeInt("axis", 0))
		return tensor{name: g.op("Squeeze", []string{found, g.whole(1)})}
	case First:
		to := g.constant(s.row(len(s.Tests)), s.Width)
		for i := len(s.Tests) - 1; i >= 0; i-- {
			to = g.choose(g.test(&s.Tests[i]), g.constant(s.row(i), s.Width), to)
		}
		return to
	case Sum:
		return g.sum(s)
	case Walk:
		return g.walk(s)
	case Choose:
		return g.choose(g.test(&s.Tests[0]), g.steps[s.Of[0]], g.steps[s.Of[1]])
	}
	return g.arithmetic(s)
}

func (g *onnxGraph) choose(test string, a, b tensor) tensor {
	return tensor{name: g.op("Where", []string{test, a.name, b.name})}
}

// sum multiplies the tests that hold with their rows.
func (g *onnxGraph) sum(s *Step) tensor {
	start := g.constant(s.row(0), s.Width)
	if len(s.Tests) == 0 {
		return start
	}
	var fired []string
	for i := range s.Tests {
		fired = append(fired, g.test(&s.Tests[i]))
	}
	return g.weighed(g.op("Cast", []string{g.concat(fired)}, attributeInt("to", onnxDouble)), s.Numbers[s.Width:], s.Width, start)
}

// weighed is a product of matrices, and a start.
func (g *onnxGraph) weighed(x string, rows []float64, width int, start tensor) tensor {
	m := tensor{name: g.op("MatMul", []string{x, g.initialMatrix(rows, width)})}
	return g.zip("Add", m, start)
}

func (g *onnxGraph) initialMatrix(rows []float64, width int) string {
	return g.constant(rows, width).name
}

func (g *onnxGraph) concat(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return g.op("Concat", parts, attributeInt("axis", 1))
}

// walk gives each leaf a column that says how much of a row comes to it.
func (g *onnxGraph) walk(s *Step) tensor {
	if len(s.Nodes[0].Branches) == 0 {
		return g.constant(s.row(s.Nodes[0].Row), s.Width)
	}
	reach := make([]tensor, len(s.Nodes))
	reach[0] = g.number(1)
	var leaves []string
	var rows []float64
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if len(n.Branches) == 0 {
			leaves, rows = append(leaves, g.each(reach[i])), append(rows, s.row(n.Row)...)
			continue
		}
		before := ""
		own := make([]string, len(n.Branches))
		for b := range n.Branches {
			own[b] = g.test(&n.Branches[b].Test)
			either := own[b]
			if before != "" {
				either = g.op("Or", []string{before, own[b]})
				own[b] = g.op("And", []string{own[b], g.op("Not", []string{before})})
			}
			before = either
		}
		for b := range n.Branches {
			lost := g.choose(before, g.number(0), g.zip("Mul", reach[i], g.number(n.Branches[b].Share)))
			reach[n.Branches[b].To] = g.choose(own[b], reach[i], lost)
		}
	}
	return g.weighed(g.concat(leaves), rows, s.Width, g.constant(make([]float64, s.Width), s.Width))
}

var onnxOps = map[Op]string{Exp: "Exp", Log: "Log", Sqrt: "Sqrt", Tanh: "Tanh", Logistic: "Sigmoid", Rectify: "Relu",
	Add: "Add", Subtract: "Sub", Multiply: "Mul", Divide: "Div", Least: "Min", Greatest: "Max"}

func (g *onnxGraph) arithmetic(s *Step) tensor {
	x := g.steps[s.Of[0]]
	switch s.Op {
	case Affine:
		n := g.program.Steps[s.Of[0]].Width
		start, rows := make([]float64, s.Width), make([]float64, n*s.Width)
		for k := range s.Width {
			start[k] = s.Numbers[k*(n+1)]
			for i := range n {
				rows[i*s.Width+k] = s.Numbers[k*(n+1)+1+i]
			}
		}
		t := g.weighed(x.name, rows, s.Width, g.constant(start, s.Width))
		t.single = x.single
		return t
	case Join:
		var parts []string
		for _, of := range s.Of {
			parts = append(parts, g.each(g.steps[of]))
		}
		return tensor{name: g.concat(parts)}
	case Take:
		return tensor{name: g.op("Gather", []string{x.name, g.whole(s.Index)}, attributeInt("axis", 1)), single: x.single}
	case Softmax:
		if len(s.Numbers) == 0 {
			return tensor{name: g.op("Softmax", []string{x.name}, attributeInt("axis", 1)), single: x.single}
		}
		top := tensor{name: g.op("ReduceMax", []string{x.name}, attributeInts("axes", []int{1}), attributeInt("keepdims", 1)), single: x.single}
		below := g.zip("Sub", x, top)
		near := g.op("Greater", []string{below.name, g.number(s.Numbers[0]).name})
		e := tensor{name: g.op("Where", []string{near, g.op("Exp", []string{below.name}), g.number(0).name}), single: x.single}
		ones := make([]float64, s.Width)
		for i := range ones {
			ones[i] = 1
		}
		return g.zip("Div", e, tensor{name: g.op("MatMul", []string{e.name, g.constant(ones, 1).name}), single: x.single})
	case Best:
		eye := make([]float64, s.Width*s.Width)
		for i, at := range s.Order {
			eye[i*s.Width+at] = 1
		}
		return tensor{name: g.op("Gather", []string{g.constant(eye, s.Width).name, g.best(x.name, s.Order)}, attributeInt("axis", 0)), single: x.single}
	}
	if len(s.Of) == 2 {
		return g.zip(onnxOps[s.Op], x, g.steps[s.Of[1]])
	}
	return tensor{name: g.op(onnxOps[s.Op], []string{x.name}), single: x.single}
}

// best gives the place, in an order, of the greatest number.
func (g *onnxGraph) best(x string, order []int) string {
	sorted := g.op("Gather", []string{x, g.whole(order...)}, attributeInt("axis", 1))
	return g.op("ArgMax", []string{sorted}, attributeInt("axis", 1), attributeInt("keepdims", 0))
}

// test gives a column of truths.
func (g *onnxGraph) test(t *Test) string {
	compare := func(kind string, x string, with float64) string {
		return g.op(kind, []string{x, g.number(with).name})
	}
	x := ""
	if t.onColumn() {
		x = g.program.Columns[t.Column].Name
	}
	switch t.Op {
	case Between:
		var parts []string
		if t.Low != nil {
			parts = append(parts, compare("GreaterOrEqual", x, *t.Low))
		}
		if t.High != nil {
			parts = append(parts, compare("LessOrEqual", x, *t.High))
		}
		return g.chain("And", parts)
	case Among:
		var parts []string
		for _, p := range t.Points {
			parts = append(parts, compare("Equal", x, p))
		}
		return g.chain("Or", parts)
	case In, NotIn:
		return g.named(t)
	case Missing, Known:
		gone := ""
		if g.program.Columns[t.Column].Nominal() {
			gone = g.op("Equal", []string{g.code(t.Column), g.whole(1)})
		} else {
			gone = g.op("IsNaN", []string{x})
		}
		if t.Op == Known {
			gone = g.op("Not", []string{gone})
		}
		return gone
	case Above:
		return g.rows(compare("Greater", g.steps[t.Of].name, *t.Low), g.steps[t.Of].single)
	case AtMost:
		return g.rows(compare("LessOrEqual", g.steps[t.Of].name, *t.High), g.steps[t.Of].single)
	}
	var parts []string
	for i := range t.Tests {
		parts = append(parts, g.test(&t.Tests[i]))
	}
	switch {
	case t.Op == Not:
		return g.op("Not", parts)
	case t.Op == All:
		return g.chain("And", parts)
	case t.Count == 1:
		return g.chain("Or", parts)
	case t.Count <= 0:
		return g.chain("And", nil)
	case len(parts) < t.Count:
		return g.chain("Or", nil)
	}
	ones := make([]float64, len(parts))
	for i := range ones {
		ones[i] = 1
	}
	cast := g.op("Cast", []string{g.concat(parts)}, attributeInt("to", onnxDouble))
	return compare("Greater", g.op("MatMul", []string{cast, g.constant(ones, 1).name}), float64(t.Count)-0.5)
}

// rows gives truths of one row a row for each.
func (g *onnxGraph) rows(truth string, single bool) string {
	if !single {
		return truth
	}
	return g.op("And", []string{truth, g.chain("And", nil)})
}

// chain joins truths two by two; of none it is what changes nothing.
func (g *onnxGraph) chain(kind string, parts []string) string {
	if len(parts) == 0 {
		with := 0.0
		if kind == "Or" {
			with = 1
		}
		return g.op("Equal", []string{g.zeros().name, g.number(with).name})
	}
	for i := 1; i < len(parts); i++ {
		parts[0] = g.op(kind, []string{parts[0], parts[i]})
	}
	return parts[0]
}

// named looks up whether a name is one of some.
func (g *onnxGraph) named(t *Test) string {
	allowed := make([]byte, len(g.program.Columns[t.Column].Values)+2)
	if t.Op == NotIn {
		for i := range allowed {
			allowed[i] = 1
		}
	}
	allowed[1] = 0
	for _, v := range t.Values {
		allowed[v+2] = 0
		if t.Op == In {
			allowed[v+2] = 1
		}
	}
	return g.op("Gather", []string{g.initial(onnxBool, allowed, len(allowed)), g.code(t.Column)}, attributeInt("axis", 0))
}

// answer names the outputs.
func (g *onnxGraph) answer() {
	p, a := g.program, &g.program.Answer
	give := func(name, from string, kind int, dims ...string) {
		g.opTo(name, "Identity", "", []string{from})
		g.outputs = append(g.outputs, valueInfo(name, kind, dims))
	}
	// Inputs are named as columns are, and outputs must not be.
	free := func(name string) string {
		for p.column(name) >= 0 {
			name = "_" + name
		}
		return name
	}
	if a.Number != nil {
		for _, of := range []struct {
			name string
			ref  *Ref
		}{{"prediction", a.Number}, {"low", a.Low}, {"high", a.High}} {
			if of.ref != nil {
				give(free(of.name), g.each(g.steps[*of.ref]), onnxDouble, "N", "1")
			}
		}
		return
	}
	probabilities := g.each(g.steps[*a.Probabilities])
	order := nameOrder(p.Target.Classes)
	var classes message
	classes.number(1, len(order))
	classes.number(2, onnxString)
	for _, c := range order {
		classes.text(6, p.Target.Classes[c])
	}
	classes.text(8, "classes")
	g.data = append(g.data, classes)
	said := g.op("Gather", []string{"classes", g.best(probabilities, order)}, attributeInt("axis", 0))
	give(free("prediction"), said, onnxString, "N")
	give(free("probabilities"), probabilities, onnxDouble, "N", fmt.Sprint(len(order)))
}
