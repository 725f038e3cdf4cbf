package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The works that a measuring process can be asked for. It is started as
//
//	COMMAND work folder method key=value …
//
// and prints a line of JSON for each part that it has finished, so that a
// process that is stopped loses only the part that it was in.
const (
	workVersion = "version" // method is the package to tell the version of
	workSpeed   = "speed"   // folder is a table; budget=seconds to repeat each part for
	workFolds   = "folds"   // folder is a table; out=file for the probabilities of each row
	// Of the parts neighbours and numbers: learn the first half of the rows and
	// answer the others; answer each fold by the others.
	workNeighbours = "neighbours"
	workNumbers    = "numbers"
	workTexts      = "words"  // folder has the files to learn and to answer
	workGraphs     = "graphs" // learn the graph of the rows; Text of the fit is each column's parents, as JSON
	workRead       = "read"   // folder is a file to read; budget as above
)

// part is what a measuring process prints.
type part struct {
	Part    string    `json:"part"`
	Seconds []float64 `json:"seconds,omitempty"` // of each repeat
	Bytes   float64   `json:"bytes,omitempty"`
	Rows    int       `json:"rows,omitempty"` // that Seconds speak of
	Rules   float64   `json:"rules,omitempty"`
	Tests   float64   `json:"tests,omitempty"`
	Text    string    `json:"text,omitempty"`
	CPU     float64   `json:"cpu,omitempty"`   // seconds of the processors
	Right   float64   `json:"right,omitempty"` // share of the answers
}

// The parts, in the order in which processes print them.
const (
	partVersion = "version" // Text
	partLoaded  = "loaded"
	partFit     = "fit"
	partSize    = "size"    // Bytes of the saved model
	partPredict = "predict" // a batch of Rows
	partSingle  = "single"  // one row at a time
	partUpdate  = "update"  // by one row; not printed where the tool cannot
	partMemory  = "memory"  // Bytes at most, of the whole process
	partFolds   = "folds"   // probabilities are written; Rules and Tests of a model on average
	partRead    = "read"    // Rows were read
	partReason  = "reason"  // Text: why there is no result
)

// outcome is what came of a measuring process.
type outcome struct {
	Parts map[string]part `json:"parts"`
	// Stopped names the part during which the limit was reached.
	Stopped string `json:"stopped,omitempty"`
	// Reason says why parts are missing: stopped, not applicable, left out.
	Reason string `json:"reason,omitempty"`
	// Failure is an error that nobody foresaw.
	Failure string `json:"failure,omitempty"`
	// Took is the whole process in seconds, for planning, and CPU what it
	// kept the cores busy for, whatever else the machine did.
	Took float64 `json:"took"`
	CPU  float64 `json:"cpu"`
}

// following names the part that comes after one that was printed.
var following = map[string]string{
	"": partLoaded, partLoaded: partFit, partFit: partSize, partSize: partPredict,
	partPredict: partSingle, partSingle: partUpdate, partUpdate: partMemory, partMemory: "end",
}

// run starts a measuring process and gathers what it prints. With each, every
// part may take as long as the limit, otherwise the whole.
func run(ctx context.Context, command []string, env []string, limit time.Duration, each bool) (out outcome) {
	out.Parts = map[string]part{}
	start := time.Now()
	defer func() { out.Took = time.Since(start).Seconds() }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var errors strings.Builder
	cmd.Stderr = &errors
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		out.Failure = err.Error()
		return out
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(pipe)
		scanner.Buffer(nil, 1<<24)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		_, _ = io.Copy(io.Discard, pipe)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	last := ""
	for open := true; open; {
		select {
		case line, ok := <-lines:
			if open = ok; !ok {
				break
			}
			var p part
			if json.Unmarshal([]byte(line), &p) != nil || p.Part == "" {
				continue // tools chatter
			}
			if p.Part == partReason {
				out.Reason = p.Text
				continue
			}
			out.Parts[p.Part] = p
			last = p.Part
			if each {
				timer.Reset(limit)
			}
		case <-timer.C:
			out.Stopped = following[last]
			if !each {
				out.Stopped = "all"
			}
			out.Reason = fmt.Sprintf("stopped at %v s", limit.Seconds())
			_ = cmd.Process.Kill()
			for range lines {
			}
			open = false
		}
	}
	err = cmd.Wait()
	out.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if ctx.Err() != nil && out.Stopped == "" {
		out.Reason = timeSpent
	} else if err != nil && out.Stopped == "" && out.Reason == "" {
		out.Failure = fmt.Sprintf("%v: %s", err, lastLine(errors.String()))
	}
	return out
}

// lastLine returns the last line of an error message that says something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
