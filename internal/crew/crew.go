// Package crew runs work on several goroutines. A panic in one of them ends in
// the goroutine that waits, where it can be caught, and not in the program's
// death; the others finish what they do.
//
// learn, table and evaluate share their rows out with it.
package crew

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a sync.WaitGroup whose Wait panics if one of its goroutines did.
type Group struct {
	wait  sync.WaitGroup
	mu    sync.Mutex
	fault *Fault
}

// Fault is what a goroutine panicked with.
type Fault struct {
	Value any
	Stack []byte // of that goroutine
}

// Error makes a fault readable where panics are printed.
func (f *Fault) Error() string { return fmt.Sprint(f.Value) }

// Go runs a function that nobody may wait for: on the channel comes its error,
// or the fault that it panicked with.
func Go(work func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if value := recover(); value != nil {
				err = &Fault{value, debug.Stack()}
			}
			done <- err
		}()
		err = work()
	}()
	return done
}

// Await runs a function that hears of no context, and returns when it has ended or
// when the context does. Then the function goes on aside, and what it finds is of no
// use to anybody.
func Await(ctx context.Context, work func() error) error {
	if ctx.Done() == nil {
		return work()
	}
	select {
	case err := <-Go(work):
		if fault, ok := err.(*Fault); ok {
			panic(fault)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Go runs a function in a goroutine of its own.
func (g *Group) Go(work func()) {
	g.wait.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if fault, known := value.(*Fault); known && g.fault == nil {
					g.fault = fault
				} else if g.fault == nil {
					g.fault = &Fault{value, debug.Stack()}
				}
			}
		}()
		work()
	})
}

// Wait waits for all of them.
func (g *Group) Wait() {
	g.wait.Wait()
	g.mu.Lock()
	fault := g.fault
	g.fault = nil
	g.mu.Unlock()
	if fault != nil {
		panic(fault)
	}
}
