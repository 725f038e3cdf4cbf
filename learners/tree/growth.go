package tree

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
)

var _ learn.Grower = (*Model)(nil)

// Certificate says what a test of a tree is there for.
type Certificate struct {
	Test    string   `json:"test"`    // the column, or sum of columns, that is asked about
	Where   []string `json:"where"`   // what rows satisfy that are asked
	Rows    float64  `json:"rows"`    // their weight
	Errors  float64  `json:"errors"`  // of a leaf in its place; squared, for a numeric target
	Removed float64  `json:"removed"` // of them, by leaves below the test
	Bits    float64  `json:"bits"`    // its information gain a row; 0 for a numeric target

	numeric bool
}

// String returns the certificate as one line.
func (c Certificate) String() string {
	where := "all rows"
	if len(c.Where) > 0 {
		where = "IF " + strings.Join(c.Where, " AND ")
	}
	if c.numeric {
		return fmt.Sprintf("%s  removes %.4g of the squared error %.4g of %.6g rows  %s", c.Test, c.Removed, c.Errors, c.Rows, where)
	}
	return fmt.Sprintf("%s  removes %.4g of %.4g errors in %.6g rows, gain %.4f bits  %s", c.Test, c.Removed, c.Errors, c.Rows, c.Bits, where)
}

// Grown returns a certificate for each test, from the root down, and why no
// leaf became a test. A list of rules was made of a tree that is gone.
func (m *Model) Grown() (certificates []fmt.Stringer, stopped string) {
	if m.tree == nil {
		return nil, "the tree was turned into the list of rules that its leaves gave, each pruned by itself"
	}
	var descend func(i int, path []condition)
	descend = func(i int, path []condition) {
		st := &m.tree.nodes[i]
		if st.col == leaf {
			return
		}
		certificates = append(certificates, m.certificate(i, path))
		for b := range int(st.kids) {
			descend(int(st.kid)+b, append(path, m.tree.condition(i, b)))
		}
	}
	descend(0, nil)
	return certificates, m.stopped()
}

// certificate returns that of a test.
func (m *Model) certificate(i int, path []condition) Certificate {
	t := m.tree
	c := Certificate{Test: m.asked(i), Where: []string{}, Rows: t.weight(i), Errors: t.errors(i), numeric: t.classes == 0}
	for _, test := range m.tests(path) {
		c.Where = append(c.Where, test.String())
	}
	c.Removed = c.Errors
	mass := t.mass(i)
	for k, kids := t.kids(i).from, t.kids(i); k < kids.to; k++ {
		c.Removed -= t.errors(k)
		mass -= t.mass(k)
	}
	if t.classes > 0 {
		c.Bits = max(over(mass, c.Rows), 0)
	}
	return c
}

// errors returns what a node gets wrong as a leaf: the weight of other classes
// than the most common one, or the sum of squared differences from the mean.
func (c *compact) errors(i int) float64 {
	if c.classes == 0 {
		n, s, ss := c.stat[3*i], c.stat[3*i+1], c.stat[3*i+2]
		if n <= 0 {
			return 0
		}
		return max(ss-s*s/n, 0) * c.scale * c.scale
	}
	_, stat := c.weights(i)
	most := 0.0
	for _, w := range stat {
		most = max(most, w)
	}
	return max(sum(stat)-most, 0)
}

// mass returns a node's weight times its entropy.
func (c *compact) mass(i int) float64 {
	if c.classes == 0 {
		return 0
	}
	_, stat := c.weights(i)
	return gain.mass(stat, sum(stat))
}

// stopped says why growth ended: what the leaves are.
func (m *Model) stopped() string {
	pure, small, rest := 0, 0, 0
	for i := range m.tree.nodes {
		switch {
		case m.tree.nodes[i].col != leaf:
		case m.tree.errors(i) == 0:
			pure++
		case m.tree.weight(i) < 2*m.settings.MinRows:
			small++
		default:
			rest++
		}
	}
	right := "are right on all their rows"
	if m.tree.classes == 0 {
		right = "have one number"
	}
	text := fmt.Sprintf("of %d leaves %d %s, %d have fewer than the %g rows that two branches need, and for %d no test was worth it", pure+small+rest, pure, right, small, 2*m.settings.MinRows, rest)
	if tests := m.tree.tests(); m.grown > tests {
		text += fmt.Sprintf("; pruning took back %d of %d tests", m.grown-tests, m.grown)
	}
	return text
}
