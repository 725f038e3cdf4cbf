package life

import (
	"context"

	"github.com/accrete-ml/accrete/evaluate"
)

// TrainTest learns as the spec says and tests on other data, read as the
// spec's columns.
func (h *Home) TrainTest(ctx context.Context, spec evaluate.Spec, test string, reading Reading) (*evaluate.Result, error) {
	d, err := h.Find(test, reading)
	if err != nil {
		return nil, err
	}
	o := d.options()
	o.Schema = spec.Table.Schema
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	return evaluate.TrainTest(ctx, spec, t)
}
