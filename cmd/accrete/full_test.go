package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// device mounts a disk of a few bytes in memory, where one may.
func device(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	return dir
}

// Each write meets a disk that is full, really: with every number of blocks
// left, a command does what it should or says in one line that the disk is
// full; what was there before is there still, and no file is there in half.
func TestFullDevice(t *testing.T) {
	data := t.TempDir()
	t.Chdir(data)
	text := "a,b,y\n" + strings.Repeat("1,p,x\n2,q,z\n3,p,x\n4,q,z\n", 500)
	if err := os.WriteFile("d.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := device(t, "192k")
	store := filepath.Join(dir, "s")
	must := func(args ...string) {
		t.Helper()
		if status, text := try(t, args...); status != 0 {
			t.Fatalf("%q: %s", args, text)
		}
	}
	must("learn", "d.csv", "--target", "y", "--learner", "bayes", "--name", "m", "--folds", "0", "--store", store)
	failed := map[string]int{}
	for left := 0; left <= 8; left++ { // blocks
		for _, args := range [][]string{
			{"update", "m", "d.csv"}, {"update", "m", "d.csv", "--keep"}, {"tell", "m", "r.rules"}, {"restore", "m@1"},
			{"export", "m", filepath.Join(dir, "x.model")}, {"predict", "m", "d.csv", "--out", filepath.Join(dir, "p.csv")},
			{"draw", "m", "--out", filepath.Join(dir, "m.svg")}, {"learn", "d.csv", "--target", "y", "--learner", "prior", "--name", "new", "--folds", "0"},
		} {
			fill(t, filepath.Join(dir, "fill"), left)
			before := versions(t, store)
			args = append(args, "--store", store)
			status, text := try(t, args...)
			os.Remove(filepath.Join(dir, "fill"))
			after := versions(t, store)
			switch {
			case status == 0:
			case strings.Count(text, "accrete: ") != 1:
				t.Errorf("%q: not one line: %s", args, text)
			case strings.Contains(text, "space"):
				failed[args[0]]++
				if after != before {
					t.Errorf("%q failed, and there are %s versions instead of %s", args, after, before)
				}
			}
			for _, name := range []string{"x.model", "p.csv", "m.svg"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil && status != 0 && strings.HasSuffix(args[len(args)-3], name) {
					t.Errorf("%q failed, and %s is there", args, name)
				}
				os.Remove(filepath.Join(dir, name))
			}
			try(t, "delete", "new", "--store", store)
		}
	}
	t.Logf("the disk was full for %v", failed)
	if len(failed) < 3 {
		t.Errorf("the disk was full for %v alone", failed)
	}
	must("check", "--store", store)
	must("predict", "m@1", "d.csv", "--out", filepath.Join(data, "p.csv"), "--store", store)
}

// versions is how many versions the model has.
func versions(t *testing.T, store string) string {
	t.Helper()
	status, text := try(t, "log", "m", "--json", "--store", store)
	if status != 0 {
		t.Fatal(text)
	}
	return fmt.Sprint(strings.Count(text, `"version":`))
}

// fill writes until no more than some blocks are left.
func fill(t *testing.T, path string, left int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(0)
	for block := make([]byte, 4096); ; size += 4096 {
		if _, err := f.Write(block); err != nil {
			break
		}
	}
	if err := f.Truncate(max(0, size-int64(left)*4096)); err != nil {
		t.Fatal(err)
	}
}

// In a process that may have little memory, by its own limit or the system's,
// too much of it is refused in one line.
func TestLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit is not everywhere")
	}
	dir := t.TempDir()
	var wide strings.Builder
	wide.WriteString("@relation r\n")
	for i := range 4000 {
		fmt.Fprintf(&wide, "@attribute a%d {x,y}\n", i)
	}
	wide.WriteString("@data\n" + strings.Repeat("{0 y}\n", 40_000))
	if err := os.WriteFile(filepath.Join(dir, "w.arff"), []byte(wide.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"accrete learn w.arff --target a0 --learner bayes --memory 32MiB",
		"accrete describe w.arff --memory 32MiB",
		"ulimit -v 2400000; accrete learn w.arff --target a0 --learner bayes",
	} {
		c := exec.Command("sh", "-c", command)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+accretePath(t)+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err == nil || strings.Contains(string(out), "goroutine") || !strings.Contains(string(out), "memory") || strings.Count(string(out), "accrete: ") != 1 {
			t.Errorf("%s: %v: %.400s", command, err, out)
		}
	}
}

// accretePath is a folder in which this program is called accrete.
func accretePath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(dir, "accrete")); err != nil {
		t.Fatal(err)
	}
	return dir
}
