package kept

import (
	"context"
	"hash/fnv"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// HashRows returns a hash of each row's content: of the names of its columns
// and of its known cells, whatever their codes and the columns' order. A
// column that is missing throughout might as well not be there. What must be
// chosen at random but depend on the row alone is chosen by it.
func HashRows(ctx context.Context, t *table.Table) ([]uint64, error) {
	b := blockOf(learn.Source{}, t)
	return b.hashes(ctx, saltsOf(b))
}

// salts are what the cells of a schema are hashed with.
type salts struct {
	columns []uint64
	ofValue [][]uint64 // by code
}

func saltsOf(b *block) *salts {
	salts := &salts{make([]uint64, len(b.columns)), make([][]uint64, len(b.columns))}
	ofValue := salts.ofValue
	for i := range b.columns {
		a := &b.schema.Attributes[i]
		salts.columns[i] = hashText(a.Name)
		ofValue[i] = make([]uint64, len(a.Values))
		for v, name := range a.Values {
			ofValue[i][v] = scramble(salts.columns[i] ^ scramble(hashText(name)))
		}
		if b.recode != nil && b.recode[i] != nil {
			own := make([]uint64, len(b.recode[i]))
			for v, code := range b.recode[i] {
				own[v] = ofValue[i][code]
			}
			ofValue[i] = own
		}
	}
	return salts
}

func (b *block) hashes(ctx context.Context, salts *salts) ([]uint64, error) {
	ofValue := salts.ofValue
	hashes := make([]uint64, b.rows)
	err := learn.Split(ctx, b.rows, func(lo, hi int) {
		part := hashes[lo:hi]
		for i, column := range b.columns {
			if column.narrow != nil {
				for k, c := range column.narrow[lo:hi] {
					if c != narrowMissing {
						part[k] += ofValue[i][c]
					}
				}
			}
			if column.codes != nil {
				for k, c := range column.codes[lo:hi] {
					if c >= 0 {
						part[k] += ofValue[i][c]
					}
				}
			}
			if column.words != nil {
				column.hashWords(part, lo, ofValue[i], salts.columns[i])
			}
			if column.floats != nil {
				hashNumbers(part, column.floats[lo:hi], salts.columns[i])
			}
		}
		for k, h := range part {
			part[k] = scramble(h)
		}
	})
	return hashes, err
}

// hashNumbers adds a column's hashes to those of the rows; missing cells have none.
func hashNumbers(hashes []uint64, xs []float64, salt uint64) {
	whole := 0
	if vectors && len(xs) >= 4 {
		whole = len(xs) &^ 3
		hashNumbersVector(whole, &hashes[:whole][0], &xs[0], salt)
	}
	for k, x := range xs[whole:] {
		if !table.IsMissing(x) {
			hashes[whole+k] += scramble(salt ^ math.Float64bits(x+0))
		}
	}
}

func hashText(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// scramble spreads a number over all bits (the finaliser of SplitMix64,
// Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
