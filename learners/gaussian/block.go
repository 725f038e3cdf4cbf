package gaussian

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// block is what one source brought, in its own schema.
type block struct {
	source  learn.Source
	schema  *table.Schema
	target  int
	rows    float64   // weight of its rows; 0 for an expert
	columns []overall // over its rows; of an expert only the levels count
	units   []share
	// said are an expert's rules, as they were told, where they did not
	// become units of their own: the units say what rows made of them.
	said   []share
	expert learn.Source // who said it, of a block of rows
	packed *packed      // its numbers, if it was read and nobody asked for them yet (see load)
	// later is its part, if that was not read (see load); alone, that there are
	// no experts' units in it.
	later *bundle.Later[block]
	alone bool
}

// unit is what a unit is apart from its numbers.
type unit struct {
	key    string // tells it from all others
	name   string // what people call it
	class  int32  // code of the class whose unit it is, or table.Missing
	normal []bool // of each column: it stays as the column is overall
	expert bool   // stays as an expert said: rows do not move it
	place  int    // among those that came with it
	begun  string // key of the expert's rule that EM began it at; "" for none
}

// share is a source's part of a unit: the weight, moments and counts of its
// rows, as far as they are the unit's.
type share struct {
	unit
	n       float64
	moments []moment.Moment // of each attribute, in the unit of the column's level
	counts  [][]float64     // of each attribute, by code
	// cross is the triangle, over all attributes, of the weighted sums of
	// products of deviations from the means, as M2 is of squares, which
	// itself stays with the moments. It is nil where columns are taken for
	// independent.
	cross []float64
}

// newShare returns the share of no rows.
func newShare(u unit, schema *table.Schema) share {
	s := share{unit: u, moments: make([]moment.Moment, len(schema.Attributes)), counts: make([][]float64, len(schema.Attributes))}
	for j := range schema.Attributes {
		if schema.Attributes[j].Kind == table.Nominal {
			s.counts[j] = make([]float64, len(schema.Attributes[j].Values))
		}
	}
	return s
}

// gather returns the units' shares of the rows of a sample, split among the
// units of a mixture.
func (b *block) gather(ctx context.Context, m *mixture, rows *sample, units []unit, columns []overall) ([]share, error) {
	e := em{sample: rows}
	s, err := e.expect(ctx, m.kernel())
	if err != nil {
		return nil, err
	}
	return b.take(m.shape, s, units, columns), nil
}

// take returns the units' shares, in the block's columns, of statistics in
// z-scores of the given columns.
func (b *block) take(shape *shape, s *statistics, units []unit, columns []overall) []share {
	d := s.columns
	shares := make([]share, 0, len(units))
	for i, u := range units {
		to := newShare(u, b.schema)
		to.n = s.n[i]
		for j, column := range shape.numeric {
			n := s.n[i] - s.absent[i*d+j]
			if !(n > leastWeight && n > 1e-9*s.absent[i*d+j]) {
				continue
			}
			o := &columns[column]
			c, deviation := s.s1[i*d+j]/n, o.deviation()
			mean := o.moment.Mean + c*deviation
			if math.Abs(mean) < 1e-14*(math.Abs(o.moment.Mean)+deviation) {
				mean = 0 // what is left of it is rounding
			}
			to.moments[column] = moment.Moment{
				N: n, Mean: mean,
				M2: max(0, s.squares(i, j)-c*s.s1[i*d+j]) * deviation * deviation,
			}
		}
		if shape.full {
			to.cross = make([]float64, triangle(len(b.columns)))
			for j, a := range shape.numeric {
				for k, c := range shape.numeric[:j] {
					if s.n[i] > leastWeight {
						product := s.cross[i*triangle(d)+tri(j, k)] - s.s1[i*d+j]*s.s1[i*d+k]/s.n[i]
						to.cross[tri(a, c)] = to.bounded(a, c, product*columns[a].deviation()*columns[c].deviation())
					}
				}
			}
		}
		for c, column := range shape.nominal {
			for v := range shape.values[c] {
				to.counts[column][v] = s.counts[(shape.offset[c]+v)*s.units+i]
			}
		}
		if u.class >= 0 {
			to.counts[b.target][u.class] = to.n
		}
		shares = append(shares, to)
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(a.place, b.place) })
	return shares
}

// bounded returns what the products of two columns' deviations sum up to, no
// more than their squares allow but for rounding.
func (s *share) bounded(a, b int, product float64) float64 {
	most := math.Sqrt(s.moments[a].M2) * math.Sqrt(s.moments[b].M2)
	return min(max(product, -most), most)
}

// statistics returns what rows of a weight would sum up to if they were just
// as the mixture says.
func (m *mixture) statistics(weight float64) *statistics {
	k, d := len(m.prior), len(m.numeric)
	s := newStatistics(m.shape, k)
	for i, p := range m.prior {
		n := p * weight
		s.n[i] = n
		for j := range d {
			c, w := m.centre[i*d+j], m.width[i*d+j]
			s.s1[i*d+j] = n * c
			if m.covariance == nil {
				s.s2[i*d+j] = n * (c*c + w*w)
				continue
			}
			t := i * triangle(d)
			for o := range j + 1 {
				s.cross[t+tri(j, o)] = n * (c*m.centre[i*d+o] + m.covariance[t+tri(j, o)])
			}
		}
		for v := range m.total {
			s.counts[v*k+i] = n * m.share[v*k+i]
		}
	}
	return s
}

// newBlock returns the block of no rows.
func newBlock(source learn.Source, schema *table.Schema, target int) *block {
	b := &block{source: source, schema: schema, target: target, columns: make([]overall, len(schema.Attributes))}
	for j := range schema.Attributes {
		if schema.Attributes[j].Kind == table.Nominal {
			b.columns[j].counts = make([]float64, len(schema.Attributes[j].Values))
		} else {
			b.columns[j].level = moment.Tiny
		}
	}
	return b
}

// raise moves the moments of a numeric column to a level.
func (b *block) raise(j int, to moment.Level) {
	c := &b.columns[j]
	if to <= c.level {
		return
	}
	c.moment = c.moment.Move(c.level, to)
	for _, shares := range [][]share{b.units, b.said} {
		for i := range shares {
			shares[i].moments[j] = shares[i].moments[j].Move(c.level, to)
			if shares[i].cross != nil {
				for k := range b.columns {
					shares[i].cross[tri(j, k)] *= to.Scale() / c.level.Scale()
				}
			}
		}
	}
	c.level = to
}

// absorb adds another block. Columns, values and classes are matched by name;
// what b's schema does not have is left out. Units are matched by their keys.
func (b *block) absorb(o *block) {
	b.rows += o.rows
	at := make([]int, len(o.columns)) // of o's columns in b
	recode := make([][]int32, len(o.columns))
	for j := range o.columns {
		at[j] = b.schema.Index(o.schema.Attributes[j].Name)
		if at[j] < 0 {
			continue
		}
		to, from := &b.columns[at[j]], &o.columns[j]
		if from.counts != nil {
			recode[j] = table.Recoding(&o.schema.Attributes[j], &b.schema.Attributes[at[j]])
			addCounts(to.counts, from.counts, recode[j])
			continue
		}
		b.raise(at[j], from.level)
		to.moment = moment.Join(to.moment, from.moment.Move(from.level, to.level))
	}
	b.units = b.join(b.units, o, o.units, at, recode)
	b.said = b.join(b.said, o, o.said, at, recode)
	if b.expert == (learn.Source{}) {
		b.expert = o.expert
	}
}

// join adds shares of another block, whose columns stand at, to those of the
// same keys.
func (b *block) join(to []share, o *block, from []share, at []int, recode [][]int32) []share {
	index := make(map[string]int, len(to))
	for i := range to {
		index[to[i].key] = i
	}
	for i := range from {
		k, known := index[from[i].key]
		if !known {
			u := from[i].unit
			u.normal = make([]bool, len(b.columns))
			for j := range o.columns {
				if at[j] >= 0 {
					u.normal[at[j]] = from[i].normal[j]
				}
			}
			if u.class >= 0 {
				u.class = recode[o.target][u.class]
			}
			k = len(to)
			index[u.key] = k
			to = append(to, newShare(u, b.schema))
		}
		to[k].n += from[i].n
		b.joinCross(&to[k], o, &from[i], at)
		for j := range o.columns {
			switch {
			case at[j] < 0:
			case recode[j] != nil:
				addCounts(to[k].counts[at[j]], from[i].counts[j], recode[j])
			default:
				level := b.columns[at[j]].level
				to[k].moments[at[j]] = moment.Join(to[k].moments[at[j]], from[i].moments[j].Move(o.columns[j].level, level))
			}
		}
	}
	return to
}

// joinCross adds the products of another block's share, before its moments
// are: what the products of both are around the means of both.
func (b *block) joinCross(to *share, o *block, from *share, at []int) {
	if to.cross == nil && from.cross == nil {
		return
	}
	if to.cross == nil {
		to.cross = make([]float64, triangle(len(b.columns)))
	}
	moved := func(j int) moment.Moment { return from.moments[j].Move(o.columns[j].level, b.columns[at[j]].level) }
	for j := range o.columns {
		if at[j] < 0 || o.columns[j].counts != nil || from.moments[j].N == 0 {
			continue
		}
		x, scale := moved(j), b.columns[at[j]].level.Scale()/o.columns[j].level.Scale()
		for k := range j {
			if at[k] < 0 || o.columns[k].counts != nil || from.moments[k].N == 0 {
				continue
			}
			y := moved(k)
			product := to.cross[tri(at[j], at[k])]
			if from.cross != nil {
				product += from.cross[tri(j, k)] * scale * (b.columns[at[k]].level.Scale() / o.columns[k].level.Scale())
			}
			if p, q := to.moments[at[j]], to.moments[at[k]]; p.N > 0 && q.N > 0 {
				n, m := min(p.N, q.N), min(x.N, y.N)
				product += (x.Mean - p.Mean) * (y.Mean - q.Mean) * (n * (m / (n + m)))
			}
			to.cross[tri(at[j], at[k])] = product
		}
	}
}

func addCounts(to, from []float64, recode []int32) {
	for v, n := range from {
		if code := recode[v]; code >= 0 {
			to[code] += n
		}
	}
}

// sum returns the block of all blocks' rows, in the union of their schemas,
// added up in the order in which the sources came.
func sum(blocks []*block) (*block, error) {
	if err := load(blocks); err != nil {
		return nil, err
	}
	schemas := make([]*table.Schema, len(blocks))
	for i, b := range blocks {
		schemas[i] = b.schema
	}
	total, err := emptySum(blocks[0], schemas...)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		total.absorb(b)
	}
	return total, nil
}

// plus is the sum of blocks whose sum so far is b and of one more: what sum
// returns of all of them, at a cost that does not grow with their number.
func (b *block) plus(last *block) (*block, error) {
	if err := last.load(); err != nil {
		return nil, err
	}
	total, err := emptySum(b, b.schema, last.schema)
	if err != nil {
		return nil, err
	}
	total.absorb(b)
	total.absorb(last)
	return total, nil
}

// emptySum returns the block of no rows, in the union of schemas, to add
// blocks with the target of the first one to.
func emptySum(first *block, schemas ...*table.Schema) (*block, error) {
	union, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	target := learn.NoTarget
	if t := first.target; t != learn.NoTarget {
		target = union.Index(first.schema.Attributes[t].Name)
	}
	return newBlock(learn.Source{}, union, target), nil
}

// joinBlocks returns the block of the rows of two.
func joinBlocks(a, b *block) (*block, error) {
	if err := load([]*block{a, b}); err != nil {
		return nil, err
	}
	schema, err := table.Union(a.schema, b.schema)
	if err != nil {
		return nil, err
	}
	target := a.target
	if target != learn.NoTarget {
		target = schema.Index(a.schema.Attributes[target].Name)
	}
	both := newBlock(a.source, schema, target)
	both.absorb(a)
	both.absorb(b)
	return both, nil
}

// addRow takes in one row of a table in the block's schema, of which the
// units get their shares: those of shares[i] is unit at[i]. The units' numbers
// of some columns are left to others (see joint.addRow).
func (b *block) addRow(t *table.Table, row int, at []int, shares []float64, others []bool) {
	w := t.Weight(row)
	b.rows += w
	for i, r := range shares {
		if r > 0 {
			b.units[at[i]].n += w * r
		}
	}
	for j := range b.columns {
		c := &b.columns[j]
		if c.counts != nil {
			if code := t.Columns[j].Codes[row]; code >= 0 {
				c.counts[code] += w
				for i, r := range shares {
					b.units[at[i]].counts[j][code] += w * r
				}
			}
			continue
		}
		x := t.Columns[j].Floats[row]
		if !finite(x) {
			continue
		}
		if math.Abs(x) >= c.level.Limit() {
			b.raise(j, moment.LevelOf(x))
		}
		x *= c.level.Scale()
		c.moment.Add(x, w)
		if others != nil && others[j] {
			continue
		}
		for i, r := range shares {
			if w*r > leastWeight*w {
				b.units[at[i]].moments[j].Add(x, w*r)
			}
		}
	}
}
