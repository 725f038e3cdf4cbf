// Package shards learns from more rows than one machine holds: from many files
// (shards), on any runner of Apache Beam.
//
// Everything is a pass over the shards: a DoFn makes of each shard a partial
// result, of a size that does not depend on its rows; a CombineFn merges partial
// results, two by two, in any order; the driver finishes. No row ever is an
// element of a collection: a shard is.
//
//	survey   the kinds of the columns, as all shards together have them
//	learn    a model of each shard, by the learner's own start and add; models merge
//	move     the units of a model, as the rows of each shard move them
//	gather   distinct rows with their weights, as many as may be, drawn by hash
//	count    the rows of each pattern of rules that fire (rule networks)
//	predict  answers, a file a shard
//	judge    how often, and by how much, a model is wrong
//
// Learners that start with no rows (learn.Starter) need survey and learn, those
// whose units depend on the order of rows (gaussian) survey, gather and move. Those
// that keep rows need survey and gather; rule networks also count, where gather
// could not hold all distinct rows: rules are found in the sample, their counts
// and weights are of all rows.
//
// A partial result says of which shards it is. What a runner repeats, after a
// lost worker or a bundle that failed, is therefore never counted twice, and what
// it loses is found out. Shards are read from the start in each attempt.
//
// It leans on life, as the command line does; package main of accrete-beam turns
// flags into jobs.
package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// Shard is a file, and the how-manieth.
type Shard struct {
	Number int    `cbor:"n"`
	Path   string `cbor:"path"`
}

// Plan is what all workers know of a job.
type Plan struct {
	Data     string              `cbor:"data"` // as it was named
	Target   string              `cbor:"target,omitempty"`
	Learner  string              `cbor:"learner,omitempty"`
	Settings map[string]string   `cbor:"settings,omitempty"`
	Seed     uint64              `cbor:"seed"`
	Nominal  []string            `cbor:"nominal,omitempty"`
	Numeric  []string            `cbor:"numeric,omitempty"`
	Ignore   []string            `cbor:"ignore,omitempty"`
	Weight   string              `cbor:"weight,omitempty"`
	Columns  []table.SavedColumn `cbor:"columns,omitempty"` // found by the survey
	Source   learn.Source        `cbor:"source"`
	Rows     int                 `cbor:"rows,omitempty"`  // distinct ones that are gathered at most
	Model    []byte              `cbor:"model,omitempty"` // that counts, predicts or is judged
	Out      string              `cbor:"out,omitempty"`   // folder of answers
	JSON     bool                `cbor:"json,omitempty"`
	ID       string              `cbor:"id,omitempty"`
	Shards   int                 `cbor:"shards"`
	Attempts int                 `cbor:"attempts"` // to read a shard
}

// pass is one way over the shards. Partial results are bytes, which runners move
// as they are.
type pass struct {
	// shard makes the partial result of one shard.
	shard func(ctx context.Context, p *Plan, s Shard) ([]byte, error)
	// merge makes one of two.
	merge func(ctx context.Context, p *Plan, a, b []byte) ([]byte, error)
}

var passes = map[string]pass{
	"survey":  {surveyShard, mergeSurveys},
	"learn":   {learnShard, mergeModels},
	"move":    {moveShard, mergeModels},
	"gather":  {gatherShard, mergeGathered},
	"count":   {countShard, mergeTallies},
	"predict": {predictShard, mergeNothing},
	"judge":   {judgeShard, mergeJudged},
}

// Partial is the result of some shards.
type Partial struct {
	Shards [][2]int `cbor:"shards"` // from, to (inclusive), ascending
	Body   []byte   `cbor:"body,omitempty"`
	// Wrong is what ends the job: of the first shard that says so.
	Wrong   string `cbor:"wrong,omitempty"`
	WrongAt int    `cbor:"at,omitempty"`
}

// Disturb, if not nil, is called before each batch of a shard is used, so that
// tests can have shards fail.
var Disturb func(shard Shard, attempt, batch int) error

// run makes the partial result of a shard. What is wrong with its data is part of
// the result: a runner would try in vain, and lose the words.
func (p *Plan) run(ctx context.Context, name string, s Shard) (*Partial, error) {
	result := &Partial{Shards: [][2]int{{s.Number, s.Number}}}
	for attempt := 1; ; attempt++ {
		body, err := passes[name].shard(context.WithValue(ctx, attemptKey{}, attempt), p, s)
		switch {
		case err == nil:
			result.Body = body
			return result, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !passing(err, s) || attempt >= p.Attempts:
			result.Wrong, result.WrongAt = said(err, s), s.Number
			return result, nil
		}
		select {
		case <-time.After(time.Duration(attempt*attempt) * 100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type attemptKey struct{}

// ErrPassing is wrapped by errors that may be gone when a shard is read again.
var ErrPassing = errors.New("the shard could not be read this time")

// passing reports whether an error may be gone the next time: of the disk, the
// network, or where shards lie.
func passing(err error, s Shard) bool {
	var path *fs.PathError
	var connection net.Error
	return errors.Is(err, ErrPassing) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &connection) ||
		errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) || strings.Contains(s.Path, "://")
}

// said is an error with the shard that it is of, in one line.
func said(err error, s Shard) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if !strings.Contains(text, s.Path) {
		text = s.Path + ": " + text
	}
	return text
}

// join merges two partial results. Shards that are in both are not counted twice:
// they are there because a runner repeated them.
func (p *Plan) join(ctx context.Context, name string, a, b *Partial) (*Partial, error) {
	switch {
	case len(a.Shards) == 0 || covers(b.Shards, a.Shards):
		return b, nil
	case len(b.Shards) == 0 || covers(a.Shards, b.Shards):
		return a, nil
	case overlap(a.Shards, b.Shards):
		return nil, fmt.Errorf("shards %v and %v overlap: the runner has repeated parts of a result", a.Shards, b.Shards)
	}
	to := &Partial{Shards: union(a.Shards, b.Shards), Wrong: a.Wrong, WrongAt: a.WrongAt}
	if b.Wrong != "" && (to.Wrong == "" || b.WrongAt < to.WrongAt) {
		to.Wrong, to.WrongAt = b.Wrong, b.WrongAt
	}
	if to.Wrong != "" {
		return to, nil
	}
	switch {
	case a.Body == nil:
		to.Body = b.Body
	case b.Body == nil:
		to.Body = a.Body
	default:
		body, err := passes[name].merge(ctx, p, a.Body, b.Body)
		if err != nil && ctx.Err() == nil {
			to.Wrong, to.WrongAt = err.Error(), to.Shards[0][0]
			return to, nil
		}
		to.Body = body
		return to, err
	}
	return to, nil
}

// whole returns an error unless a result is of all shards, and sound.
func (p *Plan) whole(result *Partial) error {
	if result.Wrong != "" {
		return errors.New(result.Wrong)
	}
	if !slices.Equal(result.Shards, [][2]int{{0, p.Shards - 1}}) {
		return fmt.Errorf("the runner's result is of the shards %v, expected all of 0 to %d; nothing is kept", result.Shards, p.Shards-1)
	}
	return nil
}

func union(a, b [][2]int) [][2]int {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y [2]int) int { return x[0] - y[0] })
	to := all[:1]
	for _, r := range all[1:] {
		if last := &to[len(to)-1]; r[0] <= last[1]+1 {
			last[1] = max(last[1], r[1])
		} else {
			to = append(to, r)
		}
	}
	return to
}

func overlap(a, b [][2]int) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i][1] < b[j][0]:
			i++
		case b[j][1] < a[i][0]:
			j++
		default:
			return true
		}
	}
	return false
}

// covers reports whether all shards of b are in a.
func covers(a, b [][2]int) bool {
	return slices.Equal(union(slices.Clone(a), slices.Clone(b)), a)
}

// options is how shards are read.
func (p *Plan) options() (table.Options, error) {
	o := table.Options{Nominal: p.Nominal, Numeric: p.Numeric, Ignore: p.Ignore, Weight: p.Weight, Target: p.Target}
	if p.Columns != nil {
		schema, err := table.LoadColumns(p.Columns)
		if err != nil {
			return o, err
		}
		o.Schema, o.Extend = schema, true
	}
	return o, nil
}

// open opens a shard: a file, or what a file system of Beam's knows (gs://…).
// Folders called COLUMN=VALUE are columns.
func open(ctx context.Context, s Shard, o table.Options) (table.Source, error) {
	o.Name = s.Path
	if !strings.Contains(s.Path, "://") {
		return table.Open(ctx, "files:"+s.Path, o)
	}
	files, err := filesystem.New(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	r, err := files.OpenRead(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	source, err := table.NewSource(ctx, r, o)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &remote{source, r}, nil
}

// remote is a source that reads from a bucket.
type remote struct {
	table.Source
	from io.Closer
}

func (r *remote) Close() error { return errors.Join(r.Source.Close(), r.from.Close()) }

// each reads a shard batch by batch.
func each(ctx context.Context, s Shard, o table.Options, use func(t *table.Table) error) error {
	source, err := open(ctx, s, o)
	if errors.Is(err, table.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	attempt, _ := ctx.Value(attemptKey{}).(int)
	for batch := 0; ; batch++ {
		t, err := source.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, table.ErrNoRows) { // a file may be a header alone
			return nil
		}
		if err != nil {
			return err
		}
		if Disturb != nil {
			if err := Disturb(s, attempt, batch); err != nil {
				return err
			}
		}
		if err := use(t); err != nil {
			return err
		}
	}
}

// Find lists the shards of an address: the files of a pattern or a folder, in the
// order of their paths, here or where a file system of Beam's has them.
func Find(ctx context.Context, address string) ([]Shard, error) {
	var paths []string
	if strings.Contains(address, "://") {
		files, err := filesystem.New(ctx, address)
		if err != nil {
			return nil, err
		}
		defer files.Close()
		if paths, err = files.List(ctx, address); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		slices.Sort(paths)
	} else if paths = table.Files(address); len(paths) == 0 {
		return nil, fmt.Errorf("%s: there are no tables here; expected files such as .csv, .parquet or .jsonl", address)
	}
	shards := make([]Shard, len(paths))
	for i, path := range paths {
		if abs, err := filepath.Abs(path); err == nil && !strings.Contains(path, "://") {
			path = abs // workers have another working directory
		}
		shards[i] = Shard{i, path}
	}
	if len(shards) == 0 {
		return nil, fmt.Errorf("%s: there are no tables here", address)
	}
	return shards, nil
}

// mergeNothing is of passes whose result is what they wrote.
func mergeNothing(_ context.Context, _ *Plan, a, b []byte) ([]byte, error) {
	var x, y float64
	if err := errors.Join(learn.Unmarshal(a, &x), learn.Unmarshal(b, &y)); err != nil {
		return nil, err
	}
	return learn.Marshal(x + y)
}

// suited is a batch as the plan's learner takes it.
func (p *Plan) suited(t *table.Table) (*table.Table, int, error) {
	info, err := learn.Lookup(p.Learner)
	if err != nil {
		return nil, 0, err
	}
	target := learn.NoTarget
	if p.Target != "" {
		target = t.Schema.Index(p.Target)
	}
	t, target, _, err = life.Suit(info, t, target)
	return t, target, err
}
