package accrete_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house is kept by these tests: which room may lean on which, how long a
// function may be, and that the README's map is the truth.

const module = "github.com/accrete-ml/accrete"

// ground is what every room may stand on.
var ground = []string{"table", "draw", "datasets", "internal"}

// contract is the ground and what learners and models are described with.
var contract = slices.Concat(ground, []string{"encode", "rule", "logic", "act", "learn", "learn/expert", "learn/kept"})

// life is what the life of a model is made of.
var life = slices.Concat(contract, []string{"store", "evaluate", "knowledge", "life"})

// arrows says what each room may import. A room's folders follow its rule
// unless they have one of their own.
var arrows = map[string][]string{
	"internal":        {"internal", "table"},
	"table":           {"internal", "table"},
	"draw":            {"internal", "table"},
	"datasets":        {"internal", "table"},
	"encode":          {"internal", "table"},
	"rule":            {"internal", "table"},
	"rule/say":        {"internal", "table", "rule"},
	"logic":           {"internal", "table", "rule"},
	"logic/plan":      {"internal", "table", "rule", "logic"},
	"act":             {"internal", "table", "rule"},
	"learn":           {"internal", "table", "draw", "encode", "rule", "logic", "act"},
	"learn/expert":    contract,
	"learn/kept":      contract,
	"learn/learntest": contract,
	"learners":        slices.Concat(contract, engines),
	"learners/all":    {"learners", "learn/expert"},
	"store":           contract,
	"evaluate":        contract,
	"knowledge":       contract,
	"life":            life,
	"serve":           slices.Concat(life, []string{"learners/all"}),
	".":               slices.Concat(life, []string{"learners/all"}),
	"reproduce":       slices.Concat(life, []string{"learners"}),
	"bench":           slices.Concat(life, []string{"learners", "reproduce"}),
	"scripts":         {"internal"},
	"docs/examples":   {"."},
	"cmd":             slices.Concat(life, []string{"learners/all", "reproduce", "serve", "."}),
}

// arrowsOf returns the arrows of a folder: its own, or those of the folder above.
func arrowsOf(folder string) ([]string, bool) {
	for {
		if allowed, ok := arrows[folder]; ok {
			return allowed, true
		}
		if folder == "." || !strings.Contains(folder, "/") {
			return nil, false
		}
		folder = path.Dir(folder)
	}
}

func TestArrowsPointOneWay(t *testing.T) {
	eachFile(t, func(name string, file *ast.File, _ *token.FileSet) {
		folder := path.Dir(name)
		allowed, ok := arrowsOf(folder)
		if !ok {
			t.Errorf("%s: the map has no room %s", name, folder)
			return
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			to, inside := strings.CutPrefix(imported, module)
			if !inside {
				continue
			}
			to = strings.TrimPrefix(to, "/")
			if to == "" {
				to = "."
			}
			if to == folder || strings.HasPrefix(to, folder+"/") || leans(allowed, to) && !sibling(folder, to) {
				continue
			}
			t.Errorf("%s imports %s: %s may lean on %s", name, to, folder, strings.Join(allowed, ", "))
		}
	})
}

// leans reports whether one of the allowed rooms is this folder or above it.
// The rooms of learn have to be named: the contract does not open them.
func leans(allowed []string, to string) bool {
	return slices.ContainsFunc(allowed, func(room string) bool {
		if room == "learn" || room == "." {
			return to == room
		}
		return to == room || strings.HasPrefix(to, room+"/")
	})
}

// engines are rooms of learners that register none, and that others may use.
var engines = []string{"learners/evolve/genetic"}

// sibling reports whether one learner imports another.
func sibling(from, to string) bool {
	if slices.Contains(engines, to) {
		return false
	}
	return strings.HasPrefix(from, "learners/") && strings.HasPrefix(to, "learners/") && from != "learners/all" &&
		strings.Split(from, "/")[1] != strings.Split(to, "/")[1]
}

// quiet are the rooms that never print, exit or read the clock.
var quiet = []string{"table", "encode", "rule", "logic", "act", "draw", "learn", "learners", "store", "evaluate", "knowledge", "life", "internal", "datasets"}

// timed are rooms of theirs that are there for the clock: bars on a terminal,
// and limits on what tests may take.
var timed = []string{"internal/console", "internal/bounded"}

func TestLibrariesAreQuiet(t *testing.T) {
	loud := []string{"fmt.Print", "fmt.Printf", "fmt.Println", "os.Exit", "log.Print", "log.Fatal", "time.Now", "time.Since"}
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		if !slices.Contains(quiet, strings.Split(name, "/")[0]) || slices.Contains(timed, path.Dir(name)) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(loud, of.Name+"."+selector.Sel.Name) {
					t.Errorf("%v: a library uses %s.%s", fset.Position(n.Pos()), of.Name, selector.Sel.Name)
				}
			}
			return true
		})
	})
}

func TestLibrariesNameNoFlag(t *testing.T) {
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		if !slices.Contains(quiet, strings.Split(name, "/")[0]) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, tag := n.(*ast.Field); tag {
				return true
			}
			text, ok := n.(*ast.BasicLit)
			if ok && text.Kind == token.STRING && namesFlag(text.Value) {
				t.Errorf("%v: a library names a flag or a command: %s", fset.Position(n.Pos()), text.Value)
			}
			return true
		})
	})
}

// namesFlag reports whether a text speaks of the command line.
func namesFlag(text string) bool {
	for i := 0; i+3 < len(text); i++ {
		if text[i:i+2] == "--" && (i == 0 || !isLetter(text[i-1]) && text[i-1] != '-') && isLetter(text[i+2]) && isLetter(text[i+3]) {
			return true
		}
	}
	return strings.Contains(text, "accrete learn ") || strings.Contains(text, "accrete update ")
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }

// unwatched are rooms whose goroutines may panic as they like: they are tests.
var unwatched = []string{"internal/crew", "learn/learntest", "bench", "bench/serve"}

// A panic in any goroutine ends in one line: all go through internal/crew.
func TestGoroutinesAreWatched(t *testing.T) {
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		if slices.Contains(unwatched, path.Dir(name)) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%v: a goroutine whose panic nobody catches: see internal/crew", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && of.Name == "sync" && n.Sel.Name == "WaitGroup" {
					t.Errorf("%v: the goroutines of a sync.WaitGroup panic where nobody catches it: see crew.Group", fset.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

// A fuzz target bounds time and memory, else it finds panics alone.
func TestFuzzTargetsAreBounded(t *testing.T) {
	begin := regexp.MustCompile(`f\.Fuzz\(func\(t \*testing\.T, [^)]*\) \{\n\s*defer (bounded|limits)\.Start\(t, `)
	targets := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, f := range strings.Split(string(text), "\nfunc ")[1:] {
			if !strings.HasPrefix(f, "Fuzz") {
				continue
			}
			targets++
			if !begin.MatchString(f) {
				target, _, _ := strings.Cut(f, "(")
				t.Errorf("%s: %s does not begin with bounded.Start", name, target)
			}
		}
		return nil
	})
	if err != nil || targets < 30 {
		t.Errorf("%d fuzz targets (%v)", targets, err)
	}
}

// readers are names of functions that read what others wrote.
var readers = regexp.MustCompile(`^(Parse|Decode|Read|Unmarshal|Unquote|SplitOutside)`)

// notRead are functions with such names that are given a path or an address, a
// table or a model, and leave the reading to those that are tried.
var notRead = []string{"table.ReadFrom", "datasets.Read", "store.ReadFile", "life.ReadRules", "coding.Unmarshal"}

// Whatever reads bytes or text is tried with the worst that there is, in a test
// that names it beside bounded.Worst; and so is every form of tables. Learners
// are found in their registry.
func TestEveryParserIsTriedByGrowth(t *testing.T) {
	tried := ""
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") || name == "house_test.go" {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte("bounded.Worst(")) {
			tried += string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`RegisterFormat\(table\.Format\{\s*Name:\s*"([^"]+)"`)
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		if strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "scripts/") {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if f.Name.Name == "chooseFormat" {
				ast.Inspect(f, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						if text, ok := r.Results[0].(*ast.BasicLit); ok && !strings.Contains(tried, "\n\t"+text.Value+": {") {
							t.Errorf("%v: the form %s is not in the table of forms", fset.Position(n.Pos()), text.Value)
						}
					}
					return true
				})
			}
			called := file.Name.Name + "." + f.Name.Name
			if f.Recv == nil && readers.MatchString(f.Name.Name) && !slices.Contains(notRead, called) && !strings.Contains(tried, called) {
				t.Errorf("%v: no growth test names %s", fset.Position(f.Pos()), called)
			}
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range form.FindAllSubmatch(text, -1) {
			if !strings.Contains(tried, "\n\t\""+string(m[1])+"\": {") {
				t.Errorf("%s: the form %s is not in the table of forms", name, m[1])
			}
		}
	})
}

func TestFunctionsFitAScreen(t *testing.T) {
	const most = 80
	eachFile(t, func(_ string, file *ast.File, fset *token.FileSet) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				first, last := fset.Position(f.Pos()), fset.Position(f.End())
				if n := last.Line - first.Line + 1; n > most {
					t.Errorf("%v: %s has %d lines, more than %d: cut it by idea", first, f.Name.Name, n, most)
				}
			}
		}
	})
}

// Rooms that must stay small enough to read in one sitting. The command line
// has 3,500 lines for the commands of the first release, and 80 for each later
// one.
func TestRoomsStaySmall(t *testing.T) {
	later, err := filepath.Glob("cmd/accrete/*.go")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	lines := map[string]int{}
	for _, name := range append(later, glob(t, "learn/*.go")...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines[filepath.ToSlash(filepath.Dir(name))] += bytes.Count(text, []byte("\n"))
		commands += bytes.Count(text, []byte("Command() *cobra.Command {"))
	}
	const first = 26 // commands of the first release
	for folder, most := range map[string]int{"learn": 1000, "cmd/accrete": 3500 + 80*max(0, commands-first)} {
		if lines[folder] > most {
			t.Errorf("%s has %d lines, more than %d", folder, lines[folder], most)
		}
	}
}

// A package opens with its idea, and says which of the others lean on it or
// which it leans on.
func TestPackagesOpenWithTheirIdea(t *testing.T) {
	comments, names := map[string]string{}, map[string]string{}
	eachFile(t, func(name string, file *ast.File, _ *token.FileSet) {
		comments[path.Dir(name)] += file.Doc.Text()
		names[path.Dir(name)] = file.Name.Name
	})
	for folder, comment := range comments {
		if len(comment) < 100 {
			t.Errorf("%s: the package comment is %q; it should tell the idea, its source and its place", folder, comment)
		}
		words := strings.FieldsFunc(comment, func(r rune) bool { return !('a' <= r && r <= 'z') })
		neighbour := slices.Contains(words, "cmd")
		for _, other := range names {
			neighbour = neighbour || other != names[folder] && other != "main" && slices.Contains(words, other)
		}
		if !neighbour {
			t.Errorf("%s: the package comment names none of its neighbours", folder)
		}
	}
}

// The README's map names every room that there is, and none that is not.
func TestReadmeMapIsTheTruth(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, house, ok := strings.Cut(string(text), "## The house\n")
	if !ok {
		t.Fatal("README.md has no section The house")
	}
	named := map[string]bool{}
	above := ""
	for scan := bufio.NewScanner(strings.NewReader(house)); scan.Scan() && !strings.HasPrefix(scan.Text(), "#"); {
		line := scan.Text()
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, name := range strings.Fields(names) {
			if strings.HasPrefix(line, "      ") {
				name = above + "/" + name
			}
			named[name] = true
		}
		if !strings.HasPrefix(line, "      ") {
			above = strings.Fields(names)[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("README.md: the map names %s, which is not there", name)
		}
	}
	for _, pattern := range []string{"*", "learners/*"} {
		for _, name := range glob(t, pattern) {
			if info, err := os.Stat(name); err != nil || !info.IsDir() || strings.HasPrefix(name, ".") || name == "dist" { // what make site and release build
				continue
			}
			name = filepath.ToSlash(name)
			deeper := func(have string) bool { return have == name || strings.HasPrefix(have, name+"/") }
			if name != "learners/all" && !slices.ContainsFunc(slices.Collect(maps.Keys(named)), deeper) {
				t.Errorf("README.md: the map does not have %s", name)
			}
		}
	}
	top := slices.DeleteFunc(glob(t, "*/"), func(name string) bool { return strings.HasPrefix(name, ".") })
	if len(top) > 22 {
		t.Errorf("%d folders at the top, more than 22: %v", len(top), top)
	}
}

// The way of data names files that are there, in twelve steps.
func TestTheWayOfDataIsThere(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, way, _ := strings.Cut(string(text), "## The way of data\n")
	way, _, _ = strings.Cut(way, "\n## ")
	for i, part := range strings.Split(way, "`") {
		if i%2 == 1 && strings.Contains(part, "/") && !exists(part) {
			t.Errorf("CONTRIBUTING.md: %s is not there", part)
		}
	}
	if !strings.Contains(way, "\n12. ") || strings.Contains(way, "\n13. ") {
		t.Error("CONTRIBUTING.md: the way of data has twelve steps")
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// eachFile parses every file of the module that is not a test. Folders that
// are modules of their own or hold data are left out.
func eachFile(t *testing.T, look func(name string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || exists(filepath.Join(name, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		look(filepath.ToSlash(name), file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
