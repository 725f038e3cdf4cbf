package rulenet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// Growth where the network is wrong. After the first fit, examples are drawn
// in proportion to how far the network is off, |y − p̂|; each climbs by J on
// rows weighed by the same; the rules they end in join the network, the
// weights are fitted again, and rules whose weight the penalty makes zero
// leave. Rows that are held out say when to stop.

const (
	templatesPerRound = 60     // examples a round
	patience          = 3      // rounds without a better loss before growth stops
	leastGain         = 0.0005 // of the loss, that a round must gain to count as better
	heldOutParts      = 5
	roughPrecision    = 1e-4 // precision of fits on the way
)

// fewRows is the weight of rows below which each part is held out in turn,
// and numbers are cut finely; above, one part and coarser cuts will do.
const fewRows = 5000

// growth is a network that grows on some rows.
type growth struct {
	*training
	weights  []float64 // of the rows to learn from
	typical  float64   // weight of a row
	rules    []foundRule
	fitted   *regression
	heldOut  []float64 // nil: none
	round    int
	loss     float64 // on the rows held out
	mistakes float64
}

// startGrowth begins with the rules of the published search.
func (w *training) startGrowth(ctx context.Context, weights, heldOut []float64) (*growth, error) {
	s := &growth{training: w, weights: weights, typical: typical(weights), heldOut: heldOut}
	rules, err := w.findRules(ctx, weights)
	if err != nil {
		return nil, err
	}
	s.rules = leftSides(rules)
	return s, s.refit(ctx, roughPrecision)
}

// refit fits the weights again and drops rules that have none.
func (s *growth) refit(ctx context.Context, precision float64) error {
	tests := make([]conjunction, len(s.rules))
	for i, f := range s.rules {
		tests[i] = f.rule
	}
	d, err := newDesign(ctx, s.examples, tests)
	if err != nil {
		return err
	}
	r := newRegression(d, d.weigh(s.weights))
	if s.fitted != nil {
		r.warmStart(s.fitted)
	}
	if err := r.fit(ctx, s.lambda(r.total), precision); err != nil {
		return err
	}
	if s.heldOut != nil {
		s.loss, s.mistakes = r.evaluate(d.weigh(s.heldOut))
	}
	s.fitted = r
	s.prune()
	return nil
}

// prune drops rules without weight, from the regression too.
func (s *growth) prune() {
	r := s.fitted
	place := make([]int32, r.units)
	var rules []foundRule
	for u, f := range s.rules {
		place[u] = -1
		if slices.ContainsFunc(r.weights, func(w []float64) bool { return w[u] != 0 }) {
			place[u] = int32(len(rules))
			rules = append(rules, f)
		}
	}
	for a, w := range r.weights {
		left := make([]float64, 0, len(rules)+1)
		for u, x := range w[:r.units] {
			if place[u] >= 0 {
				left = append(left, x)
			}
		}
		r.weights[a] = append(left, w[r.units])
	}
	active := r.active[:0]
	for g := range r.groups() {
		fires := r.fires(g)
		r.start[g] = int32(len(active))
		for _, u := range fires {
			if place[u] >= 0 {
				active = append(active, place[u])
			}
		}
	}
	r.start[r.groups()] = int32(len(active))
	r.active, r.units = active, len(rules)
	r.approximations = nil
	s.rules = rules
}

// addRules is one round: draw, climb, fit.
func (s *growth) addRules(ctx context.Context) error {
	s.round++
	templates := s.drawTemplates()
	if len(templates) == 0 {
		return nil
	}
	searches := make([]*search, s.classes())
	err := learn.Each(ctx, len(s.fitted.present), func(a int) {
		c := s.fitted.present[a]
		if slices.ContainsFunc(templates, func(t template) bool { return t.class == c }) {
			off, greatest := s.residuals(a)
			searches[c] = newSearch(s.examples, newResidualCounter(s.examples, off, greatest*s.typical), c, s.settings.ties(), s.seed)
		}
	})
	if err != nil {
		return err
	}
	templates = slices.DeleteFunc(templates, func(t template) bool {
		l := searches[t.class].counter
		return l.class[t.class] == 0 || l.class[t.class] == l.total
	})
	if len(templates) == 0 {
		return nil
	}
	rules, err := climbAll(ctx, searches, templates)
	if err != nil {
		return err
	}
	known := map[key]bool{}
	for _, f := range s.rules {
		known[f.rule.key()] = true
	}
	for _, f := range rules {
		if k := f.rule.key(); !known[k] && len(f.rule) > 0 {
			known[k] = true
			f.round = s.round
			s.rules = append(s.rules, f)
		}
	}
	return s.refit(ctx, roughPrecision)
}

// residuals returns, for each distinct row, the weight of the row times how
// far the probability of a present class is off, and the furthest that it is.
func (s *growth) residuals(a int) (off []float64, furthest float64) {
	r := s.fitted
	off = make([]float64, len(s.class))
	p := make([]float64, r.groups())
	for g := range p {
		p[g] = r.probability(g, a)
	}
	for i, g := range r.of {
		x := p[g]
		if int(s.class[i]) == r.present[a] {
			x = 1 - x
		}
		if s.weights[i] > 0 {
			furthest = max(furthest, x)
		}
		off[i] = x * s.weights[i]
	}
	return off, furthest
}

// drawTemplates returns examples, drawn without replacement in proportion to
// how far the network is off on their class (Efraimidis and Spirakis 2006), by
// a hash of the row.
func (s *growth) drawTemplates() []template {
	type lot struct {
		row int
		key float64
	}
	r := s.fitted
	place := make([]int, s.classes()) // of each class among those present, from 1
	for a, c := range r.present {
		place[c] = a + 1
	}
	lots := make([]lot, 0, len(s.class))
	for i, c := range s.class {
		if place[c] == 0 {
			continue
		}
		off := (1 - r.probability(int(r.of[i]), place[c]-1)) * s.weights[i]
		if !(off > 0) {
			continue
		}
		u := float64(scramble(s.hash(i)^uint64(s.round))>>11+1) / (1 << 53)
		lots = append(lots, lot{i, -math.Log(u) / off})
	}
	n := min(templatesPerRound, len(lots))
	slices.SortFunc(lots, func(a, b lot) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
	templates := make([]template, n)
	for i, l := range lots[:n] {
		templates[i] = template{l.row, int(s.class[l.row]), s.weights[l.row]}
	}
	return templates
}

// Step is one round of growth: the rules that were there after it, and the
// mean log loss (nats) and the errors on the rows held out.
type Step struct {
	Round  int     `cbor:"round"`
	Rules  float64 `cbor:"rules"` // mean over the parts held out
	Loss   float64 `cbor:"loss"`
	Errors float64 `cbor:"errors"`
}

// growRows is the number of rows on which a network grows at most.
const growRows = 25_000

// grow finds on rows held out how many rounds are best, then grows so many on
// all rows. Of very many rows a sample grows the rules, and all are counted. Beside a
// rival it gives up with errBehind once it is plain that it does not clearly beat it.
func (w *training) grow(ctx context.Context, m, rival *Model) error {
	part, err := w.sampled(ctx, growRows)
	if err != nil {
		return err
	}
	rounds, relaxed, err := part.chooseRounds(ctx, m, rival)
	if err != nil {
		return err
	}
	s, err := part.startGrowth(ctx, part.weights, nil)
	if err != nil {
		return err
	}
	for range rounds {
		if err := s.addRules(ctx); err != nil {
			return err
		}
		learn.Report(ctx, 0.6+0.4*float64(s.round)/float64(rounds+2))
	}
	if err := w.fitWeights(ctx, m, s.rules, relaxed, s.fitted); err != nil {
		return err
	}
	learn.Report(ctx, 1)
	return nil
}

// chooseRounds grows networks with rows held out, all a round at a time. It
// returns the round after which the loss was least, and the share of the
// penalty that is best for the networks of that round.
func (w *training) chooseRounds(ctx context.Context, m, rival *Model) (rounds int, relaxed float64, err error) {
	networks, err := w.holdOut(ctx)
	if err != nil {
		return 0, 0, err
	}
	if len(networks) == 0 {
		m.stopped = "too few rows to hold any out"
		return 0, 1, nil
	}
	best, bestNetworks := 0, []*growth(nil)
	for round := 0; ; round++ {
		if err := growAll(ctx, networks, round); err != nil {
			return 0, 0, err
		}
		step := heldOutStep(networks, round)
		m.steps = append(m.steps, step)
		if rival != nil && step.Loss > rival.rehearsed+farBehind {
			return 0, 0, errBehind
		}
		if round == 0 || step.Loss < m.steps[best].Loss*(1-leastGain) {
			best, bestNetworks = round, snapshot(networks)
		}
		if round-best >= patience {
			m.stopped = fmt.Sprintf("log loss on rows held out was least after round %d (%.4f) and no better in the next %d", best, m.steps[best].Loss, patience)
			break
		}
		if round >= w.settings.Rounds {
			m.stopped = fmt.Sprintf("stopped after %d rounds, as set", round)
			break
		}
		learn.Report(ctx, 0.6*float64(round+1)/float64(round+1+patience))
	}
	var least float64
	if relaxed, least, err = relax(ctx, bestNetworks); err != nil {
		return 0, 0, err
	}
	m.rehearsed = least / heldBy(networks)
	if rival != nil && !m.clearlyBeats(rival) {
		return 0, 0, errBehind
	}
	return best, relaxed, nil
}

// holdOut returns a network that has not begun for each part of the rows that
// is held out in turn. Numbers are cut by the rest alone.
func (w *training) holdOut(ctx context.Context) ([]*growth, error) {
	dealt, err := w.folds(ctx, heldOutParts)
	if err != nil {
		return nil, err
	}
	if !w.fine() {
		dealt = dealt[:1]
	}
	var networks []*growth
	for _, part := range dealt {
		rest := make([]float64, len(part))
		for r := range rest {
			rest[r] = w.table.Weight(r) - part[r]
		}
		if !(sum(part) > 0 && sum(rest) > 0) {
			continue
		}
		own, err := w.withWeights(ctx, rest)
		if err != nil {
			return nil, err
		}
		networks = append(networks, &growth{training: own, weights: own.distinctWeights(rest), heldOut: own.distinctWeights(part)})
	}
	return networks, nil
}

// growAll grows each network by a round; round 0 is the published search.
func growAll(ctx context.Context, networks []*growth, round int) error {
	errs := make([]error, len(networks))
	err := learn.Each(ctx, len(networks), func(i int) {
		if s := networks[i]; round == 0 {
			networks[i], errs[i] = s.startGrowth(ctx, s.weights, s.heldOut)
		} else {
			errs[i] = s.addRules(ctx)
		}
	})
	return errors.Join(append(errs, err)...)
}

// heldOutStep says what the networks come to on the rows held out.
func heldOutStep(networks []*growth, round int) Step {
	step := Step{Round: round}
	held := heldBy(networks)
	for _, s := range networks {
		n := sum(s.heldOut)
		step.Loss += n * s.loss
		step.Errors += n * s.mistakes
		step.Rules += float64(len(s.rules)) / float64(len(networks))
	}
	step.Loss /= held
	step.Errors /= held
	return step
}

// heldBy returns the weight of the rows that networks hold out.
func heldBy(networks []*growth) float64 {
	held := 0.0
	for _, s := range networks {
		held += sum(s.heldOut)
	}
	return held
}

// snapshot returns the networks as they are now: a later round makes rules and
// weights of its own.
func snapshot(networks []*growth) []*growth {
	now := make([]*growth, len(networks))
	for i, s := range networks {
		of := *s
		of.rules = slices.Clone(s.rules)
		now[i] = &of
	}
	return now
}

// relax returns the share of the penalty that gives the least loss on rows
// held out, and that loss. The penalty that leaves few rules also makes the weights of those
// that stay too small (Meinshausen, Relaxed lasso, 2007).
func relax(ctx context.Context, networks []*growth) (best, least float64, err error) {
	best, least = 1.0, math.Inf(1)
	for share := 1.0; share >= 1.0/32; share /= 2 {
		losses, errs := make([]float64, len(networks)), make([]error, len(networks))
		err := learn.Each(ctx, len(networks), func(i int) {
			r := networks[i].fitted
			errs[i] = r.fit(ctx, share*networks[i].lambda(r.total), roughPrecision)
			loss, _ := r.evaluate(r.weigh(networks[i].heldOut))
			losses[i] = loss * sum(networks[i].heldOut)
		})
		if err = errors.Join(append(errs, err)...); err != nil {
			return 0, 0, err
		}
		if loss := sum(losses); loss < least*(1-leastGain) {
			best, least = share, loss
		}
	}
	return best, least, nil
}
