package learntest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// starting: a learner that takes rows as they come begins with none of them,
// and what it then freezes is what it learns at once: to the bit from one table,
// as its contract promises from batches of any size, whose dictionaries grow.
func starting(s *subject) error {
	l, err := s.learner()
	if err != nil {
		return err
	}
	starter, starts := l.(learn.Starter)
	if starts != s.info.Takes.Stream {
		return fmt.Errorf("it can start with no rows: %v, declared is %v", starts, s.info.Takes.Stream)
	}
	if !starts {
		return nil
	}
	for v, takes := range map[variant]bool{classes: s.info.Takes.Classes, regression: s.info.Takes.Regression, density: s.info.Takes.Density} {
		if _, err := starter.Start(task(v, s.table(v, 1, 82), "a")); err == nil && !takes {
			return fmt.Errorf("a task of %s is started", v)
		}
	}
	return each(s.variants(), func(v variant) error {
		all := weighted(s.table(v, 600, 80), 80, 1, 1, 0.5, 2)
		if err := s.startsAlike(v, starter, all); err != nil {
			return fmt.Errorf("one table: %w", err)
		}
		random := rand.New(rand.NewPCG(80, s.options.Seed))
		for round, most := range []int{1, 40, 400} {
			// Dictionaries and, first, kinds are those of the rows so far.
			schema := table.CopySchema(all.Schema)
			for j := range schema.Attributes {
				schema.Attributes[j].Values = nil
				if a := &schema.Attributes[j]; round == 0 && a.Name != targetName && s.info.Takes.Missing {
					*a = table.Attribute{Name: a.Name}
				}
			}
			var batches []*table.Table
			for at := 0; at < all.Rows(); {
				end := min(all.Rows(), at+1+random.IntN(most))
				batch := shrink(all.Slice(at, end))
				batch = extend(batch, schema.Opened(batch.Schema))
				schema, at = batch.Schema, end
				batches = append(batches, batch)
			}
			m, err := s.stream(v, starter, batches)
			if err != nil {
				return err
			}
			if err := s.equal(v, m, all); err != nil {
				return fmt.Errorf("batches of at most %d rows: %w", most, err)
			}
		}
		return s.startsSmall(v, starter)
	})
}

// startsAlike checks that what starts, adds a whole table and freezes is saved
// to the byte as what learns the table is, and that nothing comes of no rows.
func (s *subject) startsAlike(v variant, starter learn.Starter, all *table.Table) error {
	task := task(v, all, "a")
	want, err := s.learnIn(context.Background(), task)
	if err != nil {
		return err
	}
	parts, err := want.Parts()
	if err != nil {
		return err
	}
	for _, rows := range []int{0, all.Rows()} { // of the task's table the schema counts alone
		task.Table = all.Slice(0, rows)
		u, err := starter.Start(task)
		if err != nil {
			return err
		}
		if _, err := u.Freeze(context.Background()); err == nil {
			return errors.New("a model of no rows is frozen")
		}
		if err := u.Add(context.Background(), all); err != nil {
			return err
		}
		got, err := u.Freeze(context.Background())
		if err != nil {
			return err
		}
		saved, err := got.Parts()
		if err != nil {
			return err
		}
		if err := equalParts(saved, parts); err != nil {
			return err
		}
	}
	return nil
}

// stream starts with the schema of the first batch and adds all batches; in
// their midst it freezes once.
func (s *subject) stream(v variant, starter learn.Starter, batches []*table.Table) (learn.Model, error) {
	u, err := starter.Start(task(v, batches[0].Slice(0, 0), "all"))
	if err != nil {
		return nil, err
	}
	for i, batch := range batches {
		if err := u.Add(context.Background(), batch); err != nil {
			return nil, err
		}
		if i == len(batches)/2 {
			if _, err := u.Freeze(context.Background()); err != nil {
				return nil, err
			}
		}
	}
	return u.Freeze(context.Background())
}

// startsSmall checks that what is kept of a stream does not grow with its rows:
// less than a byte a row.
func (s *subject) startsSmall(v variant, starter learn.Starter) error {
	const batches, rows = 128, 4096
	batch := s.table(v, rows, 81)
	u, err := starter.Start(task(v, batch.Slice(0, 0), "a"))
	if err != nil {
		return err
	}
	if err := u.Add(context.Background(), batch); err != nil {
		return err
	}
	before := heap()
	for range batches {
		if err := u.Add(context.Background(), batch); err != nil {
			return err
		}
	}
	grown := heap() - before
	m, err := u.Freeze(context.Background())
	if err != nil {
		return err
	}
	if want := rowsOf(v, batch) * (batches + 1); !same(m.Size().Rows, want, 1e-9) {
		return fmt.Errorf("of a long stream it learnt rows of the weight %v, expected %v", m.Size().Rows, want)
	}
	if grown > batches*rows {
		return fmt.Errorf("%d more rows take %d more bytes of memory", batches*rows, grown)
	}
	return nil
}

// heap returns the bytes that are in use once the garbage is gone.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
