package rule

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

const grammar = "../docs/how-to/editors/rules.tmLanguage.json"

// The colours of editors know every word of the language.
func TestGrammarKnowsEveryWord(t *testing.T) {
	text, err := os.ReadFile(grammar)
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		ScopeName string
		Patterns  []struct{ Name, Match, Begin, End string }
	}
	if err := json.Unmarshal(text, &g); err != nil || g.ScopeName != "source.rules" {
		t.Fatal(err, g.ScopeName)
	}
	list := regexp.MustCompile(`\(\?:([A-Za-z|]+)\)`)
	known := map[string]bool{}
	for _, p := range g.Patterns {
		if found := list.FindStringSubmatch(p.Match); found != nil {
			for word := range strings.SplitSeq(found[1], "|") {
				known[word] = true
			}
		}
	}
	words := []string{"FROM", "TO", "sd", "written", "missing", "dmy", "mdy", "ymd", "clock", Ordered.String(), Weighed.String(), Mixture.String()}
	words = append(append(words, evidenceKeys[:]...), table.Shown...)
	for word := range keywords {
		words = append(words, word)
	}
	for _, word := range words {
		if !known[word] {
			t.Errorf("%s has no colour", word)
		}
		delete(known, word)
	}
	for word := range known {
		t.Errorf("%s has a colour and no meaning", word)
	}
}

// tokenize prints the scope of each character of the examples, as editors see it.
const tokenize = `
const {Registry, parseRawGrammar} = require('vscode-textmate'), onig = require('vscode-oniguruma'), fs = require('fs')
const [, file] = process.argv, wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer
onig.loadWASM(wasm).then(async () => {
  const registry = new Registry({
    onigLib: Promise.resolve({createOnigScanner: p => new onig.OnigScanner(p), createOnigString: s => new onig.OnigString(s)}),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, 'utf8'), file)})
  const grammar = await registry.loadGrammar('source.rules')
  let state = null, lines = []
  for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
    const r = grammar.tokenizeLine(line, state)
    state = r.ruleStack
    lines.push(r.tokens.flatMap(t => Array(t.endIndex - t.startIndex).fill(t.scopes[t.scopes.length - 1])))
  }
  process.stdout.write(JSON.stringify(lines))
})`

// Editors see the tokens that the parser sees, in every example of the language.
func TestGrammarSeesWhatTheParserSees(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the colours of editors are not compared")
	}
	cache, err := os.UserCacheDir()
	modules := filepath.Join(cache, "accrete", "textmate", "node_modules")
	if _, missing := os.Stat(filepath.Join(modules, "vscode-textmate")); err != nil || missing != nil {
		t.Skip("vscode-textmate is not installed (scripts/textmate): the colours of editors are not compared")
	}
	page, err := os.ReadFile("../docs/rule-language.md")
	if err != nil {
		t.Fatal(err)
	}
	text := "IF IF-x = -.5e-3 AND a.IF IN {-1, \"AND \\n#\"} THEN \"2\" ~ 1e+3 +- 2#x IF\n"
	for _, block := range regexp.MustCompile("(?s)```rules\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		text += block[1]
	}
	c := exec.Command(node, "-e", tokenize, grammar)
	c.Stdin, c.Env = strings.NewReader(text), append(os.Environ(), "NODE_PATH="+modules)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var scopes [][]string
	if err := json.Unmarshal(out, &scopes); err != nil {
		t.Fatal(err)
	}
	want := map[tokenKind]string{keywordToken: `^(keyword|constant\.language)`, quotedToken: `^string`, wordToken: `^(variable|storage|support|keyword\.other)`, symbolToken: `^(keyword\.operator|punctuation)`}
	l := lexer{src: text, line: 1, column: 1}
	for k := l.next(); k.kind != endToken; k = l.next() {
		expected := want[k.kind]
		if k.kind == wordToken && isNumber(k.text) {
			expected = `^constant\.numeric`
		}
		if got := scopes[k.line-1][k.column-1]; !regexp.MustCompile(expected).MatchString(got) {
			t.Errorf("%d:%d: %s is %s, expected %s", k.line, k.column, k.describe(), got, expected)
		}
	}
	if got := scopes[0][len(scopes[0])-1]; !strings.HasPrefix(got, "comment") {
		t.Errorf("a comment is %s", got)
	}
}
