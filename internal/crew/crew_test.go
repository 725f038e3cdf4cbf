package crew

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

func TestPanicsAreErrorsOfWhoIsNotWaitedFor(t *testing.T) {
	err := <-Go(func() error { panic("aside") })
	fault, ok := err.(*Fault)
	if !ok || fault.Error() != "aside" || !strings.Contains(string(fault.Stack), "crew_test.go") {
		t.Errorf("%v", err)
	}
	if err := <-Go(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestPanicsReachWhoWaits(t *testing.T) {
	var done atomic.Int64
	defer func() {
		fault, ok := recover().(*Fault)
		if !ok || fault.Error() != "deep down" || !strings.Contains(string(fault.Stack), "crew_test.go") {
			t.Errorf("recovered %v", fault)
		}
		if done.Load() != 3 {
			t.Errorf("%d others finished", done.Load())
		}
	}()
	var outer Group
	for i := range 4 {
		outer.Go(func() {
			var inner Group
			inner.Go(func() {
				if i == 2 {
					panic("deep down")
				}
			})
			inner.Wait()
			done.Add(1)
		})
	}
	outer.Wait()
	t.Error("nobody heard of it")
}

func TestWhoAwaitsHearsOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := Await(ctx, func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	go cancel()
	never := make(chan struct{})
	defer close(never)
	if err := Await(ctx, func() error { <-never; return nil }); err != context.Canceled {
		t.Error(err)
	}
	defer func() {
		if fault, ok := recover().(*Fault); !ok || fault.Error() != "aside" {
			t.Errorf("recovered %v", fault)
		}
	}()
	_ = Await(t.Context(), func() error { panic("aside") })
}
