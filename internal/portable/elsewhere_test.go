package portable_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/portable"
)

// needs skips a test on a machine that lacks a program.
func needs(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed: what it computes is not compared", program)
	}
	return path
}

// run runs a program in a folder and returns what it prints.
func run(t testing.TB, dir, stdin string, program string, args ...string) []byte {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Stdin = strings.NewReader(stdin)
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%.2000s", program, err, complaint.String())
	}
	return out.Bytes()
}

// rows returns the probe as objects, for programs that read JSON.
func (s *subject) rows() []map[string]any {
	rows := make([]map[string]any, s.probe.Rows())
	for r := range rows {
		rows[r] = map[string]any{}
		for i := range s.program.Columns {
			c := &s.program.Columns[i]
			rows[r][c.Name] = s.cell(c, r)
		}
	}
	return rows
}

// given is what the programs answer: a number for each class, or the number and its
// interval.
type given struct {
	Said    []string    `json:"said"`
	Numbers [][]float64 `json:"numbers"`
}

func write(t testing.TB, name string, content any) {
	t.Helper()
	text, ok := content.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// kindOf is the type of a column in a database; SQLite's of dates are none, but can be
// called so.
func kindOf(c *portable.Column, real string) string {
	switch {
	case c.Nominal():
		return "text"
	case c.Kind == "date":
		return "date"
	case c.Name == "opens":
		return "time"
	case c.Kind == "time":
		return "timestamp"
	}
	return real
}

var layouts = map[string]string{"date": time.DateOnly, "time": time.TimeOnly, "timestamp": time.DateTime}

// create returns a table of the probe in SQL.
func (s *subject) create(name, real string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "CREATE TABLE %s (\"the row\" integer", name)
	for i := range s.program.Columns {
		fmt.Fprintf(&text, ", \"%s\" %s", strings.ReplaceAll(s.program.Columns[i].Name, `"`, `""`), kindOf(&s.program.Columns[i], real))
	}
	fmt.Fprintf(&text, ");\nINSERT INTO %s VALUES ", name)
	for r := range s.probe.Rows() {
		if r > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, "(%d", r)
		for i := range s.program.Columns {
			text.WriteString(", ")
			kind := kindOf(&s.program.Columns[i], real)
			switch x := s.cell(&s.program.Columns[i], r).(type) {
			case nil:
				text.WriteString("NULL")
			case float64:
				if layout := layouts[kind]; layout != "" && (real != "real" || r%3 > 0) { // SQLite takes numbers as well
					if s.program.Columns[i].Kind == "date" {
						x *= 86400
					}
					text.WriteString("'" + time.Unix(int64(x), 0).UTC().Format(layout) + "'")
					continue
				}
				text.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
			case string:
				text.WriteString("'" + strings.ReplaceAll(x, "'", "''") + "'")
			}
		}
		text.WriteString(")")
	}
	text.WriteString(";\n")
	return text.String()
}

// answered reads lines of a prediction and numbers behind it.
func answered(t *testing.T, s *subject, lines string) (got [][]float64, said []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		parts := strings.Split(strings.TrimRight(line, "\n"), "|")
		said = append(said, parts[0])
		if s.want.Classes > 0 {
			parts = parts[1:]
		}
		numbers := make([]float64, len(parts))
		for i, p := range parts {
			x, err := strconv.ParseFloat(p, 64)
			if err != nil {
				t.Fatalf("%s: %q: %v", s.name, line, err)
			}
			numbers[i] = x
		}
		got = append(got, numbers)
	}
	return got, said
}

// SQLite computes what the model predicts, to 1e-9.
func TestSQLite(t *testing.T) {
	sqlite := needs(t, "sqlite3")
	var script strings.Builder
	script.WriteString("BEGIN;\n")
	for i, s := range models(t) {
		name := fmt.Sprintf("t%d", i)
		script.WriteString(s.create(name, "real"))
		text, err := s.program.SQL("sqlite", name)
		if err != nil {
			t.Fatal(err)
		}
		script.Write(text)
		script.WriteString(".print #\n")
	}
	out := strings.Split(string(run(t, t.TempDir(), script.String(), sqlite, "-bail", ":memory:")), "#\n")
	for i, s := range models(t) {
		got, said := answered(t, s, out[i])
		s.compare(t, 1e-9, got, said)
	}
}

// Go computes what the model predicts, to 1e-12.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	var main strings.Builder
	main.WriteString("package main\n\nimport (\n\t\"encoding/json\"\n\t\"math\"\n\t\"os\"\n)\n\ntype given struct {\n\tSaid []string `json:\"said\"`\n\tNumbers [][]float64 `json:\"numbers\"`\n}\n\n")
	main.WriteString("func number(x any) float64 {\n\tif x == nil {\n\t\treturn math.NaN()\n\t}\n\treturn x.(float64)\n}\n\nfunc text(x any) string {\n\tif x == nil {\n\t\treturn \"\"\n\t}\n\treturn x.(string)\n}\n\n")
	main.WriteString("func main() {\n\tvar rows [][]map[string]any\n\ttext0, _ := os.ReadFile(\"rows.json\")\n\tif err := json.Unmarshal(text0, &rows); err != nil {\n\t\tpanic(err)\n\t}\n\tvar all []given\n")
	var rows [][]map[string]any
	for i, s := range models(t) {
		name := fmt.Sprintf("P%d", i)
		source, err := s.program.Go("main", name)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if bytes.Contains(source, []byte("import")) {
			t.Errorf("%s: the function has imports", s.name)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("p%d.go", i)), source)
		rows = append(rows, s.rows())
		fields := portable.FieldNames(s.program.Columns)
		fmt.Fprintf(&main, "\t{\n\t\tvar g given\n\t\tfor _, r := range rows[%d] {\n\t\t\tvar row %sRow\n", i, name)
		for k, f := range fields {
			kind := "number"
			if s.program.Columns[k].Nominal() {
				kind = "text"
			}
			fmt.Fprintf(&main, "\t\t\trow.%s = %s(r[%q])\n", f, kind, s.program.Columns[k].Name)
		}
		switch {
		case s.want.Classes > 0:
			fmt.Fprintf(&main, "\t\t\tsaid, p := %s(row)\n\t\t\tg.Said, g.Numbers = append(g.Said, said), append(g.Numbers, p[:])\n", name)
		case s.program.Answer.Low == nil:
			fmt.Fprintf(&main, "\t\t\tg.Numbers = append(g.Numbers, []float64{%s(row)})\n", name)
		default:
			fmt.Fprintf(&main, "\t\t\ta, b, c := %s(row)\n\t\t\tg.Numbers = append(g.Numbers, []float64{a, b, c})\n", name)
		}
		main.WriteString("\t\t\t_ = r\n\t\t}\n\t\tall = append(all, g)\n\t}\n")
	}
	main.WriteString("\tif err := json.NewEncoder(os.Stdout).Encode(all); err != nil {\n\t\tpanic(err)\n\t}\n}\n")
	write(t, filepath.Join(dir, "main.go"), []byte(main.String()))
	write(t, filepath.Join(dir, "go.mod"), []byte("module elsewhere\n\ngo 1.24\n"))
	write(t, filepath.Join(dir, "rows.json"), rows)
	run(t, dir, "", needs(t, "go"), "build", "-o", "elsewhere", ".")
	compareAll(t, run(t, dir, "", filepath.Join(dir, "elsewhere")), 1e-12)
}

// compareAll reads the answers of all models.
func compareAll(t *testing.T, out []byte, tolerance float64) {
	t.Helper()
	var all []given
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	for i, s := range models(t) {
		s.compare(t, tolerance, all[i].Numbers, all[i].Said)
	}
}

const nodeMain = `
const fs = require("fs");
const rows = JSON.parse(fs.readFileSync("rows.json"));
const all = rows.map((of, i) => {
	const predict = require("./p" + i + ".js");
	const given = { said: [], numbers: [] };
	for (const row of of) {
		const a = predict(row);
		given.said.push(String(a.prediction));
		given.numbers.push(a.probabilities ? Object.values(a.probabilities) : "low" in a ? [a.prediction, a.low, a.high] : [a.prediction]);
	}
	return given;
});
console.log(JSON.stringify(all));
`

// JavaScript computes what the model predicts, to 1e-12.
func TestJS(t *testing.T) {
	node := needs(t, "node")
	dir := t.TempDir()
	var rows [][]map[string]any
	for i, s := range models(t) {
		source, err := s.program.JS("predict")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("p%d.js", i)), source)
		rows = append(rows, s.rows())
	}
	write(t, filepath.Join(dir, "rows.json"), rows)
	write(t, filepath.Join(dir, "main.js"), []byte(nodeMain))
	compareAll(t, run(t, dir, "", node, "main.js"), 1e-12)
}

// onnxMain runs each model on its rows: numbers as doubles, names as strings.
const onnxMain = `
const fs = require("fs");
const ort = require(process.argv[2]);
async function main() {
	const all = JSON.parse(fs.readFileSync("rows.json")), given = [];
	for (let i = 0; i < all.length; i++) {
		const { columns, rows, classes } = all[i];
		const session = await ort.InferenceSession.create("p" + i + ".onnx");
		const feeds = {};
		for (const c of columns) {
			const cells = rows.map((r) => r[c.name]);
			feeds[c.name] = c.kind === "nominal"
				? new ort.Tensor("string", cells.map((x) => (x === null ? "" : x)), [rows.length, 1])
				: new ort.Tensor("float64", Float64Array.from(cells, (x) => (x === null ? NaN : x)), [rows.length, 1]);
		}
		if (columns.length === 0) feeds.row = new ort.Tensor("float64", new Float64Array(rows.length), [rows.length, 1]);
		const out = await session.run(feeds), numbers = [], said = [];
		for (let r = 0; r < rows.length; r++) {
			if (out.probabilities) {
				numbers.push(Array.from(out.probabilities.data.slice(r * classes, (r + 1) * classes)));
				said.push(out.prediction.data[r]);
			} else {
				numbers.push([out.prediction, out.low, out.high].filter((x) => x).map((x) => x.data[r]));
			}
		}
		given.push({ said, numbers });
	}
	console.log(JSON.stringify(given));
}
main().catch((e) => { console.error(e); process.exit(1); });
`

// onnxruntime returns where the runtime is that scripts/onnxruntime installs.
func onnxruntime(t testing.TB) string {
	t.Helper()
	needs(t, "node")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("there is no folder for what is installed: onnxruntime is not tried")
	}
	dir := filepath.Join(cache, "accrete", "onnxruntime", "node_modules", "onnxruntime-node")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("onnxruntime is not installed (scripts/onnxruntime does it): what it computes is not compared")
	}
	return dir
}

// onnxruntime computes what the model predicts, to 1e-6.
func TestONNX(t *testing.T) {
	runtime := onnxruntime(t)
	dir := t.TempDir()
	type input struct {
		Columns []portable.Column `json:"columns"`
		Rows    []map[string]any  `json:"rows"`
		Classes int               `json:"classes"`
	}
	var all []input
	for i, s := range models(t) {
		text, err := s.program.ONNX()
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("p%d.onnx", i)), text)
		columns := append([]portable.Column{}, s.program.Columns...)
		all = append(all, input{columns, s.rows(), len(s.program.Target.Classes)})
	}
	write(t, filepath.Join(dir, "rows.json"), all)
	write(t, filepath.Join(dir, "main.js"), []byte(onnxMain))
	compareAll(t, run(t, dir, "", needs(t, "node"), "main.js", runtime), 1e-6)
}
