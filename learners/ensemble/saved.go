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
	format      = 3
	wholeFormat = 2 // read, no longer written: members and rows were in the session's part
)

// savedHead is all that sessions have in common.
type savedHead struct {
	Format   int      `cbor:"format"`
	Settings settings `cbor:"settings"`
	Seed     uint64   `cbor:"seed"`
	Target   string   `cbor:"target"`
	Sessions []int    `cbor:"sessions"` // numbers, in order
}

// savedSession is a part of its own. Its members and its kept rows are parts,
// too, which are the same to the byte in all versions: a member that retires
// goes, and nothing of the others is written again.
type savedSession struct {
	ID      string        `cbor:"id"`
	Name    string        `cbor:"name"`
	Weight  float64       `cbor:"weight"`
	Members []savedMember `cbor:"members"`
	Kept    []learn.Part  `cbor:"kept,omitempty"` // in wholeFormat
	Rows    string        `cbor:"rows,omitempty"` // what the part of the kept rows is called among themselves
	Then    float64       `cbor:"then"`
	Facts   Session       `cbor:"facts"`
	Losses  []float64     `cbor:"losses"`
}

type savedMember struct {
	Number int      `cbor:"number,omitempty"`
	Model  []byte   `cbor:"model,omitempty"` // in wholeFormat
	Vote   float64  `cbor:"vote"`
	Seen   []string `cbor:"seen"`
}

// Parts returns the head and, for each session, what is known of it, its kept
// rows and its members.
func (m *Model) Parts() ([]learn.Part, error) {
	head := savedHead{Format: format, Settings: *m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	parts := make([]learn.Part, 1, 1+2*len(m.sessions))
	for _, s := range m.sessions {
		head.Sessions = append(head.Sessions, s.number)
		own, err := s.parts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, own...)
	}
	data, err := learn.Marshal(head)
	parts[0] = learn.Part{Name: headPart, Data: data}
	return parts, err
}

// parts returns those of a session.
func (s *session) parts() ([]learn.Part, error) {
	saved := savedSession{ID: s.source.ID, Name: s.source.Name, Weight: s.weight, Then: s.then, Facts: s.facts, Losses: s.losses[:]}
	rows, err := s.kept.Parts()
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: sessionName(s.number)}}
	for _, p := range rows { // one
		saved.Rows = p.Name
		parts = append(parts, learn.Part{Name: rowsName(s.number), Data: p.Data})
	}
	for _, of := range s.members {
		data := of.saved
		if data == nil {
			if data, err = learn.Encode(of.model); err != nil {
				return nil, err
			}
		}
		saved.Members = append(saved.Members, savedMember{Number: of.number, Vote: of.vote, Seen: of.seen})
		parts = append(parts, learn.Part{Name: memberName(s.number, of.number), Data: data})
	}
	parts[0].Data, err = learn.Marshal(saved)
	return parts, err
}

// Shed returns the ensemble without the rows that its sessions keep. Its
// members answer as before; rules, which are tried on these rows, may differ.
func (m *Model) Shed() (learn.Model, bool, error) {
	ctx, held := context.Background(), false
	settings := *m.settings
	settings.Keep = "none"
	bare := &Model{settings: &settings, seed: m.seed, crowd: crowd{target: m.target}}
	var sessions []*session
	for _, s := range m.sessions {
		next := *s
		next.members = slices.Clone(s.members)
		held = held || s.rows.Rows() > 0
		for i := range next.members {
			within, holds, err := kept.Shed(next.members[i].model)
			if err != nil {
				return nil, true, err
			}
			next.members[i].model, next.members[i].saved, held = within, nil, held || holds
		}
		none := (&kept.Rows{}).Gather(s.source, m.target, nil)
		err := none.Add(ctx, s.rows.Select(nil))
		if err == nil {
			next.kept, err = none.Rows(ctx)
		}
		if err == nil {
			next.rows, err = next.kept.Table(ctx)
		}
		if err != nil {
			return nil, held, err
		}
		sessions = append(sessions, &next)
	}
	bare, err := bare.with(sessions)
	if err != nil {
		return nil, held, err
	}
	return bare.able(), held, nil
}

func sessionName(number int) string { return fmt.Sprintf("%s %d", sessionPart, number) }

func rowsName(number int) string { return fmt.Sprintf("%s %d rows", sessionPart, number) }

func memberName(number, of int) string {
	return fmt.Sprintf("%s %d member %d", sessionPart, number, of)
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var head savedHead
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &head); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if head.Format != format && head.Format != wholeFormat {
		return nil, fmt.Errorf("the ensemble is saved in format %d, this program reads %d", head.Format, format)
	}
	if err := head.Settings.check(); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	m := &Model{settings: &head.Settings, seed: head.Seed}
	data := make(map[string][]byte, len(parts))
	for i := range parts {
		data[parts[i].Name] = parts[i].Data
	}
	var sessions []*session
	for i, number := range head.Sessions {
		if number < 1 || i > 0 && number <= head.Sessions[i-1] {
			return nil, fmt.Errorf("part %q: sessions %v are not in order", headPart, head.Sessions)
		}
		s, err := decodeSession(data, number, head.Format)
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", sessionName(number), err)
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

func decodeSession(data map[string][]byte, number, format int) (*session, error) {
	var saved savedSession
	if err := learn.Unmarshal(data[sessionName(number)], &saved); err != nil {
		return nil, err
	}
	rows := saved.Kept
	if format != wholeFormat {
		rows = []learn.Part{{Name: saved.Rows, Data: data[rowsName(number)]}}
	}
	s := &session{number: number, source: learn.Source{ID: saved.ID, Name: saved.Name}, weight: saved.Weight, then: saved.Then, facts: saved.Facts}
	amount := func(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }
	f := &s.facts
	switch {
	case !amount(s.weight) || !amount(s.then) || !amount(f.Known) || !amount(f.Right):
		return nil, fmt.Errorf("rows of the weight %v, %v then, %v known and %v right", s.weight, s.then, f.Known, f.Right)
	case len(saved.Losses) != len(sharpnesses) || slices.ContainsFunc(saved.Losses, func(x float64) bool { return !amount(x) }):
		return nil, fmt.Errorf("losses %v", saved.Losses)
	case len(rows) != 1:
		return nil, fmt.Errorf("kept rows of %d sources", len(rows))
	}
	copy(s.losses[:], saved.Losses)
	if err := s.enlist(saved.Members, data, format); err != nil {
		return nil, err
	}
	var err error
	if s.kept, err = kept.DecodeRows(rows); err != nil {
		return nil, err
	}
	if len(s.kept.Sources()) != 1 {
		return nil, fmt.Errorf("there are no kept rows")
	}
	s.rows, err = s.kept.Table(context.Background())
	return s, err
}

// enlist reads the members of a session, on all cores.
func (s *session) enlist(saved []savedMember, data map[string][]byte, format int) error {
	s.members = make([]member, len(saved))
	wrong := make([]error, len(saved))
	_ = learn.Each(context.Background(), len(saved), func(i int) { // which does not end
		of := &saved[i]
		number, model := of.Number, data[memberName(s.number, of.Number)]
		if format == wholeFormat {
			number, model = i+1, of.Model
		}
		decoded, err := learn.Decode(model)
		switch {
		case err != nil:
			wrong[i] = fmt.Errorf("member %d: %v", number, err)
		case !(of.Vote >= 0 && of.Vote <= 1e6):
			wrong[i] = fmt.Errorf("member %d has the vote %v", number, of.Vote)
		case number < 1 || format != wholeFormat && i > 0 && number <= saved[i-1].Number:
			wrong[i] = fmt.Errorf("member %d is not in order", number)
		}
		s.members[i] = member{model: decoded, vote: of.Vote, seen: of.Seen, number: number, saved: model}
	})
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return nil
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
