package kept

import (
	"context"
	"errors"

	"github.com/accrete-ml/accrete/learn"
)

// Shedder is a model that answers the same without the rows that it holds. What
// needs them (updating, forgetting) is then gone.
type Shedder interface {
	learn.Model
	// Shed returns the model without rows, and whether there were any. An
	// error that is errors.ErrUnsupported says that it cannot do without.
	Shed() (bare learn.Model, held bool, err error)
}

// Shed returns a model without the rows that it holds, and whether it held any.
func Shed(m learn.Model) (bare learn.Model, held bool, err error) {
	if s, ok := m.(Shedder); ok {
		return s.Shed()
	}
	k, ok := learn.Ability[learn.Keeper](m)
	if !ok {
		return m, false, nil
	}
	rows, err := k.Kept(context.Background())
	if err == nil && len(rows) > 0 {
		return nil, true, errors.ErrUnsupported
	}
	return m, false, err
}
