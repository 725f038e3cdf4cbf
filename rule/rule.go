// Package rule holds knowledge as rules: one text form that people read and
// write, and that programs parse, print, match, compare and predict with.
//
// A Base is a list of statements under one reading. Ordered: the first rule
// that matches answers (decision trees, rule lists). Weighed: every rule that
// matches adds its weight to the prior of its class (rule networks, naive
// Bayes). Mixture: each WHEN unit expects values of the columns, and units
// share the answer by how well they explain the row (Gaussian rules).
//
// What is printed parses back to the same base, and a printed base predicts
// as the model that it came from.
//
// The language, in short, with # before comments:
//
//	file  = {stmt}
//	stmt  = "RULES" ("ordered"|"weighed"|"mixture")
//	      | "SCHEMA" col {"," col} [";" "TARGET" name]
//	      | "IF" tests "THEN" concl ["WITH" num] ["WORTH" num] [evid]
//	      | "ELSE" concl ["WITH" num] [evid]
//	      | "WHEN" name "(" num ")" ["WORTH" num] "EXPECT" exp {"AND" exp}
//	tests = "ALWAYS" | test {"AND" test}
//	test  = name ("="|"!="|"<"|"<="|">"|">=") val
//	      | num ("<"|"<=") name ("<"|"<=") num
//	      | name ["NOT"] "IN" "{" val {"," val} "}"
//	      | name "IS" ("MISSING"|"KNOWN") | name ["NOT"] "CONTAINS" val
//	      | num "*" name {("+"|"-") num "*" name} (">"|"<=") num
//	      | "AT LEAST" int "OF" "{" test {"," test} "}"
//	concl = name "=" val | name "=" dist | name "BY" "{" val num {"," val num} "}"
//	      | name "~" num "±" num | name "+=" num ["*" line] ["±" num]
//	line  = (name | "(" name ("+"|"-") num ")") ["FROM" num "TO" num]
//	col   = name kind ["~" num "±" num] ["{" val [num] {"," val [num]} "}"]
//	kind  = "nominal" | "numeric" | "date" | "time" | "text"
//	exp   = name "~" num ["sd"] "±" num ["sd"] | name "NORMAL" | name "=" dist
//	dist  = "{" val num {"," val num} "}"
//	evid  = "[" key num {"," key num} "]"
//
// RULES and SCHEMA stand first and ELSE after the last IF. Bare names are letters,
// digits and _ - . with at least one letter or digit, and no keyword; others
// stand in double quotes with JSON's escapes, and so do, when printed, names
// of columns that look like numbers. An ISO date is read as the number of
// days since 1970-01-01, which is how tables keep dates; limits on columns that
// the SCHEMA line calls dates or times are printed as such. The probabilities of
// a distribution sum to one, as far as rounding to two decimals allows.
//
// A line adds a number for each unit of a column, as in
//
//	IF town = a THEN price += 1.5*(area - 90) FROM 20 TO 240 ± 0.1
//
// Beyond its limits the column counts as the nearer of them, and where the cell is
// missing the rule adds nothing. FROM and TO are keywords there only.
package rule

import "github.com/accrete-ml/accrete/table"

// Kind is how the rules of a base are read together.
type Kind uint8

// The readings of a base. Unstated is a file without a RULES header, such as
// an expert's rules.
const (
	Unstated Kind = iota
	Ordered
	Weighed
	Mixture
)

// Base is a rule base: IF rules with an optional ELSE, or WHEN units.
type Base struct {
	// Header is the SCHEMA line, nil if there is none. With one, the text is
	// a model: it says what the columns are that the rules speak of.
	Header *Header
	Kind   Kind
	Rules  []Rule
	Else   *Rule  // If is empty; nil when the base has none
	Units  []Unit // Mixture
	// Notes are printed as comments under the header. They say where the
	// base holds, as in "summary: agrees with the model on 97.1 % of rows",
	// and are not parsed back.
	Notes []string
	// Agrees, unless nil, is the share of rows on which the base answers as its
	// model does. It is not printed except through Notes.
	Agrees *float64
	// Clocks, unless nil, says which columns are dates and times, as the Header
	// does: limits on them are printed as such.
	Clocks *table.Schema
	// CompleteOnly means that the base speaks as its model does only for
	// rows whose tested cells are all known and seen. It is not printed
	// except through Notes.
	CompleteOnly bool
}

// Rule is "IF tests THEN conclusion". No tests means ALWAYS.
type Rule struct {
	If    []Test
	Then  Conclusion
	With  *float64 // probability of the conclusion; nil when not stated
	Worth *float64 // cases an expert's rule is worth; nil when not stated
	// Boundary is "S" or "G" where the rule is a most specific or a most general
	// member of a version space. It is not printed.
	Boundary string
	Evidence Evidence
}

// Conclusion is a class (Value), a distribution over classes (Classes), what
// the rule of a weighed base adds to the scores of several classes (By), or a
// number with its deviation (Mean, Deviation, with Numeric set), which with
// Adds is what the rule of a weighed base adds to the answer, with a Line for
// each unit of a column.
type Conclusion struct {
	Column    string
	Value     string
	Classes   []Share // a distribution, when one probability does not say it all
	By        []Share // a weight for each class that the rule moves
	Numeric   bool
	Adds      bool
	Mean      float64
	Deviation float64
	Line      *Line // with Adds: what the number is times of; nil: 1
}

// Line is a column less a number, as far as its limits go.
type Line struct {
	Column    string
	Centre    float64
	Limited   bool
	Low, High float64 // with Limited: what lies beyond counts as these
}

// String returns the line as it stands after what is added for each unit.
func (l *Line) String() string { return string(appendLine(nil, l)) }

// Here returns the test that holds where the line says what it says of a cell:
// the column has this number, or lies beyond the limit.
func (l *Line) Here(x float64) Test {
	switch {
	case l.Limited && x <= l.Low:
		return Test{Op: Le, Column: l.Column, Number: l.Low}
	case l.Limited && x >= l.High:
		return Test{Op: Ge, Column: l.Column, Number: l.High}
	}
	return Test{Op: Eq, Column: l.Column, Value: string(appendNumber(nil, x))}
}

// At returns how far along the line a cell lies, 0 if that is not known.
func (l *Line) At(x float64) float64 {
	if l.Limited {
		x = min(max(x, l.Low), l.High)
	}
	if x -= l.Centre; !finite(x) {
		return 0
	}
	return x
}

// Share is a nominal value with its probability; in a BY conclusion, with
// what is added to its score.
type Share struct {
	Value string
	P     float64
}

// Evidence is what the data says of a rule. Nil means not stated.
type Evidence struct {
	Covered *float64 // weight of the rows that satisfy the IF part
	Correct *float64 // weight of those that satisfy the THEN part too
	Bits    *float64 // information in bits (J-measure)
	Weight  *float64 // weight in a weighed base, natural log

	// Templates is the weight of the examples that the rule was found from.
	Templates *float64
}

// Op is the relation that a test asks for.
type Op uint8

// The relations of tests.
const (
	Eq      Op = iota // Column = Value
	Ne                // Column != Value
	Lt                // Column < Number
	Le                // Column <= Number
	Gt                // Column > Number
	Ge                // Column >= Number
	Between           // Low < Column <= High (LowClosed: <=; HighOpen: <)
	In                // Column IN {Values}
	NotIn             // Column NOT IN {Values}
	IsMissing
	IsKnown
	HalfSpace // sum of Terms > Number (Below: <= Number)
	AtLeast   // at least Count of the tests in Of
	Contains  // the text Column has the word Value
	NotContains
)

// Test is one condition on a row. Which fields it uses depends on Op. Values
// are kept as text; on a numeric column they are numbers, on a nominal column
// names, so that 1 and "1" are one value there.
type Test struct {
	Op        Op
	Column    string
	Value     string   // Eq, Ne; the word of Contains, NotContains
	Values    []string // In, NotIn
	Number    float64  // Lt, Le, Gt, Ge, HalfSpace
	Low, High float64  // Between
	LowClosed bool     // Between: Low <= Column instead of Low < Column
	HighOpen  bool     // Between: Column < High instead of Column <= High
	Terms     []Term   // HalfSpace
	Below     bool     // HalfSpace: <= Number instead of > Number
	Count     int      // AtLeast
	Of        []Test   // AtLeast
}

// Term is one summand of a half-space test.
type Term struct {
	Factor float64
	Column string
}

// Unit is "WHEN name (prior) EXPECT …": one component of a mixture.
type Unit struct {
	Name   string
	Prior  float64
	Worth  *float64
	Expect []Expectation
}

// Expectation is what a unit expects of one column: a normal density (Mean
// and Deviation, in deviations from the column's mean where MeanSD or
// DeviationSD is set), the column's overall distribution (Normal), or a
// distribution over its values (Shares).
type Expectation struct {
	Column      string
	Mean        float64
	MeanSD      bool
	Deviation   float64
	DeviationSD bool
	Normal      bool
	Shares      []Share
}
