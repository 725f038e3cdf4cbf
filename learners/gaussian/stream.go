package gaussian

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// firstRows is how many rows of a stream units are found in. Those that follow
// move them, as an update does (online EM): in memory that does not grow.
const firstRows = 20_480

// stream is a model that begins with no rows. Up to firstRows of them, and any
// number that come in one table, are learnt at once, when it is frozen.
type stream struct {
	learner *Learner
	task    learn.Task
	target  int
	held    []*table.Table
	rows    int
	update  *update // nil as long as rows are held
}

var _ learn.Starter = (*Learner)(nil)

// Start returns an update to add the rows of the task's source to.
func (l *Learner) Start(task learn.Task) (learn.Update, error) {
	if _, err := l.settings(); err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if err := table.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	task.Table = task.Table.Slice(0, 0)
	return &stream{learner: l, task: task, target: target}, nil
}

// Add learns the table's rows, or holds them until there are enough.
func (s *stream) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.update == nil {
		s.held, s.rows = append(s.held, t), s.rows+t.Rows()
		if len(s.held) == 1 || s.rows <= firstRows {
			return nil
		}
		m, err := s.learnHeld(ctx)
		if err != nil {
			return err
		}
		s.held = nil
		return s.begin(m)
	}
	if err := s.update.Add(ctx, t); err != nil {
		return err
	}
	waiting := 0
	for _, fresh := range s.update.fresh {
		waiting += fresh.Rows()
	}
	if waiting <= firstRows {
		return nil
	}
	// Rows that no unit speaks of, such as those of a class that comes late,
	// get theirs before there are too many of them.
	m, err := s.update.Freeze(ctx)
	if err != nil {
		return err
	}
	return s.begin(m)
}

func (s *stream) begin(m learn.Model) error {
	u, err := m.(*Model).Begin(s.task.Source)
	if err == nil {
		s.update = u.(*update)
	}
	return err
}

// learnHeld learns the rows that are held at once.
func (s *stream) learnHeld(ctx context.Context) (learn.Model, error) {
	task := s.task
	if len(s.held) == 1 {
		task.Table = s.held[0]
	} else if len(s.held) > 1 {
		schema := s.held[len(s.held)-1].Schema
		all := make([]*table.Table, len(s.held))
		for i, t := range s.held {
			var err error
			if all[i], _, err = table.Conform(t, schema, false); err != nil {
				return nil, err
			}
		}
		var err error
		if task.Table, err = table.Concat(all...); err != nil {
			return nil, err
		}
	}
	return s.learner.Learn(ctx, task)
}

// Freeze returns the model of all rows so far.
func (s *stream) Freeze(ctx context.Context) (learn.Model, error) {
	if s.update == nil {
		return s.learnHeld(ctx)
	}
	return s.update.Freeze(ctx)
}
