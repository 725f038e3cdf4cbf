package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Twenty writers and twenty readers at once: every update is acknowledged, in
// no reader's sight is anything lost, and nobody waits for ever. Two seconds;
// ten minutes with ACCRETE_LONG=1, or ACCRETE_CROWD=2m.
func TestCrowdOfWritersAndReaders(t *testing.T) {
	long := time.Duration(rounds(2, 600)) * time.Second
	if d, err := time.ParseDuration(os.Getenv("ACCRETE_CROWD")); err == nil {
		long = d
	}
	dir := filepath.Join(t.TempDir(), ".accrete")
	until, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var acknowledged, read atomic.Int64
	var longest atomic.Int64
	var group sync.WaitGroup
	models := []string{"a", "b", "c", "d"}
	newStore := func() *Store {
		s, err := Open(dir, Options{LockTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	counts := make([]atomic.Int64, len(models))
	for i := range 20 {
		s := newStore()
		group.Go(func() {
			for until.Err() == nil {
				start := time.Now()
				_, err := s.Save(ctx, models[i%4], (&heap{}).with(fmt.Sprint(i), noise(300, uint64(i))), Version{Kind: Update})
				if err != nil {
					t.Error(err)
					return
				}
				counts[i%4].Add(1)
				acknowledged.Add(1)
				longest.Store(max(longest.Load(), int64(time.Since(start))))
			}
		})
		group.Go(func() {
			last := 0
			for until.Err() == nil {
				sure := counts[i%4].Load()
				v, err := s.Log(models[i%4])
				if sure > 0 && (err != nil || len(v) < last || int64(len(v)) < sure) {
					t.Errorf("%d versions after %d, %d acknowledged: %v", len(v), last, sure, err)
					return
				}
				last = len(v)
				read.Add(1)
			}
		})
	}
	group.Wait()
	s := newStore()
	for m, name := range models {
		v, err := s.Log(name)
		if err != nil || int64(len(v)) != counts[m].Load() {
			t.Errorf("%s has %d versions, %d were acknowledged (%v)", name, len(v), counts[m].Load(), err)
		}
	}
	t.Logf("%d updates and %d readings in %v, the longest wait %v", acknowledged.Load(), read.Load(), long, time.Duration(longest.Load()))
}
