package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
)

// journal keeps what was measured, a line of JSON each, from the moment at
// which it was measured.
type journal struct {
	sync.Mutex
	file     *os.File
	outcomes map[string]outcome
}

type entry struct {
	Key string `json:"key"`
	outcome
}

// openJournal opens a journal, empty unless it is to be gone on with.
func openJournal(path string, resume bool) (*journal, error) {
	j := &journal{outcomes: map[string]outcome{}}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !resume {
		flags |= os.O_TRUNC
	} else if f, err := os.Open(path); err == nil {
		scanner := bufio.NewScanner(f)
		scanner.Buffer(nil, 1<<24)
		for scanner.Scan() {
			var e entry
			if json.Unmarshal(scanner.Bytes(), &e) != nil {
				continue // a line that was cut off
			}
			// What failed or was left out for lack of time gets another try.
			if e.Failure == "" && e.Reason != timeSpent {
				j.outcomes[e.Key] = e.outcome
			}
		}
		f.Close()
		if err := scanner.Err(); err != nil {
			return nil, err
		}
	}
	var err error
	j.file, err = os.OpenFile(path, flags, 0o644)
	return j, err
}

func (j *journal) get(key string) (outcome, bool) {
	j.Lock()
	defer j.Unlock()
	o, ok := j.outcomes[key]
	return o, ok
}

// put keeps an outcome. A journal that cannot be written costs only resuming.
func (j *journal) put(key string, o outcome) {
	j.Lock()
	defer j.Unlock()
	j.outcomes[key] = o
	if line, err := json.Marshal(entry{key, o}); err == nil {
		_, _ = j.file.Write(append(line, '\n'))
	}
}

func (j *journal) Close() error { return j.file.Close() }

// drop forgets an outcome, so that it is measured again.
func (j *journal) drop(key string) {
	j.Lock()
	defer j.Unlock()
	delete(j.outcomes, key)
}
