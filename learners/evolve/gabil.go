// Package evolve learns by evolution: hypotheses that people can read are bred,
// judged on the rows, and selected.
//
//   - gabil (DeJong, Spears and Gordon 1993; Mitchell 1997, section 9.3): a
//     hypothesis is a set of rules as a string of bits, one bit for each value
//     of each column and behind them the class. Strings of any number of rules
//     are crossed at points that lie alike within their rules; fitness is the
//     square of the percentage of rows that are right. AddAlternative and
//     DropCondition make rules more general (section 9.3.1), for all members,
//     for none, or as two bits of each member say. What an expert knows may be
//     members of the first generation.
//   - gp (Koza 1992; Mitchell 1997, section 9.5): a hypothesis is a formula that
//     people can read. See GP.
//
// The algorithm itself, which reads like table 9.1, is learners/evolve/genetic.
// Evolution that is told to be done (internal/enough) or runs out of its seconds
// keeps the best so far.
//
// Models keep their rows, counted (learn/kept), and learn again: what is learnt
// depends on the multiset of rows and the seed alone, so updates are exact.
package evolve

import (
	"cmp"
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner of rule sets is registered as.
const Name = "gabil"

// Gabil evolves sets of rules. Its zero value is ready to use.
//
// A generation costs a look at every row by each rule of the sets that are new.
type Gabil struct {
	Population   int      `set:"population" default:"100" doc:"rule sets in a generation, on each island"`
	Generations  int      `set:"generations" default:"200" most:"1000000" doc:"generations at most; evolution ends before when all rows are right"`
	Stall        *int     `set:"stall" default:"60" doc:"end after so many generations without a better rule set; 0 never does"`
	Settle       *int     `set:"settle" default:"20" doc:"generations to go on for a shorter rule set when all rows are right; published: 0"`
	Seconds      float64  `set:"seconds" default:"none" doc:"end after so many seconds with the best so far; what is learnt then depends on the machine"`
	Crossover    *float64 `set:"crossover" default:"0.6" doc:"fraction of a generation that is offspring of two parents"`
	Mutation     *float64 `set:"mutation" default:"0.001" doc:"probability that a bit is flipped"`
	Alternatives *float64 `set:"alternatives" default:"0.01" doc:"probability that a member has a value more allowed (AddAlternative)"`
	Drops        *float64 `set:"drops" default:"0.6" doc:"probability that a member has a condition dropped (DropCondition)"`
	Adaptive     bool     `set:"adaptive" default:"false" doc:"two bits of each member say whether alternatives and drops are for it; they evolve too"`
	Selection    string   `set:"selection" default:"tournament" oneof:"proportionate|tournament|rank" doc:"how members are chosen to breed"`
	Elite        *int     `set:"elite" default:"2" doc:"best members of a generation that are copied as they are; published: 0"`
	Sharing      float64  `set:"sharing" default:"0" doc:"bits within which members are alike and share their fitness; 0 for none"`
	Cross        string   `set:"cross" default:"two-point" oneof:"two-point|one-point|uniform" doc:"how two rule sets are crossed: between two points or behind one, that lie alike within their rules, or bit by bit"`
	Niche        string   `set:"niche" default:"none" oneof:"none|crowding|mating|grid" doc:"what keeps members different: offspring take the place of the parent that they are like (crowding), of some the most similar mate (mating), or neighbours on a torus do (grid)"`
	Learning     string   `set:"learning" default:"none" oneof:"none|lamarck|baldwin" doc:"whether members learn in their lives, from ten changes that they try, before they are judged; what they learnt is inherited (lamarck) or not (baldwin)"`
	Islands      int      `set:"islands" default:"1" doc:"populations that evolve apart, on all cores, and exchange their best every ten generations"`
	Search       string   `set:"search" default:"genetic" oneof:"genetic|program|michigan|climb|anneal" doc:"how rules are searched: by evolution of rule sets; by evolutionary programming, mutants alone; by a classifier system, whose rules bid, pay and breed (Michigan-style); or by the rivals of evolution, hill climbing and annealing, with as many trials"`
	First        string   `set:"first" default:"rows" oneof:"rows|random" doc:"rules of the first generation: rows made more general, or random bits"`
	MaxRules     int      `set:"max-rules" default:"40" doc:"rules of a set at most"`
	M            *float64 `set:"m" default:"2" doc:"rows of all classes in equal parts that are added to a rule's own for its probabilities"`
	Keep         string   `set:"keep" default:"rows" oneof:"rows|nothing" doc:"keep the rows, for update, merge and forget"`
}

// gabilSettings are a learner's parameters with nothing left open.
type gabilSettings struct {
	Population   int     `cbor:"population"`
	Generations  int     `cbor:"generations"`
	Stall        int     `cbor:"stall"`
	Settle       int     `cbor:"settle,omitempty"`
	Seconds      float64 `cbor:"seconds,omitempty"`
	Crossover    float64 `cbor:"crossover"`
	Mutation     float64 `cbor:"mutation"`
	Alternatives float64 `cbor:"alternatives"`
	Drops        float64 `cbor:"drops"`
	Adaptive     bool    `cbor:"adaptive,omitempty"`
	Selection    string  `cbor:"selection"`
	Elite        int     `cbor:"elite,omitempty"`
	Sharing      float64 `cbor:"sharing,omitempty"`
	Cross        string  `cbor:"cross,omitempty"`
	Niche        string  `cbor:"niche,omitempty"`
	Learning     string  `cbor:"learning,omitempty"`
	Islands      int     `cbor:"islands"`
	Search       string  `cbor:"search"`
	First        string  `cbor:"first"`
	MaxRules     int     `cbor:"max-rules"`
	M            float64 `cbor:"m"`
	Keep         string  `cbor:"keep"`
	// Told are an expert's rules, which members of the first generation have.
	Told string `cbor:"told,omitempty"`
}

// methods are the words for ways to select.
var methods = map[string]genetic.Method{"proportionate": genetic.Proportionate, "tournament": genetic.Tournament, "rank": genetic.Rank}

// resolve fills in the defaults and checks what is left.
func (l *Gabil) resolve() (gabilSettings, error) {
	s := gabilSettings{
		Population: cmp.Or(l.Population, 100), Generations: cmp.Or(l.Generations, 200), Stall: setting.Or(l.Stall, 60), Settle: setting.Or(l.Settle, 20), Seconds: l.Seconds,
		Crossover: setting.Or(l.Crossover, 0.6), Mutation: setting.Or(l.Mutation, 0.001), Alternatives: setting.Or(l.Alternatives, 0.01), Drops: setting.Or(l.Drops, 0.6),
		Adaptive: l.Adaptive, Selection: cmp.Or(l.Selection, "tournament"), Elite: setting.Or(l.Elite, min(2, cmp.Or(l.Population, 100))), Sharing: l.Sharing, Islands: cmp.Or(l.Islands, 1),
		Cross: cmp.Or(l.Cross, "two-point"), Niche: cmp.Or(l.Niche, "none"), Learning: cmp.Or(l.Learning, "none"),
		Search: cmp.Or(l.Search, "genetic"), First: cmp.Or(l.First, "rows"), MaxRules: cmp.Or(l.MaxRules, 40), M: setting.Or(l.M, 2), Keep: cmp.Or(l.Keep, "rows"),
	}
	return s, s.check()
}

// Check refuses settings that make no sense.
func (l *Gabil) Check() error {
	_, err := l.resolve()
	return err
}

// The most that settings may ask for, so that a typing error neither runs for
// days nor takes all memory.
const (
	mostPopulation  = 100_000
	mostGenerations = 1_000_000
	mostIslands     = 64
	mostRules       = 1000
	mostMembers     = 1_000_000 // on all islands
)

// within returns an error unless a setting lies between two numbers.
func within(key string, x, low, high float64) error {
	if !(x >= low && x <= high) {
		return fmt.Errorf("setting %s=%v: expected %v to %v", key, x, low, high)
	}
	return nil
}

func (s *gabilSettings) check() error {
	for key, value := range map[string]string{"selection": s.Selection, "search": s.Search, "first": s.First, "keep": s.Keep,
		"cross": cmp.Or(s.Cross, "two-point"), "niche": cmp.Or(s.Niche, "none"), "learning": cmp.Or(s.Learning, "none")} { // models of before have none
		if err := learn.Set(&Gabil{}, key, value); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		key          string
		x, low, high float64
	}{
		{"population", float64(s.Population), 2, mostPopulation}, {"generations", float64(s.Generations), 1, mostGenerations},
		{"stall", float64(s.Stall), 0, mostGenerations}, {"settle", float64(s.Settle), 0, mostGenerations}, {"seconds", s.Seconds, 0, 1e6}, {"crossover", s.Crossover, 0, 1}, {"mutation", s.Mutation, 0, 1},
		{"alternatives", s.Alternatives, 0, 1}, {"drops", s.Drops, 0, 1}, {"elite", float64(s.Elite), 0, float64(s.Population)},
		{"sharing", s.Sharing, 0, 1e6}, {"islands", float64(s.Islands), 1, mostIslands}, {"max-rules", float64(s.MaxRules), 1, mostRules}, {"m", s.M, 0, 1e300},
	} {
		if err := within(w.key, w.x, w.low, w.high); err != nil {
			return err
		}
	}
	if s.Search != "genetic" && (s.Islands > 1 || s.Sharing > 0 || s.Niche != "" && s.Niche != "none" || s.Learning != "" && s.Learning != "none") {
		return fmt.Errorf("setting search=%s: islands, sharing, niche and learning are for search=genetic", s.Search)
	}
	if s.Islands*s.Population > mostMembers {
		return fmt.Errorf("settings islands=%d and population=%d make %d rule sets; expected at most %d", s.Islands, s.Population, s.Islands*s.Population, mostMembers)
	}
	return nil
}

// keeps checks the settings and reports whether rows are kept.
func (s *gabilSettings) keeps() (bool, error) { return s.Keep == "rows", s.check() }

// Learn evolves rules from the task's rows, and from an expert's.
func (l *Gabil) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	if task.Advice.Theory != nil {
		s.Told = (&rule.Base{Rules: task.Advice.Theory.Rules}).String()
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal)
	if err != nil {
		return nil, err
	}
	return learnRules(ctx, rows, kept.Lesson[gabilSettings]{Format: gabilFormat, Settings: s, Seed: task.Seed, Target: task.Target})
}

// learnRules evolves rules from rows that were gathered.
func learnRules(ctx context.Context, rows *kept.Rows, lesson kept.Lesson[gabilSettings]) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	target := t.Schema.Index(lesson.Target)
	switch {
	case target < 0 || t.Schema.Attributes[target].Kind != table.Nominal:
		return nil, fmt.Errorf("no source has the target %q with classes", lesson.Target)
	case t.Rows() == 0:
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", lesson.Target)
	}
	x, err := newInstances(ctx, t, target, lesson.Settings.Told)
	if err != nil {
		return nil, err
	}
	evolving, release := enough.Heed(ctx, lesson.Settings.Seconds)
	defer release()
	g := &breeding{instances: x, settings: &lesson.Settings}
	best, err := g.evolve(evolving, ctx, lesson.Seed)
	if err != nil {
		return nil, err
	}
	m := &RuleSet{lesson: lesson, rows: rows, schema: t.Schema, target: target, history: g.history, stopped: g.stopped}
	if err := m.assemble(x, best); err != nil {
		return nil, err
	}
	if lesson.Settings.Keep == "nothing" {
		m.rows = nil
	}
	learn.Report(ctx, 1)
	return m, ctx.Err()
}

// ended tells the end of the work from the end of the time given for it: an
// error is the first's alone.
func ended(ctx context.Context, err error) error {
	if whole := ctx.Err(); whole != nil {
		return whole
	}
	if err == context.Canceled || err == context.DeadlineExceeded {
		return nil
	}
	return err
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "sets of rules that evolve: bit strings, bred and selected; an expert's rules may be among the first",
		Source:   "DeJong, Spears & Gordon 1993; Mitchell 1997, section 9.3",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Theory: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Keep: true, Grow: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (keep=nothing: only the rules)",
		New:      func() learn.Learner { return &Gabil{} },
		Decode:   decodeRules,
	})
}
