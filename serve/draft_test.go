package serve

import "testing"

// A row that was answered wrongly gives a draft, smallest changes of it give
// another answer, and a budget says how few rules would do.
func TestDraftsChangesAndBudgets(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	row := map[string]any{"physician-fee-freeze": "y", "mx-missile": "y"}
	d := s.do("POST", "/v1/models/votes/draft", map[string]any{"row": row, "should": "democrat", "because": []string{"mx-missile"}})
	if d.status != 200 || d.json["rule"] == "" || d.json["covered"].(float64) < 100 {
		t.Errorf("%d %s", d.status, d.body)
	}
	if d := s.do("POST", "/v1/models/votes/draft", map[string]any{"row": row, "should": "nobody"}); d.status != 422 {
		t.Errorf("%d %s", d.status, d.body)
	}
	c := s.do("POST", "/v1/models/votes/explain", map[string]any{"row": row, "change": map[string]any{"to": "democrat", "fixed": []string{"mx-missile"}}})
	changes, _ := c.json["changes"].([]any)
	if c.status != 200 || len(changes) == 0 {
		t.Errorf("%d %s", c.status, c.body)
	}
	for _, x := range changes {
		if set := x.(map[string]any)["set"].(map[string]any); set["mx-missile"] != nil {
			t.Errorf("a fixed cell was changed: %v", set)
		}
	}
	b := s.do("GET", "/v1/models/votes/budget", nil)
	if points, _ := b.json["points"].([]any); b.status != 200 || len(points) < 3 {
		t.Errorf("%d %s", b.status, b.body)
	}
}
