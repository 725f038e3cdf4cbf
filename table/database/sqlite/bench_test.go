package sqlite_test

import (
	"database/sql"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// BenchmarkRead reads a table of 20 columns as we do, and as a program does that
// scans rows into typed columns with the driver: rows a second of each. ACCRETE_ROWS
// sets the number of rows.
func BenchmarkRead(b *testing.B) {
	rows := 100_000
	if n, err := strconv.Atoi(os.Getenv("ACCRETE_ROWS")); err == nil {
		rows = n
	}
	address := file(b, `CREATE TABLE wide(f0 REAL, f1 REAL, f2 REAL, f3 REAL, f4 REAL, f5 REAL, f6 REAL, f7 REAL, f8 REAL, f9 REAL, i0 INT, i1 INT, i2 INT, i3 INT, i4 INT, t0 TEXT, t1 TEXT, t2 TEXT, t3 TEXT, t4 TEXT)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < `+strconv.Itoa(rows)+`) INSERT INTO wide SELECT i*.1, i*.2, i*.3, i*.4, i*.5, i*.6, i*.7, i*.8, i*.9, i*.11,
		i, i%7, i%1000, -i, i*30000, 'colour ' || i%5, 'town ' || i%300, CASE i%2 WHEN 0 THEN 'yes' ELSE 'no' END, 'k' || i%20, 'm' || i%9 FROM n`)
	b.Run("accrete", func(b *testing.B) {
		for b.Loop() {
			t, _, err := table.ReadFrom(b.Context(), address, table.Options{})
			if err != nil || t.Rows() != rows {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("driver", func(b *testing.B) {
		for b.Loop() {
			scan(b, address)
		}
		b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
}

func scan(b *testing.B, address string) {
	db, err := sql.Open("sqlite", strings.Replace(address, "sqlite:", "file:", 1))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT * FROM wide")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var f [10][]float64
	var i [5][]int64
	var s [5][]string
	for rows.Next() {
		var x [10]float64
		var y [5]int64
		var w [5]string
		if err := rows.Scan(&x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8], &x[9], &y[0], &y[1], &y[2], &y[3], &y[4], &w[0], &w[1], &w[2], &w[3], &w[4]); err != nil {
			b.Fatal(err)
		}
		for k := range f {
			f[k] = append(f[k], x[k])
		}
		for k := range i {
			i[k], s[k] = append(i[k], y[k]), append(s[k], w[k])
		}
	}
	if rows.Err() != nil {
		b.Fatal(rows.Err())
	}
}
