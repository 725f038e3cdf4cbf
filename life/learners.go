package life

import "github.com/accrete-ml/accrete/learn"

// Learner is a learner: what it takes, can and keeps.
type Learner struct {
	Name     string    `json:"name"`
	Summary  string    `json:"summary"`
	Takes    []string  `json:"takes"`
	Predicts []string  `json:"predicts"`
	Can      []string  `json:"can"`
	Contract string    `json:"contract"`
	Apart    string    `json:"contract_apart,omitempty"` // where it is another
	Keeps    string    `json:"keeps"`
	Source   string    `json:"source"`
	Settings []Setting `json:"settings"`
}

// Setting is a parameter of a learner.
type Setting struct {
	Key     string   `json:"key"`
	Default string   `json:"default"`
	Doc     string   `json:"doc"`
	Choices []string `json:"choices,omitempty"`
}

// Promised is the contract in words.
func (e *Learner) Promised() string {
	if e.Apart == "" {
		return e.Contract
	}
	return e.Contract + "; " + e.Apart
}

// NewLearner returns what the registry knows of a learner.
func NewLearner(info learn.Info) Learner {
	takes := info.Takes
	e := Learner{
		Name: info.Name, Summary: info.Summary,
		Contract: info.Contract.String(), Apart: info.Apart, Keeps: info.Keeps, Source: info.Source, Settings: []Setting{},
		Takes: names(ability{"nominal", takes.Nominal}, ability{"numeric", takes.Numeric}, ability{"missing", takes.Missing},
			ability{"text", takes.Text}, ability{"sequences", takes.Sequences}, ability{"stream", takes.Stream}, ability{"theory", takes.Theory}),
		Predicts: names(ability{"classes", takes.Classes}, ability{"numbers", takes.Regression}, ability{"density", takes.Density}),
		Can:      info.Can.Names(),
	}
	for _, o := range learn.Options(info.New()) {
		e.Settings = append(e.Settings, Setting{o.Key, o.Default, o.Doc, o.Choices})
	}
	return e
}

// ability is something that a learner has or has not.
type ability struct {
	name string
	has  bool
}

func names(abilities ...ability) []string {
	had := []string{}
	for _, a := range abilities {
		if a.has {
			had = append(had, a.name)
		}
	}
	return had
}
