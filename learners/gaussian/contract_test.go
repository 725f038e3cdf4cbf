package gaussian

import (
	"os"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// The other ways to learn and to update keep the contract too.
func TestContractOfSettings(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		return
	}
	for _, settings := range []map[string]string{
		{"update": "add", "start": "kmeans", "units": "4"},
		{"from": "8", "units": "4", "normal": "3", "starts": "1"},
		{"size": "validation", "units": "6", "starts": "1"},
		{"covariance": "full", "units": "4"},
		{"covariance": "full", "update": "add", "units": "3", "starts": "1"},
	} {
		learntest.RunWith(t, Name, learntest.Options{Settings: settings})
	}
}
