package crew

import (
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
