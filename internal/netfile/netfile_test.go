package netfile

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

func read(t testing.TB, name string) *Network {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// byName returns P(child | parents) by the names of variables and states.
func byName(n *Network, rename map[string]string) map[string]float64 {
	of := func(name string) string {
		if r := rename[name]; r != "" {
			return r
		}
		return name
	}
	all := map[string]float64{}
	for i := range n.Variables {
		v := &n.Variables[i]
		for k, p := range v.Table {
			at := k / len(v.States)
			var given []string
			for j := len(v.Parents) - 1; j >= 0; j-- {
				u := &n.Variables[v.Parents[j]]
				given = append(given, of(u.Name)+"="+u.States[at%len(u.States)])
				at /= len(u.States)
			}
			slices.Sort(given)
			all[of(v.Name)+"="+v.States[k%len(v.States)]+"|"+strings.Join(given, ",")] = p
		}
	}
	return all
}

// The three formats of one network say the same.
func TestFormatsAgree(t *testing.T) {
	want := byName(read(t, "asia.bif"), nil)
	short := map[string]string{"X": "xray", "B": "bronc", "D": "dysp", "A": "asia", "S": "smoke", "L": "lung", "T": "tub", "E": "either"}
	for _, name := range []string{"asia.xml", "asia.net", "asia_unbbayes.net"} {
		got := byName(read(t, name), short)
		if len(got) != len(want) {
			t.Errorf("%s: %d numbers, expected %d", name, len(got), len(want))
		}
		for key, p := range want {
			if math.Abs(got[key]-p) > 1e-12 {
				t.Errorf("%s: P(%s) = %v, expected %v", name, key, got[key], p)
			}
		}
	}
	dog := byName(read(t, "dog_problem.xml"), nil)
	if p := dog["dog-out=true|bowel-problem=true,family-out=false"]; p != 0.97 {
		t.Errorf("the dog is out with %v, expected .97", p)
	}
}

// The short form says the same as the others, and may leave out what rows bring.
func TestShortForm(t *testing.T) {
	n, err := Parse("f", []byte(`# a fire may be seen
Storm: true, false
BusTourGroup: true, false; Campfire: true, false
Storm, BusTourGroup -> Campfire   // from both
P(Storm=true) = 0.2
P(BusTourGroup = true) = 0.5
P(BusTourGroup=false) = .5
P(Campfire=true | Storm=true, BusTourGroup=true) = 0.4
P(Campfire=true | BusTourGroup=false, Storm=true) = 0.1
P(Campfire=false | Storm=false, BusTourGroup=true) = 0.2
P(Campfire=true | Storm=false, BusTourGroup=false) = 0.2
`))
	if err != nil || !n.Whole() {
		t.Fatal(n, err)
	}
	if c := n.Variables[2]; !slices.Equal(c.Parents, []int{0, 1}) || !slices.EqualFunc(c.Table, []float64{.4, .6, .1, .9, .8, .2, .2, .8}, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"a->b<-c":                  "a\nb\nc\na, c -> b\n",
		"[a][c][b|a:c]":            "a\nc\nb\na, c -> b\n",
		"a, c -> b":                "a\nc\nb\na, c -> b\n",
		"\"x-1\": <7.5, \">=7.5\"": "\"x-1\": \"<7.5\", \">=7.5\"\n",
		"P -> Q":                   "\"P\"\nQ\n\"P\" -> Q\n",
	} {
		n, err := Parse("f", []byte(text))
		if err != nil || n.Whole() || string(n.Text()) != want {
			t.Errorf("%s: %v, reads as %q, expected %q", text, err, n.Text(), want)
		}
	}
}

const two = "network n {\n}\nvariable a {\n type discrete [ 2 ] { yes, no };\n}\nvariable b {\n type discrete [ 2 ] { yes, no };\n}\n"

// What is wrong is said with the line and what was expected.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "f:1: the file is empty",
		"hello world":           `f:1: "world": expected an arc`,
		"a -> b -> a":           "f:1: the arcs go in a circle: ",
		"a -> b\n\xff\xfe -> c": "f:2: the line is not UTF-8 text; expected a network in ",
		"variable \xe9 { type discrete [2] { a, b }; }": "f:1: the name \"\\xe9\" is not UTF-8",
		"# none\n":                   "f:1: the file declares no variable",
		"a -> a":                     `f:1: variable "a" is its own parent`,
		"a: yes, no\nP(a=maybe) = 1": `f:2: variable "a" has no state "maybe"`,
		"P(a=yes) = 1":               `f:1: the states of "a" are not known here`,
		"a: yes, no\nP(a=yes) = 1.5": `f:2: "1.5": expected a probability from 0 to 1`,
		"a: yes, no\nP(a=yes) = .5\nP(a=no) = .6":                             `f:3: the probabilities of "a" sum to 1.1, expected 1`,
		"a: yes, no\nP(a=yes) = .5\nP(a=yes) = .5":                            `f:3: P(a=yes) comes twice`,
		"a: x, y, z\nP(a=x) = .5":                                             `f:2: the table of "a" has the number NaN`,
		"a: yes, no\nb: yes, no\nP(b=yes | a=no) = .5":                        `f:3: the table of "b" lacks the row given a=yes`,
		"a: yes, no\nb: yes, no\nc: yes, no\na, b -> c\nP(c=yes | a=no) = .5": `f:5: P(c=…) names 1 parents, expected 2: a, b`,
		"a: yes, no\na: no, yes":                                              `f:2: the states of "a" are given twice`,
		"[a][b|a":                                                             `f:1: the end of the file: expected "]"`,
		two:                                                                   `f:3: variable "a" has no table`,
		two + "probability ( a ) {\n table 0.5, 0.6;\n}":                      `f:10: the probabilities of "a" sum to 1.1, expected 1`,
		two + "probability ( a ) {\n table 0.5, 0.2, 0.3;\n}":                 `f:10: the table of "a" has 3 numbers, expected 2`,
		two + "probability ( c ) {\n table 0.5, 0.5;\n}":                      `f:9: unknown variable "c"`,
		two + "probability ( a | b ) {\n (maybe) 0.5, 0.5;\n}":                `f:10: variable "b" has no state "maybe"`,
		two + "probability ( a | b ) {\n (yes) 0.5;\n}":                       `f:10: the row of "a" given b=yes has 1 number, expected 2`,
		two + "probability ( a | b ) {\n (yes) 0.5, 0.5;\n}\nprobability ( b ) {\n table 1, 0; }":                                        `f:9: the table of "a" lacks the row given b=no`,
		two + "probability ( a | b ) {\n (yes) 0.5, 0.5; (no) 1, 0;\n}\nprobability ( b | a ) {\n (yes) 0.5, 0.5; (no) 1, 0;\n}":         "the arcs go in a circle: ",
		two + "probability ( a | b ) {\n (yes) 0.5, 0.5; (yes) 1, 0;\n}":                                                                 "comes twice",
		two + "variable a { type discrete [ 1 ] { x }; }":                                                                                `f:9: variable "a" is declared twice, first in line 3`,
		two + "probability ( a ) {\n table 0.5, x;\n}":                                                                                   `f:10: "x": expected a probability`,
		"variable a { type discrete [ 3 ] { yes, no }; }":                                                                                `says that it has 3 states, but lists 2`,
		"variable a { type continuous; }":                                                                                                `is of type "continuous"; expected discrete`,
		"net { }\nnode a { states = (\"x\" \"y\"); }\npotential (a) { data = (0.3 0.3); }":                                               `f:3: the probabilities of "a" sum to 0.6, expected 1`,
		"net { }\ncontinuous node a { }":                                                                                                 "f:2: continuous nodes are not read",
		"<BIF><NETWORK><VARIABLE><NAME>a</NAME>\n<OUTCOME>x</OUTCOME></VARIABLE>\n<DEFINITION><FOR>b</FOR></DEFINITION></NETWORK></BIF>": `f:3: unknown variable "b"`,
		"<BIF></BIF>":          "f:1: there is no element NETWORK",
		"<BIF><NETWORK></BIF>": "the XML cannot be read",
	} {
		_, err := Parse("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

func FuzzNetwork(f *testing.F) {
	for _, name := range []string{"asia.bif", "asia.xml", "asia.net", "asia_unbbayes.net", "dog_problem.xml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a: yes, no\n\"b c\": <7, 12+\na -> \"b c\" <- P\n[d|a:e]; P(a=yes) = .2 # so\n"))
	f.Add([]byte(two + "probability ( a | b ) { default 0.5, 0.5; }\nprobability ( \"b\" ) { table 1, 0; }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		n, err := Parse("f", text)
		if err != nil {
			return
		}
		again, err := Parse("f", n.Text())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, n.Text())
		}
		for i := range n.Variables {
			a, b := &n.Variables[i], &again.Variables[i]
			if a.Name != b.Name || !slices.Equal(a.States, b.States) || !slices.Equal(a.Parents, b.Parents) || len(a.Table) != len(b.Table) {
				t.Fatalf("%+v came back as %+v", a, b)
			}
		}
	})
}
