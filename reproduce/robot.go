package reproduce

import (
	"context"
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The simulated robot of Mitchell 1997, section 12.4.5, was not published; this one
// drives from anywhere on a floor to a charger, around a pillar if that is in its
// way. An episode tells where it began and what that was worth: 0.9 to the number
// of its steps, some of which slip.

// numbers makes a table of numeric columns, the last being the target.
func numbers(names []string, rows [][]float64) (*table.Table, error) {
	schema := &table.Schema{}
	columns := make([]table.Column, len(names))
	for j, name := range names {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
		for _, r := range rows {
			columns[j].Floats = append(columns[j].Floats, r[j])
		}
	}
	return table.New(schema, columns, nil)
}

// way is how far the charger is for a robot at a place.
func way(x, y float64) float64 {
	straight := math.Hypot(x-0.8, y-0.7)
	if x < 0.5 && math.Abs((y-0.7)-(x-0.8)*0.3) < 0.15 { // the pillar stands between
		straight += 0.2
	}
	return straight
}

// episodes are where robots began and what that was worth. They see more than they
// need.
func episodes(random *rand.Rand, n int, slip float64) (*table.Table, error) {
	var rows [][]float64
	for range n {
		x, y := random.Float64(), random.Float64()
		steps := 0.0
		for left := way(x, y); left > 0.02; steps++ {
			if random.Float64() >= slip {
				left -= 0.06
			}
		}
		rows = append(rows, []float64{x, y, random.Float64(), random.Float64(), math.Pow(0.9, steps)})
	}
	return numbers([]string{"x", "y", "light", "battery", "worth"}, rows)
}

// robotTheory is two networks that chain, of an earlier robot that slipped less:
// how far the charger is from a place, and what a way is worth.
func robotTheory(ctx context.Context, random *rand.Rand, seed uint64) (string, error) {
	var ways, worths [][]float64
	for range 300 {
		x, y := random.Float64(), random.Float64()
		ways = append(ways, []float64{x, y, way(x, y) + 0.02*random.NormFloat64()})
		far := 1.2 * random.Float64()
		worths = append(worths, []float64{far, math.Pow(0.9, math.Ceil(far/0.06))})
	}
	var models []string
	for _, w := range []struct {
		names []string
		rows  [][]float64
	}{{[]string{"x", "y", "way"}, ways}, {[]string{"way", "worth"}, worths}} {
		t, err := numbers(w.names, w.rows)
		if err != nil {
			return "", err
		}
		m, err := reasoned(ctx, "ebnn", nil, t, w.names[len(w.names)-1], nil, seed)
		if err != nil {
			return "", err
		}
		data, err := learn.Encode(m)
		if err != nil {
			return "", err
		}
		models = append(models, base64.StdEncoding.EncodeToString(data))
	}
	return "way,worth\n" + strings.Join(models, "\n"), nil
}

// robotEpisodes is how many episodes a network without explanations needs to be as
// good as one that was explained 25, of the numbers that are tried.
func robotEpisodes(ctx context.Context, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 0x726f626f74))
	theory, err := robotTheory(ctx, random, seed)
	if err != nil {
		return 0, err
	}
	rows, err := episodes(random, 500, 0.3)
	if err != nil {
		return 0, err
	}
	test, err := episodes(random, 500, 0.3)
	if err != nil {
		return 0, err
	}
	off := func(n int, settings map[string]string) (float64, error) {
		m, err := reasoned(ctx, "ebnn", settings, rows.Slice(0, n), "worth", nil, seed)
		if err != nil {
			return 0, err
		}
		_, out, err := answered(ctx, m, test)
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for r, y := range test.Columns[4].Floats {
			sum += (out.Mean[r] - y) * (out.Mean[r] - y)
		}
		return sum, nil
	}
	explained, err := off(25, map[string]string{"theory": theory})
	if err != nil {
		return 0, err
	}
	tried := []int{25, 35, 50, 70, 90, 120, 160, 200, 300, 400}
	for _, n := range tried {
		plain, err := off(n, map[string]string{"mu": "0"})
		if err != nil {
			return 0, err
		}
		if plain <= explained {
			return float64(n), nil
		}
	}
	return 500, nil
}
