package serve

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
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

// Rows that wait are bounded: without a count, many become a version all the
// same, and who sends more than can be learnt is told to come back.
func TestRowsThatWaitAreBounded(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.Freeze = life.Freezing{Age: time.Hour} }).learn("weather", "bayes")
	many := `{"rows":[` + strings.Repeat(`{"outlook":"sunny","play":"no"},`, mostUnfrozen/2) + `{"outlook":"rainy","play":"yes"}]}`
	s.want(s.do("POST", "/v1/models/weather/rows", many), 200)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if m := s.do("GET", "/v1/models/weather", nil); m.json["version"] == 2.0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no version of 10,001 rows")
		}
	}
	l, err := s.liven("weather")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.live.Commit(life.LiveRows{Source: "burst", Rows: slices.Repeat([]map[string]any{{"outlook": "sunny"}}, mostUnfrozen+1)}); err != nil { // as before anybody folds
		t.Fatal(err)
	}
	_, err = l.learnRows(context.Background(), life.LiveRows{})
	if p := (*Problem)(nil); !errors.As(err, &p) || p.Status != http.StatusTooManyRequests || p.after == 0 {
		t.Errorf("more rows: %v", err)
	}
}
