package act

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// cabin is the state of an elevator: its floor, the floors at which somebody has
// called, a bit each, and who rides.
type cabin struct{ floor, calls, riding int }

// elevator is one in the evening, when everybody goes down to the street (after
// Crites and Barto 1996, who had four): somebody may call at one of the floors
// each minute, the cabin goes up or down by a floor or opens its doors, and each
// call and each rider costs 1 a minute.
func elevator(s settings) (Environment, error) {
	floors, err := s.count("floors", 2, 10)
	if err != nil {
		return nil, err
	}
	room, err := s.count("room", 1, 20)
	if err != nil {
		return nil, err
	}
	call, err := s.number("arrival", 0, 1)
	if err != nil {
		return nil, err
	}
	last, err := s.number("last", 0, 1)
	if err != nil {
		return nil, err
	}
	const up, down, open = 0, 1, 2
	r := rules[cabin]{schema: numbers("floor", "riding"), actions: []string{"up", "down", "open"}, starts: []cabin{{}}}
	for floor := 1; floor < floors; floor++ {
		r.schema.Attributes = append(r.schema.Attributes, table.Attribute{Name: "call-" + strconv.Itoa(floor), Kind: table.Nominal, Values: []string{"no", "yes"}})
	}
	r.cells = func(c cabin, cells []float64) {
		cells[0], cells[1] = float64(c.floor), float64(c.riding)
		for floor := 1; floor < floors; floor++ {
			cells[1+floor] = float64(c.calls >> floor & 1)
		}
	}
	r.legal = func(c cabin) []int {
		legal := []int{up, down, open}
		switch c.floor {
		case 0:
			return []int{up, open}
		case floors - 1:
			legal = legal[1:]
		}
		return legal
	}
	r.act = func(c cabin, action int) []Outcome[cabin] {
		waiting := c.riding
		for floor := range floors {
			waiting += c.calls >> floor & 1
		}
		switch action {
		case up:
			c.floor++
		case down:
			c.floor--
		case open:
			if called := c.calls >> c.floor & 1; c.floor == 0 {
				c.riding = 0
			} else if called == 1 && c.riding < room {
				c.riding++
				c.calls &^= 1 << c.floor
			}
		}
		minutes := []Outcome[cabin]{{P: 1 - call, Next: c, Reward: -float64(waiting)}}
		for floor := 1; floor < floors; floor++ {
			next := c
			next.calls |= 1 << floor
			minutes = append(minutes, Outcome[cabin]{P: call / float64(floors-1), Next: next, Reward: -float64(waiting)})
		}
		return closing(minutes, last)
	}
	return built(r)
}

// Jobs of a workshop are sequences of operations, each on a machine and for a time.
const (
	mostJobs       = 6
	mostOperations = 12
)

// schedule is what was begun of the jobs, and when each job and each machine is free.
type schedule struct {
	begun         [mostJobs]int
	job, machines [mostJobs]int
}

// operation is a step of a job.
type operation struct{ machine, time int }

// parseJobs reads jobs as in "0:3 1:2/1:4 0:1": machine and time of each operation.
func parseJobs(text string) (jobs [][]operation, machines int, err error) {
	wrong := fmt.Errorf("jobs=%s: expected up to %d jobs of up to %d operations in all, each machine:time with machines from 0 to %d, as in 0:3 1:2/1:4 0:1", text, mostJobs, mostOperations, mostJobs-1)
	operations := 0
	for line := range strings.SplitSeq(text, "/") {
		var job []operation
		for _, word := range strings.Fields(line) {
			m, t, ok := strings.Cut(word, ":")
			machine, err := strconv.Atoi(m)
			time, also := strconv.Atoi(t)
			if !ok || err != nil || also != nil || machine < 0 || machine >= mostJobs || time < 0 || time > 1000 {
				return nil, 0, wrong
			}
			job = append(job, operation{machine, time})
			machines = max(machines, machine+1)
			operations++
		}
		jobs = append(jobs, job)
	}
	if operations == 0 || operations > mostOperations || len(jobs) > mostJobs {
		return nil, 0, wrong
	}
	return jobs, machines, nil
}

// jobShop is a workshop that plans its day (after Zhang and Dietterich 1995): each
// action puts the next operation of a job on its machine, as early as both are free.
// What the plan grows longer by is its cost, so that a day is worth minus its length.
func jobShop(s settings) (Environment, error) {
	jobs, machines, err := parseJobs(s["jobs"])
	if err != nil {
		return nil, err
	}
	r := rules[schedule]{schema: &table.Schema{}, starts: []schedule{{}}}
	var columns []string
	for i := range jobs {
		name := "job-" + strconv.Itoa(i+1)
		r.actions = append(r.actions, name)
		columns = append(columns, name, name+"-free")
	}
	for i := range machines {
		columns = append(columns, "machine-"+strconv.Itoa(i)+"-free")
	}
	r.schema = numbers(columns...)
	r.cells = func(p schedule, cells []float64) {
		for i := range jobs {
			cells[2*i], cells[2*i+1] = float64(p.begun[i]), float64(p.job[i])
		}
		for i := range machines {
			cells[2*len(jobs)+i] = float64(p.machines[i])
		}
	}
	r.legal = func(p schedule) (legal []int) {
		for i, job := range jobs {
			if p.begun[i] < len(job) {
				legal = append(legal, i)
			}
		}
		return legal
	}
	r.act = func(p schedule, action int) []Outcome[schedule] {
		long, left := 0, 0
		for i, job := range jobs {
			long = max(long, p.job[i])
			left += len(job) - p.begun[i]
		}
		o := jobs[action][p.begun[action]]
		done := max(p.job[action], p.machines[o.machine]) + o.time
		p.begun[action]++
		p.job[action], p.machines[o.machine] = done, done
		return []Outcome[schedule]{{P: 1, Next: p, Reward: -float64(max(0, done-long)), End: left == 1}}
	}
	return built(r)
}
