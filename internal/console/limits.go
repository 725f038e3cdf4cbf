package console

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Every number that a flag takes has a range, which is checked when the flag
// is read: what comes later can rely on it.

// MostCount is more than anything is counted to, and far from overflow.
const MostCount = 1_000_000_000

// wholeFlag is a whole number of a range.
type wholeFlag struct {
	value       *int
	least, most int
}

func (f wholeFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.Itoa(*f.value)
}
func (wholeFlag) Type() string { return "int" }

func (f wholeFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < f.least || n > f.most {
		return fmt.Errorf("expected a whole number from %d to %d", f.least, f.most)
	}
	*f.value = n
	return nil
}

// CountVar defines a flag for a whole number from least to most.
func CountVar(flags *pflag.FlagSet, value *int, name string, otherwise, least, most int, usage string) {
	*value = otherwise
	flags.Var(wholeFlag{value, least, most}, name, usage)
}

// realFlag is a number of a range.
type realFlag struct {
	value       *float64
	least, most float64
}

func (f realFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.FormatFloat(*f.value, 'g', -1, 64)
}
func (realFlag) Type() string { return "float" }

func (f realFlag) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= f.least && x <= f.most) {
		if f.most == math.MaxFloat64 {
			return fmt.Errorf("expected a number from %g", f.least)
		}
		return fmt.Errorf("expected a number from %g to %g", f.least, f.most)
	}
	*f.value = x
	return nil
}

// ShareVar defines a flag for a number from 0 to 1.
func ShareVar(flags *pflag.FlagSet, value *float64, name string, otherwise float64, usage string) {
	*value = otherwise
	flags.Var(realFlag{value, 0, 1}, name, usage)
}

// WeightVar defines a flag for a number from 0.
func WeightVar(flags *pflag.FlagSet, value *float64, name string, otherwise float64, usage string) {
	*value = otherwise
	flags.Var(realFlag{value, 0, math.MaxFloat64}, name, usage)
}

// SeedVar defines a flag for a seed.
func SeedVar(flags *pflag.FlagSet, value *uint64, name string, otherwise uint64, usage string) {
	*value = otherwise
	flags.Var(seedFlag{value}, name, usage)
}

type seedFlag struct{ value *uint64 }

func (f seedFlag) String() string {
	if f.value == nil {
		return "0"
	}
	return strconv.FormatUint(*f.value, 10)
}
func (seedFlag) Type() string { return "uint" }

func (f seedFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("expected a whole number from 0 to %d", uint64(math.MaxUint64))
	}
	*f.value = n
	return nil
}

// WaitVar defines a flag for a time to wait, from nothing to a year.
func WaitVar(flags *pflag.FlagSet, value *time.Duration, name string, otherwise time.Duration, usage string) {
	*value = otherwise
	flags.Var(waitFlag{value}, name, usage)
}

const (
	longestWait = 365 * 24 * time.Hour
	soon        = 50 * time.Millisecond // what a disk may take to answer those who do not want to wait
)

type waitFlag struct{ value *time.Duration }

func (f waitFlag) String() string {
	if f.value == nil {
		return "0s"
	}
	return f.value.String()
}
func (waitFlag) Type() string { return "duration" }

func (f waitFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longestWait {
		return errors.New("expected a time from 0 to a year, as in 30s, 5m or 1h30m")
	}
	*f.value = max(d, soon)
	return nil
}

// CountsVar defines a flag for whole numbers from 1, which repeats and takes
// lists with commas.
func CountsVar(flags *pflag.FlagSet, value *[]int, name, usage string) {
	flags.Var(listFlag[int]{value, func(text string) (int, error) {
		n := 0
		err := wholeFlag{&n, 1, MostCount}.Set(text)
		return n, err
	}, "ints"}, name, usage)
}

// SharesVar defines a flag for numbers from 0 to 1, as CountsVar does.
func SharesVar(flags *pflag.FlagSet, value *[]float64, name, usage string) {
	flags.Var(listFlag[float64]{value, func(text string) (float64, error) {
		x := 0.
		err := realFlag{&x, 0, 1}.Set(text)
		return x, err
	}, "floats"}, name, usage)
}

type listFlag[T any] struct {
	value *[]T
	read  func(text string) (T, error)
	kind  string
}

func (listFlag[T]) String() string { return "" }
func (f listFlag[T]) Type() string { return f.kind }

func (f listFlag[T]) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		x, err := f.read(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*f.value = append(*f.value, x)
	}
	return nil
}

// together are flags that do not go together, as they are complained of.
var together = regexp.MustCompile(`\[([^]]*)\] were all set$`)

// GroupError says in words for people which flags do not go together; ok is false
// if the error is another one.
func GroupError(err error) (words error, ok bool) {
	found := together.FindStringSubmatch(err.Error())
	if found == nil || !strings.HasPrefix(err.Error(), "if any flags in the group") {
		return err, false
	}
	names := strings.Fields(found[1])
	return fmt.Errorf("--%s do not go together; give one of them", strings.Join(names, " and --")), true
}

// FlagError says in words for people what is wrong with a flag. The flags of
// this package say it themselves; of the others it is known by their kind.
func FlagError(err error, flags *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := spell.Nearest(unknown.GetSpecifiedName(), names); ok {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	expected := bad.Unwrap().Error()
	switch kind := bad.GetFlag().Value.Type(); kind {
	case "bool":
		expected = "expected true or false"
	case "stringSlice":
		expected = "expected names with commas between them; a name with a comma or a quote in it stands in double quotes, quotes doubled"
	}
	return fmt.Errorf("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), expected)
}

// textsFlag is a list with commas, of which an empty text may be a part. A text with
// a comma stands in double quotes.
type textsFlag struct{ to *[]string }

func (textsFlag) Type() string   { return "stringSlice" }
func (textsFlag) String() string { return "" }

func (f textsFlag) Set(text string) error {
	texts, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil { // nothing, or quotes that are texts
		texts = strings.Split(text, ",")
	}
	*f.to = append(*f.to, texts...)
	return nil
}

// TextsVar defines a flag for texts, with commas between them, also empty ones.
func TextsVar(flags *pflag.FlagSet, value *[]string, name, usage string) {
	flags.Var(textsFlag{value}, name, usage)
}

// linesFlag is a text, a line more each time that the flag is given.
type linesFlag struct{ to *string }

func (linesFlag) Type() string   { return "string" }
func (linesFlag) String() string { return "" }

func (f linesFlag) Set(text string) error {
	if *f.to != "" {
		*f.to += "\n"
	}
	*f.to += text
	return nil
}

// LinesVar defines a flag that may be given several times, a line each.
func LinesVar(flags *pflag.FlagSet, value *string, name, usage string) {
	flags.Var(linesFlag{value}, name, usage)
}

// openFlag is a yes or no that may be left open.
type openFlag struct{ to **bool }

func (openFlag) Type() string { return "bool" }

func (f openFlag) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return strconv.FormatBool(**f.to)
}

func (f openFlag) Set(text string) error {
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("expected true or false")
	}
	*f.to = &yes
	return nil
}

// OpenVar defines a flag for yes or no that is nil if it is not given.
func OpenVar(flags *pflag.FlagSet, value **bool, name, usage string) {
	flags.Var(openFlag{value}, name, usage)
	flags.Lookup(name).NoOptDefVal = "true"
}

// Ended returns a text after which another may follow: a question has its own
// end.
func Ended(text string) string {
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + ";"
}
