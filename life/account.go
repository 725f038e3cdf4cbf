package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/evaluate/posterior"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Account is what a model saves somebody who is to be sent the classes of rows
// (minimum description length, Mitchell 1997, section 6.6): its rules and their
// exceptions, against the classes as they are.
type Account struct {
	Model   string  `json:"model"`
	Version int     `json:"version"`
	Rows    float64 `json:"rows"`
	Rules   int     `json:"rules"`
	// Of sending the rules, and of the rows that they get wrong: which, and
	// what they are instead.
	ModelBits     float64 `json:"model_bits"`
	Errors        float64 `json:"errors"`
	ExceptionBits float64 `json:"exception_bits"`
	TotalBits     float64 `json:"total_bits"`
	// Of the classes by the model's probabilities, in place of exceptions.
	SurpriseBits float64 `json:"surprise_bits"`
	// Of sending the classes plainly: each one of them, and as short as
	// their frequencies allow.
	PlainBits   float64  `json:"plain_bits"`
	EntropyBits float64  `json:"entropy_bits"`
	Notes       []string `json:"notes,omitempty"`
}

// Account reckons up a model that prints rules, on the rows that it keeps or on
// those of data.
func (h *Home) Account(ctx context.Context, p *Part, d *Data) (*Account, error) {
	if p.Target() == learn.NoTarget || p.Schema().Attributes[p.Target()].Kind != table.Nominal {
		return nil, remedy.Misusef("%s predicts no classes; descriptions are reckoned up for those that do", p.Name)
	}
	base, err := ReadRules(ctx, p, RulesOptions{})
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("%s has no rules but those that it was told", p.Name)
	}
	classes := p.Schema().Attributes[p.Target()].Values
	a := &Account{Model: p.Version.Model, Version: p.Version.Number, Rules: len(base.Rules) + len(base.Units), Notes: base.Notes}
	if base.Else != nil {
		a.Rules++
	}
	counts := make([]float64, len(classes))
	if err := h.accounted(ctx, p, d, func(t *table.Table) error { return a.add(ctx, p.Model, t, counts) }); err != nil {
		return nil, err
	}
	if a.Rows == 0 {
		return nil, errors.New("no row has a class; there is nothing to send")
	}
	a.ModelBits = base.Bits(p.Schema(), a.Rows)
	a.ExceptionBits = posterior.Exceptions(a.Errors, a.Rows, len(classes))
	a.TotalBits = a.ModelBits + a.ExceptionBits
	a.PlainBits = a.Rows * math.Log2(float64(len(classes)))
	for _, n := range counts {
		if n > 0 {
			a.EntropyBits -= n * math.Log2(n/a.Rows)
		}
	}
	return a, nil
}

// accounted calls each with the rows to send.
func (h *Home) accounted(ctx context.Context, p *Part, d *Data, each func(*table.Table) error) error {
	if d != nil {
		return h.batches(ctx, p.Model, d, nil, each)
	}
	k, ok := learn.Ability[learn.Keeper](p.Model)
	if !ok {
		return remedy.Misusef("a %s model keeps no rows to send; name data that has them", p.Version.Learner)
	}
	rows, err := k.Kept(ctx)
	if err == nil && rows == nil {
		err = remedy.Misusef("%s was told not to keep its rows; name data that has them", p.Name)
	}
	for i := range rows {
		if err == nil {
			err = each(rows[i].Table)
		}
	}
	return err
}

// add takes in rows.
func (a *Account) add(ctx context.Context, m learn.Model, t *table.Table, counts []float64) error {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	for r, class := range t.Columns[m.Target()].Codes {
		w := t.Weight(r)
		if class == table.Missing || w == 0 {
			continue
		}
		a.Rows += w
		p := 0.0
		if class >= 0 {
			counts[class] += w
			p = out.Row(r)[class]
		}
		if learn.Best(out.Row(r), classes) != int(class) {
			a.Errors += w
		}
		a.SurpriseBits -= w * math.Log2(max(p, math.SmallestNonzeroFloat64))
	}
	return nil
}

// Write writes an account for people.
func (a *Account) Write(w io.Writer) {
	number := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	fmt.Fprintf(w, "sending the classes of %s rows:\n", console.Number(a.Rows))
	console.Table(w, []string{"bits", "of"}, [][]string{
		{number(a.ModelBits), fmt.Sprintf("the model, %d rules", a.Rules)},
		{number(a.ExceptionBits), fmt.Sprintf("the exceptions, %s rows that it gets wrong", console.Number(a.Errors))},
		{number(a.TotalBits), "both: the model's description of the classes"},
		{number(a.SurpriseBits), "the classes by the model's probabilities, in place of exceptions"},
		{number(a.EntropyBits), "the classes plainly, as short as their frequencies allow"},
		{number(a.PlainBits), "the classes plainly, each as long as any other"},
	})
	if a.TotalBits < a.EntropyBits {
		fmt.Fprintf(w, "the model is shorter than what it describes, by %.1f %%\n", 100*(1-a.TotalBits/a.EntropyBits))
	} else {
		fmt.Fprintln(w, "the model is longer than what it describes: fewer or shorter rules would say as much, or more rows are needed")
	}
}
