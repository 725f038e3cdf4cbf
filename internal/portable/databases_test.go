package portable_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// PostgreSQL computes what the model predicts, to 1e-9. It runs by itself, without
// a server, in a folder that is gone afterwards; its programs refuse to be root.
func TestPostgreSQL(t *testing.T) {
	dir, err := os.MkdirTemp("", "accrete-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		other, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("there is no user for PostgreSQL (scripts/postgres installs it): what it computes is not compared")
		}
		uid, _ := strconv.Atoi(other.Uid)
		gid, _ := strconv.Atoi(other.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	do := func(program, stdin string, args ...string) {
		t.Helper()
		c := exec.Command(ofPostgreSQL(t, program), args...)
		c.Dir, c.SysProcAttr, c.Env = dir, as, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + dir}
		c.Stdin = strings.NewReader(stdin)
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "ERROR:") {
			t.Fatalf("%s: %v\n%.2000s", program, err, out[max(0, strings.Index(string(out), "ERROR:")):])
		}
	}
	data := filepath.Join(dir, "data")
	do("initdb", "", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	var script strings.Builder
	for i, s := range models(t) {
		script.WriteString(s.create(fmt.Sprintf("t%d", i), "double precision") + "\n")
		text, err := s.program.SQL("postgres", fmt.Sprintf("t%d", i), "the row")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "COPY (SELECT * FROM (\n%s\n) AS answers ORDER BY \"the row\") TO '%s/%d' (DELIMITER '|');\n\n", strings.TrimSuffix(strings.TrimSpace(string(text)), ";"), dir, i)
	}
	do("postgres", script.String(), "--single", "-j", "-D", data, "-c", "fsync=off", "postgres")
	for i, s := range models(t) {
		out, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		got, said := answered(t, s, regexp.MustCompile(`(?m)\|\d+$`).ReplaceAllString(string(out), "")) // without the row
		s.compare(t, 1e-9, got, said)
	}
}

// ofPostgreSQL finds a program of PostgreSQL's.
func ofPostgreSQL(t testing.TB, name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(paths) == 0 {
		t.Skip("PostgreSQL is not installed (scripts/postgres does it): what it computes is not compared")
	}
	return slices.Max(paths)
}

const duckMain = `
const { DuckDBInstance } = require("@duckdb/node-api"), all = JSON.parse(require("fs").readFileSync("all.json"));
(async () => {
	const c = await (await DuckDBInstance.create(":memory:")).connect(), given = [];
	for (const [create, query] of all) {
		await c.run(create);
		const rows = (await c.runAndReadAll(query)).getRows();
		given.push({ said: rows.map((r) => String(r[0])), numbers: rows.map((r) => r.filter((x) => typeof x === "number")) });
	}
	console.log(JSON.stringify(given));
})().catch((e) => { console.error(e); process.exit(1); });
`

// DuckDB computes what the model predicts, to 1e-9.
func TestDuckDB(t *testing.T) {
	node := needs(t, "node")
	cache, err := os.UserCacheDir()
	modules := filepath.Join(cache, "accrete", "duckdb", "node_modules")
	if _, missing := os.Stat(filepath.Join(modules, "@duckdb", "node-api")); err != nil || missing != nil {
		t.Skip("DuckDB is not installed (scripts/duckdb does it): what it computes is not compared")
	}
	dir := t.TempDir()
	var all [][2]string
	for i, s := range models(t) {
		name := fmt.Sprintf("t%d", i)
		text, err := s.program.SQL("duckdb", name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]string{s.create(name, "double"), string(text)})
	}
	write(t, filepath.Join(dir, "all.json"), all)
	write(t, filepath.Join(dir, "main.js"), []byte(duckMain))
	t.Setenv("NODE_PATH", modules)
	compareAll(t, run(t, dir, "", node, "main.js"), 1e-9)
}
