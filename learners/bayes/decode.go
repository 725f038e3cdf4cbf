package bayes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	var s *settings
	var blocks []*block
	for _, p := range parts {
		switch id, isSource := strings.CutPrefix(p.Name, sourcePart); {
		case p.Name == settingsPart && s == nil:
			var from saved
			if err := learn.Unmarshal(p.Data, &from); err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
			if from.Format != format {
				return nil, fmt.Errorf("part %s: format %d, this program reads format %d", p.Name, from.Format, format)
			}
			s = &settings{M: from.M, PriorM: from.PriorM}
			if err := s.check(); err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
		case isSource:
			var from savedBlock
			if err := learn.Unmarshal(p.Data, &from); err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
			b, err := from.block()
			if err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
			if b.source.ID != id || slices.ContainsFunc(blocks, func(a *block) bool { return a.source.ID == id }) {
				return nil, fmt.Errorf("part %s: its source %q is not the one it is named after, or comes twice", p.Name, b.source.ID)
			}
			if len(blocks) > 0 && b.className() != blocks[0].className() {
				return nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.className(), blocks[0].className())
			}
			blocks = append(blocks, b)
		default:
			return nil, fmt.Errorf("part %q is not one that bayes knows", p.Name)
		}
	}
	if s == nil || len(blocks) == 0 {
		return nil, fmt.Errorf("the settings or the sources are missing")
	}
	return newModel(*s, blocks, nil)
}

func (b *block) className() string { return b.schema.Attributes[b.target].Name }

// block checks what was read and returns it as a block.
func (s *savedBlock) block() (*block, error) {
	if s.Target < 0 || s.Target >= len(s.Columns) || s.Columns[s.Target].Numeric {
		return nil, fmt.Errorf("target %d is not a nominal one of %d columns", s.Target, len(s.Columns))
	}
	if len(s.Classes) != len(s.Columns[s.Target].Values) || !weights(s.Classes) {
		return nil, fmt.Errorf("%d weights of %d classes, or not weights", len(s.Classes), len(s.Columns[s.Target].Values))
	}
	schema := &table.Schema{Attributes: make([]table.Attribute, len(s.Columns))}
	for j := range s.Columns {
		c := &s.Columns[j]
		a := &schema.Attributes[j]
		*a = table.Attribute{Name: c.Name, Kind: table.Nominal, Values: c.Values, Date: c.Date}
		if c.Numeric {
			a.Kind = table.Numeric
		}
		if err := c.check(j == s.Target, len(s.Classes)); err != nil {
			return nil, fmt.Errorf("column %q: %v", c.Name, err)
		}
	}
	b := newBlock(learn.Source{ID: s.ID, Name: s.Name}, schema, s.Target)
	copy(b.classes, s.Classes)
	for j := range s.Columns {
		c, to := &s.Columns[j], &b.columns[j]
		copy(to.counts, c.Counts)
		if c.Numeric {
			to.level = moment.Level(c.Level)
		}
		for i := range to.moments {
			m := moment.Moment{N: c.Moments[3*i], Mean: c.Moments[3*i+1], M2: c.Moments[3*i+2]}
			if !m.Valid() {
				return nil, fmt.Errorf("column %q: %v are not moments", c.Name, m)
			}
			to.moments[i] = m
		}
	}
	return b, learn.Distinct(b.schema)
}

// check refuses columns whose numbers do not agree with their kind.
func (c *savedColumn) check(target bool, classes int) error {
	counts, moments := len(c.Values)*classes, 0
	switch {
	case c.Numeric:
		counts, moments = 0, 3*classes
	case target:
		counts = 0
	}
	if len(c.Counts) != counts || len(c.Moments) != moments || c.Numeric && len(c.Values) > 0 || !weights(c.Counts) {
		return fmt.Errorf("%d counts and %d moments, expected %d and %d", len(c.Counts), len(c.Moments), counts, moments)
	}
	if level := moment.Level(c.Level); level < moment.Tiny || level > moment.Huge {
		return fmt.Errorf("level %d of moments is unknown", c.Level)
	}
	return nil
}

// weights reports whether all numbers can be weights of rows.
func weights(ws []float64) bool {
	return !slices.ContainsFunc(ws, func(w float64) bool { return !(w >= 0 && w <= moment.MaxWeight) || math.Signbit(w) })
}
