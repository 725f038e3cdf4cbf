package datasets

import (
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// Built-in sets are addresses as files are.
func TestScheme(t *testing.T) {
	for _, address := range []string{"iris", "builtin:iris"} {
		got, report, err := table.ReadFrom(t.Context(), address, table.Options{})
		if err != nil || got.Rows() != 150 || report.Rows != 150 || report.Hash == "" {
			t.Fatalf("%s: %v %+v", address, err, report)
		}
		source, err := table.Open(t.Context(), address, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := table.All(source); err != nil || all.Rows() != 150 {
			t.Error(err)
		}
	}
	if _, err := table.Open(t.Context(), "led:rows=x", table.Options{}); err == nil {
		t.Error("wrong parameters are taken")
	}
}
