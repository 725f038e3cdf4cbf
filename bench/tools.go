package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/learn"
)

// tool is something a user would pick instead, or Accrete itself.
type tool struct {
	Name    string
	Package string // that Debian calls it
	probe   string // what the script is asked the version of
	command func(b *bench) []string
	Version string // as it says itself; "" if it is left out
	LeftOut string // why
}

const accrete = "Accrete"

func python(script string) func(b *bench) []string {
	return func(b *bench) []string { return []string{b.python, "-B", filepath.Join(b.peers, script)} }
}

func rscript(b *bench) []string { return []string{"Rscript", filepath.Join(b.peers, "peer.R")} }

func java(b *bench) []string {
	return []string{"java", "-Xmx12g", "-cp", strings.Join([]string{wekaJar, filepath.Join(b.work, "weka")}, string(filepath.ListSeparator)), "Weka"}
}

const wekaJar = "/usr/share/java/weka.jar"

func ourselves(b *bench) []string { return []string{b.self, "-measure"} }

func goReaders(b *bench) []string { return []string{filepath.Join(b.work, "readers")} }

var tools = []*tool{
	{Name: accrete, command: ourselves},
	{Name: "scikit-learn", Package: "python3-sklearn", command: python("peer_sklearn.py")},
	{Name: "XGBoost", Package: "python3-xgboost", command: python("peer_xgboost.py")},
	{Name: "Weka", Package: "weka and a JDK", command: java},
	{Name: "R rpart", Package: "r-cran-rpart", probe: "rpart", command: rscript},
	{Name: "R e1071", Package: "r-cran-e1071", probe: "e1071", command: rscript},
	{Name: "R nnet", Package: "r-cran-nnet", probe: "nnet", command: rscript},
	{Name: "R mclust", Package: "r-cran-mclust", probe: "mclust", command: rscript},
	{Name: "R C50", Package: "r-cran-c50", probe: "C50", command: rscript},
	{Name: "R", Package: "r-base-core", probe: "base", command: rscript},
	{Name: "pandas", Package: "python3-pandas", probe: "pandas", command: python("peer_pandas.py")},
	{Name: "SciPy", Package: "python3-scipy", probe: "SciPy", command: python("peer_pandas.py")},
	{Name: "pyarrow", Package: "python3-pyarrow", probe: "pyarrow", command: python("peer_pandas.py")},
	{Name: "Arrow for Go", command: goReaders},
}

// absent are tools that are not measured at all, and why.
var absent = []struct{ Name, Why string }{
	{"mlpack", "Debian 12 has no package of it"},
	{"River", "Debian has no package of it"},
	{"golearn, goml", "the Go module proxy did not serve them (“This module version is not available”)"},
	{"DuckDB", "no package in Debian 12; Arrow for Go stands for the readers in Go"},
}

// method is one way of learning that a tool offers.
type method struct {
	Tool string
	Name string // as the measuring process knows it
	// speedOnly leaves it out of the comparison of accuracy, and why.
	speedOnly string
}

// String is what tables call the method: "Weka J48", "tree".
func (m method) String() string {
	switch {
	case m.Tool == accrete:
		name, settings, _ := strings.Cut(m.Name, " ")
		if settings == shallow {
			return name + " of depth 10"
		}
		if settings == living {
			return name + ", living"
		}
		return m.Name
	case strings.HasPrefix(m.Tool, "R "):
		return "R " + m.Name
	case m.Name == "XGBClassifier":
		return m.Tool
	}
	return m.Tool + " " + m.Name
}

// shallow makes our tree do what scikit-learn's does at depth 10: grow, and
// keep no rows.
const shallow = "max-depth=10 prune=none binary=true keep=nothing"

// living makes our rule networks learn rows as they come.
const living = "update=living"

var peerMethods = []method{
	{Tool: "scikit-learn", Name: "DummyClassifier"},
	{Tool: "scikit-learn", Name: "naive Bayes"},
	{Tool: "scikit-learn", Name: "tree"},
	{Tool: "scikit-learn", Name: "tree of depth 10", speedOnly: "a variant of the tree, to compare speed at the same depth"},
	{Tool: "scikit-learn", Name: "logistic regression"},
	{Tool: "scikit-learn", Name: "random forest"},
	{Tool: "scikit-learn", Name: "AdaBoost"},
	{Tool: "scikit-learn", Name: "KNeighborsClassifier"},
	{Tool: "scikit-learn", Name: "VotingClassifier"},
	{Tool: "scikit-learn", Name: "MLPClassifier"},
	{Tool: "scikit-learn", Name: "GaussianMixture by class"},
	{Tool: "XGBoost", Name: "XGBClassifier"},
	{Tool: "Weka", Name: "ZeroR", speedOnly: "the same answers as DummyClassifier"},
	{Tool: "Weka", Name: "NaiveBayes"},
	{Tool: "Weka", Name: "J48"},
	{Tool: "Weka", Name: "JRip"},
	{Tool: "Weka", Name: "PART"},
	{Tool: "Weka", Name: "LMT", speedOnly: "minutes for ten folds of the larger sets"},
	{Tool: "Weka", Name: "MultilayerPerceptron", speedOnly: "minutes for ten folds of the larger sets"},
	{Tool: "R rpart", Name: "rpart"},
	{Tool: "R e1071", Name: "naiveBayes"},
	{Tool: "R nnet", Name: "nnet"},
	{Tool: "R mclust", Name: "MclustDA"},
	{Tool: "R C50", Name: "C5.0"},
}

// nearest names, for each of our learners, the peers that do the same or what
// comes nearest to it.
var nearest = map[string][]string{
	"prior":                 {"scikit-learn DummyClassifier", "Weka ZeroR"},
	"bayes":                 {"scikit-learn naive Bayes", "Weka NaiveBayes", "R naiveBayes"},
	"tree":                  {"scikit-learn tree", "Weka J48", "R rpart", "R C5.0"},
	"tree of depth 10":      {"scikit-learn tree of depth 10"},
	"rulenet":               {"Weka JRip", "Weka PART", "XGBoost"},
	"rulenet, living":       {"XGBoost"},
	"cover":                 {"Weka JRip", "Weka PART", "R C5.0"},
	"gaussian":              {"scikit-learn GaussianMixture by class", "R MclustDA"},
	"mlp":                   {"scikit-learn MLPClassifier", "Weka MultilayerPerceptron", "R nnet"},
	"neuraltree":            {"Weka LMT", "scikit-learn MLPClassifier"},
	"learnpp":               {"scikit-learn AdaBoost", "scikit-learn MLPClassifier"},
	"committee":             {"scikit-learn VotingClassifier", "scikit-learn random forest"},
	"majority":              {"scikit-learn VotingClassifier"},
	"halving":               {"scikit-learn VotingClassifier"},
	"nearest":               {"scikit-learn KNeighborsClassifier"},
	"linear":                {"scikit-learn logistic regression"},
	"any learner besides …": {"scikit-learn random forest", "XGBoost"},
}

// counting learners only count, so that ten million rows are no burden.
var counting = []string{"prior", "bayes", "scikit-learn DummyClassifier", "scikit-learn naive Bayes"}

// peersOf returns the peers of one of our methods.
func peersOf(ours method) []method {
	names, ok := nearest[ours.String()]
	if !ok {
		names = nearest["any learner besides …"]
	}
	var found []method
	for _, name := range names {
		if i := slices.IndexFunc(peerMethods, func(m method) bool { return m.String() == name }); i >= 0 {
			found = append(found, peerMethods[i])
		}
	}
	return found
}

// strongest are peers that every learner of ours is set against besides the
// nearest ones: what people reach for when only accuracy counts.
var strongest = []string{"XGBoost", "scikit-learn random forest", "scikit-learn logistic regression"}

// rivalsOf returns the names of the peers that the accuracy of one of our
// methods is set against.
func rivalsOf(ours method) []string {
	var names []string
	for _, peer := range peersOf(ours) {
		names = append(names, peer.String())
	}
	for _, name := range strongest {
		if ours.Name != "prior" && !slices.Contains(names, name) { // prior is there to be beaten
			names = append(names, name)
		}
	}
	return names
}

// ours returns the learners that are measured: every registered one that
// predicts classes, unless the run is about some of them.
func (b *bench) ours() []method {
	var methods []method
	for _, info := range learn.All() {
		if info.Takes.Classes && (len(b.learners) == 0 || slices.Contains(b.learners, info.Name)) {
			methods = append(methods, method{Tool: accrete, Name: info.Name})
		}
	}
	return methods
}

// asked reports whether the run is about a peer.
func (b *bench) asked(peer method) bool {
	return len(b.rivals) == 0 || slices.Contains(b.rivals, peer.String())
}

// prepare finds out which tools are there, and builds what must be built.
func (b *bench) prepare(ctx context.Context) error {
	b.tools = map[string]*tool{}
	if err := b.compile(ctx); err != nil {
		return err
	}
	for _, t := range tools {
		b.tools[t.Name] = t
		if t.Name == accrete {
			t.Version = b.version
			continue
		}
		if t.LeftOut == "" {
			out := run(ctx, append(t.command(b), workVersion, "-", t.probe), nil, 30*time.Second, false)
			t.Version = out.Parts[partVersion].Text
			if t.Version == "" {
				t.LeftOut = firstOf(out.Failure, out.Reason, "it does not tell its version")
			}
			if t.LeftOut != "" && t.Package != "" {
				t.LeftOut = fmt.Sprintf("not installed (Debian: %s; scripts/bench-peers installs what Debian has)", t.Package)
			}
		}
		if t.LeftOut != "" {
			b.log("%s is left out: %s", t.Name, t.LeftOut)
		} else {
			b.log("%s %s", t.Name, t.Version)
		}
	}
	return nil
}

// compile builds the peers that are no scripts. What cannot be built is left
// out, with the reason.
func (b *bench) compile(ctx context.Context) error {
	classes := filepath.Join(b.work, "weka")
	if err := os.MkdirAll(classes, 0o755); err != nil {
		return err
	}
	// Only a Weka that is there can be compiled against; prepare asks it.
	_ = exec.CommandContext(ctx, "javac", "-cp", wekaJar, "-d", classes, filepath.Join(b.peers, "Weka.java")).Run()

	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(b.work, "readers"), ".")
	build.Dir = filepath.Join(b.folder, "readers")
	if text, err := build.CombinedOutput(); err != nil {
		i := slices.IndexFunc(tools, func(t *tool) bool { return t.Name == "Arrow for Go" })
		tools[i].LeftOut = "it could not be built: " + lastLine(string(text))
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
