package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) askCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ask MODEL QUESTION",
		Short: "Ask for any column, given any others",
		Long: `Ask answers a question such as 'lstat=5, rm=6, medv=?' from a model of all
columns together: what is given, then ? for what is wanted. A number is answered
with its mean, an interval that holds it in 95 % of cases, and its peaks if there
are several; a name with the probability of each value. What is neither given
nor wanted is unknown. Names with commas or spaces around them stand in double
quotes. If the model has hardly seen anything like it, it says so.`,
		Example: `  accrete ask boston 'lstat=5, rm=6, medv=?'
  accrete ask boston 'medv=40, rm=?, crim=?' --json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			m, _, err := s.Load(args[0])
			if err != nil {
				return err
			}
			asker, ok := learn.Ability[learn.Asker](m)
			if !ok {
				return notJoint(m.Learner(), "be asked for any column")
			}
			row, wanted, err := parseQuestion(args[1], m.Schema())
			if err != nil {
				return usageError{err}
			}
			answers := make([]answered, len(wanted))
			for i, column := range wanted {
				answer, err := asker.Ask(row, 0, column)
				if err != nil {
					return err
				}
				answers[i] = newAnswered(&m.Schema().Attributes[column], answer)
			}
			if a.json {
				return a.printJSON(struct {
					Answers []answered `json:"answers"`
				}{answers})
			}
			for i, column := range wanted {
				printAnswer(a.out, &m.Schema().Attributes[column], &answers[i])
			}
			return nil
		},
	}
}

// notJoint says that a learner's models are not of all columns together, and
// which learners' are.
func notJoint(learner, what string) error {
	var others []string
	for _, info := range learn.All() {
		if info.Takes.Density {
			others = append(others, info.Name)
		}
	}
	return fmt.Errorf("a model of learner %s cannot %s; learners whose models can: %s", learner, what, strings.Join(others, ", "))
}

// parseQuestion reads "name=value, name=?" into a row of known cells and the
// columns that are wanted.
func parseQuestion(question string, schema *table.Schema) (row *table.Table, wanted []int, err error) {
	columns := make([]table.Column, len(schema.Attributes))
	for j := range columns {
		if schema.Attributes[j].Kind == table.Nominal {
			columns[j].Codes = []int32{table.Missing}
		} else {
			columns[j].Floats = []float64{table.NA}
		}
	}
	seen := map[int]bool{}
	for _, part := range splitOutside(question, ',') {
		if strings.TrimSpace(part) == "" {
			continue
		}
		sides := splitOutside(part, '=')
		if len(sides) != 2 {
			return nil, nil, fmt.Errorf("%q: expected name=value, or name=? for what is wanted", strings.TrimSpace(part))
		}
		name, err := unquote(sides[0])
		if err != nil {
			return nil, nil, err
		}
		j := schema.Index(name)
		if j < 0 {
			return nil, nil, fmt.Errorf("the model has no column %q%s", name, spell.Hint(name, schema.Names()))
		}
		if seen[j] {
			return nil, nil, fmt.Errorf("column %q is in the question twice", name)
		}
		seen[j] = true
		if strings.TrimSpace(sides[1]) == "?" {
			wanted = append(wanted, j)
			continue
		}
		value, err := unquote(sides[1])
		if err != nil {
			return nil, nil, err
		}
		if err := setCell(&columns[j], &schema.Attributes[j], value); err != nil {
			return nil, nil, err
		}
	}
	if len(wanted) == 0 {
		return nil, nil, fmt.Errorf("nothing is wanted; write ? for a value, as in %s=?", schema.Attributes[len(schema.Attributes)-1].Name)
	}
	row, err = table.New(schema, columns, nil)
	return row, wanted, err
}

// setCell writes a value into a column of one row.
func setCell(c *table.Column, a *table.Attribute, value string) error {
	if a.Kind == table.Nominal {
		if c.Codes[0] = a.Code(value); c.Codes[0] < 0 {
			return fmt.Errorf("column %q has no value %q%s", a.Name, value, spell.Hint(value, a.Values))
		}
		return nil
	}
	if day, err := time.Parse(time.DateOnly, value); err == nil && a.Date {
		c.Floats[0] = float64(day.Unix()) / 86400
		return nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("column %q is numeric, but %q is not a number", a.Name, value)
	}
	c.Floats[0] = x
	return nil
}

// splitOutside splits text at a separator that does not stand in double
// quotes.
func splitOutside(text string, separator byte) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// unquote returns a name or value without the spaces around it and, if it has
// any, its quotes.
func unquote(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return "", fmt.Errorf("%s is not a name in double quotes", text)
	}
	return s, nil
}

// answered is an answer as programs read it.
type answered struct {
	Variable      string             `json:"variable"`
	Mean          *float64           `json:"mean,omitempty"`
	Median        *float64           `json:"median,omitempty"`
	Low           *float64           `json:"low,omitempty"`
	High          *float64           `json:"high,omitempty"`
	Modes         []float64          `json:"modes,omitempty"`
	Prediction    *string            `json:"prediction,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	// Density is that of what is given, numbers in deviations.
	Density    float64 `json:"density"`
	LogDensity float64 `json:"log_density"`
	// Experience is the share of cases that are expected to be as unusual or more so.
	Experience float64 `json:"experience"`
	Outside    bool    `json:"outside"`
}

// leastExperience is the share of cases as unusual below which a question is
// outside of a model's experience.
const leastExperience = 0.01

func newAnswered(at *table.Attribute, answer *learn.Answer) answered {
	x := answered{
		Variable: at.Name, Density: min(math.Exp(answer.LogDensity), math.MaxFloat64), LogDensity: finite(answer.LogDensity),
		Experience: answer.Experience, Outside: answer.Experience < leastExperience,
	}
	if at.Kind == table.Numeric {
		x.Mean, x.Median, x.Low, x.High, x.Modes = &answer.Mean, &answer.Median, &answer.Low, &answer.High, answer.Modes
		return x
	}
	x.Probabilities = make(map[string]float64, len(answer.P))
	for v, p := range answer.P {
		x.Probabilities[at.Values[v]] = p
	}
	if len(answer.P) > 0 {
		x.Prediction = &at.Values[learn.Best(answer.P, at.Values)]
	}
	return x
}

// printAnswer prints an answer for people.
func printAnswer(w io.Writer, at *table.Attribute, x *answered) {
	write := func(v float64) string {
		if at.Date {
			return at.Format(math.Round(v))
		}
		return number(v)
	}
	if at.Kind == table.Numeric {
		fmt.Fprintf(w, "%s = %s (95 %%: %s to %s, median %s)\n", at.Name, write(*x.Mean), write(*x.Low), write(*x.High), write(*x.Median))
		if len(x.Modes) > 1 {
			peaks := make([]string, len(x.Modes))
			for i, mode := range x.Modes {
				peaks[i] = write(mode)
			}
			fmt.Fprintf(w, "  it has %d peaks, the highest first: %s\n", len(peaks), strings.Join(peaks, ", "))
		}
	} else {
		values := slices.Clone(at.Values)
		slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(x.Probabilities[b], x.Probabilities[a]) })
		shares := make([]string, 0, 6)
		for i, value := range values {
			if i == 5 {
				shares = append(shares, "…")
				break
			}
			shares = append(shares, fmt.Sprintf("%s %s", value, percent(x.Probabilities[value])))
		}
		fmt.Fprintf(w, "%s = %s\n", at.Name, strings.Join(shares, ", "))
	}
	if x.Outside {
		fmt.Fprintf(w, "  outside my experience: %s of cases are as unusual as this one\n", percent(x.Experience))
	}
}
