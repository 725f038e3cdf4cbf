package learn

import "context"

// Can says what a learner's models can do besides predicting, with default
// settings. Abilities says what each means.
type Can struct {
	Update, Rules, Explain, Merge, Forget, Draw, Density, Ask, Impute                bool
	Grow, Remark, Keep, Excerpt, Hear, Vote, List, Question, Disagree, Curve, Strike bool
}

// An Able is something that models may do besides predicting: its name, what
// it is called in words ("a model can …"), whether a model does it, and where a
// learner declares it.
type Able struct {
	Name, Words string
	Has         func(Model) bool
	Declared    func(*Can) *bool
}

// Abilities is the one list of them. What the learners are said to do, what is
// checked of them and what a wrapped model passes on follow from it.
var Abilities = []Able{
	{"update", "learn more rows", has[Updater], func(c *Can) *bool { return &c.Update }},
	{"rules", "be read as rules", has[Ruler], func(c *Can) *bool { return &c.Rules }},
	{"explain", "explain its answers", has[Explainer], func(c *Can) *bool { return &c.Explain }},
	{"merge", "be merged", has[Merger], func(c *Can) *bool { return &c.Merge }},
	{"forget", "forget a source", has[Forgetter], func(c *Can) *bool { return &c.Forget }},
	{"draw", "be drawn", has[Drawer], func(c *Can) *bool { return &c.Draw }},
	{"curve", "be drawn by its size", curves, func(c *Can) *bool { return &c.Curve }},
	{"density", "tell how dense rows are", has[Density], func(c *Can) *bool { return &c.Density }},
	{"ask", "be asked for any column", has[Asker], func(c *Can) *bool { return &c.Ask }},
	{"impute", "fill in missing cells", has[Imputer], func(c *Can) *bool { return &c.Impute }},
	{"grow", "say why each unit is there", has[Grower], func(c *Can) *bool { return &c.Grow }},
	{"remark", "remark on the rows that it learnt last", has[Remarker], func(c *Can) *bool { return &c.Remark }},
	{"keep", "show the rows that it keeps", has[Keeper], func(c *Can) *bool { return &c.Keep }},
	{"excerpt", "be cut to a budget of rules", has[Excerpter], func(c *Can) *bool { return &c.Excerpt }},
	{"strike", "leave a rule out", has[interface {
		Strike(context.Context, ...string) (Model, error)
	}], func(c *Can) *bool { return &c.Strike }},
	{"vote", "say where its hypotheses do not agree", has[Voter], func(c *Can) *bool { return &c.Vote }},
	{"list", "list its hypotheses", has[Lister], func(c *Can) *bool { return &c.List }},
	{"question", "name rows that it would like to know", has[Questioner], func(c *Can) *bool { return &c.Question }},
	{"disagree", "say how its members vote", has[Committee], func(c *Can) *bool { return &c.Disagree }},
	{"hear", "take an expert's rules in as its own", hears, func(c *Can) *bool { return &c.Hear }},
}

func has[A any](m Model) bool {
	_, ok := Ability[A](m)
	return ok
}

// curves: its learner can draw them (Curver).
func curves(m Model) bool {
	info, err := Lookup(m.Learner())
	if err != nil || info.New == nil {
		return false
	}
	_, ok := info.New().(Curver)
	return ok
}

// hears: by itself, or as evidence of its own kind (expert.Listener).
func hears(m Model) bool { return has[Teller](m) || has[interface{ Heeds() []float64 }](m) }

// Names returns the abilities that are declared, in the order of the list.
func (c Can) Names() []string {
	names := []string{}
	for _, a := range Abilities {
		if *a.Declared(&c) {
			names = append(names, a.Name)
		}
	}
	return names
}

// CanOf returns what a model can do.
func CanOf(m Model) (c Can) {
	for _, a := range Abilities {
		*a.Declared(&c) = a.Has(m)
	}
	return c
}
