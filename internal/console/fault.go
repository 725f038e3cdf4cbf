package console

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/accrete-ml/accrete/internal/crew"
)

// faults is where faults are reported.
const faults = "https://github.com/accrete-ml/accrete/issues"

// Guarded calls a function, and makes a panic in it an error in one line that
// says where it was and how to report it. What was being done is not done: the
// store takes versions whole or not at all.
func Guarded(version string, do func() error) (err error) {
	told := func(value any, stack []byte) error {
		return fmt.Errorf("a fault in accrete, not in what you did (%v, at %s, accrete %s on %s/%s); nothing was changed; please report this line and the command at %s",
			value, origin(string(stack)), version, runtime.GOOS, runtime.GOARCH, faults)
	}
	defer func() {
		if value := recover(); value != nil {
			stack := debug.Stack()
			if fault, ok := value.(*crew.Fault); ok {
				value, stack = fault.Value, fault.Stack
			}
			err = told(value, stack)
		}
	}()
	err = do()
	if fault := (*crew.Fault)(nil); errors.As(err, &fault) {
		return told(fault.Value, fault.Stack)
	}
	return err
}

// origin returns the place in this module where a panic began.
func origin(stack string) string {
	_, after, found := strings.Cut(stack, "panic(")
	if !found {
		after = stack
	}
	lines := strings.Split(after, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "github.com/accrete-ml/accrete") || strings.HasPrefix(line, "main.") {
			if i+1 < len(lines) {
				place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
				return filepath.Join(filepath.Base(filepath.Dir(place)), filepath.Base(place))
			}
		}
	}
	return "an unknown place"
}
