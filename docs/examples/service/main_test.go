package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete"
)

func TestService(t *testing.T) {
	m, err := accrete.LearnFile(context.Background(), "play-tennis", "playtennis", accrete.Learner("bayes"))
	if err != nil {
		t.Fatal(err)
	}
	s := &service{path: filepath.Join(t.TempDir(), "tennis.accrete")}
	if err := m.Save(s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]int{
		`{"outlook": "Sunny", "humidity": "High"}`: http.StatusOK,
		`{"no such column": 1}`:                    http.StatusUnprocessableEntity,
		`[1, 2]`:                                   http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		s.routes().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/ask", strings.NewReader(body)))
		if w.Code != want || want == http.StatusOK && !strings.Contains(w.Body.String(), `"No"`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
