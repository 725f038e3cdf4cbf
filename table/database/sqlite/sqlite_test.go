package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/database/sqlite"
)

// file makes a file of tables, and returns its address.
func file(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a shop?.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(path, "?", "%3f"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite:" + strings.ReplaceAll(path, "?", "%3f")
}

const kinds = `CREATE TABLE kinds(id INTEGER PRIMARY KEY, whole INT, amount REAL, price DECIMAL(9,2), code TEXT, tag VARCHAR(3), day DATE, moment DATETIME, flag BOOLEAN, any)`

// Declared types say what columns are; a column without one tells by its cells.
func TestTypesAreTheDeclaredOnes(t *testing.T) {
	address := file(t, kinds, `INSERT INTO kinds VALUES (1, 1, 1.5, 2.25, '007', 'a', '2024-03-01', '2024-03-01 12:00:00', 1, 5), (2, NULL, NULL, NULL, NULL, 'NA', NULL, NULL, 0, 'x'), (3, 7, 8, 9, '', 'b', '2024-03-02', '2024-03-02 06:00:00', 1, 2.5)`)
	got, report, err := table.ReadFrom(t.Context(), address+"?table=kinds", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := got.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	want := `whole,amount,price,code,tag,day,moment,flag,any
1,1.5,2.25,007,a,2024-03-01,2024-03-01T12:00:00,1,5
,,,,NA,,,0,x
7,8,9,,b,2024-03-02,2024-03-02T06:00:00,1,2.5
`
	if text.String() != want || report.Rows != 3 || report.Hash == "" {
		t.Errorf("got\n%s%+v", text.String(), report)
	}
	// The only table need not be named, and the hash has no order.
	_, again, err := table.ReadFrom(t.Context(), address, table.Options{})
	if err != nil || again.Hash != report.Hash {
		t.Errorf("%v, %v", again, err)
	}
	_, again, err = table.ReadFrom(t.Context(), address+"?query=select * from kinds order by id desc", table.Options{})
	if err != nil || again.Hash != report.Hash {
		t.Errorf("%v, %v", again, err)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	address := file(t, kinds, `INSERT INTO kinds(whole, amount) VALUES (1, 2), (2, 'much')`, `CREATE TABLE other(a INT, b INT)`)
	for what, want := range map[string]string{
		"":                             "which table? add ?table=NAME, with one of kinds, other",
		"?table=kind":                  `has no table "kind"; did you mean "kinds"?`,
		"?table=other":                 "no rows",
		"?table=kinds":                 `row 2: column "amount": "much" is not a number`,
		"?query=selec 1":               "syntax error",
		"?query=select a from nowhere": "no such table",
		"?query=delete from kinds":     "syntax error",
		"?query=select 1; select 2":    "syntax error",
		"?table=kinds&query=select 1":  "both",
	} {
		_, _, err := table.ReadFrom(t.Context(), address+what, table.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "sqlite:") != 1 {
			t.Errorf("%s: %v; expected %s", what, err, want)
		}
	}
	if _, _, err := table.ReadFrom(t.Context(), "sqlite:nowhere.db?table=a", table.Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// All passes over the rows are one transaction, and whoever does not want to wait
// any more does not.
func TestOneTransaction(t *testing.T) {
	address := file(t, `PRAGMA journal_mode=WAL`, `CREATE TABLE moving(x INT, c TEXT)`, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 30000) INSERT INTO moving SELECT i, CASE i%2 WHEN 0 THEN 'a' ELSE 'b' END FROM n`)
	s, err := table.Open(t.Context(), address+"?table=moving", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", strings.Replace(address, "sqlite:", "file:", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`DELETE FROM moving WHERE x > 10`); err != nil {
		t.Fatal(err)
	}
	if all, err := table.All(s); err != nil || all.Rows() != 30000 {
		t.Errorf("%v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begin := time.Now()
	_, _, err = table.ReadFrom(ctx, address+"?query=WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) AS many, 1 AS one FROM n", table.Options{})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestWritten(t *testing.T) {
	address := file(t, `CREATE TABLE other(a INT)`) + "?table=answers&key=id"
	columns := []table.Written{{Name: "id", Whole: true}, {Name: "prediction"}, {Name: "probability", Number: true}}
	write := func(rows string) error {
		_, err := table.WriteTo(t.Context(), address, columns, strings.NewReader("id,prediction,probability\n"+rows))
		return err
	}
	if err := write("1,\"a, b\",0.5\n2,,1\n"); err != nil {
		t.Fatal(err)
	}
	if err := write("3,c,1\n2,d,1\n"); err == nil || !strings.Contains(err.Error(), "UNIQUE constraint failed: answers.id") || !strings.Contains(err.Error(), "nothing was written") {
		t.Error(err)
	}
	got, _, err := table.ReadFrom(t.Context(), address, table.Options{Nominal: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if got.WriteCSV(&text); text.String() != "id,prediction,probability\n1,\"a, b\",0.5\n2,,1\n" {
		t.Error(text.String())
	}
	f, err := table.FeedOf(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.Stage(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, report, err := f.Read(t.Context(), table.Options{Nominal: []string{"id"}})
	if err != nil || again.Rows() != 2 || again.Text(0, 0) != "1" || report.Hash == "" {
		t.Errorf("%v, %v", again, err)
	}
}

// Tables that point at each other are read together, by the keys of the catalogue; one
// that names no column is of the primary key.
func TestCatalogue(t *testing.T) {
	address := file(t, `CREATE TABLE people(id INTEGER PRIMARY KEY, age INT, gone TEXT)`,
		`CREATE TABLE orders(number TEXT, shop INT, of INT REFERENCES people, PRIMARY KEY(shop, number))`,
		`CREATE TABLE lines(shop INT, "order" TEXT, pieces INT, FOREIGN KEY(shop, "order") REFERENCES orders(shop, number))`,
		`INSERT INTO people VALUES (1, 20, 'yes'), (2, 30, 'no')`, `INSERT INTO orders VALUES ('a', 1, 1), ('b', 1, 2)`, `INSERT INTO lines VALUES (1, 'a', 5), (1, 'b', 2)`)
	c, err := table.CatalogueOf(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	want := []table.Link{
		{Table: "lines", Columns: []string{"shop", "order"}, To: "orders", ToColumns: []string{"shop", "number"}},
		{Table: "orders", Columns: []string{"of"}, To: "people", ToColumns: []string{"id"}},
	}
	if len(c.Tables) != 3 || !reflect.DeepEqual(c.Foreign, want) || !reflect.DeepEqual(c.Primary["orders"], []string{"shop", "number"}) {
		t.Errorf("%+v", c)
	}
	rows, report, err := table.Database(t.Context(), address, table.Options{Target: "people.gone"})
	if err != nil || rows.Rows() != 2 || len(rows.Linked.Tables) != 3 || rows.Linked.Of != "people" || report.Hash == "" {
		t.Errorf("%+v, %v", report, err)
	}
	if _, _, err := table.Database(t.Context(), address, table.Options{}); err == nil || !strings.Contains(err.Error(), "TABLE.COLUMN") {
		t.Errorf("without a target: %v", err)
	}
	if c, err := table.CatalogueOf(t.Context(), address+"?table=people"); c != nil || err != nil {
		t.Errorf("of one table: %+v, %v", c, err)
	}
}
