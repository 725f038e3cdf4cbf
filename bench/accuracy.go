package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// trial is a method on a data set.
type trial struct {
	set    *set
	method method
}

func (t trial) key() string { return fmt.Sprintf("accuracy, %v, %s", t.method, t.set.Name) }

// score is how well a method did on a data set, over all ten folds.
type score struct {
	Accuracy float64   `json:"accuracy"`
	LogLoss  float64   `json:"log_loss"`
	ECE      float64   `json:"ece"`
	Folds    []float64 `json:"folds"` // accuracies
	Rules    float64   `json:"rules,omitempty"`
	Tests    float64   `json:"tests,omitempty"`
}

// accuracyMethods returns our learners and all peers, or if the run is about
// some learners, the peers that those are set against.
func (b *bench) accuracyMethods() []method {
	methods := b.ours()
	rivals := map[string]bool{}
	for _, m := range methods {
		for _, name := range rivalsOf(m) {
			rivals[name] = true
		}
	}
	for _, m := range peerMethods {
		if m.speedOnly == "" && b.asked(m) && (len(b.learners) == 0 || rivals[m.String()]) {
			methods = append(methods, m)
		}
	}
	return methods
}

func (b *bench) sets() []*set {
	var sets []*set
	for i := range accuracySets {
		if s := &accuracySets[i]; s.quick || !b.plan.Quick {
			sets = append(sets, s)
		}
	}
	return sets
}

func (b *bench) setFolder(s *set) string { return filepath.Join(b.work, "set-"+s.Name) }

func (b *bench) probabilities(t trial) string {
	return filepath.Join(b.setFolder(t.set), fmt.Sprintf("%v.f64", t.method))
}

// measureAccuracy cross-validates every method on every set, as many at a time
// as there are cores, each on one of them: nothing is timed here.
func (b *bench) measureAccuracy(ctx context.Context, deadline time.Time) error {
	var trials []trial
	for _, s := range b.sets() {
		t, err := s.load(ctx, b.data)
		if err != nil {
			return err
		}
		if err := export(b.setFolder(s), t); err != nil {
			return err
		}
		if err := exportFolds(b.setFolder(s), t); err != nil {
			return err
		}
		for _, m := range b.accuracyMethods() {
			trials = append(trials, trial{s, m})
		}
	}
	queue := make(chan trial)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for t := range queue {
				b.try(ctx, t, deadline)
			}
		})
	}
	for _, t := range trials {
		queue <- t
	}
	close(queue)
	group.Wait()
	return ctx.Err()
}

// oneCore keeps tools from using more.
var oneCore = []string{"GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=1", "LOKY_MAX_CPU_COUNT=1"}

func (b *bench) try(ctx context.Context, t trial, deadline time.Time) {
	tool := b.tools[t.method.Tool]
	switch {
	case ctx.Err() != nil:
	case tool.LeftOut != "":
		b.without(t.key(), tool.LeftOut)
	case time.Now().After(deadline):
		b.without(t.key(), timeSpent)
	default:
		path := b.probabilities(t)
		if o, ok := b.journal.get(t.key()); !ok || o.Reason == "" {
			if _, err := os.Stat(path); err != nil {
				b.journal.drop(t.key()) // the journal outlived the file
			}
		}
		b.measured(ctx, t.key(), append(tool.command(b), workFolds, b.setFolder(t.set), t.method.Name, "out="+path), oneCore, false)
	}
}

// score returns what a trial came to, nil if there is no result.
func (b *bench) score(t trial) (*score, error) {
	o, _ := b.journal.get(t.key())
	p, ok := o.Parts[partFolds]
	if !ok {
		return nil, nil
	}
	data, err := importTable(b.setFolder(t.set))
	if err != nil {
		return nil, err
	}
	of, err := readInt32s(filepath.Join(b.setFolder(t.set), foldsFile))
	if err != nil {
		return nil, err
	}
	probabilities, err := readFloats(b.probabilities(t))
	if err != nil {
		return nil, err
	}
	s, err := judge(data, of, probabilities)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.key(), err)
	}
	s.Rules, s.Tests = p.Rules, p.Tests
	return s, nil
}

// reliabilityBins are those of evaluate.
const reliabilityBins = 15

// judge measures probabilities against classes: every tool's in the same way.
// A row without a sound distribution counts as one that knows nothing.
func judge(t *table.Table, of []int32, probabilities []float64) (*score, error) {
	target := len(t.Columns) - 1
	k := len(t.Schema.Attributes[target].Values)
	y := t.Columns[target].Codes
	if len(probabilities) != k*len(y) || len(of) != len(y) {
		return nil, fmt.Errorf("%d probabilities for %d rows of %d classes", len(probabilities), len(y), k)
	}
	s := &score{Folds: make([]float64, folds)}
	var inFold [folds]float64
	var confidence, right, weight [reliabilityBins]float64
	row := make([]float64, k)
	for r, class := range y {
		copy(row, probabilities[r*k:])
		sum := 0.0
		for c, p := range row {
			if !(p >= 0) || math.IsInf(p, 1) {
				row[c] = 0
			}
			sum += row[c]
		}
		best := 0
		for c := range row {
			if sum > 0 {
				row[c] /= sum
			} else {
				row[c] = 1 / float64(k)
			}
			if row[c] > row[best] {
				best = c
			}
		}
		hit := 0.0
		if best == int(class) {
			hit = 1
		}
		s.Accuracy += hit
		s.LogLoss -= math.Log(max(row[class], 1e-15))
		s.Folds[of[r]] += hit
		inFold[of[r]]++
		bin := min(max(int(math.Ceil(row[best]*reliabilityBins))-1, 0), reliabilityBins-1)
		confidence[bin] += row[best]
		right[bin] += hit
		weight[bin]++
	}
	n := float64(len(y))
	s.Accuracy /= n
	s.LogLoss /= n
	for i := range weight {
		s.ECE += math.Abs(confidence[i]-right[i]) / n
	}
	for f := range s.Folds {
		s.Folds[f] /= max(inFold[f], 1)
	}
	return s, nil
}
