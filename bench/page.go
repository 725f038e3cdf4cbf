package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/stat"
)

// page is all that is published: the JSON form of the results, from which the
// Markdown form and the pictures are made.
type page struct {
	Version string        `json:"version"`
	Date    string        `json:"date"`
	Machine string        `json:"machine"`
	Quick   bool          `json:"quick"`
	Limit   float64       `json:"limit_seconds"`
	Minutes float64       `json:"minutes"`
	Tools   []toolLine    `json:"tools"`
	Speed   []speedLine   `json:"speed"`
	Growth  []growthLine  `json:"growth"`
	Reading []readLine    `json:"reading"`
	Methods []methodLine  `json:"methods"`
	Pairs   []pairLine    `json:"pairs"`
	Sets    []setLine     `json:"sets"`
	Ranked  int           `json:"sets_ranked"` // on which every ranked method has a result
	P       float64       `json:"friedman_p"`
	LeftOut []leftOutLine `json:"left_out"`
	Losses  []string      `json:"losses"`
	Missing []string      `json:"missing,omitempty"` // without a stated reason

	sizes []int
}

type toolLine struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	LeftOut string `json:"left_out,omitempty"`
}

// speedLine is what a peer needs, over what we do.
type speedLine struct {
	Measure string `json:"measure"`
	Ours    string `json:"ours"`
	Peer    string `json:"peer"`
	Rows    int    `json:"rows"`
	ratio
}

type growthLine struct {
	Method   string  `json:"method"`
	Ours     bool    `json:"ours"`
	Exponent float64 `json:"exponent"`
}

type readLine struct {
	Format  string `json:"format"`
	Peer    string `json:"peer"`
	Rows    int    `json:"rows"`
	Measure string `json:"measure"`
	ratio
}

// methodLine is a method over all data sets.
type methodLine struct {
	Method   string  `json:"method"`
	Ours     bool    `json:"ours"`
	Sets     int     `json:"sets"`           // with a result
	Rank     float64 `json:"rank,omitempty"` // of accuracies, mean over the ranked sets; 0 if it is not ranked
	Accuracy float64 `json:"accuracy"`       // means over the ranked sets, or where it is not ranked over its own
	LogLoss  float64 `json:"log_loss"`
	ECE      float64 `json:"ece"`
	Rules    float64 `json:"rules,omitempty"` // median over sets
	Tests    float64 `json:"tests,omitempty"`
}

// pairLine is one of our learners against a peer, over the sets that both
// have. Differences are ours minus theirs, p-values by Wilcoxon's test.
type pairLine struct {
	Ours     string   `json:"ours"`
	Peer     string   `json:"peer"`
	Sets     int      `json:"sets"`
	Better   int      `json:"better"` // sets on which accuracy is significantly better, by the corrected t over folds
	Worse    int      `json:"worse"`
	WorseOn  []string `json:"worse_on,omitempty"`
	Accuracy float64  `json:"accuracy_difference"`
	P        float64  `json:"accuracy_p"`
	LogLoss  float64  `json:"log_loss_difference"`
	LogLossP float64  `json:"log_loss_p"`
	ECE      float64  `json:"ece_difference"`
}

type setLine struct {
	Name    string            `json:"name"`
	Rows    int               `json:"rows"`
	Columns int               `json:"columns"`
	Classes int               `json:"classes"`
	Scores  map[string]*score `json:"scores"`
}

type leftOutLine struct {
	Method string `json:"method"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// measures are the parts of a speed measurement and what they are called.
var measures = []struct{ part, name, title string }{
	{partFit, "fit", "Learning"},
	{partUpdate, "update", "Learning one row more"},
	{partPredict, "predict", "Predicting many rows"},
	{partSingle, "single", "Predicting one row"},
	{partMemory, "memory", "Most memory of the process"},
	{partSize, "size", "Bytes of the saved model"},
}

// page gathers what the journal has of the measured sections.
func (b *bench) page(date string, minutes float64) (*page, error) {
	p := &page{
		Version: b.version, Date: date, Machine: machine(), Quick: b.plan.Quick,
		Limit: b.plan.Limit.Seconds(), Minutes: math.Ceil(minutes), sizes: slices.Concat(b.plan.Sizes, b.plan.Count),
	}
	for _, t := range tools {
		p.Tools = append(p.Tools, toolLine{t.Name, t.Version, t.LeftOut})
	}
	for _, t := range absent {
		p.Tools = append(p.Tools, toolLine{t.Name, "", t.Why})
	}
	if b.sections["reading"] {
		b.pageReading(p)
	}
	if b.sections["speed"] {
		b.pageSpeed(p)
	}
	if b.sections["accuracy"] {
		if err := b.pageAccuracy(p); err != nil {
			return nil, err
		}
	}
	p.lose()
	return p, nil
}

// account notes a result that is not there: left out with a reason, or missing.
func (p *page) account(o outcome, found bool, method, what string, wanted ...string) {
	reason := o.Reason
	switch {
	case !found:
		p.Missing = append(p.Missing, method+", "+what+": not measured")
		return
	case o.Failure != "":
		p.Missing = append(p.Missing, method+", "+what+": "+o.Failure)
		return
	case reason == "":
		for _, name := range wanted {
			if _, ok := o.Parts[name]; !ok {
				p.Missing = append(p.Missing, method+", "+what+": no "+name)
			}
		}
		return
	}
	p.LeftOut = append(p.LeftOut, leftOutLine{method, what, reason})
}

func (b *bench) pageSpeed(p *page) {
	for _, j := range slices.Concat(b.stages()...) {
		o, ok := b.journal.get(j.key(1))
		p.account(o, ok, j.method.String(), thousands(j.rows)+" rows", partFit, partSize, partPredict, partSingle)
	}
	methods := b.speedMethods()
	for _, ms := range measures {
		for _, m := range methods {
			if m.Tool != accrete {
				continue
			}
			for _, peer := range peersOf(m) {
				for _, rows := range p.sizes {
					if slices.Contains(b.plan.Count, rows) && !slices.Contains(counting, peer.String()) {
						continue
					}
					p.Speed = append(p.Speed, speedLine{ms.name, m.String(), peer.String(), rows, b.ratio(m, peer, rows, ms.part)})
				}
			}
		}
	}
	for _, m := range methods {
		if e, ok := b.growth(m); ok {
			p.Growth = append(p.Growth, growthLine{m.String(), m.Tool == accrete, math.Round(100*e) / 100})
		}
	}
}

func (b *bench) pageReading(p *page) {
	for _, rows := range b.plan.Read {
		mine := map[string]reader{}
		for _, r := range readers {
			o, ok := b.journal.get(r.key(rows, 1))
			p.account(o, ok, r.String(), fmt.Sprintf("reading %s rows of %s", thousands(rows), r.Format), partRead)
			if r.Tool == accrete {
				mine[r.Format] = r
				continue
			}
			for _, name := range []string{partRead, partMemory} {
				line := readLine{Format: r.Format, Peer: r.String(), Rows: rows, Measure: name}
				line.ratio = divide(b.readingFigure(r, rows, name), b.readingFigure(mine[r.Format], rows, name))
				p.Reading = append(p.Reading, line)
			}
		}
	}
}

// rankedShare is the share of sets that a method must have a result on to be
// ranked: ranks are only fair over sets that all have.
const rankedShare = 0.8

func (b *bench) pageAccuracy(p *page) error {
	methods := b.accuracyMethods()
	for _, s := range b.sets() {
		t, err := importTable(b.setFolder(s))
		if err != nil {
			return err
		}
		line := setLine{Name: s.Name, Rows: t.Rows(), Columns: len(t.Columns) - 1, Scores: map[string]*score{}}
		line.Classes = len(t.Schema.Attributes[len(t.Columns)-1].Values)
		for _, m := range methods {
			tr := trial{s, m}
			o, ok := b.journal.get(tr.key())
			p.account(o, ok, m.String(), s.Name, partFolds)
			sc, err := b.score(tr)
			if err != nil {
				return err
			}
			if sc != nil {
				line.Scores[m.String()] = sc
			}
		}
		p.Sets = append(p.Sets, line)
	}
	for _, m := range peerMethods {
		if m.speedOnly != "" {
			p.LeftOut = append(p.LeftOut, leftOutLine{m.String(), "accuracy", m.speedOnly})
		}
	}
	p.rank(methods)
	p.pair(methods)
	return nil
}

// rank compares all methods over the sets that all ranked methods have.
func (p *page) rank(methods []method) {
	var ranked []string
	for _, m := range methods {
		line := methodLine{Method: m.String(), Ours: m.Tool == accrete}
		for _, s := range p.Sets {
			if s.Scores[line.Method] != nil {
				line.Sets++
			}
		}
		if line.Sets == 0 {
			continue
		}
		if float64(line.Sets) >= rankedShare*float64(len(p.Sets)) {
			ranked = append(ranked, line.Method)
		}
		p.Methods = append(p.Methods, line)
	}
	common := map[string]bool{}
	var rows [][]float64
	for _, s := range p.Sets {
		var accuracies []float64
		for _, name := range ranked {
			if sc := s.Scores[name]; sc != nil {
				accuracies = append(accuracies, sc.Accuracy)
			}
		}
		if len(accuracies) == len(ranked) && len(ranked) > 0 {
			common[s.Name] = true
			rows = append(rows, ranks(accuracies))
		}
	}
	p.Ranked, p.P = len(rows), friedman(rows)
	for i := range p.Methods {
		m := &p.Methods[i]
		column := slices.Index(ranked, m.Method)
		var rules, tests []float64
		n := 0.0
		for _, s := range p.Sets {
			sc := s.Scores[m.Method]
			if sc == nil {
				continue
			}
			if sc.Rules > 0 {
				rules, tests = append(rules, sc.Rules), append(tests, sc.Tests)
			}
			if column < 0 || common[s.Name] {
				n++
				m.Accuracy, m.LogLoss, m.ECE = m.Accuracy+sc.Accuracy, m.LogLoss+sc.LogLoss, m.ECE+sc.ECE
			}
		}
		if n > 0 {
			m.Accuracy, m.LogLoss, m.ECE = m.Accuracy/n, m.LogLoss/n, m.ECE/n
		}
		if len(rules) > 0 {
			m.Rules, m.Tests = median(rules), median(tests)
		}
		if column >= 0 {
			for _, r := range rows {
				m.Rank += r[column] / float64(len(rows))
			}
		}
	}
	slices.SortStableFunc(p.Methods, func(x, y methodLine) int {
		last := func(m methodLine) float64 {
			if m.Rank == 0 {
				return math.Inf(1)
			}
			return m.Rank
		}
		return cmp.Compare(last(x), last(y))
	})
}

// pair tests our learners against their peers. The p-values of all pairs
// together are adjusted by Holm's method.
func (p *page) pair(methods []method) {
	for _, m := range methods {
		if m.Tool != accrete {
			continue
		}
		for _, name := range rivalsOf(m) {
			if line, ok := p.pairOf(m.String(), name); ok {
				p.Pairs = append(p.Pairs, line)
			}
		}
	}
	for _, of := range []func(*pairLine) *float64{
		func(l *pairLine) *float64 { return &l.P },
		func(l *pairLine) *float64 { return &l.LogLossP },
	} {
		all := make([]float64, len(p.Pairs))
		for i := range p.Pairs {
			all[i] = *of(&p.Pairs[i])
		}
		for i, adjusted := range stat.Holm(all) {
			*of(&p.Pairs[i]) = adjusted
		}
	}
}

func (p *page) pairOf(ours, peer string) (pairLine, bool) {
	line := pairLine{Ours: ours, Peer: peer}
	var accuracies, losses []float64
	for _, s := range p.Sets {
		a, b := s.Scores[ours], s.Scores[peer]
		if a == nil || b == nil {
			continue
		}
		accuracies, losses = append(accuracies, a.Accuracy-b.Accuracy), append(losses, a.LogLoss-b.LogLoss)
		line.ECE += a.ECE - b.ECE
		differences := make([]float64, folds)
		for f := range differences {
			differences[f] = a.Folds[f] - b.Folds[f]
		}
		if e := stat.CorrectedT(differences, 1.0/(folds-1)); e.P() < 0.05 {
			if e.Value > 0 {
				line.Better++
			} else {
				line.Worse++
				line.WorseOn = append(line.WorseOn, fmt.Sprintf("%s (%.1f points)", s.Name, 100*(a.Accuracy-b.Accuracy)))
			}
		}
	}
	n := len(accuracies)
	if n == 0 {
		return line, false
	}
	line.Sets = n
	line.Accuracy, line.LogLoss, line.ECE = stat.Mean(accuracies).Value, stat.Mean(losses).Value, line.ECE/float64(n)
	line.P, line.LogLossP = wilcoxon(accuracies), wilcoxon(losses)
	return line, true
}

// lose lists where we are slower, larger or wrong more often than a peer, by
// more than spread and chance.
func (p *page) lose() {
	type pairing struct{ measure, ours, peer string }
	var order []pairing
	at := map[pairing][]speedLine{}
	for _, l := range p.Speed {
		if l.loses() {
			key := pairing{l.Measure, l.Ours, l.Peer}
			if at[key] == nil {
				order = append(order, key)
			}
			at[key] = append(at[key], l)
		}
	}
	for _, key := range order {
		text := fmt.Sprintf("%s: `%s` against %s:", key.measure, key.ours, key.peer)
		for i, l := range at[key] {
			if i > 0 {
				text += ","
			}
			bound := ""
			if l.Bound != "" {
				bound = l.Bound + " "
			}
			text += fmt.Sprintf(" %s%s× at %s rows", bound, digits(l.Value), thousands(l.Rows))
		}
		p.Losses = append(p.Losses, text)
	}
	for _, l := range p.Reading {
		if l.loses() {
			p.Losses = append(p.Losses, fmt.Sprintf("reading %s, %s: against %s %v with %s rows", l.Format, map[string]string{partRead: "time", partMemory: "memory"}[l.Measure], l.Peer, l.ratio, thousands(l.Rows)))
		}
	}
	p.loseAccuracy()
}

// loseAccuracy has a line for each of our learners and measure.
func (p *page) loseAccuracy() {
	for _, name := range p.oursIn() {
		var accuracy, loss []string
		for _, l := range p.Pairs {
			if l.Ours != name {
				continue
			}
			if l.Accuracy < 0 && l.P < 0.05 || l.Worse > l.Better {
				accuracy = append(accuracy, fmt.Sprintf("%s (%+.1f points; worse on %d, better on %d of the sets; p = %s)", l.Peer, 100*l.Accuracy, l.Worse, l.Better, digits(l.P)))
			}
			if l.LogLoss > 0 && l.LogLossP < 0.05 {
				loss = append(loss, fmt.Sprintf("%s (%+.3f, p = %s)", l.Peer, l.LogLoss, digits(l.LogLossP)))
			}
		}
		if len(accuracy) > 0 {
			p.Losses = append(p.Losses, fmt.Sprintf("accuracy: `%s` loses to %s", name, strings.Join(accuracy, ", ")))
		}
		if len(loss) > 0 {
			p.Losses = append(p.Losses, fmt.Sprintf("log loss: `%s` loses to %s", name, strings.Join(loss, ", ")))
		}
	}
}

// groups joins what is left out for the same reason: the things of a method,
// then the methods with the same things.
func (p *page) groups() []leftOutLine {
	type key struct{ name, reason string }
	group := func(lines []leftOutLine, by, of func(l leftOutLine) string) map[key][]string {
		groups := map[key][]string{}
		for _, l := range lines {
			k := key{by(l), l.Reason}
			groups[k] = append(groups[k], of(l))
		}
		return groups
	}
	method, what := func(l leftOutLine) string { return l.Method }, func(l leftOutLine) string { return l.What }
	var byMethod, lines []leftOutLine
	for k, whats := range group(p.LeftOut, method, what) {
		text := fmt.Sprintf("%s and %d more", whats[0], len(whats)-1)
		if len(whats) <= 4 {
			text = strings.Join(whats, ", ")
		}
		byMethod = append(byMethod, leftOutLine{k.name, text, k.reason})
	}
	slices.SortFunc(byMethod, func(x, y leftOutLine) int { return cmp.Compare(x.Method, y.Method) })
	for k, methods := range group(byMethod, what, method) {
		lines = append(lines, leftOutLine{strings.Join(methods, ", "), k.name, k.reason})
	}
	slices.SortFunc(lines, func(x, y leftOutLine) int {
		return cmp.Or(cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Method, y.Method), cmp.Compare(x.What, y.What))
	})
	return lines
}

// oursIn returns the names of our methods that have scores, sorted.
func (p *page) oursIn() []string {
	names := map[string]bool{}
	for _, m := range p.Methods {
		if m.Ours {
			names[m.Method] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
