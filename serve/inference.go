package serve

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// The Open Inference Protocol (version 2), by which serving clients call models
// of any make: one input a column, named as the column is, BYTES for names and
// FP64 for numbers; outputs prediction and probabilities.

// InferenceServer describes the server.
type InferenceServer struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Extensions []string `json:"extensions"`
}

// TensorMetadata is an input or an output.
type TensorMetadata struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int          `json:"shape"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// InferenceModel describes a model.
type InferenceModel struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []TensorMetadata `json:"inputs"`
	Outputs  []TensorMetadata `json:"outputs"`
}

// Tensor is a column of cells.
type Tensor struct {
	Name       string         `json:"name"`
	Shape      []int          `json:"shape"`
	Datatype   string         `json:"datatype"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Data       []any          `json:"data"`
}

// InferenceRequest asks for answers.
type InferenceRequest struct {
	ID         string         `json:"id,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Inputs     []Tensor       `json:"inputs"`
	Outputs    []struct {
		Name       string         `json:"name"`
		Parameters map[string]any `json:"parameters,omitempty"`
	} `json:"outputs,omitempty"`
}

// InferenceResponse is the answers.
type InferenceResponse struct {
	ModelName    string         `json:"model_name"`
	ModelVersion string         `json:"model_version"`
	ID           string         `json:"id,omitempty"`
	Parameters   map[string]any `json:"parameters,omitempty"`
	Outputs      []Tensor       `json:"outputs"`
}

func (c *call) inferenceServer() error {
	return c.answer(http.StatusOK, InferenceServer{"accrete", c.o.Version, []string{}})
}

// Live says that the server, or a model, is there.
type Live struct {
	Live bool `json:"live"`
}

// Ready says that the server, or a model, can answer.
type Ready struct {
	Ready bool `json:"ready"`
}

func (c *call) inferenceLive() error  { return c.answer(http.StatusOK, Live{true}) }
func (c *call) inferenceReady() error { return c.answer(http.StatusOK, Ready{true}) }

func (c *call) inferenceModelReady() error {
	if _, err := c.part(); err != nil {
		return err
	}
	return c.answer(http.StatusOK, Ready{true})
}

func (c *call) inferenceModel() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	if p.Target() == learn.NoTarget {
		return problemf(http.StatusUnprocessableEntity, "ask it with POST …/ask", "%s is a density and predicts no column", p.Name)
	}
	m := InferenceModel{Name: p.Name, Versions: []string{}, Platform: "accrete_" + p.Version.Learner, Inputs: []TensorMetadata{}}
	for _, v := range p.Versions {
		m.Versions = append(m.Versions, fmt.Sprint(v.Number))
	}
	for i := range p.Schema().Attributes {
		if a := &p.Schema().Attributes[i]; i != p.Target() {
			m.Inputs = append(m.Inputs, TensorMetadata{Name: a.Name, Datatype: datatype(a), Shape: []int{-1}})
		}
	}
	target := &p.Schema().Attributes[p.Target()]
	m.Outputs = []TensorMetadata{{Name: "prediction", Datatype: datatype(target), Shape: []int{-1}}}
	if target.Kind == table.Nominal {
		m.Outputs = append(m.Outputs, TensorMetadata{Name: "probabilities", Datatype: "FP64", Shape: []int{-1, len(target.Values)}, Parameters: map[string]any{"classes": target.Values}})
	}
	return c.answer(http.StatusOK, m)
}

func datatype(a *table.Attribute) string {
	if a.Kind == table.Numeric && !a.Date && !a.Time {
		return "FP64"
	}
	return "BYTES"
}

// infer answers for the rows that the inputs make up.
func (c *call) infer() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	var in InferenceRequest
	if err := c.decode(&in); err != nil {
		return err
	}
	st, _, err := c.answering(ref)
	if err != nil {
		return err
	}
	rows, err := in.rows(c.o.MostRows)
	if err != nil {
		return err
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	if a.err != nil {
		return a.err
	}
	target := &a.model.Schema().Attributes[a.model.Target()]
	said := Tensor{Name: "prediction", Shape: []int{len(rows)}, Datatype: datatype(target), Data: make([]any, len(rows))}
	likely := Tensor{Name: "probabilities", Shape: []int{len(rows), len(target.Values)}, Datatype: "FP64", Parameters: map[string]any{"classes": target.Values}}
	ctx, cancel := c.limited()
	defer cancel()
	err = a.many(ctx, rows, func(i int, x life.Predicted, _ []string) {
		said.Data[i] = x.Prediction
		for _, class := range target.Values {
			likely.Data = append(likely.Data, x.Probabilities[class])
		}
	})
	if err != nil {
		return err
	}
	out := InferenceResponse{ModelName: st.part.Name, ModelVersion: fmt.Sprint(st.part.Version.Number), ID: in.ID, Outputs: []Tensor{}}
	for _, tensor := range []Tensor{said, likely} {
		if tensor.Name == "probabilities" && target.Kind == table.Numeric {
			continue
		}
		if len(in.Outputs) == 0 || slices.ContainsFunc(in.Outputs, func(o struct {
			Name       string         `json:"name"`
			Parameters map[string]any `json:"parameters,omitempty"`
		}) bool {
			return o.Name == tensor.Name
		}) {
			out.Outputs = append(out.Outputs, tensor)
		}
	}
	return c.answer(http.StatusOK, out)
}

// rows turns columns into rows.
func (in *InferenceRequest) rows(most int) ([]map[string]any, error) {
	if len(in.Inputs) == 0 {
		return nil, problemf(http.StatusUnprocessableEntity, "give one input a column", "there are no inputs")
	}
	n := len(in.Inputs[0].Data)
	if n > most {
		return nil, problemf(http.StatusRequestEntityTooLarge, "send fewer at once", "%d rows are more than %d", n, most)
	}
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = make(map[string]any, len(in.Inputs))
	}
	for _, t := range in.Inputs {
		size := 1
		for _, d := range t.Shape {
			size *= max(0, min(d, 1<<20))
		}
		if len(t.Data) != n || len(t.Shape) > 0 && size != n {
			return nil, &Problem{Status: http.StatusUnprocessableEntity, Column: t.Name, Remedy: "give one cell a row in each input, and the shape [rows] or [rows, 1]",
				Detail: fmt.Sprintf("input %q has %d cells and the shape %v, the first input has %d cells", t.Name, len(t.Data), t.Shape, n)}
		}
		for i, cell := range t.Data {
			if list, ok := cell.([]any); ok && len(list) == 1 {
				cell = list[0]
			}
			rows[i][t.Name] = cell
		}
	}
	return rows, nil
}
