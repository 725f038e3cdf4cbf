package table

import (
	"bytes"
	"github.com/parquet-go/parquet-go"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestAdhocMutate(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	r := rand.New(rand.NewPCG(uint64(seed), 2))
	type small struct {
		A int64  `parquet:"a"`
		B string `parquet:"b,dict"`
	}
	goods := [][]byte{parquetBytes(t, parquetRows(), parquet.Compression(&parquet.Snappy)), parquetBytes(t, []small{{1, "x"}, {2, "y"}})}
	end := time.Now().Add(25 * time.Second)
	n := 0
	slow := time.Duration(0)
	for time.Now().Before(end) {
		d := bytes.Clone(goods[r.IntN(2)])
		for range 1 + r.IntN(3) {
			switch r.IntN(3) {
			case 0:
				d[r.IntN(len(d))] = byte(r.IntN(256))
			case 1:
				d[r.IntN(len(d))] ^= 1 << r.IntN(8)
			case 2:
				i := r.IntN(len(d))
				d = append(d[:i], d[i+1:]...)
			}
		}
		os.WriteFile("/tmp/t/last.parquet", d, 0o600)
		s := time.Now()
		Read(t.Context(), bytes.NewReader(d), Options{Name: "x.parquet"})
		if e := time.Since(s); e > slow {
			slow = e
			os.WriteFile("/tmp/t/slow.parquet", d, 0o600)
		}
		n++
	}
	t.Log(n, slow)
}
