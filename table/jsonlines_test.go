package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/google/go-cmp/cmp"
)

func TestJSONLines(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"types", `{"a":1,"b":"x","c":true,"d":"2024-01-01"}` + "\n" + `{"a":-2.5e1,"b":"y","c":false,"d":null}`, "a b{x,y} c{false,true} d:date | 1 x true 2024-01-01 | -25 y false -"},
		{"keys in any order", "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n", "a b | 1 2 | 4 3"},
		{"keys that come and go", "{\"a\":1}\n\n{\"b\":\"x\"}\n{}\n{\"c\":\"1\",\"a\":2}\n", "a b{x} c | 1 - - | - x - | - - - | 2 - 1"},
		{"escapes", `{"a\u00e4\n":"\"q\" \\ \ud83d\ude00"}`, "aä\n{\"q\" \\ 😀} | \"q\" \\ 😀"},
		{"spaces", " { \"a\" : 1 , \"b\" : null , \"c\":\"NA\"}\r\n{\"a\":2,\"b\":3}", "a b | 1 - | 2 3"},
		{"mixed", "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":1.0}", "a{1,1.0,x} | 1 | x | 1.0"},
		{"byte order mark", "\xef\xbb\xbf{\"a\":1}", "a | 1"},
		{"zero", `{"a":0,"b":-0.5}`, "a b | 0 -0.5"},
		{"nested", "{\"id\":7,\"plan\":{\"name\":\"pro\",\"price\":{\"eur\":9.5}},\"tags\":[\"x\",\"y\"],\"none\":{},\"no\":[]}\n{\"plan\":{\"name\":\"free\"},\"id\":8}", "id plan.name{free,pro} plan.price.eur tags.1{x} tags.2{y} | 7 pro 9.5 x y | 8 free - - -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for block := range 20 {
				got, _ := mustRead(t, "x.jsonl", test.text, Options{tuning: tuning{block: block, workers: 2}})
				if show(got) != test.want {
					t.Fatalf("blocks of %d:\ngot  %s\nwant %s", block, show(got), test.want)
				}
			}
		})
	}
}

func TestJSONLinesOptions(t *testing.T) {
	text := "{\"a\":1,\"b\":\"x\",\"w\":2,\"q\":1}\n{\"b\":\"z\",\"w\":0,\"a\":3}\n"
	got, _ := mustRead(t, "x.jsonl", text, Options{Weight: "w", Ignore: []string{"q"}, Target: "a"})
	if want := "a{1,3} b{x,z} | 1 x ×2 | 3 z ×0"; show(got) != want {
		t.Errorf("got %s, want %s", show(got), want)
	}
	schema := &Schema{Attributes: []Attribute{{Name: "b", Kind: Nominal, Values: []string{"x"}}, {Name: "k", Kind: Numeric}}}
	got, report := mustRead(t, "x.jsonl", text, Options{Schema: schema, Extend: true})
	if want := "b{x,z} k | x - | z -"; show(got) != want {
		t.Errorf("got %s, want %s", show(got), want)
	}
	if len(report.Notes) != 2 || !strings.HasPrefix(report.Notes[0], `columns "a", "w", "q" ignored`) || !strings.HasPrefix(report.Notes[1], `column "k" not in`) {
		t.Errorf("notes %q", report.Notes)
	}
	if _, _, err := read(t, "x.jsonl", text, Options{Target: "y"}); err == nil {
		t.Error("no error for a target that is not there")
	}
}

// What is nested can be ignored as a whole.
func TestNestedIgnored(t *testing.T) {
	text := "{\"a\":1,\"plan\":{\"name\":\"pro\",\"deep\":[1,{\"x\":2}]},\"b\":{\"c\":2,\"d\":3}}\n"
	got, _ := mustRead(t, "x.jsonl", text, Options{Ignore: []string{"plan", "b.c"}})
	if want := "a b.d | 1 3"; show(got) != want {
		t.Errorf("got %s, want %s", show(got), want)
	}
	if _, _, err := read(t, "x.jsonl", "{\"a\":"+strings.Repeat("[", 40)+"\n", Options{}); err == nil || !strings.Contains(err.Error(), "nested more than 32 deep") {
		t.Error(err)
	}
	if _, _, err := read(t, "x.jsonl", "{\"a\":[1 2]}\n", Options{}); err == nil || !strings.Contains(err.Error(), "expected a comma or the closing bracket") {
		t.Error(err)
	}
}

func TestBadJSONLines(t *testing.T) {
	for text, want := range map[string]string{
		"[1]":                       `x.jsonl:1:1: is one JSON array; write its objects one a line, e.g. with jq -c '.[]'`,
		"{\"a\":1} 2":               `x.jsonl:1:9: text follows the object; write one object a line`,
		"{\"a\":1,\"a\":2}":         `x.jsonl:1:8: the key "a" comes twice in one object; give each value its own key`,
		"{\"a\":01}":                `x.jsonl:1:6: "01" is no JSON number; write it as -1.5e3, or in quotes if it is a name`,
		"{\"a\":-}":                 `x.jsonl:1:6: "-" is no JSON number; write it as -1.5e3, or in quotes if it is a name`,
		"{\"a\":yes}":               `x.jsonl:1:6: key "a": no JSON value; expected a string in quotes, a number, true, false or null`,
		"{\"a\":\"x":                `x.jsonl:1:6: the quote that opens here is not closed in its line; close it, and write a line end as \n`,
		"{\"a\":\"x\\":              `x.jsonl:1:6: the quote that opens here is not closed in its line; close it, and write a line end as \n`,
		"{\"a\":\"\\q\"}":           `x.jsonl:1:6: a string has a wrong escape (invalid character 'q' in string escape code); write a backslash as \\`,
		"{\"a\":\"\x01\"}":          `x.jsonl:1:7: a control character in a string; write it as \u and four digits`,
		"{\"a\":\"\xff\"}":          `x.jsonl:1:6: column "a": a cell is not UTF-8 text (byte 1 of it is 0xff); name its encoding, or convert the file to UTF-8`,
		"{\"a\":\"\\n\xff\"}":       `x.jsonl:1:6: a string is not UTF-8 text; name its encoding, or convert the file to UTF-8`,
		"{\"\xff\":1}":              `x.jsonl:1:2: a key is not UTF-8 text; name its encoding, or convert the file to UTF-8`,
		"{\"a\"":                    `x.jsonl:1:5: the line ends, expected a colon after the key; write one JSON object a line`,
		"{a:1}":                     `x.jsonl:1:2: 'a' found, expected a key in quotes; write one JSON object a line`,
		"{\"a\":1;}":                `x.jsonl:1:7: ';' found, expected a comma or the closing brace; write one JSON object a line`,
		"7":                         `x.jsonl:1:1: '7' found, expected an object in braces; write one JSON object a line`,
		"{}":                        `x.jsonl: no column is left to learn from; say which columns are nominal, and which to leave out`,
		"{\"a\":\"b\"}\n{\"a\":1,}": `x.jsonl:2:8: '}' found, expected a key in quotes; write one JSON object a line`,
	} {
		_, _, err := read(t, "x.jsonl", text, Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
	_, _, err := read(t, "x.jsonl", "{\"a\":1}\n{\"a\":\"x\"}", Options{Numeric: []string{"a"}})
	if want := `x.jsonl:2:6: column "a": "x" is neither a number nor a date such as 2024-03-01; correct the cell, or leave it empty if it is not known`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzJSONLines takes only lines that encoding/json takes, all flat ones of
// those, and reads anything to the same table for any size of blocks.
func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "{\"a\":\"x\\n\"}\n{}", `{"a":null,"b":true}`, `{"a":[1]}`, "{\"a\":1}\n{\"a\":\"2024-01-01\"}\n{\"b\":\"y\"}"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		defer bounded.Start(t, len(data))()
		want, _, wantErr := read(t, "x.jsonl", string(data), Options{})
		got, _, err := read(t, "x.jsonl", string(data), Options{tuning: tuning{block: int(block) + 1, workers: 3}})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: error %v, want %v", data, err, wantErr)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
		if wantErr == nil {
			for line := range bytes.Lines(bytes.TrimPrefix(data, byteOrderMark)) {
				if line = bytes.TrimSpace(line); len(line) > 0 && !json.Valid(line) {
					t.Fatalf("%q is taken", line)
				}
			}
			return
		}
		var flat map[string]any
		if !bytes.ContainsAny(data, "\n\x00\xff\\") && json.Unmarshal(data, &flat) == nil && len(flat) == strings.Count(string(data), ":") && len(flat) > 0 {
			for key, value := range flat {
				switch value := value.(type) {
				case map[string]any, []any, nil:
					return
				case string:
					if isMissing([]byte(value)) || !goodText([]byte(value)) {
						return
					}
				}
				if !goodText([]byte(key)) {
					return
				}
			}
			if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
				return
			}
			t.Fatalf("%q is refused: %v", data, wantErr)
		}
	})
}
