package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/accrete-ml/accrete/learners/bayes"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/database/postgres"
)

// The catalogue says what columns are: names that look like numbers stay names,
// decimals and durations are numbers, moments are in UTC, and what has no kind of
// its own is its text.
func TestTypesAreThoseOfTheCatalogue(t *testing.T) {
	do(t, `CREATE TYPE mood AS ENUM ('sad', 'glad');
		CREATE TABLE kinds(id serial PRIMARY KEY, small smallint, whole integer, large bigint, single real, double double precision, price numeric(12,2), cash money,
			flag boolean, code text, tag varchar(9), fixed char(4), feeling mood, day date, moment timestamp, zoned timestamptz, clock time, lasts interval, list int[], doc jsonb, "Odd ""name" text);
		INSERT INTO kinds(small, whole, large, single, double, price, cash, flag, code, tag, fixed, feeling, day, moment, zoned, clock, lasts, list, doc, "Odd ""name") VALUES
			(-1, 2, 9007199254740992, 1.5, 1e300, 12.34, 1.5, true, '007', 'a', 'x', 'sad', '2024-03-01', '2024-03-01 12:00', '2024-03-01 12:00+02', '00:00:01.5', '1 day 1 second', '{1,2}', '{"a": 1}', 'é'),
			(NULL, NULL, NULL, 'NaN', NULL, 'NaN', NULL, NULL, '', NULL, NULL, NULL, 'infinity', NULL, '-infinity', NULL, NULL, NULL, NULL, NULL),
			(3, -4, 5, 6, -7, -0.01, -2, false, '10', 'b', 'yyyy', 'glad', '1969-12-31', '1969-12-31 18:00', '1970-01-01 00:00+00', '23:00', '-1 second', '{}', 'null', '"')`)
	got, report, err := table.ReadFrom(t.Context(), at(t, "table=kinds"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := got.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	want := `small,whole,large,single,double,price,cash,flag,code,tag,fixed,feeling,day,moment,zoned,clock,lasts,list,doc,"Odd ""name"
-1,2,9007199254740992,1.5,1e+300,12.34,1.5,true,007,a,x,sad,2024-03-01,2024-03-01T12:00:00,2024-03-01T10:00:00,1.5,86401,"{1,2}","{""a"": 1}",é
?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?
3,-4,5,6,-7,-0.01,-2,false,10,b,yyyy,glad,1969-12-31,1969-12-31T18:00:00,1970-01-01T00:00:00,82800,-1,{},null,""""
`
	if text.String() != strings.ReplaceAll(want, "?", "") {
		t.Errorf("got\n%s\nexpected\n%s", text.String(), want)
	}
	for _, name := range []string{"code", "flag", "feeling"} {
		if got.Schema.Attributes[got.Schema.Index(name)].Kind != table.Nominal {
			t.Errorf("%s is no name", name)
		}
	}
	if strings.Contains(report.Address, password) || report.Rows != 3 || report.Hash == "" || report.Snapshot == "" || len(report.IDs) != 1 || report.IDs[0] != "id" {
		t.Errorf("%+v", report)
	}
}

// The hash is of the rows, whatever their order.
func TestHashHasNoOrder(t *testing.T) {
	hash := func(query string) string {
		t.Helper()
		_, report, err := table.ReadFrom(t.Context(), at(t, "query="+query), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return report.Hash
	}
	up, down := hash("select i, i%3 as m from generate_series(1,5000) i order by i"), hash("select i, i%3 as m from generate_series(1,5000) i order by i desc")
	if up != down {
		t.Error("the order changes the hash")
	}
	if other := hash("select i, i%3 as m from generate_series(1,5000) i union all select 1, 1"); other == up {
		t.Error("a row that comes twice does not change the hash")
	}
	if other := hash("select i, i%3 as n from generate_series(1,5000) i"); other == up {
		t.Error("the name of a column does not change the hash")
	}
}

// Both passes see one snapshot: what others change meanwhile is not there.
func TestOneSnapshot(t *testing.T) {
	do(t, `CREATE TABLE moving AS SELECT i AS x, CASE WHEN i%2=0 THEN 'a' ELSE 'b' END AS c FROM generate_series(1,40000) i`)
	s, err := table.Open(t.Context(), at(t, "table=moving"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do(t, `DELETE FROM moving WHERE x > 10; INSERT INTO moving VALUES (1, 'new')`)
	all, err := table.All(s)
	if err != nil || all.Rows() != 40000 || len(all.Schema.Attributes[1].Values) != 2 {
		t.Errorf("%v rows, %v", all, err)
	}
}

// Whoever does not want to wait any more does not.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	begin := time.Now()
	_, _, err := table.ReadFrom(ctx, at(t, "query=select i, pg_sleep(0.0001) is null as s from generate_series(1,100000000) i"), table.Options{})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 900*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		busy, _, err := table.ReadFrom(t.Context(), at(t, "query=select count(*) as n, 1 as one from pg_stat_activity where query like '%generate_series(1,100000000)%' and state = 'active' and pid <> pg_backend_pid()"), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if busy.Columns[0].Floats[0] == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the server still works for nobody")
		}
	}
}

// A server that goes away in the middle is an error that says so.
func TestLostInTheMiddle(t *testing.T) {
	s, err := table.Open(t.Context(), at(t, "query=select i, repeat('x', 100) || i%7 as pad from generate_series(1,300000) i"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	do(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'accrete'`)
	for err == nil {
		_, err = s.Next()
	}
	if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "rows: ") || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// What cannot be read is said in a line, and never with the password.
func TestWhatCannotBeRead(t *testing.T) {
	do(t, `CREATE TABLE empty(a int, b int)`)
	for address, want := range map[string]string{
		at(t, "table=knds"):                          `has no table "knds"`,
		at(t, ""):                                    "which table?",
		at(t, "query=select"):                        "the query has no columns",
		at(t, "query=selec 1"):                       "syntax error",
		at(t, "query=select 1/0 as x"):               "division by zero",
		at(t, "query=select 1) q; drop table kinds"): "syntax error",
		at(t, "query=delete from kinds"):             "syntax error",
		at(t, "table=a&query=b"):                     "both a table and a query",
		at(t, "table=empty"):                         "no rows",
		strings.Replace(at(t, "table=a"), password, password+"x", 1):        "PGPASSWORD or ~/.pgpass says the password",
		strings.Replace(at(t, "table=a"), "/postgres", "/nodb", 1):          `database "nodb" does not exist`,
		strings.Replace(at(t, "table=a"), "@127.0.0.1:", "@127.0.0.1:1", 1): "xxxxx@127.0.0.1",
		"postgres://tester:" + password + "@127.0.0.1:1/db?table=a":         "cannot connect",
		"postgres://tester:" + password + "@%zz/db?table=a":                 "is no address",
		database(t) + "?sslmode=never&table=a":                              "is no address",
	} {
		_, _, err := table.ReadFrom(t.Context(), address, table.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; expected %s", strings.ReplaceAll(address, password, "…"), err, want)
		}
	}
}

// A model learns from the database as it does from a file, remembers what it
// learnt without the password, and can read it again.
func TestLearntFromTheDatabase(t *testing.T) {
	do(t, `CREATE TABLE visits AS SELECT i AS age, 'n' || i%7 AS name, i%3=0 AS smoker, CASE WHEN i%3=0 THEN 'ill' ELSE 'well' END AS outcome FROM generate_series(1,60000) i`)
	dir := t.TempDir()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &life.Home{Store: s, Now: time.Now, Seed: 1}
	d, err := h.Find(at(t, "table=visits"), life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.Learn(t.Context(), life.LearnOptions{Data: d, Target: "outcome", Choice: life.Choice{Learner: "bayes"}, Folds: -1})
	if err != nil {
		t.Fatal(err)
	}
	if l.Model != "visits" || l.Rows != 60000 || l.Estimate == nil || *l.Accuracy != 1 {
		t.Errorf("%+v", l)
	}
	v := l.Part.Version
	if !strings.HasPrefix(v.Source.Path, "postgres://tester:xxxxx@") || v.Source.Hash == "" || v.Settings["--snapshot"] == "" {
		t.Errorf("%+v", v)
	}
	if strings.Contains(d.Arg, password) {
		t.Error("the data are called with the password")
	}
	// Read again by another address of the same rows: the hash is the same.
	at := life.Elsewhere{v.Source.Name: at(t, "query=select * from visits order by age desc")}
	learnt, err := h.LearntRows(t.Context(), l.Part, at)
	if err != nil || len(learnt) != 1 || learnt[0].Table.Rows() != 60000 {
		t.Errorf("%v: %v", learnt, err)
	}
	// And by the address that was kept: the environment says the password.
	t.Setenv("PGPASSWORD", password)
	if learnt, err = h.LearntRows(t.Context(), l.Part, nil); err != nil || len(learnt) != 1 || learnt[0].Table.Rows() != 60000 {
		t.Errorf("%v: %v", learnt, err)
	}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte(password)) {
				t.Errorf("%s has the password (%v)", path, err)
			}
		}
		return nil
	})
}

// Answers go back with the keys of their rows, all or none.
func TestWritten(t *testing.T) {
	do(t, `CREATE TABLE asked(id bigint PRIMARY KEY, name text); INSERT INTO asked VALUES (9007199254740993, 'a'), (2, 'b')`)
	columns := []table.Written{{Name: "id", Whole: true, Key: true}, {Name: "prediction"}, {Name: "probability", Number: true}}
	rows := "id,prediction,probability\n9007199254740993,\"yes, \"\"sir\"\"\",0.5\n2,,1e-3\n"
	n, err := table.WriteTo(t.Context(), at(t, "table=answers"), columns, strings.NewReader(rows))
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	count := func() (rows float64) {
		t.Helper()
		got, _, err := table.ReadFrom(t.Context(), at(t, "query=select count(*) as n, count(prediction) as known, sum(id) as ids from answers"), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Columns[0].Floats[0]
	}
	if count() != 2 {
		t.Error(count())
	}
	for text, want := range map[string]string{
		"id,prediction,probability\n3,c,1\n2,d,1\n": "duplicate key value",
		"id,prediction,probability\n3,c,1\n4,d,x\n": "invalid input syntax",
	} {
		if _, err := table.WriteTo(t.Context(), at(t, "table=answers"), columns, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was written") || strings.Contains(err.Error(), password) {
			t.Error(err)
		}
	}
	if count() != 2 {
		t.Errorf("%v rows after what failed", count())
	}
	if _, err := table.WriteTo(t.Context(), at(t, "table=visitors&key=who"), columns, strings.NewReader(rows)); err == nil || !strings.Contains(err.Error(), `"who"`) {
		t.Error(err)
	}
}

// Keys are exact however long they are, and stand beside their own row's answer
// also where rows come in no order.
func TestKeysOfAnswers(t *testing.T) {
	do(t, `CREATE TABLE lesson(id bigint PRIMARY KEY, x double precision, y text);
		INSERT INTO lesson SELECT 9007199254740992 + i, i%10, CASE WHEN i%10 < 5 THEN 'low' ELSE 'high' END FROM generate_series(1, 30000) i ORDER BY random()`)
	h := &life.Home{Now: time.Now, Seed: 1}
	d, err := h.Find(at(t, "table=lesson"), life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.LearnInMemory(t.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: "bayes"}})
	if err != nil {
		t.Fatal(err)
	}
	var how life.Answering
	if err := how.ByKey(t.Context(), d); err != nil || how.ID != "id" {
		t.Fatal(how.ID, err)
	}
	var text bytes.Buffer
	if _, err := h.WriteAnswers(t.Context(), p, d, &text, &how); err != nil {
		t.Fatal(err)
	}
	if n, err := table.WriteTo(t.Context(), at(t, "table=judged"), how.Columns, &text); err != nil || n != 30000 {
		t.Fatal(n, err)
	}
	got, _, err := table.ReadFrom(t.Context(), at(t, "query=select count(*) as n, sum((prediction = y)::int) as right from judged join lesson using (id)"), table.Options{})
	if err != nil || got.Columns[0].Floats[0] != 30000 || got.Columns[1].Floats[0] != 30000 {
		t.Errorf("%v: %v", got, err)
	}
}

// Tables that point at each other are read together, by the keys of the catalogue.
func TestCatalogue(t *testing.T) {
	do(t, `CREATE TABLE linked_people(id int PRIMARY KEY, age int, gone text);
		CREATE TABLE linked_orders(shop int, number text, of int REFERENCES linked_people, PRIMARY KEY(shop, number));
		CREATE TABLE linked_lines(shop int, "order" text, pieces int, FOREIGN KEY(shop, "order") REFERENCES linked_orders(shop, number));
		INSERT INTO linked_people VALUES (1, 20, 'yes'), (2, 30, 'no'); INSERT INTO linked_orders VALUES (1, 'a', 1), (1, 'b', 2); INSERT INTO linked_lines VALUES (1, 'a', 5), (1, 'b', 2)`)
	defer do(t, `DROP TABLE linked_lines, linked_orders, linked_people`)
	address := database(t) + "?sslmode=disable"
	c, err := table.CatalogueOf(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	links := slices.DeleteFunc(c.Foreign, func(l table.Link) bool { return !strings.HasPrefix(l.Table, "linked_") })
	want := []table.Link{
		{Table: "linked_lines", Columns: []string{"shop", "order"}, To: "linked_orders", ToColumns: []string{"shop", "number"}},
		{Table: "linked_orders", Columns: []string{"of"}, To: "linked_people", ToColumns: []string{"id"}},
	}
	if !reflect.DeepEqual(links, want) || !reflect.DeepEqual(c.Primary["linked_orders"], []string{"shop", "number"}) {
		t.Errorf("%+v", c)
	}
	rows, _, err := table.Database(t.Context(), address, table.Options{Target: "linked_people.gone"})
	if err != nil || rows.Rows() != 2 || rows.Linked.Of != "linked_people" || strings.Contains(rows.Linked.Of, password) {
		t.Errorf("%v", err)
	}
}
