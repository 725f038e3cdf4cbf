package ensemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

const (
	headPart    = "learnpp"
	sessionPart = "session" // with its number
	format      = 2
)

// savedHead is all that sessions have in common.
type savedHead struct {
	Format   int      `cbor:"format"`
	Settings settings `cbor:"settings"`
	Seed     uint64   `cbor:"seed"`
	Target   string   `cbor:"target"`
	Sessions []int    `cbor:"sessions"` // numbers, in order
}

// savedSession is a part of its own, the same to the byte in all versions
// until members of it retire or have to be learnt again.
type savedSession struct {
	ID      string        `cbor:"id"`
	Name    string        `cbor:"name"`
	Weight  float64       `cbor:"weight"`
	Members []savedMember `cbor:"members"`
	Kept    []learn.Part  `cbor:"kept"`
	Then    float64       `cbor:"then"`
	Facts   Session       `cbor:"facts"`
	Losses  []float64     `cbor:"losses"`
}

type savedMember struct {
	Model []byte   `cbor:"model"`
	Vote  float64  `cbor:"vote"`
	Seen  []string `cbor:"seen"`
}

// Parts returns the head and a part for each session, members included.
func (m *Model) Parts() ([]learn.Part, error) {
	head := savedHead{Format: format, Settings: *m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	parts := make([]learn.Part, 1, 1+len(m.sessions))
	for _, s := range m.sessions {
		head.Sessions = append(head.Sessions, s.number)
		if s.saved != nil {
			parts = append(parts, learn.Part{Name: sessionName(s.number), Data: s.saved})
			continue
		}
		saved := savedSession{ID: s.source.ID, Name: s.source.Name, Weight: s.weight, Then: s.then, Facts: s.facts, Losses: s.losses[:]}
		for _, of := range s.members {
			data, err := learn.Encode(of.model)
			if err != nil {
				return nil, err
			}
			saved.Members = append(saved.Members, savedMember{data, of.vote, of.seen})
		}
		var err error
		if saved.Kept, err = s.kept.Parts(); err != nil {
			return nil, err
		}
		data, err := learn.Marshal(saved)
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: sessionName(s.number), Data: data})
	}
	data, err := learn.Marshal(head)
	parts[0] = learn.Part{Name: headPart, Data: data}
	return parts, err
}

func sessionName(number int) string { return fmt.Sprintf("%s %d", sessionPart, number) }

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var head savedHead
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &head); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("the ensemble is saved in format %d, this program reads %d", head.Format, format)
	}
	if err := head.Settings.check(); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	m := &Model{settings: &head.Settings, seed: head.Seed}
	var sessions []*session
	for i, number := range head.Sessions {
		if number < 1 || i > 0 && number <= head.Sessions[i-1] {
			return nil, fmt.Errorf("part %q: sessions %v are not in order", headPart, head.Sessions)
		}
		name := sessionName(number)
		s, err := decodeSession(learn.FindPart(parts, name), number)
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", name, err)
		}
		sessions = append(sessions, s)
	}
	if len(sessions) == 0 {
		return nil, fmt.Errorf("there are no sessions")
	}
	m.target = sessions[0].rows.Schema.Index(head.Target)
	for _, s := range sessions {
		if err := s.fits(sessions[0].rows.Schema, m.target); err != nil {
			return nil, fmt.Errorf("part %q: %v", sessionName(s.number), err)
		}
	}
	m, err := m.with(sessions)
	if err != nil {
		return nil, err
	}
	return m.able(), nil
}

func decodeSession(data []byte, number int) (*session, error) {
	var saved savedSession
	if err := learn.Unmarshal(data, &saved); err != nil {
		return nil, err
	}
	s := &session{number: number, source: learn.Source{ID: saved.ID, Name: saved.Name}, weight: saved.Weight, then: saved.Then, facts: saved.Facts, saved: data}
	amount := func(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }
	f := &s.facts
	switch {
	case !amount(s.weight) || !amount(s.then) || !amount(f.Known) || !amount(f.Right):
		return nil, fmt.Errorf("rows of the weight %v, %v then, %v known and %v right", s.weight, s.then, f.Known, f.Right)
	case len(saved.Losses) != len(sharpnesses) || slices.ContainsFunc(saved.Losses, func(x float64) bool { return !amount(x) }):
		return nil, fmt.Errorf("losses %v", saved.Losses)
	case len(saved.Kept) != 1:
		return nil, fmt.Errorf("kept rows of %d sources", len(saved.Kept))
	}
	copy(s.losses[:], saved.Losses)
	for i, of := range saved.Members {
		model, err := learn.Decode(of.Model)
		if err != nil {
			return nil, fmt.Errorf("member %d: %v", i+1, err)
		}
		if !(of.Vote >= 0 && of.Vote <= 1e6) {
			return nil, fmt.Errorf("member %d has the vote %v", i+1, of.Vote)
		}
		s.members = append(s.members, member{model: model, vote: of.Vote, seen: of.Seen})
	}
	var err error
	if s.kept, err = kept.DecodeRows(saved.Kept); err != nil {
		return nil, err
	}
	if len(s.kept.Sources()) != 1 {
		return nil, fmt.Errorf("there are no kept rows")
	}
	s.rows, err = s.kept.Table(context.Background())
	return s, err
}

// fits returns an error unless a session's rows have the columns that those of
// the first have, and a class each.
func (s *session) fits(first *table.Schema, target int) error {
	own := s.rows.Schema
	if target < 0 || first.Attributes[target].Kind != table.Nominal || len(first.Attributes[target].Values) == 0 {
		return fmt.Errorf("its target is not a column of classes")
	}
	if err := table.NewVocabulary(first, nil).Check(own); err != nil {
		return err
	}
	if slices.ContainsFunc(s.rows.Columns[target].Codes, func(c int32) bool { return c < 0 }) {
		return fmt.Errorf("a kept row has no class")
	}
	return nil
}
