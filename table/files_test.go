package table_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	. "github.com/accrete-ml/accrete/table"
)

// folder writes files, packed where their names say so, and returns where they are.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			w := gzip.NewWriter(f)
			w.Write([]byte(text))
			w.Close()
		} else {
			f.WriteString(text)
		}
		f.Close()
	}
	return dir
}

// Many files are the table that they would be as one: read at once or in
// batches, with columns from the names of folders last.
func TestManyFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"year=2024/part=a%20b/0.csv":                      "x,y\n1,p\n2,q\n",
		"year=2024/part=__HIVE_DEFAULT_PARTITION__/1.csv": "x,y\n3,p\n",
		"year=2025/part=c/2.csv.gz":                       "y,x\nq,4\np,5\n",
		"year=2025/part=c/_temporary/3.csv":               "z\n1\n",
		"readme.txt":                                      "no table",
	})
	// Folders are walked in the order of their names: that without a value is the first.
	want := "x,y,year,part\n3,p,2024,\n1,p,2024,a b\n2,q,2024,a b\n4,q,2025,c\n5,p,2025,c\n"
	for _, address := range []string{dir, dir + "/**/*.csv*", dir + "/year=202[45]/part=*/*"} {
		whole, report, err := ReadFrom(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), address, Options{Target: "part"})
		if err != nil {
			t.Fatal(err)
		}
		batches, err := All(s)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		for _, got := range []*Table{whole, batches} {
			var text strings.Builder
			if got.WriteCSV(&text); text.String() != want {
				t.Errorf("%s:\n%s", address, text.String())
			}
		}
		if report.Format != "3 files of csv" || report.Rows != 5 || report.Hash == "" || report.Hash != s.Report().Hash {
			t.Errorf("%+v", report)
		}
	}
}

func TestManyFilesDisagree(t *testing.T) {
	for what, files := range map[string]map[string]string{
		`b.csv: has no column "y", which`: {"a.csv": "x,y\n1,2\n", "b.csv": "x\n1\n"},
		`b.csv: has a column "z", which`:  {"a.csv": "x,y\n1,2\n", "b.csv": "x,y,z\n1,2,3\n"},
		`column "x" has numbers in `:      {"a.csv": "x,y\n1,2\n2,2\n", "b.csv": "x,y\nred,2\n"},
		`b.csv:3:`:                        {"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n1,2,3\n"},
		`there are no tables here`:        nil,
	} {
		dir := folder(t, files)
		address := dir + "/*.csv"
		if files == nil {
			address = "files:" + dir
		}
		_, _, err := ReadFrom(t.Context(), address, Options{})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v; expected %s", err, what)
		}
	}
}
