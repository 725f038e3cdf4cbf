package kept

import "testing"

// A lesson comes back with its rows and its body, without the body if that was
// dropped, and not at all if parts contradict each other.
func TestLesson(t *testing.T) {
	type words struct{ Keep bool }
	keeps := func(w *words) (bool, error) { return w.Keep, nil }
	l := &Lesson[words]{Format: 3, Settings: words{false}, Seed: 7, Target: "x"}
	parts, err := l.Parts("head", nil, "body", []int{1, 2})
	if err != nil || len(parts) != 2 || parts[1].Derived {
		t.Fatalf("%+v, %v", parts, err)
	}
	var again Lesson[words]
	var body []int
	rows, found, err := again.Load(parts, "head", 3, keeps, "body", &body)
	if err != nil || rows != nil || !found || again != *l || len(body) != 2 {
		t.Errorf("%+v %v %v %v, %v", again, rows, found, body, err)
	}
	if _, _, err := again.Load(parts, "head", 4, keeps, "body", &body); err == nil {
		t.Error("another format is read")
	}
	if _, _, err := again.Load(parts[:1], "head", 3, keeps, "body", &body); err == nil {
		t.Error("neither rows nor a body, and no error")
	}
	l.Settings.Keep = true
	if parts, err = l.Parts("head", nil, "body", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.Load(parts, "head", 3, keeps, "body", &body); err == nil {
		t.Error("rows are kept but not there, and no error")
	}
}
