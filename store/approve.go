package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/accrete-ml/accrete/learn"
)

// Approval is somebody's word that a version may be relied upon.
type Approval struct {
	Version int       `json:"version"`
	By      string    `json:"by"`
	Note    string    `json:"note,omitempty"`
	At      time.Time `json:"at"`
}

func (s *Store) approvalsPath(name string) string {
	return filepath.Join(s.modelDir(name), "approvals")
}

// Approvals returns the approvals of a model, oldest first: the last one says
// which version is approved.
func (s *Store) Approvals(ref string) ([]Approval, error) {
	name, _, err := ParseRef(ref)
	if err != nil {
		return nil, err
	}
	text, err := s.readBeside(s.approvalsPath(name))
	if err != nil || text == nil {
		return nil, err
	}
	var list []Approval
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%w: the approvals of %s cannot be read: %v", learn.ErrDamaged, name, err)
	}
	return list, nil
}

// Approve adds an approval of a version, which must be there. What was approved
// before stays in the list.
func (s *Store) Approve(ctx context.Context, name string, a Approval) error {
	return s.Write(ctx, name, func(tx *Tx) error {
		if _, _, err := tx.LoadVersion(a.Version); err != nil {
			return err
		}
		list, err := s.Approvals(name)
		if err != nil {
			return err
		}
		a.By, a.Note = text(a.By), text(a.Note)
		data, err := json.Marshal(append(list, a))
		if err != nil {
			return err
		}
		return s.writeBeside(name, s.approvalsPath(name), data)
	})
}
