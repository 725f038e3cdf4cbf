package concept

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// readDomains reads "wind=Strong|Weak;sky=Sunny|Rainy" and returns the schema
// with the values that it lacks behind those it has.
func readDomains(text string, schema *table.Schema) (*table.Schema, error) {
	wider := &table.Schema{Attributes: slices.Clone(schema.Attributes)}
	for _, part := range split(text, ";") {
		name, values, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("domains: %q; expected a column and its values, as wind=Strong|Weak", part)
		}
		a, err := nominal(wider, "domains", strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		a.Values = slices.Clone(a.Values)
		for _, v := range split(values, "|") {
			if !slices.Contains(a.Values, v) {
				a.Values = append(a.Values, v)
			}
		}
	}
	return wider, nil
}

// split cuts a list and drops what is empty.
func split(text, separator string) []string {
	var all []string
	for _, part := range strings.Split(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// nominal returns a nominal column by its name.
func nominal(schema *table.Schema, setting, name string) (*table.Attribute, error) {
	i := schema.Index(name)
	if i < 0 {
		return nil, fmt.Errorf("%s: there is no column %q%s", setting, name, spell.Hint(name, schema.Names()))
	}
	if schema.Attributes[i].Kind != table.Nominal {
		return nil, fmt.Errorf("%s: %s has numbers; only names have values to list and to put under others", setting, name)
	}
	return &schema.Attributes[i], nil
}

// taxonomy is the names above the values of a column.
type taxonomy struct {
	names  []string       // of the inner nodes
	parent map[string]int // of values and inner nodes, the place of the one above
}

// readTaxonomies reads "sky:wet=Rainy|Cloudy,dry=Sunny; shape:…" by column.
func readTaxonomies(text string, schema *table.Schema) (map[string]*taxonomy, error) {
	all := map[string]*taxonomy{}
	for _, part := range split(text, ";") {
		name, nodes, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("taxonomy: %q; expected a column and the names above its values, as sky:wet=Rainy|Cloudy", part)
		}
		a, err := nominal(schema, "taxonomy", strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		t, err := readTaxonomy(a, nodes)
		if err != nil {
			return nil, err
		}
		all[a.Name] = t
	}
	return all, nil
}

func readTaxonomy(a *table.Attribute, text string) (*taxonomy, error) {
	t := &taxonomy{parent: map[string]int{}}
	under := map[string][]string{}
	for _, node := range split(text, ",") {
		name, children, ok := strings.Cut(node, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("taxonomy of %s: %q; expected a name and what stands under it, as wet=Rainy|Cloudy", a.Name, node)
		}
		if slices.Contains(a.Values, name) || slices.Contains(t.names, name) {
			return nil, fmt.Errorf("taxonomy of %s: %q is a value or a name already; names above values are new ones", a.Name, name)
		}
		t.names = append(t.names, name)
		under[name] = split(children, "|")
	}
	for i, name := range t.names {
		for _, child := range under[name] {
			if !slices.Contains(a.Values, child) && !slices.Contains(t.names, child) {
				return nil, fmt.Errorf("taxonomy of %s: %q under %q is no value of the column%s", a.Name, child, name, spell.Hint(child, slices.Concat(a.Values, t.names)))
			}
			if above, taken := t.parent[child]; taken {
				return nil, fmt.Errorf("taxonomy of %s: %q stands under both %q and %q; expected a tree", a.Name, child, t.names[above], name)
			}
			t.parent[child] = i
		}
	}
	for _, name := range t.names {
		steps := 0
		for at, ok := t.parent[name]; ok; at, ok = t.parent[t.names[at]] {
			if steps++; steps > len(t.names) {
				return nil, fmt.Errorf("taxonomy of %s: %q stands above itself; expected a tree", a.Name, name)
			}
		}
	}
	return t, nil
}

// namesColumn returns the constraints of a column of names. Nodes are the
// values, the names of the taxonomy, the root and, where cells are missing,
// known below it.
func namesColumn(a *table.Attribute, t *taxonomy, missing bool) column {
	k := len(a.Values)
	inner := 0
	if t != nil {
		inner = len(t.names)
	}
	c := column{values: k, known: -1, missing: missing, root: int32(k + inner)}
	under := c.root
	c.parent = make([]int32, k+inner+1, k+inner+2)
	c.parent[c.root] = -1
	if missing {
		c.known = c.root + 1
		c.parent = append(c.parent, c.root)
		under = c.known
	}
	name := func(i int) string {
		if i < k {
			return a.Values[i]
		}
		return t.names[i-k]
	}
	for i := range k + inner {
		c.parent[i] = under
		if t != nil {
			if p, ok := t.parent[name(i)]; ok {
				c.parent[i] = int32(k + p)
			}
		}
	}
	return c
}

// mostEnds is how many whole numbers between the least and the largest are
// counted one by one; beyond it, only those that rows have are ends.
const mostEnds = 100_000

// numbersColumn returns the constraints of a column of numbers.
func numbersColumn(numbers []float64) column {
	c := column{numeric: true, whole: true}
	for _, x := range numbers {
		if table.IsMissing(x) {
			c.missing = true
			continue
		}
		c.whole = c.whole && x == math.Trunc(x) && math.Abs(x) < 1<<53
		c.ends = append(c.ends, x)
	}
	slices.Sort(c.ends)
	c.ends = slices.Compact(c.ends)
	if n := len(c.ends); n > 1 && c.ends[n-1]-c.ends[0] > mostEnds {
		c.whole = false // as good as any numbers
	} else if c.whole && n > 1 {
		low, high := c.ends[0], c.ends[n-1]
		c.ends = c.ends[:0]
		for x := low; x <= high; x++ {
			c.ends = append(c.ends, x)
		}
	}
	return c
}

// readCentre reads "0,1.5", a number a column; nil where none is given.
func readCentre(text string, columns int) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != columns {
		return nil, fmt.Errorf("centre=%s has %d numbers; expected one for each of %d columns", text, len(parts), columns)
	}
	centre := make([]float64, columns)
	for i, part := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("centre=%s: %q is no number; expected as 0,1.5", text, part)
		}
		centre[i] = x
	}
	return centre, nil
}
