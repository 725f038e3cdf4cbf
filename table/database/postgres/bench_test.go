package postgres_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/accrete-ml/accrete/table"
)

// BenchmarkRead reads a table of 20 columns as we do, and as a program does that
// scans rows into typed columns with pgx: rows a second of each. ACCRETE_ROWS sets
// the number of rows.
func BenchmarkRead(b *testing.B) {
	rows := 200_000
	if n, err := strconv.Atoi(os.Getenv("ACCRETE_ROWS")); err == nil {
		rows = n
	}
	do(b, `DROP TABLE IF EXISTS wide; CREATE UNLOGGED TABLE wide(f0 float8, f1 float8, f2 float8, f3 float8, f4 float8, f5 float8, f6 float8, f7 float8, f8 float8, f9 float8,
		i0 int, i1 int, i2 int, i3 int, i4 bigint, t0 text, t1 text, t2 text, t3 text, d0 date);
		INSERT INTO wide SELECT random(), random(), random(), random(), random(), random(), random(), random(), random(), random(),
		i, i%7, i%1000, -i, i*3000000000, 'colour ' || i%5, 'town ' || i%300, CASE WHEN i%2=0 THEN 'yes' ELSE 'no' END, 'k' || i%20, date '2020-01-01' + i%2000 FROM generate_series(1, `+strconv.Itoa(rows)+`) i`)
	b.Run("accrete", func(b *testing.B) {
		for b.Loop() {
			t, _, err := table.ReadFrom(b.Context(), at(b, "table=wide"), table.Options{})
			if err != nil || t.Rows() != rows {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("pgx", func(b *testing.B) {
		for b.Loop() {
			scan(b, rows)
		}
		b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
}

func scan(b *testing.B, want int) {
	c, err := pgx.Connect(b.Context(), database(b)+"?sslmode=disable")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(context.Background())
	rows, err := c.Query(b.Context(), "SELECT * FROM wide")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var f [10][]float64
	var i [4][]int32
	var l []int64
	var s [4][]string
	var d []time.Time
	n := 0
	for ; rows.Next(); n++ {
		var x [10]float64
		var y [4]int32
		var z int64
		var w [4]string
		var at time.Time
		if err := rows.Scan(&x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8], &x[9], &y[0], &y[1], &y[2], &y[3], &z, &w[0], &w[1], &w[2], &w[3], &at); err != nil {
			b.Fatal(err)
		}
		for k := range f {
			f[k] = append(f[k], x[k])
		}
		for k := range i {
			i[k], s[k] = append(i[k], y[k]), append(s[k], w[k])
		}
		l, d = append(l, z), append(d, at)
	}
	if rows.Err() != nil || n != want || len(l) != len(d) {
		b.Fatal(rows.Err(), n)
	}
}
