package ensemble

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

var (
	_ portable.Compiler = (*Model)(nil)
	_ portable.Compiler = (*Pool)(nil)
)

// portableMembers compiles every member, in the order in which they are asked.
func (m *crowd) portableMembers(b *portable.Builder, visit func(g *group, of *member, said portable.Answer)) error {
	for _, g := range m.groups {
		for i, of := range g.members {
			c, err := expert.Portable(of.model)
			if err != nil {
				return fmt.Errorf("member %d (%s): %w", i+1, of.model.Learner(), err)
			}
			said, err := c.Portable(b.Of(g.schema, m.target))
			if err != nil {
				return fmt.Errorf("member %d (%s): %w", i+1, of.model.Learner(), err)
			}
			visit(g, of, said)
		}
	}
	return nil
}

// elected is the class that a member finds most probable.
func (m *crowd) elected(b *portable.Builder, g *group, p portable.Ref) portable.Ref {
	best := b.Best(p, g.schema.Attributes[m.target].Values)
	return b.Place(best, g.classes, make([]float64, len(m.classes())))
}

// Portable compiles the members, their votes and the softmax of these.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	var votes []portable.Ref
	err := m.portableMembers(b, func(g *group, of *member, said portable.Answer) {
		votes = append(votes, b.Scale(m.elected(b, g, *said.Probabilities), of.vote, 0))
	})
	if err != nil {
		return portable.Answer{}, err
	}
	n := len(m.classes())
	factors := make([]float64, n*n)
	for c, seen := range m.seen {
		if seen > 0 {
			factors[c*n+c] = m.sharpness / seen
		}
	}
	return portable.Classes(b.Softmax(b.Affine(b.Total(votes...), m.prior, factors)))
}

// Portable compiles the members and the mean of what they say, or the vote.
func (m *Pool) Portable(b *portable.Builder) (portable.Answer, error) {
	if m.vote == voteGibbs {
		return portable.Answer{}, errors.New("the member that answers is drawn by the hash of a row, which no target can compute")
	}
	if m.schema.Attributes[m.target].Kind == table.Numeric {
		return m.portableNumber(b)
	}
	n := len(m.classes())
	var all, votes []portable.Ref
	err := m.portableMembers(b, func(g *group, of *member, said portable.Answer) {
		p := *said.Probabilities
		all = append(all, b.Scale(b.Place(p, g.classes, make([]float64, n)), of.share, 0))
		if m.name != CommitteeName {
			votes = append(votes, b.Scale(m.elected(b, g, p), of.vote, 0))
		}
	})
	if err != nil {
		return portable.Answer{}, err
	}
	p := b.Total(all...)
	if votes != nil {
		p = m.portableElect(b, p, b.Total(votes...))
	}
	return portable.Classes(p)
}

// portableNumber compiles the mean of numbers, and of their intervals if all
// members have one.
func (m *Pool) portableNumber(b *portable.Builder) (portable.Answer, error) {
	var mean, low, high []portable.Ref
	members := 0
	err := m.portableMembers(b, func(_ *group, of *member, said portable.Answer) {
		members++
		mean = append(mean, b.Scale(*said.Number, of.share, 0))
		if said.Low != nil {
			low, high = append(low, b.Scale(*said.Low, of.share, 0)), append(high, b.Scale(*said.High, of.share, 0))
		}
	})
	if err != nil {
		return portable.Answer{}, err
	}
	if len(low) < members {
		return portable.Number(b.Total(mean...))
	}
	return portable.Interval(b.Total(mean...), b.Total(low...), b.Total(high...))
}

// portableElect compiles elect: the class that was elected is made the most probable.
func (m *Pool) portableElect(b *portable.Builder, p, votes portable.Ref) portable.Ref {
	n := float64(len(m.classes()))
	spare := 1 / (m.rows + n)
	p = b.Scale(p, 1-spare, spare/n)
	elected, likeliest := b.Best(votes, m.classes()), b.Best(p, m.classes())
	of := func(which portable.Ref) portable.Ref { return b.Together(b.Zip(portable.Multiply, p, which)) }
	raised := b.Scale(of(likeliest), 1+1e-9, 0)
	total := b.Zip(portable.Subtract, b.Scale(raised, 1, 1), of(elected))
	others := b.Zip(portable.Multiply, p, b.Zip(portable.Subtract, b.Constant(1), elected))
	moved := b.Zip(portable.Divide, b.Zip(portable.Add, others, b.Zip(portable.Multiply, elected, raised)), total)
	same := b.Together(b.Zip(portable.Multiply, elected, likeliest))
	return b.Choose(portable.IsAbove(same, 0.5), p, moved)
}
