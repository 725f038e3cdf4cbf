package portable_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/portable"
)

// BenchmarkElsewhere times each form of a model beside predict, on the rows of its
// probe again and again: rows a second, without starting the program.
func BenchmarkElsewhere(b *testing.B) {
	for _, s := range models(b) {
		if !slices.Contains([]string{"tree heart-c", "rulenet heart-c", "cover heart-c", "bayes heart-c", "linear heart-c"}, s.name) {
			continue
		}
		rows := float64(s.probe.Rows())
		b.Run(s.name+"/predict", func(b *testing.B) {
			for b.Loop() {
				if err := s.model.Predict(context.Background(), s.probe, s.want); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
		b.Run(s.name+"/here", func(b *testing.B) {
			for b.Loop() {
				s.run()
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
		b.Run(s.name+"/go", func(b *testing.B) { compiled(b, s) })
		b.Run(s.name+"/js", func(b *testing.B) { report(b, s, "js", nodeTimer) })
		b.Run(s.name+"/onnx", func(b *testing.B) { report(b, s, "onnx", onnxTimer) })
		b.Run(s.name+"/sqlite", func(b *testing.B) {
			sqlite := needs(b, "sqlite3")
			text, err := s.program.SQL("sqlite", "t")
			if err != nil {
				b.Fatal(err)
			}
			const times = 20
			query := strings.TrimSuffix(strings.TrimSpace(string(text)), ";")
			count := "SELECT count(prediction) FROM (" + query[strings.Index(query, "\nWITH")+1:] + ");\n"
			create := "BEGIN;\n" + s.create("t", "real")
			idle, busy := timed(b, sqlite, create), timed(b, sqlite, create+strings.Repeat(count, times))
			for b.Loop() {
			}
			b.ReportMetric(rows*times/(busy-idle).Seconds(), "rows/s") // after the loop, which clears what is reported
		})
	}
}

// goTimer answers the rows for a while.
const goTimer = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

func main() {
	var rows []PRow
	text, _ := os.ReadFile("rows.json")
	if err := json.Unmarshal(text, &rows); err != nil {
		panic(err)
	}
	n, start := 0, time.Now()
	for ; time.Since(start) < 300*time.Millisecond; n += len(rows) {
		for i := range rows {
			said, p := P(rows[i])
			if p[0] > 2 {
				fmt.Println(said)
			}
		}
	}
	fmt.Println(float64(n) / time.Since(start).Seconds())
}
`

// compiled times the function of Go.
func compiled(b *testing.B, s *subject) {
	dir := b.TempDir()
	source, err := s.program.Go("main", "P")
	if err != nil {
		b.Fatal(err)
	}
	fields := portable.FieldNames(s.program.Columns)
	var rows []map[string]any
	for _, row := range s.rows() {
		named := map[string]any{}
		for k, f := range fields {
			if x := row[s.program.Columns[k].Name]; x != nil { // what is left out is 0 here, and costs the same
				named[f] = x
			}
		}
		rows = append(rows, named)
	}
	write(b, filepath.Join(dir, "p.go"), source)
	write(b, filepath.Join(dir, "main.go"), []byte(goTimer))
	write(b, filepath.Join(dir, "go.mod"), []byte("module elsewhere\n\ngo 1.24\n"))
	write(b, filepath.Join(dir, "rows.json"), rows)
	run(b, dir, "", needs(b, "go"), "build", "-o", "elsewhere", ".")
	var rate float64
	if err := json.Unmarshal(run(b, dir, "", filepath.Join(dir, "elsewhere")), &rate); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
	}
	b.ReportMetric(rate, "rows/s")
}

func timed(b *testing.B, sqlite, script string) time.Duration {
	start := time.Now()
	run(b, b.TempDir(), script, sqlite, "-bail", ":memory:")
	return time.Since(start)
}

const nodeTimer = `
const predict = require("./p.js"), { rows } = JSON.parse(require("fs").readFileSync("rows.json"));
let n = 0;
for (let k = 0; k < 20; k++) rows.forEach(predict);
const start = process.hrtime.bigint();
while (process.hrtime.bigint() - start < 300000000n) { rows.forEach(predict); n += rows.length; }
console.log(JSON.stringify(n / (Number(process.hrtime.bigint() - start) / 1e9)));
`

const onnxTimer = `
const ort = require(process.argv[2]), { rows, columns } = JSON.parse(require("fs").readFileSync("rows.json"));
(async () => {
	const session = await ort.InferenceSession.create("p.onnx"), feeds = {};
	for (const c of columns) {
		const cells = rows.map((r) => r[c.name]);
		feeds[c.name] = c.kind === "nominal"
			? new ort.Tensor("string", cells.map((x) => (x === null ? "" : x)), [rows.length, 1])
			: new ort.Tensor("float64", Float64Array.from(cells, (x) => (x === null ? NaN : x)), [rows.length, 1]);
	}
	let n = 0;
	const start = process.hrtime.bigint();
	while (process.hrtime.bigint() - start < 300000000n) { await session.run(feeds); n += rows.length; }
	console.log(JSON.stringify(n / (Number(process.hrtime.bigint() - start) / 1e9)));
})();
`

// report lets a script of node say how many rows it answers in a second.
func report(b *testing.B, s *subject, form, script string) {
	node, dir, args := needs(b, "node"), b.TempDir(), []string{"main.js"}
	text, err := s.program.JS("predict")
	if form == "onnx" {
		text, err = s.program.ONNX()
		args = append(args, onnxruntime(b))
	}
	if err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(dir, "p."+form), text)
	write(b, filepath.Join(dir, "rows.json"), map[string]any{"rows": s.rows(), "columns": s.program.Columns})
	write(b, filepath.Join(dir, "main.js"), []byte(script))
	var rate float64
	if err := json.Unmarshal(run(b, dir, "", node, args...), &rate); err != nil {
		b.Fatal(fmt.Errorf("%s: %w", s.name, err))
	}
	for b.Loop() {
	}
	b.ReportMetric(rate, "rows/s")
}
