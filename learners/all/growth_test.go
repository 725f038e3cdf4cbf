package all

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate/pac"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/arrow"
	_ "github.com/accrete-ml/accrete/table/parquet"
)

// Every parser and decoder (table.Read, table.ReadFile and the rest) takes time in proportion to what it is given, and
// 64 kB of the worst that we can think of take less than a second and 256 MiB.
// A test of the house looks that each is named here, or in a growth test beside it.
//
// Where there is no budget (table.Options.Memory), a text is bounded by its
// size; forms that say themselves how much there is are read within one.

// many repeats a text up to a size.
func many(text string) func(size int) []byte {
	return func(size int) []byte { return bytes.Repeat([]byte(text), size/len(text)+1)[:size] }
}

// within puts a repeated text between others.
func within(head, text, tail string) func(size int) []byte {
	return func(size int) []byte { return []byte(head + string(many(text)(size)) + tail) }
}

// counted repeats a text with a number in it.
func counted(head, format, tail string) func(size int) []byte {
	return func(size int) []byte {
		b := []byte(head)
		for i := 0; len(b) < size; i++ {
			b = fmt.Appendf(b, format, i)
		}
		return append(b, tail...)
	}
}

// halves is one worst input and another, half of each.
func halves(a, b func(size int) []byte) func(size int) []byte {
	return func(size int) []byte { return slices.Concat(a(size/2), b(size/2)) }
}

// The forms of tables: the house looks that none is missing.
var formats = map[string]map[string]func(size int) []byte{
	"csv": {
		"quotes in a header":       within("", `a"`, ",y\n1,2\n"),
		"quotes":                   many(`""""`),
		"a quote without end":      within("a,b\n1,\"", "x\n", ""),
		"quotes that end at once":  many("\"a\"b\"\n"),
		"a header of many columns": within("", "c,", "y\n"),
		"many columns":             counted("", "c%d,", "y\n"),
		"columns of one name":      within("a,a_2,", "a,", "a\n"),
		"short rows":               halves(counted("", "c%d,", "y\n"), many("1\n")),
		"a name a row":             counted("a,b\n", "x%d,y\n", ""),
		"rows of nothing":          many("\n"),
		"rows of one byte":         many("1\n"),
		"long numbers":             within("a\n", "1", ""),
		"delimiters of all kinds":  many(",;\t|"),
		"carriage returns":         many("\r"),
	},
	"json lines": {
		"a new key a line":      counted("", `{"k%d":1}`+"\n", ""),
		"an old key again":      within(`{"a":1`, `,"a":1`, "}\n"),
		"deep lists":            within(`{"a":`, "[", ""),
		"deep objects":          within("", `{"a":`, ""),
		"keys of one line":      counted(`{"x":1`, `,"k%d":1`, "}\n"),
		"escapes":               within(`{"a":"`, `\u0041`, "\"}\n"),
		"a string without end":  within(`{"a":"`, `\\`, ""),
		"long numbers":          within(`{"a":`, "1", "}\n"),
		"empty rows":            within("{\"a\":1}\n", "{}\n", ""),
		"keys, then empty rows": halves(counted(`{"x":1`, `,"k%d":1`, "}\n"), many("{}\n")),
	},
	"arff": {
		"attributes":              counted("@relation r\n", "@attribute a%d numeric\n", "@data\n"),
		"attributes and no cells": halves(counted("@relation r\n", "@attribute a%d numeric\n", "@data\n"), many("{}\n")),
		"one attribute again":     within("@relation r\n", "@attribute a numeric\n", "@data\n"),
		"values":                  counted("@relation r\n@attribute a {x", ",v%d", "}\n@data\n"),
		"one value again":         within("@relation r\n@attribute a {x", ",x", "}\n@data\n"),
		"a quote without end":     within("@relation r\n@attribute a {'", "x\\'", ""),
		"comments":                many("%\n"),
		"sparse cells again":      within("@relation r\n@attribute a numeric\n@data\n{", "0 1,", "0 1}\n"),
	},
	"libsvm": {
		"far columns":    counted("1 1:1\n", "1 %d7:1\n", ""),
		"one row":        counted("1", " %d:1", "\n"),
		"labels":         many("1\n"),
		"huge columns":   within("1 1:1\n", "1 999999999:1\n", ""),
		"columns, again": within("1", " 1:1", "\n"),
	},
	"arrow": {
		"rows":           arrowOf(func(i int) string { return fmt.Sprint(i) }),
		"texts":          arrowOf(func(i int) string { return "a" + fmt.Sprint(i%7) }),
		"mostly lengths": func(size int) []byte { return []byte("ARROW1\x00\x00" + string(many("\xff\xff\xff\xff")(size))) },
	},
	"parquet": {
		"rows":           parquetOf(func(i int) float64 { return float64(i) * 1.7 }, 8),
		"rows of zeros":  parquetOf(func(int) float64 { return 0 }, 1),
		"mostly footers": func(size int) []byte { return []byte("PAR1" + string(many("\x15\x00")(size)) + "PAR1") },
	},
}

var extensions = map[string]string{"csv": ".csv", "json lines": ".jsonl", "arff": ".arff", "libsvm": ".libsvm", "parquet": ".parquet", "arrow": ".arrow"}

// arrowOf is a file of a column.
func arrowOf(cell func(i int) string) func(size int) []byte {
	return func(size int) []byte {
		text := []byte("a\n")
		for i := range size / 12 {
			text = append(append(text, cell(i)...), '\n')
		}
		var b bytes.Buffer
		if err := table.WriteFile("x.arrow", &b, []table.Written{{Name: "a", Number: cell(1) == "1"}}, bytes.NewReader(text)); err != nil {
			panic(err)
		}
		return b.Bytes()
	}
}

// parquetOf is a file of a column of numbers, some bytes each.
func parquetOf(x func(i int) float64, width int) func(size int) []byte {
	return func(size int) []byte {
		type row struct {
			A float64 `parquet:"a"`
		}
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Zstd))
		rows := make([]row, size/width)
		for i := range rows {
			rows[i].A = x(i)
		}
		if _, err := w.Write(rows); err != nil {
			panic(err)
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		return b.Bytes()
	}
}

func TestTablesGrowInProportion(t *testing.T) {
	for format, inputs := range formats {
		for name, input := range inputs {
			t.Run(format+"/"+name, func(t *testing.T) {
				bounded.Worst(t, input, func(b []byte) {
					_, _, _ = table.Read(t.Context(), bytes.NewReader(b), table.Options{Name: "x" + extensions[format]})
				})
			})
		}
	}
}

// Packed texts unpack to far more than they are: under a budget, they end with
// an error that gives the numbers, or as a table that keeps within it.
func TestBombsKeepWithinABudget(t *testing.T) {
	const most = 16 << 20
	text := within("a,b\n", "0,x\n", "")(48 << 20)
	for name, pack := range map[string]func(b []byte) []byte{
		"x.csv.gz": func(b []byte) []byte {
			var out bytes.Buffer
			w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
			w.Write(b)
			w.Close()
			return out.Bytes()
		},
		"x.csv.zst": func(b []byte) []byte {
			w, _ := zstd.NewWriter(nil)
			return w.EncodeAll(b, nil)
		},
	} {
		packed := pack(text)
		_, _, err := table.Read(t.Context(), bytes.NewReader(packed), table.Options{Name: name, Memory: most})
		if err == nil || !strings.Contains(err.Error(), "of memory, and 16.0 MiB are allowed") {
			t.Errorf("%s of %d bytes: %v", name, len(packed), err)
		}
	}
}

// A file of columns that unpacks to far more than it is ends at 64 MiB, however
// much memory is allowed.
func TestBombsOfColumns(t *testing.T) {
	pack := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
		return out.Bytes()
	}
	bomb := slices.Concat(pack([]byte("PAR1")), bytes.Repeat(pack(make([]byte, 4<<20)), 1000))
	bounded.Input(t, 64<<10, func() {
		_, _, err := table.Read(t.Context(), bytes.NewReader(bomb), table.Options{Name: "x.parquet.gz", Memory: 8 << 30})
		if err == nil || !strings.Contains(err.Error(), "of gzip unpack to more than 64") {
			t.Errorf("%d bytes of gzip: %v", len(bomb), err)
		}
	})
}

// Texts of other kinds.
func TestParsersGrowInProportion(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "o", Kind: table.Nominal, Values: []string{"a", "b"}}, {Name: "y", Kind: table.Nominal, Values: []string{"n", "p"}},
	}}
	rules := map[string]func(size int) []byte{
		"rules":                 counted("RULES weighed\n", "IF x > %d AND o = a THEN y = p WITH 0.9\n", ""),
		"rules that contradict": many("IF o = a THEN y = p WITH 0.9\nIF o = a THEN y = n WITH 0.9\n"),
		"tests":                 counted("IF x > 0", " AND x > %d", " THEN y = p"),
		"values":                counted("IF o IN {a", ", v%d", "} THEN y = p"),
		"one value again":       within("IF o IN {a", ", a", "} THEN y = p"),
		"terms":                 within("IF x", " + 2*x", " > 1 THEN y = p"),
		"counts within counts":  within("IF ", "AT LEAST 1 OF {", "x > 1} THEN y = p"),
		"a quote without end":   within("IF \"", `\"`, ""),
		"comments":              many("#\n"),
		"long numbers":          within("IF x > ", "1", " THEN y = p"),
		"long exponents":        within("IF x > 1e", "9", " THEN y = p"),
		"ELSE":                  many("ELSE y = p\n"),
		"columns":               counted("SCHEMA a numeric", ", c%d numeric", "; TARGET a RULES weighed\n"),
		"one column again":      within("SCHEMA a numeric", ", a numeric", "; TARGET a RULES weighed\n"),
		"nonsense":              many("IF IF = IF "),
		"units":                 counted("", "WHEN w%d (0.5) WORTH 5 EXPECT x ~ 1 ± 2\n", ""),
	}
	for name, input := range rules {
		t.Run("rule.ParseFor/"+name, func(t *testing.T) {
			bounded.Worst(t, input, func(b []byte) { _, _ = rule.ParseFor("r", b, schema) })
		})
		t.Run("rule.Parse by a rulebase/"+name, func(t *testing.T) {
			bounded.Worst(t, input, func(b []byte) {
				_, _ = learn.DecodeParts("rulebase", []learn.Part{{Name: "base", Data: b}})
			})
		})
	}
	for name, input := range map[string]func(size int) []byte{
		"digits": within("m@", "1", ""), "at": many("@"), "names": many("ü"), "control": many("\x1b"), "dots": many("../"),
		"settings": within("led:rows=1", ",rows=1", ""), "commas": many("led:,"), "numbers": within("conjunctions:n=", "9", ""),
		"layers": within("layered:", "r=2,", "s=3"), "units": counted("", "h%d = a + b; ", "y = h0"), "parentheses": within("y = ", "(", ""), "sums": within("y = a", " + 2*b", ""),
	} {
		for what, read := range map[string]func(text string){ // each reads what is meant for the others, too
			"store.ParseRef":  func(s string) { _, _, _ = store.ParseRef(s) },
			"datasets.Lookup": func(s string) { _, _ = datasets.Lookup(s) },
			"pac.ParseClass":  func(s string) { _, _ = pac.ParseClass(s) },
			"units.Parse":     func(s string) { _, _ = units.Parse(s, []string{"a", "b"}, rand.New(rand.NewPCG(1, 1))) },
			"learn.Lookup":    func(s string) { _, _ = learn.Lookup(s) },
		} {
			t.Run(what+"/"+name, func(t *testing.T) { bounded.Worst(t, input, func(b []byte) { read(string(b)) }) })
		}
	}
}

// learn.Set: each setting of each learner.
func TestSettingsGrowInProportion(t *testing.T) {
	for _, info := range learn.All() {
		if info.New == nil {
			continue
		}
		for _, o := range learn.Options(info.New()) {
			for _, input := range []func(size int) []byte{many("9"), many("x=1|\"y\";,")} {
				bounded.Worst(t, input, func(b []byte) { _ = learn.Set(info.New(), strings.ReplaceAll(o.Key, "*", "k"), string(b)) })
			}
		}
	}
}

// learn.Decode, learn.DecodeParts, learn.Unmarshal, kept.DecodeRows: nonsense that claims much.
func TestDecodersGrowInProportion(t *testing.T) {
	claims := map[string]func(size int) []byte{
		"nothing":        many("\x00"),
		"deep lists":     many("\x81"),
		"deep maps":      many("\xa1\x00"),
		"tags":           many("\xc1"),
		"a long list":    within("\x9a\x3f\xff\xff\xff", "\x00", ""),
		"a long map":     within("\xba\x00\x0f\xff\xff", "\x00", ""),
		"long bytes":     within("\x5a\x7f\xff\xff\xff", "\x00", ""),
		"maps of a key":  within("\xa1\x66Format\x9a\x3f\xff\xff\xff", "\x01", ""),
		"lists of lists": many("\x98\x80"),
		"zstd":           within("\x28\xb5\x2f\xfd", "\x00", ""),
	}
	for name, input := range claims {
		t.Run("learn.Decode/"+name, func(t *testing.T) {
			bounded.Worst(t, input, func(b []byte) { _, _ = learn.Decode(b) })
			bounded.Worst(t, input, func(b []byte) { var x any; _ = learn.Unmarshal(b, &x) })
			bounded.Worst(t, input, func(b []byte) { _, _ = kept.DecodeRows([]learn.Part{{Name: "rows", Data: b}}) })
		})
		for _, info := range learn.All() {
			names := partNames(t, info.Name)
			t.Run(info.Name+"/"+name, func(t *testing.T) {
				bounded.Worst(t, input, func(b []byte) {
					var parts []learn.Part
					for _, n := range names {
						parts = append(parts, learn.Part{Name: n, Data: b})
					}
					_, _ = learn.DecodeParts(info.Name, parts)
				})
			})
		}
	}
}

// partNames are the parts that a learner's golden exports have.
func partNames(t *testing.T, learner string) []string {
	var names []string
	for _, m := range goldenModels() {
		if m.Learner() != learner {
			continue
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// goldenModels are the models of the golden exports.
var goldenModels = sync.OnceValue(func() []learn.Model {
	exports, _ := filepath.Glob("testdata/golden/*.accrete")
	var models []learn.Model
	for _, path := range exports {
		if m, _, err := store.ReadFile(path); err == nil {
			models = append(models, m)
		}
	}
	return models
})

// What learners save of more and more rows is read in proportion to it.
func TestSavedModelsGrowInProportion(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("learning takes minutes: ACCRETE_LONG=1")
	}
	for _, info := range learn.All() {
		if info.New != nil {
			t.Run(info.Name, func(t *testing.T) {
				bounded.Worst(t, func(size int) []byte { return savedOf(t, info, size/64) }, func(b []byte) { _, _ = learn.Decode(b) })
			})
		}
	}
}

// savedOf is what a learner saves of a number of random rows.
func savedOf(t *testing.T, info learn.Info, rows int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("a,b,c,d,y\n")
	for range rows {
		a, b := r.IntN(10), r.IntN(5)
		fmt.Fprintf(&text, "n%d,m%d,%d,%d,", a, b, r.IntN(50), r.IntN(1000))
		if info.Takes.Classes {
			fmt.Fprintf(&text, "k%d\n", a*b%2)
		} else {
			fmt.Fprintf(&text, "%d\n", a*b)
		}
	}
	data, _, err := table.Read(t.Context(), strings.NewReader(text.String()), table.Options{Name: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := info.New().Learn(t.Context(), learn.Task{Table: data, Target: "y", Seed: 1, Source: learn.Source{ID: "s", Name: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A saved model in which any one number claims to be another, or any one list
// is longer or gone, is refused or read, within time and memory: nobody
// believes a size before there are bytes for it.
func TestCraftedModels(t *testing.T) {
	limit := 10 // places of each part; all with ACCRETE_LONG=1
	if os.Getenv("ACCRETE_LONG") != "" {
		limit = 1 << 30
	}
	tried := 0
	for _, m := range goldenModels() {
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			var doc any
			if learn.Unmarshal(p.Data, &doc) != nil {
				continue // not CBOR; the fuzz targets have it
			}
			places := leaves(&doc, nil)
			for k := 0; k < len(places); k += max(1, len(places)/limit) {
				for _, other := range craftedValues(places[k].get()) {
					before := places[k].get()
					places[k].set(other)
					data, err := learn.Marshal(doc)
					places[k].set(before)
					if err != nil {
						continue
					}
					crafted := slices.Clone(parts)
					crafted[i].Data = data
					tried++
					decodeCrafted(t, m.Learner(), p.Name, before, other, crafted)
				}
			}
		}
	}
	t.Logf("%d crafted models", tried)
}

// decodeCrafted reads a crafted model and, if it is taken, asks it something.
func decodeCrafted(t *testing.T, learner, part string, before, after any, parts []learn.Part) {
	defer bounded.Start(t, 64<<10)()
	defer func() {
		if fault := recover(); fault != nil {
			t.Errorf("%s, part %q, %.60v as %.60v: panic %v", learner, part, before, after, fault)
		}
	}()
	start := time.Now()
	m, err := learn.DecodeParts(learner, parts)
	if took := time.Since(start); took > bounded.Time {
		t.Logf("%s, part %q, %.60v as %.60v: %v (%v)", learner, part, before, after, took, err)
	}
	if err != nil {
		return
	}
	cells := table.NewBuilder(m.Schema())
	cells.End()
	row, err := cells.Table()
	if err != nil || m.Target() == learn.NoTarget {
		return
	}
	classes := len(m.Schema().Attributes[m.Target()].Values)
	if classes > 1<<16 {
		return
	}
	_ = m.Predict(t.Context(), row, learn.NewPredictions(m, 1))
}

// place is somewhere in a document.
type place struct {
	get func() any
	set func(x any)
}

// leaves are the numbers, texts and lists of a document.
func leaves(at *any, found []place) []place {
	found = append(found, place{func() any { return *at }, func(x any) { *at = x }})
	switch x := (*at).(type) {
	case []any:
		for i := range x {
			found = leaves(&x[i], found)
		}
	case map[any]any:
		keys := slices.SortedFunc(maps.Keys(x), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			value := x[key]
			inner := leaves(&value, nil)
			for _, p := range inner {
				found = append(found, place{p.get, func(y any) { p.set(y); x[key] = value }})
			}
		}
	}
	return found
}

// craftedValues are what may stand in another's place.
func craftedValues(x any) []any {
	switch x := x.(type) {
	case uint64, int64:
		return []any{uint64(0), int64(-1), uint64(1<<31 - 1), uint64(1) << 40, uint64(1<<63 - 1), uint64(1<<64 - 1)}
	case float64:
		return []any{math.NaN(), math.Inf(1), -1e308, 0.}
	case []byte:
		return []any{[]byte{}, slices.Repeat(x, 2), make([]byte, 60<<10)}
	case string:
		return []any{"", x + x, "\x1b[31m"}
	case []any:
		return []any{[]any{}, slices.Concat(x, x)}
	case map[any]any:
		return []any{map[any]any{}, nil}
	}
	return []any{nil, uint64(1) << 40}
}
