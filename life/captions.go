package life

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
)

// caption writes into the boxes of a picture what they stand for as sentences do:
// in the names that people gave, dates as dates, and cuts no finer than the rows
// can tell.
func caption(ctx context.Context, p *Part, g *draw.Graph) error {
	s, err := Speaker(ctx, p)
	if err != nil {
		return err
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch of := n.Of.(type) {
		case []rule.Test:
			for k := range of {
				n.Lines[k] = s.Conditions(of[k : k+1]).String()
			}
		case []rule.Expectation:
			for k := range of {
				n.Lines[len(n.Lines)-len(of)+k] = s.Expectation(&of[k])
			}
		case nil:
			captionName(s, n)
		}
		if n.Class != "" && s.Target >= 0 {
			n.Class = s.Value(s.Schema.Attributes[s.Target].Name, n.Class)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if t, ok := e.Of.(rule.Test); ok {
			e.Label = branch(s, t)
		}
	}
	return nil
}

// captionName gives a box that is a column or a class the name that people gave
// to it.
func captionName(s *say.Speaker, n *draw.Node) {
	if len(n.Lines) == 0 {
		return
	}
	if s.Target >= 0 && n.Class != "" {
		switch target := s.Schema.Attributes[s.Target].Name; n.Lines[0] {
		case n.Class:
			n.Lines[0] = s.Value(target, n.Class)
		case (&rule.Conclusion{Column: target, Value: n.Class}).String():
			n.Lines[0] = s.Class(n.Class)
		}
		return
	}
	if s.Schema.Index(n.Lines[0]) >= 0 {
		n.Lines[0] = s.Label(n.Lines[0])
	}
}

// mostNames is how many names are said of a branch.
const mostNames = 4

// branch says what a branch asks of the column that stands above it.
func branch(s *say.Speaker, t rule.Test) string {
	if t.Op == rule.In {
		var names []string
		for i, v := range t.Values {
			if i == mostNames-1 && len(t.Values) > mostNames {
				names = append(names, fmt.Sprintf("%d more", len(t.Values)-i))
				break
			}
			names = append(names, s.Value(t.Column, v))
		}
		return strings.Join(names, " or ")
	}
	said, label := s.Conditions([]rule.Test{t}).String(), s.Label(t.Column)
	for _, is := range []string{" is ", " = "} {
		if rest, ok := strings.CutPrefix(said, label+is); ok {
			return rest
		}
	}
	return said
}

// pictured is a graph with its captions, under a title that says whose it is.
func pictured(ctx context.Context, p *Part, g *draw.Graph) error {
	of := p.Version.Learner
	if t := p.Target(); t != learn.NoTarget {
		name := p.Schema().Attributes[t].Name
		of += " for " + (&say.Speaker{Words: p.Words}).Label(name)
		if g.Title == name {
			g.Title = ""
		}
	}
	if g.Title == "" {
		g.Title = of
	}
	g.Title = p.Version.Model + ": " + g.Title
	return caption(ctx, p, g)
}
