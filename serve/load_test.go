package serve

import (
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Under load, answers come and rows are learnt, none is lost, and memory does not
// grow with them. bench/serve -soak 10m is the long form.
func TestMemoryUnderLoad(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	rows := []map[string]any{{"outlook": "sunny", "play": "no"}, {"outlook": "overcast", "play": "yes"}, {"outlook": "rainy", "windy": "TRUE", "play": "no"}}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var learnt atomic.Int64
	load := func(n int) {
		var group sync.WaitGroup
		for k := range 4 {
			group.Go(func() {
				for i := range n {
					row := rows[(i+k)%len(rows)]
					if r := s.do("POST", "/v1/models/weather/predict", map[string]any{"row": row}); r.status != http.StatusOK {
						t.Errorf("%d %s", r.status, r.body)
					}
					if i%4 == k {
						if r := s.do("POST", "/v1/models/weather/rows", map[string]any{"row": row}); r.status != http.StatusOK {
							t.Errorf("%d %s", r.status, r.body)
						}
						learnt.Add(1)
					}
				}
			})
		}
		group.Wait()
	}
	load(100)
	before := heap()
	load(400)
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	s.want(s.do("POST", "/v1/models/weather/tell", map[string]any{"rules": "IF outlook = sunny THEN play = no WITH 0.9 WORTH 1"}), 200) // makes a version of what was learnt
	m := s.want(s.do("GET", "/v1/models/weather", nil), 200, "rows")
	if got := m.json["rows"].(float64); got != 14+float64(learnt.Load()) {
		t.Errorf("%v rows, of which %d were sent", got, learnt.Load())
	}
}
