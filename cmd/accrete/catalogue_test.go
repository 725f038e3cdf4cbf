package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

// lessons are the worked example of each learner, which TestDocumentation runs: it
// ends with a picture. Files are those of docs/learners.
var lessons = map[string]string{
	"bayes":      "learn play-tennis --learner bayes --folds 0\nexplain play-tennis play-tennis --row 1\ndraw play-tennis --out bayes.svg",
	"belief":     "import storm.bif\nask storm Storm=true,BusTourGroup=false,Campfire=?\ndraw storm --out belief.svg",
	"cigol":      "learn few --learner cigol --folds 0\nquery few\ndraw few --out cigol.svg",
	"committee":  "learn iris --learner committee --set members=tree,bayes --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out committee.svg",
	"concept":    "learn enjoy-sport --learner concept --folds 0\nquery enjoy-sport --top 2\ndraw enjoy-sport --out concept.svg",
	"cover":      "learn labor --learner cover --folds 0\nexplain labor labor --row 1\ndraw labor --out cover.svg",
	"ebg":        "learn stacking --learner ebg --rules stacking.pl --folds 0\ndraw stacking --out ebg.svg",
	"ebnn":       "learn cup --learner ebnn --rules cup --folds 0\npredict cup cup\ndraw cup --regions light,has_handle --out ebnn.svg",
	"experts":    "learn machine-cpu --learner experts --set experts=2 --folds 0\nexplain machine-cpu machine-cpu --row 1\ndraw machine-cpu --regions MMIN,MMAX --out experts.svg",
	"focl":       "learn cup --learner focl --rules cup.pl --folds 0\nexplain cup cup --row 1\ndraw cup --regions light,has_handle --out focl.svg",
	"foil":       "learn iris --learner foil --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out foil.svg",
	"gabil":      "learn play-tennis --learner gabil --folds 0\nexplain play-tennis play-tennis --row 1\ndraw play-tennis --out gabil.svg",
	"gaussian":   "learn iris --target target --learner gaussian --folds 0\nexplain iris iris --row 71\ndraw iris --columns 'petal length (cm),petal width (cm)' --out gaussian.svg",
	"golem":      "learn kin --learner golem --folds 0\nrules kin\ndraw kin --out golem.svg",
	"gp":         "learn boston --learner gp --set short=5000 --set generations=5 --set population=100 --folds 0\nexplain boston boston --row 1\ndraw boston --out gp.svg",
	"halving":    "learn iris --learner halving --set members=tree,bayes --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out halving.svg",
	"kbann":      "learn cup --learner kbann --rules cup --folds 0\nexplain cup cup --row 2\ndraw cup --out kbann.svg",
	"lazy":       "learn iris --learner lazy --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out lazy.svg",
	"learnpp":    "learn circles:rows=300,classes=1,3,5,seed=1 --learner learnpp --name rings --folds 0\nupdate rings circles:rows=200,classes=4,seed=2\ndraw rings --regions x,y --on circles --out learnpp.svg",
	"linear":     "learn boston --learner linear --folds 0\nexplain boston boston --row 1\ndraw boston --out linear.svg",
	"lwr":        "learn machine-cpu --learner lwr --folds 0\nexplain machine-cpu machine-cpu --row 1\ndraw machine-cpu --regions MMIN,MMAX --out lwr.svg",
	"majority":   "learn iris --learner majority --set members=tree,bayes --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out majority.svg",
	"markov":     "learn icecream.csv --target weather --sequence summer --learner markov --name diary\npredict diary icecream-new.csv\ndraw diary --out markov.svg",
	"mixture":    "learn weather --ignore play --learner mixture --set components=2 --folds 0\npredict weather weather --ignore play\ndraw weather --regions temperature,humidity --ignore play --out mixture.svg",
	"mlp":        "learn iris --learner mlp --folds 0\nexplain iris iris --row 71\ndraw iris --out mlp.svg",
	"nearest":    "learn iris --learner nearest --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out nearest.svg",
	"neuraltree": "learn xor.csv --target xor --learner neuraltree --folds 0\nrules xor\ndraw xor --out neuraltree.svg",
	"plan":       "learn blocks --learner plan --folds 0\nask blocks 'plan([table(a), table(b), on(c,a), clear(c), clear(b)], [on(a,b), on(b,c)], P)'\ndraw blocks --proof 'plan([table(a), table(b), on(c,a), clear(c), clear(b)], [on(a,b), on(b,c)], P)' --out plan.svg",
	"prior":      "learn iris --learner prior --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out prior.svg",
	"progol":     "learn kin --learner progol --folds 0\nrules kin\ndraw kin --out progol.svg",
	"q":          "learn gridworld:map=..G/... --learner q --name grid\nexplain grid places.csv\ndraw grid --out q.svg",
	"rbf":        "learn iris --learner rbf --folds 0\nexplain iris iris --row 71\ndraw iris --regions 'petal length (cm),petal width (cm)' --out rbf.svg",
	"rocchio":    "learn reviews.csv --text said --target class --learner rocchio --folds 0\nexplain reviews new-review.csv\nlearn play-tennis --learner rocchio --folds 0\ndraw play-tennis --regions outlook,humidity --out rocchio.svg",
	"rulenet":    "learn votes --folds 0\nexplain votes votes --row 1\ndraw votes --top 6 --out rulenet.svg",
	"tree":       "learn iris --learner tree --folds 0\nexplain iris iris --row 71\ndraw iris --out tree.svg",
}

// TestCatalogue: every learner has a page made from the code, of its idea, its
// settings, what it keeps and costs, and a worked example. With -rewrite it writes
// them, and TestDocumentation what the examples print.
func TestCatalogue(t *testing.T) {
	pages := map[string]string{}
	for _, info := range learn.All() {
		pages["learners/"+info.Name+".md"] = learnerPage(t, info)
	}
	pages["learners/README.md"] = catalogue()
	written, _ := filepath.Glob("../../docs/learners/*.md")
	for _, path := range written {
		if pages["learners/"+filepath.Base(path)] == "" {
			t.Errorf("%s is of no learner", path)
		}
	}
	said := func(page string) string { // without what commands print
		return session.ReplaceAllStringFunc(page, func(block string) string {
			lines := slices.Collect(strings.Lines(block))
			return strings.Join(slices.DeleteFunc(lines[1:len(lines)-1], func(line string) bool { return !strings.HasPrefix(line, "$ ") }), "")
		})
	}
	for name, page := range pages {
		path := filepath.Join("../../docs", name)
		is, err := os.ReadFile(path)
		switch {
		case err == nil && said(string(is)) == said(page):
		case *rewrite:
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not what the code says (%v); to write it: go test ./cmd/accrete -run 'Catalogue|Documentation/docs/learners' -rewrite", path, err)
		}
	}
}

// catalogue lists the pages.
func catalogue() string {
	var b strings.Builder
	b.WriteString("# Every learner\nA page each, made from the code: idea, settings, what it keeps, what it costs, a picture and a worked example.\n[Which learner when](../choosing.md) helps to choose, [Learners worth knowing](../learners.md) shows what only some can do.\n\n| learner | what it is | update |\n|---|---|---|\n")
	for _, info := range learn.All() {
		e := life.NewLearner(info)
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %v |\n", info.Name, info.Name, cell(info.Summary), e.Promised())
	}
	return b.String()
}

// contracts say what an update promises.
var contracts = map[string]string{
	"exact":   "a model that learnt rows in parts is the one that learnt them at once",
	"bounded": "a model that learnt rows in parts is worse than one that learnt them at once by no more than a stated bound",
	"none":    "nothing is promised about a model that learnt rows in parts, beside one that learnt them at once",
}

func learnerPage(t *testing.T, info learn.Info) string {
	var b strings.Builder
	title := escapeHTML(strings.ToUpper(info.Summary[:1]) + info.Summary[1:])
	fmt.Fprintf(&b, "# %s\n%s. Source: %s.\n\n[All learners](README.md) · [Which learner when](../choosing.md)\n\n", info.Name, title, escapeHTML(info.Source))
	idea, cost := ideaOf(t, info)
	fmt.Fprintf(&b, "## Idea\n%s\n", idea)
	lesson := lessons[info.Name]
	if lesson == "" {
		t.Errorf("%s has no worked example", info.Name)
	}
	b.WriteString("## A worked example\n```console\n")
	for line := range strings.Lines(lesson) {
		fmt.Fprintf(&b, "$ accrete %s\n", strings.TrimSpace(line))
	}
	b.WriteString("```\n")
	if !strings.HasSuffix(lesson, "--out "+info.Name+".svg") {
		t.Errorf("the worked example of %s ends without a picture", info.Name)
	}
	fmt.Fprintf(&b, "\n![What %s learnt](%s.svg)\n", info.Name, info.Name)
	e := life.NewLearner(info)
	fmt.Fprintf(&b, "\n## What it takes and can do\nIt takes %s; it answers with %s. A model can %s.\n", strings.Join(e.Takes, ", "), strings.Join(e.Predicts, ", "), strings.Join(e.Can, ", "))
	fmt.Fprintf(&b, "\n## Updates\n**%s**: %s (`accrete verify` measures it).\n", e.Contract, contracts[e.Contract])
	if e.Apart != "" {
		b.WriteString(strings.ToUpper(e.Apart[:1]) + e.Apart[1:] + ".\n")
	}
	fmt.Fprintf(&b, "\n## What a model keeps\n%s.\n", escapeHTML(strings.ToUpper(info.Keeps[:1])+info.Keeps[1:]))
	fmt.Fprintf(&b, "\n## Cost\n%s", cost)
	b.WriteString("\n## Settings\n")
	if options := learn.Options(info.New()); len(options) > 0 {
		b.WriteString("Given as `--set key=value`.\n\n")
		settingsTable(&b, options)
	} else {
		b.WriteString("There is nothing to set.\n")
	}
	return b.String()
}

// ideaOf is what the package of a learner says of itself, with what its type says
// where several learners share a package, and the paragraphs that speak of cost.
func ideaOf(t *testing.T, info learn.Info) (idea, cost string) {
	folder, kind := homeOf(info)
	var p *doc.Package
	set := token.NewFileSet()
	names, _ := filepath.Glob(filepath.Join("../../learners", folder, "*.go"))
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(set, files, "github.com/accrete-ml/accrete/learners/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimPrefix(p.Doc, "Package ")
	more := ""
	for _, k := range p.Types {
		switch {
		case k.Name != kind:
		case kind == "Learner":
			more = k.Doc
		default: // several learners share the package
			text = k.Doc + "\n" + text
		}
	}
	told, spent := p.Parser().Parse(text), ""
	section := ""
	told.Content = slices.DeleteFunc(told.Content, func(block comment.Block) bool {
		if heading, ok := block.(*comment.Heading); ok {
			section = strings.TrimSpace(string(p.Printer().Text(&comment.Doc{Content: []comment.Block{heading}})))
			return slices.Contains(elsewhere, section)
		}
		if section == "# Cost" {
			spent += markdown(p, &comment.Doc{Content: []comment.Block{block}}) + "\n"
		}
		return slices.Contains(elsewhere, section)
	})
	for _, block := range append(slices.Clone(told.Content), p.Parser().Parse(more).Content...) {
		if words, ok := block.(*comment.Paragraph); ok {
			plain := strings.Join(strings.Fields(markdown(p, &comment.Doc{Content: []comment.Block{words}})), " ")
			for s := range strings.SplitSeq(ends.ReplaceAllString(plain, ".\n$1"), "\n") {
				if costly.MatchString(s) {
					spent += s + "\n"
				}
			}
		}
	}
	if spent == "" {
		t.Errorf("%s says nowhere what it costs: neither package %s nor its type %s", info.Name, folder, kind)
	}
	return markdown(p, told), strings.TrimSpace(spent) + "\n"
}

// elsewhere are parts of a document that do not belong to the idea.
var elsewhere = []string{"# Cost", "# Where things are", "# Neighbours"}

var ends = regexp.MustCompile(`\. ([A-Z])`) // of sentences

// costly is how documents speak of cost.
var costly = regexp.MustCompile(`(?i)(costs? (a|one|what|its|an?|of|up|the|for|n²|rows) |cost:|memory is|per row)`)

// homeOf is the folder and the type of a learner.
func homeOf(info learn.Info) (folder, kind string) {
	k := reflect.TypeOf(info.New())
	if k.Kind() == reflect.Pointer {
		k = k.Elem()
	}
	return k.PkgPath()[strings.Index(k.PkgPath(), "learners/")+len("learners/"):], k.Name()
}

// markdown prints a comment. Links to Go's names are names: pages do not lead there.
func markdown(p *doc.Package, d *comment.Doc) string {
	printer := p.Printer()
	printer.HeadingLevel = 3
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkURL = func(*comment.DocLink) string { return "" }
	return strings.ReplaceAll(string(printer.Markdown(d)), "]()", "]")
}
