package serve

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Graph is a model as a network or a tree.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
	Lit   []string    `json:"lit,omitempty" doc:"the nodes that the row goes through"`
	// Prediction is the answer for the row.
	Prediction any `json:"prediction,omitempty"`
}

// GraphNode is one of its units.
type GraphNode struct {
	ID    string `json:"id"`
	Kind  string `json:"kind" doc:"leaf or node"`
	Label string `json:"label"`
	Layer int    `json:"layer"`
	Class string `json:"class,omitempty"`
	// Of a node that is a rule: its id, what it decides, and how it is said.
	Rule    string        `json:"rule,omitempty"`
	Decides *life.Decides `json:"decides,omitempty"`
	Say     say.Sentence  `json:"say,omitempty"`
}

// GraphEdge is a connection.
type GraphEdge struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Weight float64 `json:"weight"`
	Label  string  `json:"label,omitempty"`
}

// graph is a model as a graph, with the way of a row through it where one is
// given.
func (c *call) graph() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	d, ok := learn.Ability[learn.Drawer](p.Model)
	if !ok {
		return problemf(http.StatusUnprocessableEntity, "read its rules instead", "a %s model cannot be drawn", p.Version.Learner)
	}
	g, err := d.Graph()
	if err != nil {
		return err
	}
	out := Graph{Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	for _, n := range g.Nodes {
		kind := "node"
		if n.Leaf {
			kind = "leaf"
		}
		out.Nodes = append(out.Nodes, GraphNode{ID: n.ID, Kind: kind, Label: strings.Join(n.Lines, "\n"), Layer: n.Layer, Class: n.Class})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, GraphEdge{e.From, e.To, e.Weight, e.Label})
	}
	ctx, cancel := c.limited()
	defer cancel()
	if base, err := life.RuleEntries(ctx, p, life.RulesOptions{}); err == nil { // a graph that stands for no rules is drawn all the same
		for i, at := range life.NodeRules(g, base) {
			if at >= 0 {
				r := &base.Rules[at]
				out.Nodes[i].Rule, out.Nodes[i].Decides, out.Nodes[i].Say = r.ID, r.Decides, r.Say
			}
		}
	}
	if text := q.Get("row"); text != "" {
		if err := c.light(&out, g, text); err != nil {
			return err
		}
	}
	return c.answer(http.StatusOK, out)
}

// light finds the way of a row, cells by column in JSON, through a graph.
func (c *call) light(out *Graph, g *draw.Graph, text string) error {
	var row map[string]any
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return problemf(http.StatusBadRequest, `give cells by column, as in row={"age":49}`, "the row is no JSON object")
	}
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	st, err := c.held.get(ref)
	if err != nil {
		return err
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	answer, _, err := a.one(c.r.Context(), row)
	if err != nil {
		return err
	}
	cells, _, err := known(row, a.model.Schema())
	if err != nil {
		return err
	}
	var t *table.Table
	if t, err = a.builder.Only(cells); err != nil {
		return cellProblem(err, row, a.model.Schema(), 0)
	}
	if out.Lit, err = life.Lit(c.r.Context(), st.part.Model, g, t); err != nil {
		return err
	}
	out.Prediction = answer.Prediction
	return nil
}
