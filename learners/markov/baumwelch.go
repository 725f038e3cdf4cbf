package markov

import (
	"context"
	"errors"

	"github.com/accrete-ml/accrete/table"
)

func (u *update) hide(t *table.Table, schema *table.Schema) error { return errors.New("not yet") }

func (m *Model) baumWelch(ctx context.Context, u *update) (*block, error) {
	return nil, errors.New("not yet")
}
