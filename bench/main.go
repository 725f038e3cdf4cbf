// Command bench measures Accrete and the tools that people would pick
// instead, in one run on one machine, on the same data, and writes what it
// found: tables (Markdown and JSON) and pictures (SVG). It shows ratios, never
// bare times, because machines differ.
//
//	go run ./bench -docs docs    everything, under 40 minutes on two cores
//	go run ./bench -quick        a look, under 5 minutes
//	go run ./bench -only neighbours    the nearest rows, against scikit-learn's
//	go run ./bench -only numbers       learners of numbers, against ridge and boosted trees
//	go run ./bench -only words         texts, against scikit-learn's MultinomialNB (-texts newsgroups20.csv.gz)
//	go run ./bench -only graphs        graphs of belief networks, against Weka's BayesNet
//	go run ./bench -resume       go on with a run that was broken off
//	go run ./bench -measure -profile cpu.out speed FOLDER tree budget=0
//	                             what one learner spends its time on
//
// Every measurement is a process of its own that speaks a small protocol (see
// protocol.go); the peers' sides of it are under peers and readers. A process
// is stopped at a limit, and that is a result too: a lower bound on a ratio.
// What is measured goes to a journal at once, so that nothing is lost if a
// peer or the run fails. The run has so much time; when it is spent, what is
// left is not measured, and the page says so. The command fails if a result is missing without a stated reason.
//
// scripts/bench-peers installs the peers that Debian has.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/learn"
)

// bench is a run.
type bench struct {
	folder string // of this command's sources
	data   string // larger data sets
	peers  string // the peers' scripts
	work   string // data for the measuring processes, and the journal
	self   string // this program
	python string
	// postings is a file of 20 Newsgroups for the part words, "" for drawn texts.
	postings string

	version  string
	plan     plan
	learners []string // of ours that are measured; none means all
	rivals   []string // of the peers, likewise
	tools    map[string]*tool
	journal  *journal
	start    time.Time
	end      time.Time // of the measuring
	out      io.Writer // progress
	// sections are those that were measured.
	sections map[string]bool
}

// plan is how much is measured.
type plan struct {
	Quick   bool
	Limit   time.Duration // of a measurement
	Repeat  float64       // seconds for which each part is repeated
	Sizes   []int         // rows at which speed is measured
	Count   []int         // and at which also counting learners are
	Read    []int         // rows of the files that are read
	Rounds  int           // processes for each measurement of speed, as time permits
	Reading time.Duration // at most, and so on; what is left goes to speed
	Folds   time.Duration
	Total   time.Duration // nothing is begun after this
	Grace   time.Duration // and what was begun ends so much later
}

var full = plan{
	Limit: 60 * time.Second, Repeat: 0.5, Rounds: 3,
	Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Count: []int{10_000_000}, Read: []int{100_000, 1_000_000},
	Reading: 3 * time.Minute, Folds: 15 * time.Minute, Total: 38 * time.Minute, Grace: time.Minute,
}

var quick = plan{
	Quick: true, Limit: 10 * time.Second, Repeat: 0.2, Rounds: 2,
	Sizes: []int{1000, 10_000}, Count: []int{1_000_000}, Read: []int{100_000},
	Reading: 30 * time.Second, Folds: 100 * time.Second, Total: 250 * time.Second, Grace: 20 * time.Second,
}

func main() {
	isQuick := flag.Bool("quick", false, "measure less, in under 5 minutes")
	docs := flag.String("docs", "", "folder for benchmark.md and the folder benchmark; the work folder if not given")
	work := flag.String("work", "", "folder for data and the journal; one among the temporary files if not given")
	resume := flag.Bool("resume", false, "go on with the journal that is there")
	only := flag.String("only", "", "reading, speed or accuracy: measure only that part; neighbours, numbers, words or graphs: print that comparison")
	texts := flag.String("texts", "", "with -only words, a CSV file (.gz) of postings with the columns newsgroup, subject and body; drawn texts if not given")
	learners := flag.String("learners", "", "measure only these learners of ours and their peers, as in tree,bayes")
	rivals := flag.String("peers", "", "measure only these peers, as in 'Weka JRip,Weka PART'")
	folder := flag.String("bench", "bench", "folder of this command's sources")
	pythonPath := flag.String("python", "/usr/bin/python3", "Python that has the peers")
	measure := flag.Bool("measure", false, "be a measuring process (used by the command itself): work folder method [key=value …]")
	profile := flag.String("profile", "", "with -measure, write a CPU profile to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	var err error
	if *measure {
		err = profiled(*profile, func() error { return measureOurs(ctx, flag.Args()) })
	} else {
		b := &bench{folder: *folder, data: filepath.Join(*folder, "data"), peers: filepath.Join(*folder, "peers"), python: *pythonPath, postings: *texts, plan: full, start: time.Now(), out: os.Stderr}
		b.work = filepath.Join(os.TempDir(), "accrete-bench")
		if *isQuick {
			b.plan, b.work = quick, b.work+"-quick"
		}
		if *work != "" {
			b.work = *work
		}
		if *learners != "" {
			b.learners = strings.Split(*learners, ",")
		}
		if *rivals != "" {
			b.rivals = strings.Split(*rivals, ",")
		}
		if *docs == "" {
			*docs = b.work
		}
		err = b.run(ctx, *docs, *resume, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profiled does a work and profiles it if a file is named.
func profiled(path string, work func() error) error {
	if path == "" {
		return work()
	}
	return writeFile(path, func(w io.Writer) error {
		if err := pprof.StartCPUProfile(w); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		return work()
	})
}

// run measures everything and writes the page.
func (b *bench) run(ctx context.Context, docs string, resume bool, only string) error {
	for _, name := range b.learners {
		if _, err := learn.Lookup(name); err != nil {
			return err
		}
	}
	apart := map[string]func(context.Context) error{"neighbours": b.measureNeighbours, "numbers": b.measureNumbers, "words": b.measureTexts, "graphs": b.measureGraphs}[only]
	if only != "" && apart == nil && !slices.Contains([]string{"reading", "speed", "accuracy"}, only) {
		return fmt.Errorf("unknown part %q: expected reading, speed, accuracy, neighbours, numbers, words or graphs", only)
	}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	b.version = release(ctx)
	if b.journal, err = openJournal(filepath.Join(b.work, "journal.jsonl"), resume); err != nil {
		return err
	}
	defer b.journal.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if apart != nil {
		return apart(ctx)
	}
	b.sections = map[string]bool{}
	b.start = time.Now() // installing and building are not counted
	b.end = b.start.Add(b.plan.Total)

	type section struct {
		name    string
		share   time.Duration
		measure func(ctx context.Context, deadline time.Time) error
	}
	for _, s := range []section{
		{"reading", b.plan.Reading, b.measureReading},
		{"accuracy", b.plan.Folds, b.measureAccuracy},
		{"speed", b.plan.Total, b.measureSpeed}, // what is left
	} {
		if only != "" && only != s.name {
			continue
		}
		b.sections[s.name] = true
		deadline := time.Now().Add(s.share)
		if b.end.Before(deadline) {
			deadline = b.end
		}
		b.log("%s: up to %v", s.name, time.Until(deadline).Round(time.Second))
		if err := s.measure(ctx, deadline); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	p, err := b.page(time.Now().Format(time.DateOnly), time.Since(b.start).Minutes())
	if err != nil {
		return err
	}
	if err := p.write(docs); err != nil {
		return err
	}
	b.log("%s", filepath.Join(docs, "benchmark.md"))
	if len(p.Missing) > 0 {
		return fmt.Errorf("%d results are missing without a stated reason, the first: %s", len(p.Missing), p.Missing[0])
	}
	return nil
}

// log tells the progress.
func (b *bench) log(format string, a ...any) {
	fmt.Fprintf(b.out, "%6.0f s  %s\n", time.Since(b.start).Seconds(), fmt.Sprintf(format, a...))
}

// measured runs a measuring process unless the journal has its result.
func (b *bench) measured(ctx context.Context, key string, command, env []string, each bool) outcome {
	if o, ok := b.journal.get(key); ok {
		return o
	}
	limited, cancel := context.WithDeadline(ctx, b.end.Add(b.plan.Grace))
	defer cancel()
	o := run(limited, command, env, b.plan.Limit, each)
	if ctx.Err() != nil {
		return o
	}
	note := ""
	if problem := firstOf(o.Failure, o.Reason); problem != "" {
		note = ": " + problem
	}
	b.log("%s, %.1f s%s", key, o.Took, note)
	b.journal.put(key, o)
	return o
}

// without records why something is not measured.
func (b *bench) without(key, reason string) {
	if _, ok := b.journal.get(key); !ok {
		b.journal.put(key, outcome{Reason: reason})
	}
}

const timeSpent = "left out: the run's time was spent"

// release names the version that is measured: "0.1.0 (24eb5e9)".
func release(ctx context.Context) string {
	var said struct{ Version string }
	if text, err := exec.CommandContext(ctx, "go", "run", "./cmd/accrete", "version", "--json").Output(); err == nil {
		_ = json.Unmarshal(text, &said) // an odd answer leaves the version unknown
	}
	version := firstOf(said.Version, "of unknown version")
	if text, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		version += " (" + strings.TrimSpace(string(text)) + ")"
	}
	return version
}

// machine says what the run was made on, as far as it matters for ratios.
func machine() string {
	return fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}
