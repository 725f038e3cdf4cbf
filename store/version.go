package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of versions: what was done to get it.
const (
	Learn   = "learn"
	Update  = "update"
	Tell    = "tell"
	Forget  = "forget"
	Erase   = "erase"
	Merge   = "merge"
	Restore = "restore"
	Import  = "import"
	Strike  = "strike" // a learnt rule was left out, or one that was told taken back
	Cut     = "cut"    // to fewer rules
	Undo    = "undo"   // of the newest change: Source names the version that is back
)

// Version is a model at one time, and how it came to be.
type Version struct {
	Model   string // the model's name
	Number  int    // from 1, never used twice for one name
	Kind    string // Learn, Update, …
	Source  Source // where the new knowledge came from
	At      time.Time
	Seed    uint64
	Learner string
	Target  string  // the predicted column; "" for a density
	Rows    float64 // weight of all rows that the model has learnt from
	Rules   int
	Units   int
	// Settings are the learner's parameters and whatever else somebody who
	// wants to do it again has to know.
	Settings map[string]string
	Parent   int // the newest version when this one was saved; 0 if none
	// History is what the model of an import was made of elsewhere, oldest
	// first. Of these versions there is only the record.
	History []Version
	// LetGo says that there is only the record: the version was an old one, and
	// what it needed took too much room.
	LetGo bool
	By    string // who made the change, "" if nobody said so
	Note  string // and why
	// UndoneBy is the version that took this one back, 0 if none did. It is
	// not kept but found in the log.
	UndoneBy int
}

// Source is where knowledge came from.
type Source struct {
	ID   string  // by which the model knows it (learn.Source)
	Name string  // what people call it
	Path string  // of the file; "" if there is none
	Hash string  // of the file's bytes, in hexadecimal
	Rows float64 // weight of the rows it brought
}

// SourceID returns an ID for a source: the same for the same path, hash and
// time, different otherwise.
func SourceID(path, hash string, at time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", path, hash, at.UnixNano()))
	return hex.EncodeToString(sum[:8])
}

// String returns the name by which a version is loaded: votes@3.
func (v Version) String() string { return fmt.Sprintf("%s@%d", v.Model, v.Number) }

// MarshalJSON writes a version as the command line's log does. What does not
// apply is absent; the target of a density is null.
func (v Version) MarshalJSON() ([]byte, error) {
	source := v.Source.Path
	if source == "" {
		source = v.Source.Name
	}
	var target *string
	if v.Target != "" {
		target = &v.Target
	}
	return json.Marshal(struct {
		Number    int               `json:"version"`
		Kind      string            `json:"kind"`
		Source    string            `json:"source,omitempty"`
		Hash      string            `json:"hash,omitempty"`
		Rows      float64           `json:"rows"`
		At        time.Time         `json:"at"`
		Seed      uint64            `json:"seed"`
		Learner   string            `json:"learner"`
		Target    *string           `json:"target"`
		ModelRows float64           `json:"model_rows"`
		Rules     int               `json:"rules,omitempty"`
		Units     int               `json:"units,omitempty"`
		Settings  map[string]string `json:"settings,omitempty"`
		Parent    int               `json:"parent,omitempty"`
		History   []Version         `json:"history,omitempty"`
		LetGo     bool              `json:"let_go,omitempty"`
		By        string            `json:"by,omitempty"`
		Note      string            `json:"note,omitempty"`
		UndoneBy  int               `json:"undone_by,omitempty"`
	}{
		v.Number, v.Kind, source, v.Source.Hash, v.Source.Rows, v.At, v.Seed, v.Learner, target,
		v.Rows, v.Rules, v.Units, v.Settings, v.Parent, v.History, v.LetGo,
		v.By, v.Note, v.UndoneBy,
	})
}

// record is a version as it is written. Keys are numbers to keep it small;
// readers skip those they do not know.
type record struct {
	Number     int               `cbor:"1,keyasint"`
	Kind       string            `cbor:"2,keyasint"`
	SourceID   string            `cbor:"3,keyasint,omitempty"`
	SourceName string            `cbor:"4,keyasint,omitempty"`
	SourcePath string            `cbor:"5,keyasint,omitempty"`
	Hash       []byte            `cbor:"6,keyasint,omitempty"`
	HashText   string            `cbor:"7,keyasint,omitempty"` // a hash that is not hexadecimal
	SourceRows float64           `cbor:"8,keyasint,omitempty"`
	Seconds    int64             `cbor:"9,keyasint"` // since 1970, UTC
	Nanos      int64             `cbor:"10,keyasint,omitempty"`
	Seed       uint64            `cbor:"11,keyasint,omitempty"`
	Learner    string            `cbor:"12,keyasint"`
	Target     string            `cbor:"13,keyasint,omitempty"`
	Rows       float64           `cbor:"14,keyasint,omitempty"`
	Rules      int               `cbor:"15,keyasint,omitempty"`
	Units      int               `cbor:"16,keyasint,omitempty"`
	Settings   map[string]string `cbor:"17,keyasint,omitempty"`
	Parent     int               `cbor:"18,keyasint,omitempty"`
	History    []record          `cbor:"19,keyasint,omitempty"`
	Parts      idList            `cbor:"20,keyasint,omitempty"` // the model's parts, in order
	Derived    idList            `cbor:"21,keyasint,omitempty"` // those of them it can do without
	Sum        []byte            `cbor:"22,keyasint,omitempty"` // of the others (see sumKeys)
	By         string            `cbor:"23,keyasint,omitempty"`
	Note       string            `cbor:"24,keyasint,omitempty"`
	LetGo      bool              `cbor:"40,keyasint,omitempty"`
}

func newRecord(v Version) record {
	at := v.At.UTC()
	r := record{
		Number: v.Number, Kind: text(v.Kind),
		SourceID: text(v.Source.ID), SourceName: text(v.Source.Name), SourcePath: text(v.Source.Path), SourceRows: v.Source.Rows,
		Seconds: at.Unix(), Nanos: int64(at.Nanosecond()), Seed: v.Seed,
		Learner: text(v.Learner), Target: text(v.Target), Rows: v.Rows, Rules: v.Rules, Units: v.Units, Parent: v.Parent,
		By: text(v.By), Note: text(v.Note),
	}
	if b, err := hex.DecodeString(v.Source.Hash); err == nil && hex.EncodeToString(b) == v.Source.Hash {
		r.Hash = b
	} else {
		r.HashText = text(v.Source.Hash)
	}
	if len(v.Settings) > 0 {
		r.Settings = make(map[string]string, len(v.Settings))
		for key, value := range v.Settings {
			r.Settings[text(key)] = text(value)
		}
	}
	for _, h := range v.History {
		r.History = append(r.History, newRecord(h))
	}
	return r
}

// text makes a string one that CBOR can carry; paths may be any bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (r *record) version(model string) Version {
	v := Version{
		Model: model, Number: r.Number, Kind: r.Kind,
		Source: Source{ID: r.SourceID, Name: r.SourceName, Path: r.SourcePath, Hash: r.HashText, Rows: r.SourceRows},
		At:     time.Unix(r.Seconds, r.Nanos).UTC(), Seed: r.Seed,
		Learner: r.Learner, Target: r.Target, Rows: r.Rows, Rules: r.Rules, Units: r.Units,
		Settings: r.Settings, Parent: r.Parent, LetGo: r.LetGo, By: r.By, Note: r.Note,
	}
	if r.Hash != nil {
		v.Source.Hash = hex.EncodeToString(r.Hash)
	}
	for i := range r.History {
		v.History = append(v.History, r.History[i].version(model))
	}
	return v
}

func (r *record) check() error {
	// Rules that came with the rows of a version have none of their own.
	if first := r.Kind == Tell && len(r.Parts)+len(r.Derived) == 0; r.Number < 0 || r.Number == 0 && !first || r.Number > maxNumber {
		return errors.New("a version number out of range")
	}
	if err := r.Parts.check(); err != nil {
		return err
	}
	return r.Derived.check()
}

// idList is a list of part numbers as runs of equal differences: 1 2 4 6 8 is
// +1 +1 +2 +2 +2, written 1×2, 2×3. A model that gains a part or two with
// each update thus takes a few bytes a version, however many parts it has.
type idList []int64 // difference, count, difference, count, …

const (
	maxNumber = 1<<31 - 1 // of a version
	maxParts  = 1 << 22   // of one version
	maxID     = 1 << 40
)

func packIDs(ids []uint64) idList {
	var list idList
	previous := int64(0)
	for _, id := range ids {
		difference := int64(id) - previous
		if n := len(list); n > 0 && list[n-2] == difference {
			list[n-1]++
		} else {
			list = append(list, difference, 1)
		}
		previous = int64(id)
	}
	return list
}

func (list idList) check() error {
	if len(list)%2 != 0 {
		return errors.New("an odd list of parts")
	}
	previous, total := int64(0), int64(0)
	for i := 0; i < len(list); i += 2 {
		difference, count := list[i], list[i+1]
		if difference < -maxID || difference > maxID || count < 1 || count > maxParts {
			return errors.New("a list of parts out of range")
		}
		first := previous + difference
		previous += difference * count
		total += count
		if first < 1 || first > maxID || previous < 1 || previous > maxID || total > maxParts {
			return errors.New("a list of parts out of range")
		}
	}
	return nil
}

// run is count part numbers from first on, difference apart.
type run struct{ first, difference, count int64 }

func (list idList) runs() []run {
	runs := make([]run, 0, len(list)/2)
	previous := int64(0)
	for i := 0; i < len(list); i += 2 {
		runs = append(runs, run{previous + list[i], list[i], list[i+1]})
		previous += list[i] * list[i+1]
	}
	return runs
}

// count is how many numbers the list has.
func (list idList) count() int64 {
	n := int64(0)
	for i := 1; i < len(list); i += 2 {
		n += list[i]
	}
	return n
}

func (list idList) unpack() []uint64 {
	ids := make([]uint64, 0, list.count())
	for _, r := range list.runs() {
		for i := range r.count {
			ids = append(ids, uint64(r.first+i*r.difference))
		}
	}
	return ids
}
