package serve

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// auditor writes down who changed what, when and from where: lines of a file
// that only grows.
type auditor struct {
	path string
	mu   sync.Mutex
}

// Audited is a change.
type Audited struct {
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	From    string    `json:"from"`
	What    string    `json:"what"`
	Model   string    `json:"model,omitempty"`
	Note    string    `json:"note,omitempty"`
	Request string    `json:"request"`
}

// AuditLog is the changes, the newest first.
type AuditLog struct {
	Audit []Audited `json:"audit"`
}

// audit writes a change down. That it cannot be is told in the log; the change
// is made by then.
func (c *call) audit(what, model, note string) {
	line, err := json.Marshal(Audited{time.Now().UTC(), c.who.name, c.r.RemoteAddr, what, model, note, c.id})
	if err == nil {
		err = c.auditor.write(append(line, '\n'))
	}
	if err != nil {
		c.log.Error("a change is not in the audit log", "request", c.id, "problem", err.Error())
	}
}

func (a *auditor) write(line []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if failed := f.Close(); err == nil {
		err = failed
	}
	return err
}

// showAudit lists changes.
func (c *call) showAudit() error {
	q, err := c.query()
	if err != nil {
		return err
	}
	limit, err := number(q, "limit", 100, 0)
	if err != nil {
		return err
	}
	list := AuditLog{Audit: []Audited{}}
	f, err := os.Open(c.auditor.path)
	if err == nil {
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var a Audited
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				if list.Audit = append(list.Audit, a); len(list.Audit) > 2*max(limit, 1) {
					list.Audit = slices.Clone(list.Audit[len(list.Audit)-limit:])
				}
			}
		}
	}
	list.Audit = list.Audit[max(0, len(list.Audit)-limit):]
	slices.Reverse(list.Audit)
	return c.answer(http.StatusOK, list)
}
