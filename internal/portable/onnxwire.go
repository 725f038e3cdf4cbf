package portable

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
)

// message is a message of protocol buffers (https://protobuf.dev/programming-guides/encoding),
// written field by field. The numbers of fields are those of onnx.proto3.
type message []byte

func (m *message) key(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field<<3|wire)) }

func (m *message) number(field, x int) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(x))
}

func (m *message) bytes(field int, of []byte) {
	m.key(field, 2)
	*m = append(binary.AppendUvarint(*m, uint64(len(of))), of...)
}

func (m *message) text(field int, of string) { m.bytes(field, []byte(of)) }

// Kinds of tensors.
const (
	onnxInt64  = 7
	onnxString = 8
	onnxBool   = 9
	onnxDouble = 11
)

func attribute(name string, kind int) (a message) {
	a.text(1, name)
	a.number(20, kind)
	return a
}

func attributeInt(name string, x int) message {
	a := attribute(name, 2)
	a.number(3, x)
	return a
}

func attributeInts(name string, of []int) message {
	a := attribute(name, 7)
	for _, x := range of {
		a.number(8, x)
	}
	return a
}

func attributeStrings(name string, of []string) message {
	a := attribute(name, 8)
	for _, x := range of {
		a.text(9, x)
	}
	return a
}

// valueInfo says what an input or an output is.
func valueInfo(name string, kind int, dims []string) message {
	var shape, of, typed, v message
	for _, d := range dims {
		var dim message
		if n, err := strconv.Atoi(d); err == nil {
			dim.number(1, n)
		} else {
			dim.text(2, d)
		}
		shape.bytes(1, dim)
	}
	of.number(1, kind)
	of.bytes(2, shape)
	typed.bytes(1, of)
	v.text(1, name)
	v.bytes(2, typed)
	return v
}

// model puts the graph into its file, with the classes in the order of their
// probabilities.
func (g *onnxGraph) model() []byte {
	var graph, m message
	for _, n := range g.nodes {
		graph.bytes(1, n)
	}
	graph.text(2, g.program.Target.Name)
	for _, d := range g.data {
		graph.bytes(5, d)
	}
	for _, v := range g.inputs {
		graph.bytes(11, v)
	}
	for _, v := range g.outputs {
		graph.bytes(12, v)
	}
	m.number(1, 8)
	m.text(2, "accrete")
	m.bytes(7, graph)
	for _, set := range []struct {
		domain  string
		version int
	}{{"", 15}, {"ai.onnx.ml", 2}} {
		var o message
		o.text(1, set.domain)
		o.number(2, set.version)
		m.bytes(8, o)
	}
	classes, err := json.Marshal(g.program.Target.Classes)
	if err == nil && g.program.Target.Classes != nil {
		var p message
		p.text(1, "classes")
		p.text(2, string(classes))
		m.bytes(14, p)
	}
	if len(g.program.Words) > 0 {
		var p message
		p.text(1, "words")
		p.text(2, string(g.program.Words))
		m.bytes(14, p)
	}
	return m
}
