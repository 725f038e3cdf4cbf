package portable_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkElsewhere times each form of a model beside predict, on the rows of its
// probe again and again: rows a second, without starting the program.
func BenchmarkElsewhere(b *testing.B) {
	for _, s := range models(b) {
		if s.name != "tree heart-c" && s.name != "rulenet heart-c" && s.name != "bayes heart-c" {
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
			b.ReportMetric(rows*times/(busy-idle).Seconds(), "rows/s")
			for b.Loop() {
			}
		})
	}
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
	b.ReportMetric(rate, "rows/s")
	for b.Loop() {
	}
}
