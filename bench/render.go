package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
)

// write puts the page, its JSON form and its pictures into a folder.
func (p *page) write(docs string) error {
	folder := filepath.Join(docs, "benchmark")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, path := range old { // pictures of learners that are no more
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	pictures := p.pictures()
	for _, picture := range pictures {
		var svg bytes.Buffer
		if err := picture.chart.SVG(&svg); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, picture.name+".svg"), svg.Bytes(), 0o644); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "benchmark.json"), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "benchmark.md"), []byte(p.markdown()), 0o644)
}

// markdown writes the page for people.
func (p *page) markdown() string {
	var w strings.Builder
	say := func(format string, a ...any) { fmt.Fprintf(&w, format+"\n", a...) }

	command := "make bench"
	if p.Quick {
		command = "make bench-quick"
	}
	say("# Side by side\n")
	say("Accrete %s against what people use today, measured in one run (%s; %s; %.0f minutes).", p.Version, p.Date, p.Machine, p.Minutes)
	say("Written by `%s`; the same figures for programs are in [benchmark.json](benchmark/benchmark.json).\n", command)
	say("Every cell is a ratio, theirs over ours: **above 1× Accrete needs less**, below 1× the peer does. Each measurement is a process")
	say("of its own; a ratio is one of medians, with the lowest and the highest that the spread of both sides allows in brackets (lowest to highest")
	say("process, and at least %.0f %% either way).", 100*leastSpread)
	say("“> 12×” means that the peer was stopped at %.0f s (or had been with fewer rows, or took over a third of that with a tenth of the rows), “< 0.5×” that we were; a dash that there is no result, for a", p.Limit)
	say("reason given [below](#left-out). Settings are the tools' defaults. What converts a table into a peer's own form is not counted; scaling, which depends on the rows learnt from, is.\n")

	p.writeLosses(say)
	p.writeSpeed(say)
	p.writeAccuracy(say)
	p.writeReading(say)

	say("## Tools\n")
	say("| tool | version |\n|---|---|")
	for _, t := range p.Tools {
		say("| %s | %s |", t.Name, firstOf(t.Version, "left out: "+t.LeftOut))
	}
	say("\n## Left out\n")
	if lines := p.groups(); len(lines) > 0 {
		say("| method | what | why |\n|---|---|---|")
		for _, l := range lines {
			say("| %s | %s | %s |", l.Method, l.What, l.Reason)
		}
	} else {
		say("Nothing.")
	}
	if len(p.Missing) > 0 {
		say("\n## Missing without a reason\n")
		for _, m := range p.Missing {
			say("- %s", m)
		}
	}
	return w.String()
}

type sayer func(format string, a ...any)

func (p *page) writeLosses(say sayer) {
	say("## Where we lose\n")
	if len(p.Losses) == 0 {
		say("Nowhere, by more than spread and chance.\n")
		return
	}
	say("By more than the spread (speed, memory, size), or than chance (accuracy: on more sets than the other way round, or over all sets; log loss: over")
	say("all sets; p-values by Wilcoxon's test, adjusted for all pairs). `tree`, `rulenet` and `neuraltree` keep their rows, so that updates are exact and")
	say("sources can be forgotten: their saved models hold the table's rows, and an update learns again. The time of `rulenet` includes the choice of its")
	say("size on rows held out. A `learnpp` is ten networks, and an update with a row that it gets wrong trains one more.\n")
	for _, l := range p.Losses {
		say("- %s", l)
	}
	say("")
}

func (p *page) writeSpeed(say sayer) {
	if len(p.Speed) == 0 {
		return
	}
	say("## Speed\n")
	say("The table is `mixed`: ten numeric columns, ten nominal ones, two classes. Predictions are of up to %s rows at once. †: the peer", thousands(batch))
	say("cannot learn a row more, so it learns again. Memory is the most that the process held, interpreter, table and all.\n")
	for _, ms := range measures {
		cells := map[string]map[int]string{}
		var order []string
		for _, l := range p.Speed {
			if l.Measure != ms.name {
				continue
			}
			key := fmt.Sprintf("`%s` | %s", l.Ours, l.Peer)
			if cells[key] == nil {
				order, cells[key] = append(order, key), map[int]string{}
			}
			cells[key][l.Rows] = l.String()
		}
		say("### %s\n", ms.title)
		header, line := "| Accrete | peer |", "|---|---|"
		for _, rows := range p.sizes {
			header, line = header+" "+thousands(rows)+" rows |", line+"---|"
		}
		say("%s\n%s", header, line)
		for _, key := range order {
			text := "| " + key + " |"
			for _, rows := range p.sizes {
				text += " " + cells[key][rows] + " |"
			}
			say("%s", text)
		}
		say("")
	}
	for _, picture := range p.pictures() {
		if picture.section == "speed" {
			say("![%s](benchmark/%s.svg)", picture.chart.Title, picture.name)
		}
	}
	if len(p.Growth) > 0 {
		say("\n### Growth\n")
		say("The exponent e if learning takes time ∝ rowsᵉ, from 10,000 rows on.\n")
		say("| method | e |\n|---|---|")
		for _, g := range p.Growth {
			name := g.Method
			if g.Ours {
				name = "`" + name + "`"
			}
			say("| %s | %.2f |", name, g.Exponent)
		}
	}
	say("")
}

// seenByDefaults says on which of the sets our defaults were chosen, as far as
// the learners' comments record it.
const seenByDefaults = `**Our defaults have seen these sets.** They were chosen by cross-validation on public sets: those of ` + "`" + `tree` + "`" + ` on 33 with classes, of 57 to 45,211 rows, of ` + "`" + `bayes` + "`" + `
on 23, of ` + "`" + `gaussian` + "`" + ` on 12 and 27, of ` + "`" + `neuraltree` + "`" + ` on nine small ones, how ` + "`" + `majority` + "`" + ` and ` + "`" + `halving` + "`" + ` weigh their members on the 26 of this page. Names were not
recorded, and for ` + "`" + `rulenet` + "`" + `, ` + "`" + `mlp` + "`" + ` and ` + "`" + `learnpp` + "`" + ` not even numbers, so that all 26 are to be taken as seen: none was kept apart, though the folds here are others. The peers' defaults were chosen by their makers on
other data. A difference that is as small as a choice of defaults can make, half a point or so, is no evidence for us.
`

func (p *page) writeAccuracy(say sayer) {
	if len(p.Sets) == 0 {
		return
	}
	say("## Accuracy\n")
	say("Ten-fold cross-validation on %d data sets, the same folds for all. Ranks, and the means beside them, are over the %d sets on which every", len(p.Sets), p.Ranked)
	say("ranked method has a result (Friedman's test that all rank the same: p = %s); means in brackets are over fewer sets, and not to be compared. Log loss is in nats,", digits(p.P))
	say("ECE the expected calibration error in %d bins. Rules and tests are what a reader of a model has to read, in the median over sets: the distinct", reliabilityBins)
	say("conjunctions or leaves, and the conditions in all of them; a dash is a model that is no rules.\n")
	say(seenByDefaults)
	say("| method | rank | accuracy | log loss | ECE | rules | tests | sets |\n|---|---|---|---|---|---|---|---|")
	for _, m := range p.Methods {
		name, rank, open, end := m.Method, fmt.Sprintf("%.1f", m.Rank), "", ""
		if m.Ours {
			name = "**`" + name + "`**"
		}
		if m.Rank == 0 {
			rank, open, end = "–", "(", ")"
		}
		say("| %s | %s | %s%.1f %%%s | %s%.3f%s | %s%.3f%s | %s | %s | %d |", name, rank, open, 100*m.Accuracy, end, open, m.LogLoss, end, open, m.ECE, end, count(m.Rules), count(m.Tests), m.Sets)
	}
	for _, picture := range p.pictures() {
		if picture.section == "accuracy" {
			say("\n![%s](benchmark/%s.svg)", picture.chart.Title, picture.name)
		}
	}
	say("\n### Pairs\n")
	say("Ours minus theirs, over the sets that both have: accuracy in points (Wilcoxon's signed-rank test, p adjusted for all pairs by Holm's method),")
	say("the number of sets on which ours is significantly better or worse (t over folds, corrected after Nadeau and Bengio, at 0.05), log loss, ECE.\n")
	say("| Accrete | peer | sets | accuracy | p | better/worse | log loss | p | ECE |\n|---|---|---|---|---|---|---|---|---|")
	for _, l := range p.Pairs {
		say("| `%s` | %s | %d | %+.1f | %s | %d/%d | %+.3f | %s | %+.3f |", l.Ours, l.Peer, l.Sets, 100*l.Accuracy, digits(l.P), l.Better, l.Worse, l.LogLoss, digits(l.LogLossP), l.ECE)
	}
	say("\n### Sets\n")
	mine := p.oursIn()
	header, line := "| set | rows × columns, classes |", "|---|---|"
	for _, name := range mine {
		header, line = header+" `"+name+"` |", line+"---|"
	}
	say("Accuracy in %%; the best of ours is bold, and the best of all peers stands last.\n")
	say("%s best peer |\n%s---|", header, line)
	for _, s := range p.Sets {
		best := 0.0
		for _, name := range mine {
			if sc := s.Scores[name]; sc != nil {
				best = max(best, sc.Accuracy)
			}
		}
		text := fmt.Sprintf("| %s | %s × %d, %d |", s.Name, thousands(s.Rows), s.Columns, s.Classes)
		for _, name := range mine {
			switch sc := s.Scores[name]; {
			case sc == nil:
				text += " – |"
			case sc.Accuracy == best:
				text += fmt.Sprintf(" **%.1f** |", 100*sc.Accuracy)
			default:
				text += fmt.Sprintf(" %.1f |", 100*sc.Accuracy)
			}
		}
		peer, accuracy := p.bestPeer(s)
		if peer == "" {
			say("%s – |", text)
		} else {
			say("%s %.1f %s |", text, 100*accuracy, peer)
		}
	}
	say("")
}

// bestPeer returns the peer with the highest accuracy on a set, the first by
// name of several.
func (p *page) bestPeer(s setLine) (name string, accuracy float64) {
	for _, m := range p.Methods {
		sc := s.Scores[m.Method]
		if m.Ours || sc == nil {
			continue
		}
		if name == "" || sc.Accuracy > accuracy || sc.Accuracy == accuracy && m.Method < name {
			name, accuracy = m.Method, sc.Accuracy
		}
	}
	return name, accuracy
}

func (p *page) writeReading(say sayer) {
	if len(p.Reading) == 0 {
		return
	}
	say("## Reading\n")
	say("The same table from files that the system has in memory.\n")
	say("| format | rows | peer | time | memory |\n|---|---|---|---|---|")
	for _, l := range p.Reading {
		if l.Measure != partRead {
			continue
		}
		memory := "–"
		for _, m := range p.Reading {
			if m.Measure == partMemory && m.Peer == l.Peer && m.Format == l.Format && m.Rows == l.Rows {
				memory = m.String()
			}
		}
		say("| %s | %s | %s | %v | %s |", l.Format, thousands(l.Rows), l.Peer, l.ratio, memory)
	}
	say("")
}

// count writes how many rules there are; a model that is no rules has none.
func count(n float64) string {
	if n == 0 {
		return "–"
	}
	return thousands(int(math.Round(n)))
}

type picture struct {
	name, section string
	chart         *draw.Chart
}

// pictures draws how ratios change with rows for each learner, ranks, and
// accuracy against what there is to read.
func (p *page) pictures() []picture {
	var pictures []picture
	var learners []string
	for _, l := range p.Speed {
		if !slices.Contains(learners, l.Ours) {
			learners = append(learners, l.Ours)
		}
	}
	for _, name := range learners {
		chart := &draw.Chart{Title: "Learning with " + name + ": their time over ours", XLabel: "rows", YLabel: "log₁₀ ratio: above 0 we are faster", LogX: true, YRange: [2]float64{-1, 1}}
		for _, l := range p.Speed {
			if l.Ours != name || l.Measure != "fit" || l.Value == 0 {
				continue
			}
			series := brief(l.Peer)
			kind := draw.Line
			if l.Bound != "" {
				series, kind = series+", bound", draw.Points
			}
			i := slices.IndexFunc(chart.Series, func(s draw.Series) bool { return s.Name == series })
			if i < 0 {
				i = len(chart.Series)
				chart.Series = append(chart.Series, draw.Series{Name: series, Kind: kind})
			}
			s := &chart.Series[i]
			low, high := l.Low, l.High
			if low == 0 {
				low, high = l.Value, l.Value
			}
			s.X, s.Y = append(s.X, float64(l.Rows)), append(s.Y, math.Log10(l.Value))
			s.Low, s.High = append(s.Low, math.Log10(low)), append(s.High, math.Log10(high))
		}
		if len(chart.Series) > 0 {
			pictures = append(pictures, picture{"fit-" + strings.ReplaceAll(name, " ", "-"), "speed", chart})
		}
	}
	if len(p.Methods) == 0 {
		return pictures
	}
	rank := &draw.Chart{Title: "Mean rank of accuracy: lower is better", YLabel: "rank"}
	reading := &draw.Chart{Title: "Accuracy against what there is to read", XLabel: "tests in a model (median over sets)", YLabel: "accuracy", LogX: true, Percent: true}
	bars := map[bool]*draw.Series{true: {Name: accrete, Kind: draw.Bars}, false: {Name: "peers", Kind: draw.Bars}}
	for _, m := range p.Methods {
		if m.Rank == 0 {
			continue
		}
		s := bars[m.Ours]
		s.X, s.Y = append(s.X, float64(len(rank.Categories))), append(s.Y, m.Rank)
		rank.Categories = append(rank.Categories, brief(m.Method))
		if m.Tests > 0 {
			reading.Series = append(reading.Series, draw.Series{Name: brief(m.Method), Kind: draw.Points, X: []float64{m.Tests}, Y: []float64{m.Accuracy}})
		}
	}
	rank.Series = []draw.Series{*bars[true], *bars[false]}
	return append(pictures, picture{"ranks", "accuracy", rank}, picture{"readability", "accuracy", reading})
}

// brief is a peer's name where there is little room.
func brief(name string) string {
	return strings.TrimSuffix(strings.Replace(name, "scikit-learn", "sklearn", 1), " by class")
}
