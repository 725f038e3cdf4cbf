package gaussian

import (
	"bufio"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// peer times iterations of scikit-learn's EM on the same rows from the same
// start: that of seven iterations less that of two, over five.
const peer = `
import sys, time, warnings
import numpy as np
from sklearn.mixture import GaussianMixture
warnings.filterwarnings("ignore")
x = np.fromfile(sys.argv[1]).reshape(-1, int(sys.argv[2]))
x = (x - x.mean(axis=0)) / x.std(axis=0)
k = int(sys.argv[3])
start = x[:k].copy()
def seconds(iterations):
    m = GaussianMixture(k, covariance_type="diag", max_iter=iterations, tol=0, means_init=start, weights_init=np.full(k, 1 / k),
                        precisions_init=np.full((k, x.shape[1]), 2.0), init_params="random")
    begin = time.perf_counter()
    m.fit(x)
    return time.perf_counter() - begin
seconds(2)
print((seconds(7) - seconds(2)) / 5)
`

// BenchmarkEMAgainstScikitLearn reports how many times as fast an iteration of
// EM is as scikit-learn's, diagonal, in the same run: a million rows of 14
// columns, ten units.
func BenchmarkEMAgainstScikitLearn(b *testing.B) {
	const rows, columns, units = 1_000_000, 14, 10
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import sklearn").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		b.Skip("there is no scikit-learn here: apt install python3-sklearn")
	}
	data := clusters(rows, columns)
	path := filepath.Join(b.TempDir(), "rows")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	line := make([]float64, columns)
	for r := range rows {
		for j := range line {
			line[j] = data.Columns[j].Floats[r]
		}
		if err := binary.Write(w, binary.LittleEndian, line); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	f.Close()
	out, err := exec.Command(python, "-c", peer, path, strconv.Itoa(columns), strconv.Itoa(units)).Output()
	if err != nil {
		b.Fatal(err)
	}
	theirs, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	e, m := prepared(b, data, units, 1)
	if _, err := e.expect(context.Background(), m.kernel()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s, err := e.expect(context.Background(), m.kernel())
		if err != nil {
			b.Fatal(err)
		}
		e.maximise(s, m)
	}
	ours := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(theirs*1000, "ms-scikit-learn")
	b.ReportMetric(theirs/ours, "times-as-fast")
}
