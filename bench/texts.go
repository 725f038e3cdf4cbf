package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The words part sets naive Bayes on texts against scikit-learn's CountVectorizer
// with MultinomialNB: each reads a file of texts in classes, learns them, reads
// another file and answers it. Reading and cutting into words is most of the work,
// and counts. The postings of 20 Newsgroups are taken where they are given (-texts),
// else texts are drawn.
const (
	textsColumn, textsClass = "text", "class"
	textsTrain, textsTest   = "train.csv", "test.csv"
)

var textMethods = []method{
	{Tool: "scikit-learn", Name: "MultinomialNB"},
	{Tool: accrete, Name: "bayes alpha=1 count=all"},
	{Tool: accrete, Name: "bayes"},
}

// measureTexts prints what each took, and how many times as long, and as much
// memory, scikit-learn did.
func (b *bench) measureTexts(ctx context.Context) error {
	folder := filepath.Join(b.work, "texts")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	what, err := b.writeTexts(folder)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, what)
	fmt.Fprintln(w, "method\tlearn s\tanswer s\tlearn CPU s\tanswer CPU s\tMB\tright\tlearn, times as fast\tanswer\tby CPU, learn\tanswer\tmemory")
	var first [5]float64
	for i, m := range textMethods {
		tool := b.tools[m.Tool]
		if tool.LeftOut != "" {
			fmt.Fprintf(w, "%v\tleft out: %s\n", m, tool.LeftOut)
			continue
		}
		o := run(ctx, append(tool.command(b), workTexts, folder, m.Name), nil, 10*time.Minute, true)
		fit, predict, memory := o.Parts[partFit], o.Parts[partPredict], o.Parts[partMemory]
		if len(fit.Seconds) == 0 || len(predict.Seconds) == 0 {
			return fmt.Errorf("%v: %s", m, firstOf(o.Failure, o.Reason, "no result"))
		}
		now := [5]float64{fit.Seconds[0], predict.Seconds[0], fit.CPU, predict.CPU, memory.Bytes / (1 << 20)}
		if i == 0 {
			first = now
		}
		fmt.Fprintf(w, "%v\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f %%\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\n", m, now[0], now[1], now[2], now[3], now[4], 100*predict.Right,
			first[0]/now[0], first[1]/now[1], first[2]/now[2], first[3]/now[3], now[4]/first[4])
	}
	return w.Flush()
}

// writeTexts writes two thirds of the texts to learn from and the others to be
// answered, and says what they are.
func (b *bench) writeTexts(folder string) (string, error) {
	next, what, err := b.texts()
	if err != nil {
		return "", err
	}
	var files [2]*csv.Writer
	for i, name := range []string{textsTrain, textsTest} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		defer f.Close()
		files[i] = csv.NewWriter(f)
		if err := files[i].Write([]string{textsColumn, textsClass}); err != nil {
			return "", err
		}
	}
	rows, random := [2]int{}, rand.New(rand.NewPCG(1, 610))
	for {
		text, class, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		to := 0
		if random.IntN(3) == 0 {
			to = 1
		}
		rows[to]++
		if err := files[to].Write([]string{text, class}); err != nil {
			return "", err
		}
	}
	for _, f := range files {
		if f.Flush(); f.Error() != nil {
			return "", f.Error()
		}
	}
	return fmt.Sprintf("%s: learn %d, answer %d", what, rows[0], rows[1]), nil
}

// texts returns a source of texts with their classes, and what it is.
func (b *bench) texts() (next func() (text, class string, err error), what string, err error) {
	if b.postings == "" {
		return drawnTexts(12_000), "drawn texts of 20 classes", nil
	}
	f, err := os.Open(b.postings)
	if err != nil {
		return nil, "", err
	}
	body := io.Reader(f)
	if strings.HasSuffix(b.postings, ".gz") {
		if body, err = gzip.NewReader(f); err != nil {
			return nil, "", err
		}
	}
	r := csv.NewReader(body)
	head, err := r.Read()
	if err != nil {
		return nil, "", err
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, name := range []string{"subject", "body", "newsgroup"} {
		if _, ok := at[name]; !ok {
			return nil, "", fmt.Errorf("%s has no column %q", b.postings, name)
		}
	}
	return func() (string, string, error) {
		row, err := r.Read()
		if err != nil {
			return "", "", err
		}
		return row[at["subject"]] + "\n" + row[at["body"]], row[at["newsgroup"]], nil
	}, "postings of 20 Newsgroups", nil
}

// drawnTexts draws texts of about 200 words: most by Zipf's law from 100,000 words,
// some from the 500 of the class.
func drawnTexts(rows int) func() (text, class string, err error) {
	random := rand.New(rand.NewPCG(1, 620))
	zipf := rand.NewZipf(random, 1.1, 2.7, 100_000)
	return func() (string, string, error) {
		if rows--; rows < 0 {
			return "", "", io.EOF
		}
		class := random.IntN(20)
		var text strings.Builder
		for range 100 + random.IntN(200) {
			if random.IntN(8) == 0 {
				fmt.Fprintf(&text, "Of%xc%x, ", random.IntN(500), class)
			} else {
				fmt.Fprintf(&text, "w%x ", zipf.Uint64())
			}
		}
		return text.String(), fmt.Sprintf("class %d", class), nil
	}
}

// textsOfOurs learns the one file and answers the other.
func textsOfOurs(ctx context.Context, folder, method string) error {
	l, err := learnerOf(method)
	if err != nil {
		return err
	}
	start, busy := time.Now(), cpuSeconds()
	t, _, err := table.ReadFile(ctx, filepath.Join(folder, textsTrain), table.Options{Text: []string{textsColumn}, Target: textsClass})
	if err != nil {
		return err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Seed: 1}.At(t.Schema.Index(textsClass)))
	if err != nil {
		return err
	}
	m.Size() // which makes the estimates
	say(part{Part: partFit, Seconds: []float64{time.Since(start).Seconds()}, CPU: cpuSeconds() - busy})
	start, busy = time.Now(), cpuSeconds()
	asked, _, err := table.ReadFile(ctx, filepath.Join(folder, textsTest), table.Options{Schema: m.Schema(), Target: textsClass})
	if err != nil {
		return err
	}
	out := learn.NewPredictions(m, asked.Rows())
	if err := m.Predict(ctx, asked, out); err != nil {
		return err
	}
	p := part{Part: partPredict, Seconds: []float64{time.Since(start).Seconds()}, CPU: cpuSeconds() - busy, Rows: asked.Rows()}
	values := m.Schema().Attributes[m.Target()].Values
	for r := range asked.Rows() {
		if int32(learn.Best(out.Row(r), values)) == asked.Columns[m.Target()].Codes[r] {
			p.Right += 1 / float64(asked.Rows())
		}
	}
	say(p)
	return sayMemory()
}
