package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/rulenet"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&passFn{})
	register.Emitter1[[]byte]()
	register.Combiner2[[]byte, []byte](&mergeFn{})
	register.DoFn2x1[context.Context, []byte, error](&keepFn{})
	beam.RegisterType(reflect.TypeFor[passFn]())
	beam.RegisterType(reflect.TypeFor[mergeFn]())
	beam.RegisterType(reflect.TypeFor[keepFn]())
}

// passFn makes the partial result of a shard.
type passFn struct {
	Pass string
	Plan []byte
}

// ProcessElement takes a shard, and emits one partial result.
func (f *passFn) ProcessElement(ctx context.Context, shard []byte, emit func([]byte)) error {
	var p Plan
	var s Shard
	if err := errors.Join(learn.Unmarshal(f.Plan, &p), learn.Unmarshal(shard, &s)); err != nil {
		return err
	}
	result, err := p.run(ctx, f.Pass, s)
	if err != nil {
		return err
	}
	data, err := learn.Marshal(result)
	if err != nil {
		return err
	}
	emit(data)
	return nil
}

// mergeFn merges partial results. Merging is associative and commutative, and a
// shard that comes twice counts once.
type mergeFn struct {
	Pass string
	Plan []byte
}

// CreateAccumulator returns the result of no shards.
func (f *mergeFn) CreateAccumulator() []byte { return []byte{} }

// AddInput adds a partial result.
func (f *mergeFn) AddInput(sum, more []byte) ([]byte, error) {
	return f.merge(context.Background(), sum, more)
}

// MergeAccumulators merges two.
func (f *mergeFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	return f.merge(context.Background(), a, b)
}

func (f *mergeFn) merge(ctx context.Context, a, b []byte) ([]byte, error) {
	if len(a) == 0 {
		return b, nil
	}
	if len(b) == 0 {
		return a, nil
	}
	var p Plan
	var x, y Partial
	if err := errors.Join(learn.Unmarshal(f.Plan, &p), learn.Unmarshal(a, &x), learn.Unmarshal(b, &y)); err != nil {
		return nil, err
	}
	z, err := p.join(ctx, f.Pass, &x, &y)
	if err != nil {
		return nil, err
	}
	return learn.Marshal(z)
}

// keepFn leaves the result where the driver reads it.
type keepFn struct{ Path string }

// ProcessElement writes the result, whole or not at all.
func (f *keepFn) ProcessElement(ctx context.Context, result []byte) error {
	return writeTo(ctx, f.Path, func(w io.Writer) error { _, err := w.Write(result); return err })
}

// Job is work over shards.
type Job struct {
	Plan   Plan
	Shards []Shard
	// Temp is a folder that driver and workers share; results go through it.
	Temp string
	// Local has the passes run in this process, without Beam.
	Local bool
	// Attempts is how often a pass is submitted that a runner gave up, or that was
	// not done by its deadline: some runners wait forever for a worker they lost.
	Attempts int
	// Deadline is how long a pass may take the first time it is submitted. Each
	// further time it has twice as long: nobody can tell from here whether a runner
	// waits for a worker that it lost, or is slow.
	Deadline time.Duration
	Note     func(string)
	At       time.Time
	passes   int
}

func (j *Job) note(text string) {
	if j.Note != nil && text != "" {
		j.Note(text)
	}
}

// pass runs one pass over all shards, and returns what they come to.
func (j *Job) pass(ctx context.Context, name string) ([]byte, error) {
	j.passes++
	j.Plan.Shards = len(j.Shards)
	j.Plan.Attempts = max(1, j.Plan.Attempts)
	var failed error
	limit := j.Deadline
	for attempt := 1; attempt <= max(1, j.Attempts); attempt++ {
		limited, cancel := context.WithTimeout(ctx, limit)
		result, err := j.once(limited, name, attempt)
		late := limited.Err()
		cancel()
		switch {
		case err == nil:
			if err := j.Plan.whole(result); err != nil {
				return nil, err
			}
			return result.Body, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(late, context.DeadlineExceeded):
			failed = fmt.Errorf("the pass %q was not done after %v, and was given up: see the runner's log, or allow more by --deadline; nothing is kept", name, limit)
		default:
			failed = fmt.Errorf("the pass %q failed on the runner: %w", name, err)
		}
		if attempt < j.Attempts {
			j.note(fmt.Sprintf("%s; it is tried again", oneLine(failed)))
		}
		limit = max(limit, 2*limit) // as it is where twice as long is more than durations hold
	}
	return nil, errors.New(oneLine(failed))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func (j *Job) once(ctx context.Context, name string, attempt int) (*Partial, error) {
	if j.Local {
		return j.here(ctx, name)
	}
	plan, err := learn.Marshal(j.Plan)
	if err != nil {
		return nil, err
	}
	elements := make([]any, len(j.Shards))
	for i, s := range j.Shards {
		if elements[i], err = learn.Marshal(s); err != nil {
			return nil, err
		}
	}
	file := fmt.Sprintf("%s-%d-%d.partial", name, j.passes, attempt)
	if strings.Contains(j.Temp, "://") {
		file = strings.TrimSuffix(j.Temp, "/") + "/" + file
	} else {
		file = filepath.Join(j.Temp, file)
		defer os.Remove(file)
	}
	pipeline, scope := beam.NewPipelineWithRoot()
	scope = scope.Scope("accrete " + name)
	shards := beam.Reshuffle(scope, beam.Create(scope, elements...))
	partial := beam.ParDo(scope, &passFn{name, plan}, shards)
	whole := beam.Combine(scope, &mergeFn{name, plan}, partial)
	beam.ParDo0(scope, &keepFn{file}, whole)
	// A prism in this process panics where the context ends while it works, and
	// other runners do not look at it: jobs are left, and ended by name.
	job := *jobopts.JobName
	if job == "" {
		*jobopts.JobName = fmt.Sprintf("accrete-%s-%d", name, time.Now().UnixNano())
		defer func() { *jobopts.JobName = "" }()
	}
	served := *jobopts.Endpoint != ""
	select {
	case err = <-crew.Go(func() error { return beamx.Run(context.WithoutCancel(ctx), pipeline) }):
	case <-ctx.Done():
		if served {
			end(*jobopts.Endpoint, *jobopts.JobName)
		}
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	data, err := readFrom(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("the job left no result that this machine can read: %w; --temp names a folder that the driver and all workers share", err)
	}
	var result Partial
	return &result, learn.Unmarshal(data, &result)
}

// end asks a job service to cancel the jobs of a name. Who does not answer is
// left alone.
func end(endpoint, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := grpcx.Dial(ctx, endpoint, 3*time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	client := jobpb.NewJobServiceClient(conn)
	jobs, err := client.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return
	}
	for _, j := range jobs.GetJobInfo() {
		if j.GetJobName() == name {
			_, _ = client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.GetJobId()})
		}
	}
}

// here runs a pass in this process.
func (j *Job) here(ctx context.Context, name string) (*Partial, error) {
	all := &Partial{}
	for _, s := range j.Shards {
		part, err := j.Plan.run(ctx, name, s)
		if err != nil {
			return nil, err
		}
		if all, err = j.Plan.join(ctx, name, all, part); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Learnt is a model, and what there is to say of it.
type Learnt struct {
	Model  learn.Model
	Record store.Version
	Rows   int   // in all shards
	Bytes  int64 // of all shards
	Passes int
	All    bool // rows, or counts of all rows, are behind it
}

// Learn learns a model of all shards.
func (j *Job) Learn(ctx context.Context) (*Learnt, error) {
	info, err := learn.Lookup(j.Plan.Learner)
	if err != nil {
		return nil, err
	}
	l, err := j.Plan.learner()
	if err != nil {
		return nil, err
	}
	data, err := j.pass(ctx, "survey")
	if err != nil {
		return nil, err
	}
	var found survey
	if err := learn.Unmarshal(data, &found); err != nil {
		return nil, err
	}
	if found.Rows == 0 {
		return nil, fmt.Errorf("%s: %w", j.Plan.Data, table.ErrNoRows)
	}
	columns, notes := found.settle(&j.Plan)
	for _, n := range notes {
		j.note(n)
	}
	j.Plan.Columns = columns
	if err := j.checkTarget(info, &found); err != nil {
		return nil, err
	}
	hash := found.hash()
	path := j.Plan.Data
	if abs, err := filepath.Abs(path); err == nil && !strings.Contains(path, "://") {
		path = abs
	}
	j.Plan.Source = learn.Source{ID: store.SourceID(path, hash, j.At), Name: j.Plan.Data}
	out := &Learnt{Rows: found.Rows, Bytes: found.Bytes, All: true}
	out.Record = store.Version{Kind: store.Learn, At: j.At, Seed: j.Plan.Seed, Settings: j.settings(),
		Source: store.Source{ID: j.Plan.Source.ID, Name: j.Plan.Data, Path: path, Hash: hash, Rows: float64(found.Rows)}}
	switch streams, err := j.Plan.streams(l); {
	case err != nil:
		return nil, err
	case streams && info.Contract == learn.Exact:
		out.Model, err = j.learnApart(ctx)
		out.Passes = j.passes
		return out, err
	case streams:
		out.Model, err = j.learnAround(ctx)
		out.Passes = j.passes
		return out, err
	}
	out.Model, out.All, err = j.learnKept(ctx)
	out.Passes = j.passes
	return out, err
}

func (j *Job) checkTarget(info learn.Info, found *survey) error {
	if j.Plan.Target == "" {
		if info.Takes.Density {
			return nil
		}
		return errors.New("which column is to be predicted? name it by --target")
	}
	if found.find(j.Plan.Target) == nil {
		return fmt.Errorf("%s has no column %q to predict", j.Plan.Data, j.Plan.Target)
	}
	return nil
}

// settings are the learner's, and those by which the data is read again.
func (j *Job) settings() map[string]string {
	all := map[string]string{}
	for k, v := range j.Plan.Settings {
		all[k] = v
	}
	for k, v := range map[string][]string{"--nominal": j.Plan.Nominal, "--numeric": j.Plan.Numeric, "--ignore": j.Plan.Ignore} {
		if len(v) > 0 {
			all[k] = strings.Join(v, ",")
		}
	}
	if j.Plan.Weight != "" {
		all["--weight"] = j.Plan.Weight
	}
	return all
}

// learnApart learns every shard apart, and merges.
func (j *Job) learnApart(ctx context.Context) (learn.Model, error) {
	data, err := j.pass(ctx, "learn")
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", j.Plan.Target)
	}
	return learn.Decode(data)
}

// learnAround has units found in a sample of the rows, where these are too many,
// and every shard's rows move them. Units that grew out of the same one add up;
// the sample itself is forgotten, as its rows are among those of the shards.
func (j *Job) learnAround(ctx context.Context) (learn.Model, error) {
	data, err := j.pass(ctx, "gather")
	if err != nil {
		return nil, err
	}
	m, all, _, err := j.Plan.learnGathered(ctx, data, sampled)
	if err != nil || all {
		return m, err
	}
	rows := m.Size().Rows
	if j.Plan.Model, err = learn.Encode(m); err != nil {
		return nil, err
	}
	if data, err = j.pass(ctx, "move"); err != nil {
		return nil, err
	}
	if m, err = learn.Decode(data); err != nil {
		return nil, err
	}
	j.note(fmt.Sprintf("units were found in a sample of rows that stands for %.0f; where they are and what they count is of all %.0f rows", rows, m.Size().Rows))
	return m, nil
}

// learnKept learns distinct rows in the driver. Rule networks whose distinct rows
// are too many have their rules counted over all rows.
func (j *Job) learnKept(ctx context.Context) (learn.Model, bool, error) {
	data, err := j.pass(ctx, "gather")
	if err != nil {
		return nil, false, err
	}
	m, all, note, err := j.Plan.learnGathered(ctx, data, j.Plan.Source)
	if err != nil || all {
		return m, all, err
	}
	network, ok := m.(*rulenet.Model)
	if !ok {
		j.note(note)
		return m, false, nil
	}
	if j.Plan.Model, err = learn.Encode(network); err != nil {
		return nil, false, err
	}
	if data, err = j.pass(ctx, "count"); err != nil {
		return nil, false, err
	}
	var tally rulenet.Tally
	if err := learn.Unmarshal(data, &tally); err != nil {
		return nil, false, err
	}
	counted, err := network.Counted(ctx, &tally)
	if err != nil {
		return nil, false, err
	}
	rows := 0.0
	for _, n := range tally.Counts {
		rows += n
	}
	j.note(fmt.Sprintf("rules were found in a sample of distinct rows; their counts and weights are of all %.0f rows", rows))
	return counted, true, nil
}

// Predict writes answers for all shards, a file each, into a folder.
func (j *Job) Predict(ctx context.Context) (rows float64, err error) {
	if !strings.Contains(j.Plan.Out, "://") {
		if j.Plan.Out, err = filepath.Abs(j.Plan.Out); err != nil {
			return 0, err
		}
		if err := os.MkdirAll(j.Plan.Out, 0o777); err != nil {
			return 0, err
		}
	}
	data, err := j.pass(ctx, "predict")
	if err != nil {
		return 0, err
	}
	return rows, learn.Unmarshal(data, &rows)
}

// Judge returns how well a model does on all shards.
func (j *Job) Judge(ctx context.Context) (*Judged, error) {
	m, err := learn.Decode(j.Plan.Model)
	if err != nil {
		return nil, err
	}
	if m.Target() == learn.NoTarget {
		return nil, errors.New("a density of all columns has no target to be judged by")
	}
	j.Plan.Target = m.Schema().Attributes[m.Target()].Name
	data, err := j.pass(ctx, "judge")
	if err != nil {
		return nil, err
	}
	var sums judged
	if err := learn.Unmarshal(data, &sums); err != nil {
		return nil, err
	}
	return sums.result()
}

// Save writes a model to a file that the command line imports.
func Save(ctx context.Context, l *Learnt, name, path string) error {
	dir, err := os.MkdirTemp("", "accrete-beam-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	if _, err := s.Save(ctx, name, l.Model, l.Record); err != nil {
		return err
	}
	return s.Export(name, path)
}

// Kinds counts the columns of a survey that is done, for who wants to know costs.
func (p *Plan) Kinds() (names, numbers int) {
	for _, c := range p.Columns {
		if c.Numeric {
			numbers++
		} else if !c.Text {
			names++
		}
	}
	return names, numbers
}
