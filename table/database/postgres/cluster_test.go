package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The tests share a private cluster: it is made in a folder of its own, listens
// on a free port, and is gone when they end.

// password is what must be found nowhere.
const password = "geheim-7f3a"

// server is the address of the cluster with the password, "" if there is none.
var server, why string

func TestMain(m *testing.M) {
	stop, err := startCluster()
	if err != nil {
		why = err.Error()
	}
	code := m.Run()
	if stop != nil {
		stop()
	}
	os.Exit(code)
}

// database returns the address of the cluster, or skips the test.
func database(t testing.TB) string {
	if server == "" {
		t.Skip("there is no PostgreSQL: " + why + "; scripts/postgres installs it")
	}
	return server
}

// at is the address of a table or a query.
func at(t testing.TB, what string) string { return database(t) + "?sslmode=disable&" + what }

// do runs statements.
func do(t testing.TB, statements string) {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), database(t)+"?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// program finds a program of PostgreSQL's.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(paths) == 0 {
		return "", errors.New(name + " is not installed")
	}
	slices.Sort(paths)
	return paths[len(paths)-1], nil
}

// startCluster makes and starts a cluster. Its programs refuse to be root.
func startCluster() (stop func(), err error) {
	initdb, err := program("initdb")
	if err != nil {
		return nil, err
	}
	postgres, err := program("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "accrete-postgres")
	if err != nil {
		return nil, err
	}
	gone := func() { os.RemoveAll(dir) }
	as := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		other, err := user.Lookup("postgres")
		if err != nil {
			other, err = user.Lookup("nobody")
		}
		if err != nil {
			gone()
			return nil, err
		}
		uid, _ := strconv.Atoi(other.Uid)
		gid, _ := strconv.Atoi(other.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := errors.Join(os.Chown(dir, uid, gid), os.Chmod(dir, 0o700)); err != nil {
			gone()
			return nil, err
		}
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.SysProcAttr = dir, as
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + dir}
		return c
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		gone()
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if out, err := run(initdb, "-D", data, "-U", "tester", "-A", "scram-sha-256", "--pwfile="+secret, "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		gone()
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		gone()
		return nil, err
	}
	c := run(postgres, "-D", data, "-k", dir, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off", "-c", "autovacuum=off", "-c", "max_wal_size=1GB")
	if err := c.Start(); err != nil {
		gone()
		return nil, err
	}
	stop = func() {
		_ = c.Process.Signal(syscall.SIGQUIT) // at once: nothing of it is kept
		_ = c.Wait()
		gone()
	}
	server = "postgres://tester:" + password + "@127.0.0.1:" + port + "/postgres"
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgconn.Connect(context.Background(), server+"?sslmode=disable")
		if err == nil {
			_ = conn.Close(context.Background())
			return stop, nil
		}
		if time.Now().After(end) {
			stop()
			server = ""
			return nil, errors.New(strings.ReplaceAll(err.Error(), password, "xxxxx"))
		}
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
