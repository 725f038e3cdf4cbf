package neural

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// update is a model and the rows that are to be trained on from where it
// stands.
type update struct {
	model      *Model
	gathering  *kept.Gathering
	vocabulary *table.Vocabulary
	changed    bool
}

// Begin returns a private copy to add rows to. The rows learnt from before
// are gone and not needed: Freeze trains the networks further, on the new
// rows alone.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	return &update{model: m, gathering: (&kept.Rows{}).Gather(source, m.target, nil), vocabulary: table.NewVocabulary(inSequence(m.schema, ""), nil)}, nil
}

// Add keeps the table's rows until Freeze.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t = t.WithoutSequence()
	if !u.vocabulary.Same(t.Schema) {
		if err := u.vocabulary.Check(t.Schema); err != nil {
			return err
		}
	}
	if err := checkTask(t, u.model.target); err != nil {
		return err
	}
	if err := u.gathering.Add(ctx, t); err != nil {
		return err
	}
	if !u.vocabulary.Same(t.Schema) {
		u.vocabulary.Admit(t.Schema)
	}
	u.changed = true
	return nil
}

// Freeze trains the networks further, from the weights that the model had.
// Steps are smaller by the new rows' share of all rows ever seen, so that a
// few new rows do not undo what many old ones taught; by very few they are only fine-tuned.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !u.changed {
		return u.model, nil
	}
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	old := u.model
	m := &Model{settings: old.settings, encoded: encoded{seed: old.seed, schema: u.vocabulary.Schema(), target: old.target, rows: old.rows + rows.Weight(), scale: old.scale}}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	if t, err = recoded(t, m.schema); err != nil {
		return nil, err
	}
	starts := m.take(old, t)
	if t.Rows() == 0 { // new values, perhaps, but nothing to train on
		m.follow(old.schema.Sequence)
		return m, nil
	}
	x, err := m.sample(ctx, t)
	if err != nil {
		return nil, err
	}
	if x.tangents, err = m.tangents(m.settings); err != nil {
		return nil, err
	}
	fresh := m.rows - old.rows
	share := fresh / m.rows
	if fresh <= min(mostFineTuned, old.rows) {
		err = m.fineTune(ctx, t, x, starts, share)
	} else {
		s := *m.settings
		s.Restarts, s.Folds = 1, 0 // they begin where the model stands
		if s.Optimiser != "momentum" && s.Optimiser != "adam" {
			s.Optimiser, s.Rate, s.Decay = "adam", 0.003, 0.1 // methods with small steps
		}
		s.Rate *= share
		err = m.train(ctx, t, x, &s, func(member, _ uint64) *dense { return starts[member].clone() })
	}
	if err != nil {
		return nil, err
	}
	// Few new rows say little about how far outputs can be trusted; the old
	// word counts by its rows.
	old.eachMember(m, func(was, is *member) {
		is.temperature = math.Exp((1-share)*math.Log(was.temperature) + share*math.Log(is.temperature))
		is.spread = math.Sqrt((1-share)*was.spread*was.spread + share*is.spread*is.spread)
	})
	if x.tangents != nil {
		s := *m.settings
		s.Slopes = m.measureSlopes(x, t.Rows())
		m.settings = &s
	}
	m.follow(old.schema.Sequence)
	return m, nil
}

// take gives the model, and its companions, the members of an old one, with inputs and
// outputs for what a table has new. It returns the networks that training starts from.
func (m *Model) take(old *Model, t *table.Table) []*dense {
	var grown *growth
	m.matrix, grown = old.grow(t)
	nets := make([][]*dense, len(old.members)) // of each member, and of its companions
	for k, was := range append([]*Model{old}, old.also...) {
		is := m
		if k > 0 {
			is = m.newCompanion(was.target)
			is.rows, is.scale = was.rows+was.known(t), was.scale
			m.also = append(m.also, is)
		}
		is.counts = is.count(t, was.counts)
		is.members = slices.Clone(was.members)
		for i := range is.members {
			if grown != nil {
				is.members[i].net = grown.net(was.members[i].net, is)
			}
			nets[i] = append(nets[i], is.members[i].net)
		}
	}
	starts := make([]*dense, len(nets))
	for i := range nets {
		starts[i] = m.whole(nets[i])
	}
	return starts
}

// eachMember visits the members of a model and of its companions, beside those of
// what became of it.
func (m *Model) eachMember(updated *Model, visit func(was, is *member)) {
	for i := range m.members {
		visit(&m.members[i], &updated.members[i])
	}
	for k, other := range m.also {
		other.eachMember(updated.also[k], visit)
	}
}

// recoded returns the table with the codes of a schema that has all its
// values.
func recoded(t *table.Table, schema *table.Schema) (*table.Table, error) {
	columns := slices.Clone(t.Columns)
	for j := range columns {
		if columns[j].Codes == nil {
			continue
		}
		codes := table.Recoding(&t.Schema.Attributes[j], &schema.Attributes[j])
		to := slices.Clone(columns[j].Codes)
		for r, c := range to {
			if c >= 0 {
				to[r] = codes[c]
			}
		}
		columns[j].Codes = to
	}
	return table.New(schema, columns, t.Weights)
}

// growth says where the old inputs of a network that gets more of them are
// to be found among the new.
type growth struct {
	inputs []int // of each old input
}

// grow returns the matrix with an input for each new value, for a number of
// which nothing was known before, and for missing cells in columns that had none
// before. It returns no growth if inputs and
// outputs stay as they are.
func (m *Model) grow(t *table.Table) (*encode.Matrix, *growth) {
	matrix := &encode.Matrix{Inputs: slices.Clone(m.matrix.Inputs)}
	g := &growth{}
	same := true
	for _, of := range append([]*Model{m}, m.also...) {
		same = same && len(t.Schema.Attributes[of.target].Values) == len(m.schema.Attributes[of.target].Values)
	}
	at := 0
	for i := range matrix.Inputs {
		in := &matrix.Inputs[i]
		cells := &t.Columns[in.Column]
		kept, width := 0, 0                          // inputs that stay in front; all inputs of the column
		var had, has bool                            // an indicator
		if in.OneHot != nil && cells.Floats != nil { // its first known cells came
			had = in.OneHot.Indicator
			s := encode.FitScale(cells.Floats, t.Weights, encode.ZScore, had)
			s.Most, s.Indicator = farthest, had || slices.ContainsFunc(cells.Floats, table.IsMissing)
			in.OneHot, in.Scale, width, has = nil, &s, s.Width(), s.Indicator
		} else if in.OneHot != nil {
			o := encode.FitOneHot(&t.Schema.Attributes[in.Column], cells.Codes, false, true)
			kept, had = len(in.OneHot.Values), in.OneHot.Indicator
			o.Indicator = o.Indicator || had
			in.OneHot, width, has = &o, o.Width(), o.Indicator
		} else {
			s := *in.Scale
			kept, had = 1, s.Indicator
			s.Indicator = had || slices.ContainsFunc(cells.Floats, table.IsMissing)
			in.Scale, width, has = &s, s.Width(), s.Indicator
		}
		for k := range kept {
			g.inputs = append(g.inputs, at+k)
		}
		if had {
			g.inputs = append(g.inputs, at+width-1)
		}
		same = same && had == has && width == inputWidth(&m.matrix.Inputs[i])
		at += width
	}
	if same {
		return m.matrix, nil
	}
	return matrix, g
}

// net returns a network that answers as the old one does: new inputs have no
// weight yet, new classes a bias as if one row of all had been theirs.
func (g *growth) net(old *dense, m *Model) *dense {
	d := old.clone()
	d.inputs = m.matrix.Width()
	l := &d.layers[0]
	w := make([]float32, d.inputs*l.stride)
	for from, to := range g.inputs {
		copy(w[to*l.stride:(to+1)*l.stride], l.w[from*l.stride:])
	}
	l.in, l.w = d.inputs, w

	l = d.last()
	outputs := m.outputs()
	if outputs == l.out {
		return d
	}
	stride := strideOf(outputs)
	w, b := make([]float32, l.in*stride), make([]float32, stride)
	for i := range l.in {
		copy(w[i*stride:], l.w[i*l.stride:][:l.out])
	}
	copy(b, l.b[:l.out])
	for c := l.out; c < outputs; c++ {
		b[c] = float32(-math.Log(m.rows + float64(outputs)))
	}
	l.out, l.stride, l.w, l.b = outputs, stride, w, b
	return d
}

func inputWidth(in *encode.Input) int {
	if in.OneHot != nil {
		return in.OneHot.Width()
	}
	return in.Scale.Width()
}

const (
	mostFineTuned = 32  // rows, at most, that networks are fine-tuned by
	fineTuneSteps = 200 // steps of the walk if the new rows were all
	mostGained    = 0.2 // part of the rows' error that a step may remove
)

// fineTune fills the model's committee with networks that have seen a few rows
// more, none of which is held out, as no one of them could judge. They walk
// down the gradient itself: Adam's steps, with one gradient at all of them,
// would be as long for weights that hardly matter as for those that do, and a
// row that was answered well would change as much as one that was not.
func (m *Model) fineTune(ctx context.Context, t *table.Table, x *sample, nets []*dense, share float64) error {
	for i, y := range x.number {
		x.number[i] = min(max(y, -farthest), farthest)
	}
	rows := division{trained: weightsOfRows(t)}
	for i, net := range nets {
		net = net.clone()
		if err := net.fineTune(ctx, x, rows.trained, m.settings, share); err != nil {
			return err
		}
		m.calibrate(i, net, x, rows)
	}
	return nil
}

// fineTune walks down the gradient of the rows' mean error, by their share of all
// rows. A step is shorter where it would remove more than a part of the error
// if the slope stayed as it is (after Polyak 1987), so that neither wide
// networks nor rows far out make it leap.
func (d *dense) fineTune(ctx context.Context, s *sample, weights []float64, o *settings, share float64) error {
	judge := newJudge(d, s, weights, o.Loss == "squared", 1)
	all := make([]shown, len(judge.rows))
	for i, r := range judge.rows {
		all[i] = shown{r, float32(judge.weight[i])}
	}
	slope := newDescent(d, s, o, min(rowsAtATime, len(all)))
	slope.adam, slope.still, slope.share = false, true, float32(1/judge.total)
	var mask [][]float32
	if o.Prune > 0 {
		mask = d.mask()
	}
	w := d.weights()
	gradient := make([]float64, len(w))
	steps := math.Max(1, math.Ceil(fineTuneSteps*share))
	for range int(steps) {
		if err := ctx.Err(); err != nil {
			return err
		}
		slope.gradient(all, 0, mask, gradient)
		loss, squares := judge.loss(d), floats.Dot(gradient, gradient)
		if s.class == nil {
			loss /= 2 // what blame descends is half the squared error
		}
		if !(squares > 0 && squares <= math.MaxFloat64 && loss <= math.MaxFloat64) {
			return nil // nothing to learn, or weights that grew beyond all bounds
		}
		floats.AddScaled(w, -min(share/steps, mostGained*loss/squares), gradient)
		d.take(w)
	}
	return nil
}
