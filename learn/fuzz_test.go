package learn

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/setting"
)

// FuzzSet: a setting is taken, or refused in one line; never anything else.
func FuzzSet(f *testing.F) {
	for _, s := range [][2]string{{"measure", "ratio"}, {"depth", "9223372036854775807"}, {"rate", "1e999"}, {"m", "-0"}, {"names", ""}, {"a.b", "c"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		defer bounded.Start(t, len(key)+len(value))()
		l := &tunable{}
		if err := Set(l, key, value); err == nil && (l.Depth > setting.MostCount || l.Depth < -setting.MostCount) {
			t.Errorf("%s=%s is %d", key, value, l.Depth)
		} else if err != nil && strings.Contains(err.Error(), "\n") && !strings.Contains(key+value, "\n") {
			t.Errorf("more than a line: %q", err)
		}
	})
}
