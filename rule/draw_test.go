package rule

import (
	"math"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

// Generators of arbitrary bases, and of bases and tables over small domains.

// awkward are names that a careless printer or parser trips over.
var awkward = []string{
	"", "5", "-3.5", "-", "--", ".", "1e5", "1e+5", "1e", "2024-02-29", "2024-02-30", "IF", "NORMAL", "if", "sd", "AT LEAST",
	"a b", "a\"b", `a\b`, "a\nb", "\t", "±", "+-", "<=50K", "# no comment", "naïve", "日本", "e\u0301", "\u2028", "\ufeff",
	"\U0001f600", "\x00", "NaN", "Inf", "x-3", "x.y_z", "{a}", "1_000", "0x10", "٣", "ordered", "covered", "\U000e0001", "\ufffd",
}

func anyName() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringMatching(`[a-z][a-z0-9_.-]{0,6}`), rapid.String())
}

func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(-10, 10),
		rapid.Map(rapid.IntRange(-100, 100), func(n int) float64 { return float64(n) / 4 }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e21, 1e20, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1.0 / 3}),
		rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
	)
}

func maybe(t *rapid.T, g *rapid.Generator[float64], label string) *float64 {
	return rapid.Ptr(g, true).Draw(t, label)
}

func anyTest(depth int) *rapid.Generator[Test] {
	return rapid.Custom(func(t *rapid.T) Test {
		x := Test{Op: Op(rapid.IntRange(int(Eq), int(NotContains)).Draw(t, "op"))}
		if depth == 0 && x.Op == AtLeast {
			x.Op = HalfSpace
		}
		if x.Op != HalfSpace && x.Op != AtLeast {
			x.Column = anyName().Draw(t, "column")
		}
		switch x.Op {
		case Eq, Ne, Contains, NotContains:
			x.Value = anyName().Draw(t, "value")
		case In, NotIn:
			x.Values = rapid.SliceOfN(anyName(), 1, 4).Draw(t, "values")
		case Lt, Le, Gt, Ge:
			x.Number = anyNumber().Draw(t, "number")
		case Between:
			x.Low, x.High = anyNumber().Draw(t, "low"), anyNumber().Draw(t, "high")
			x.LowClosed, x.HighOpen = rapid.Bool().Draw(t, "low closed"), rapid.Bool().Draw(t, "high open")
			if x.Low > x.High {
				x.Low, x.High = x.High, x.Low
			}
			if x.Low == x.High {
				x.LowClosed, x.HighOpen = true, false
			}
		case HalfSpace:
			for range rapid.IntRange(1, 3).Draw(t, "terms") {
				x.Terms = append(x.Terms, Term{anyNumber().Draw(t, "factor"), anyName().Draw(t, "column")})
			}
			x.Number, x.Below = anyNumber().Draw(t, "number"), rapid.Bool().Draw(t, "below")
		case AtLeast:
			x.Of = rapid.SliceOfN(anyTest(depth-1), 1, 3).Draw(t, "of")
			x.Count = rapid.IntRange(1, len(x.Of)).Draw(t, "count")
		}
		return x
	})
}

func anyShares() *rapid.Generator[[]Share] {
	return rapid.Custom(func(t *rapid.T) []Share {
		values := rapid.SliceOfNDistinct(anyName(), 1, 4, rapid.ID).Draw(t, "values")
		shares := make([]Share, len(values))
		left := 1.0
		for i := range shares {
			p := left
			if i < len(shares)-1 {
				p = rapid.Float64Range(0, 1).Draw(t, "p") * left
			}
			left -= p
			shares[i] = Share{values[i], p}
		}
		return shares
	})
}

func amount() *rapid.Generator[float64] { return rapid.Map(anyNumber(), math.Abs) }

func anyThen(t *rapid.T) Rule {
	r := Rule{Then: Conclusion{Column: anyName().Draw(t, "column")}}
	form := rapid.IntRange(0, 4).Draw(t, "form")
	switch form {
	case 0:
		r.Then.Value = anyName().Draw(t, "value")
	case 1:
		r.Then.Classes = anyShares().Draw(t, "classes")
	case 2:
		r.Then.Numeric, r.Then.Mean, r.Then.Deviation = true, anyNumber().Draw(t, "mean"), amount().Draw(t, "deviation")
	case 3:
		for _, value := range rapid.SliceOfNDistinct(anyName(), 1, 4, rapid.ID).Draw(t, "values") {
			r.Then.By = append(r.Then.By, Share{value, anyNumber().Draw(t, "weight")})
		}
	case 4:
		r.Then.Numeric, r.Then.Adds, r.Then.Mean = true, true, anyNumber().Draw(t, "adds")
		r.Then.Deviation = rapid.OneOf(rapid.Just(0.0), amount()).Draw(t, "deviation")
		if rapid.Bool().Draw(t, "line") {
			r.Then.Line = &Line{Column: anyName().Filter(func(s string) bool { return s != r.Then.Column }).Draw(t, "of"), Centre: anyNumber().Draw(t, "centre")}
			if l := r.Then.Line; rapid.Bool().Draw(t, "limited") {
				l.Limited, l.Low, l.High = true, anyNumber().Draw(t, "low"), anyNumber().Draw(t, "high")
				l.Low, l.High = min(l.Low, l.High), max(l.Low, l.High)
			}
		}
	}
	if form == 0 || form == 2 {
		r.With = maybe(t, rapid.Float64Range(0, 1), "with")
	}
	r.Evidence = Evidence{
		Covered: maybe(t, amount(), "covered"), Correct: maybe(t, amount(), "correct"),
		Bits: maybe(t, anyNumber(), "bits"), Weight: maybe(t, anyNumber(), "weight"),
		Templates: maybe(t, amount(), "templates"),
	}
	return r
}

// anyHeader draws a SCHEMA line.
func anyHeader() *rapid.Generator[*Header] {
	return rapid.Custom(func(t *rapid.T) *Header {
		h := &Header{}
		for _, name := range rapid.SliceOfNDistinct(anyName().Filter(func(s string) bool { return s != "" }), 1, 4, rapid.ID).Draw(t, "columns") {
			var c HeaderColumn
			c.Name = name
			c.Show(rapid.SampledFrom(table.Shown).Draw(t, "kind"))
			if c.Style = table.NewStyle(rapid.SampledFrom(append(table.Forms, "")).Draw(t, "written"), rapid.SliceOfN(anyName(), 0, 2).Draw(t, "missing")); !c.Style.Fits(&c.Attribute) {
				c.Style = ""
			}
			if c.Kind == table.Numeric && rapid.Bool().Draw(t, "stated") {
				c.Stated, c.Mean, c.Deviation = true, anyNumber().Draw(t, "mean"), amount().Draw(t, "deviation")
			}
			if c.Kind != table.Numeric {
				c.Values = rapid.SliceOfNDistinct(anyName(), 0, 4, rapid.ID).Draw(t, "values")
			}
			if c.Kind == table.Nominal && len(c.Values) > 0 && rapid.Bool().Draw(t, "shares") {
				c.Shares = rapid.SliceOfN(rapid.Float64Range(0, 1), len(c.Values), len(c.Values)).Draw(t, "shares")
			}
			h.Columns = append(h.Columns, c)
		}
		if c := rapid.SampledFrom(h.Columns).Draw(t, "target"); c.Kind != table.Text && rapid.Bool().Draw(t, "has target") {
			h.Target = c.Name
		}
		return h
	})
}

func anyRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		r := anyThen(t)
		r.If = rapid.SliceOfN(anyTest(2), 0, 3).Draw(t, "if")
		r.Worth = maybe(t, amount(), "worth")
		return r
	})
}

func anyUnit() *rapid.Generator[Unit] {
	return rapid.Custom(func(t *rapid.T) Unit {
		u := Unit{Name: anyName().Draw(t, "unit"), Prior: rapid.Float64Range(0, 1).Draw(t, "prior"), Worth: maybe(t, amount(), "worth")}
		for _, column := range rapid.SliceOfNDistinct(anyName(), 1, 3, rapid.ID).Draw(t, "columns") {
			e := Expectation{Column: column}
			switch rapid.IntRange(0, 2).Draw(t, "form") {
			case 0:
				e.Normal = true
			case 1:
				e.Shares = anyShares().Draw(t, "shares")
			case 2:
				e.Mean, e.Deviation = anyNumber().Draw(t, "mean"), amount().Draw(t, "deviation")
				e.MeanSD, e.DeviationSD = rapid.Bool().Draw(t, "mean sd"), rapid.Bool().Draw(t, "deviation sd")
			}
			u.Expect = append(u.Expect, e)
		}
		return u
	})
}

func anyBase() *rapid.Generator[*Base] {
	return rapid.Custom(func(t *rapid.T) *Base {
		b := &Base{
			Kind:  Kind(rapid.IntRange(int(Unstated), int(Mixture)).Draw(t, "kind")),
			Rules: rapid.SliceOfN(anyRule(), 0, 4).Draw(t, "rules"),
			Units: rapid.SliceOfNDistinct(anyUnit(), 0, 3, func(u Unit) string { return u.Name }).Draw(t, "units"),
			Notes: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "notes"),
		}
		if rapid.Bool().Draw(t, "has else") {
			r := anyThen(t)
			b.Else = &r
		}
		return b
	})
}

// smallSchema has two nominal and two numeric columns over few cells, so that
// random tests overlap, and a nominal target.
func smallSchema() *table.Schema {
	return &table.Schema{Attributes: []table.Attribute{
		{Name: "u", Kind: table.Nominal, Values: []string{"a", "b", "c"}},
		{Name: "v", Kind: table.Nominal, Values: []string{"1", "1.0", "2"}},
		{Name: "x", Kind: table.Numeric},
		{Name: "y", Kind: table.Numeric},
		{Name: "class", Kind: table.Nominal, Values: []string{"no", "yes", "so"}},
	}}
}

// smallCuts are the numbers that small tests ask for, smallCells every kind
// of cell that they can tell apart: each cut, its neighbours, the numbers
// between cuts, infinities and missing.
var smallCuts = []float64{-1, 0, 1, 2}

var smallCells = func() []float64 {
	cells := []float64{math.NaN(), math.Inf(-1), math.Inf(1), -9, -0.5, 0.5, 1.5, 9}
	for _, x := range smallCuts {
		cells = append(cells, before(x), x, after(x))
	}
	return cells
}()

// smallTest draws a test on a single column of the small schema.
func smallTest() *rapid.Generator[Test] {
	return rapid.Custom(func(t *rapid.T) Test {
		cut := rapid.SampledFrom(smallCuts)
		if rapid.Bool().Draw(t, "numeric") {
			x := Test{Column: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "column")}
			text := rapid.SampledFrom([]string{"-1", "0", "-0", "1", "1.0", "2", "2e0"})
			x.Op = Op(rapid.IntRange(int(Eq), int(IsKnown)).Draw(t, "op"))
			switch x.Op {
			case Eq, Ne:
				x.Value = text.Draw(t, "value")
			case In, NotIn:
				x.Values = rapid.SliceOfN(text, 1, 4).Draw(t, "values")
			case Between:
				x.Low, x.High, x.LowClosed = cut.Draw(t, "low"), cut.Draw(t, "high"), true
				if x.Low > x.High {
					x.Low, x.High = x.High, x.Low
				}
				if x.Low < x.High {
					x.LowClosed, x.HighOpen = rapid.Bool().Draw(t, "low closed"), rapid.Bool().Draw(t, "high open")
				}
			case IsMissing, IsKnown:
			default:
				x.Number = cut.Draw(t, "number")
			}
			return x
		}
		column := rapid.IntRange(0, 1).Draw(t, "column")
		a := smallSchema().Attributes[column]
		x := Test{Column: a.Name, Op: rapid.SampledFrom([]Op{Eq, Ne, In, NotIn, IsMissing, IsKnown}).Draw(t, "op")}
		switch x.Op {
		case Eq, Ne:
			x.Value = rapid.SampledFrom(a.Values).Draw(t, "value")
		case In, NotIn:
			x.Values = rapid.SliceOfN(rapid.SampledFrom(a.Values), 1, 3).Draw(t, "values")
		}
		return x
	})
}

// wideTest draws also half-spaces and m-of-n tests.
func wideTest(depth int) *rapid.Generator[Test] {
	half := rapid.Custom(func(t *rapid.T) Test {
		x := Test{Op: HalfSpace, Number: rapid.SampledFrom(smallCuts).Draw(t, "number"), Below: rapid.Bool().Draw(t, "below")}
		for range rapid.IntRange(1, 2).Draw(t, "terms") {
			x.Terms = append(x.Terms, Term{rapid.SampledFrom([]float64{-1, 0, 0.5, 2}).Draw(t, "factor"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "column")})
		}
		return x
	})
	if depth == 0 {
		return rapid.OneOf(smallTest(), smallTest(), half)
	}
	some := rapid.Custom(func(t *rapid.T) Test {
		of := rapid.SliceOfN(wideTest(depth-1), 1, 4).Draw(t, "of")
		return Test{Op: AtLeast, Of: of, Count: rapid.IntRange(1, len(of)).Draw(t, "count")}
	})
	return rapid.OneOf(smallTest(), smallTest(), half, some)
}

// smallTable draws a table over the small schema.
func smallTable(t *rapid.T, maxRows int) *table.Table {
	schema := smallSchema()
	rows := rapid.IntRange(0, maxRows).Draw(t, "rows")
	columns := make([]table.Column, len(schema.Attributes))
	for i, a := range schema.Attributes {
		if a.Kind == table.Numeric {
			columns[i].Floats = rapid.SliceOfN(rapid.SampledFrom(smallCells), rows, rows).Draw(t, a.Name)
		} else {
			columns[i].Codes = rapid.SliceOfN(rapid.Int32Range(table.Unseen, int32(len(a.Values))-1), rows, rows).Draw(t, a.Name)
		}
	}
	var weights []float64
	if rapid.Bool().Draw(t, "weighted") {
		weights = rapid.SliceOfN(rapid.Float64Range(0, 4), rows, rows).Draw(t, "weights")
	}
	made, err := table.New(schema, columns, weights)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// everyRow returns a table with a row for every combination of cells of the
// columns u, v, x and y.
func everyRow() *table.Table {
	schema := smallSchema()
	columns := make([]table.Column, len(schema.Attributes))
	for u := table.Unseen; u < 3; u++ {
		for v := table.Unseen; v < 3; v++ {
			for _, x := range smallCells {
				for _, y := range smallCells {
					columns[0].Codes = append(columns[0].Codes, u)
					columns[1].Codes = append(columns[1].Codes, v)
					columns[2].Floats = append(columns[2].Floats, x)
					columns[3].Floats = append(columns[3].Floats, y)
					columns[4].Codes = append(columns[4].Codes, 0)
				}
			}
		}
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return made
}
