// Command packages puts the binaries of a release into what people unpack: an
// archive for each (zip for Windows, tar.gz for the others) with licence, manual
// and completions, and a Homebrew formula that names their checksums. The same
// files give the same bytes: entries are sorted and bear the time of the commit.
//
//	packages VERSION FOLDER SHARE    binaries are FOLDER/accrete_VERSION_OS_ARCH
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed accrete.rb
var formula string

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: packages VERSION FOLDER SHARE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// entry is a file of an archive.
type entry struct {
	name, from string
	mode       fs.FileMode
}

func pack(version, folder, share string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: expected seconds since 1970: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	binaries, err := filepath.Glob(filepath.Join(folder, "accrete_"+version+"_*"))
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for _, binary := range binaries {
		if strings.HasSuffix(binary, ".tar.gz") || strings.HasSuffix(binary, ".zip") {
			continue
		}
		target := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(binary), "accrete_"+version+"_"), ".exe")
		to, write, program := strings.TrimSuffix(binary, ".exe")+".tar.gz", writeTar, "accrete"
		if strings.HasPrefix(target, "windows") {
			to, write, program = strings.TrimSuffix(binary, ".exe")+".zip", writeZip, "accrete.exe"
		}
		entries, err := entriesOf(binary, program, share)
		if err != nil {
			return err
		}
		if sums[target], err = archive(to, entries, at, write); err != nil {
			return err
		}
	}
	return writeFormula(filepath.Join(folder, "accrete.rb"), version, sums)
}

// entriesOf lists what goes into the archive of a binary, sorted.
func entriesOf(binary, program, share string) ([]entry, error) {
	entries := []entry{{program, binary, 0o755}, {"LICENSE", "LICENSE", 0o644}, {"README.md", "README.md", 0o644}}
	err := filepath.WalkDir(share, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(share, path)
		entries = append(entries, entry{filepath.ToSlash(name), path, 0o644})
		return err
	})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, err
}

// archive writes a file and returns its checksum.
func archive(to string, entries []entry, at time.Time, write func(io.Writer, []entry, time.Time) error) (string, error) {
	f, err := os.Create(to)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if err := write(io.MultiWriter(f, sum), entries, at); err != nil {
		f.Close()
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), f.Close()
}

func writeTar(w io.Writer, entries []entry, at time.Time) error {
	packed := gzip.NewWriter(w)
	files := tar.NewWriter(packed)
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		if err := files.WriteHeader(&tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(data)), ModTime: at}); err != nil {
			return err
		}
		if _, err := files.Write(data); err != nil {
			return err
		}
	}
	if err := files.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func writeZip(w io.Writer, entries []entry, at time.Time) error {
	files := zip.NewWriter(w)
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(e.mode)
		to, err := files.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return files.Close()
}

// systems are those that Homebrew knows, by its names and by Go's.
var systems = [][2]string{{"on_macos", "darwin"}, {"on_linux", "linux"}}

// processors are theirs.
var processors = [][2]string{{"on_arm", "arm64"}, {"on_intel", "amd64"}}

// writeFormula writes the Homebrew formula of the archives that are there.
func writeFormula(to, version string, sums map[string]string) error {
	type packed struct{ Name, File, Sum string }
	type system struct {
		Name     string
		Archives []packed
	}
	var there []system
	for _, s := range systems {
		of := system{Name: s[0]}
		for _, p := range processors {
			if sum, ok := sums[s[1]+"_"+p[1]]; ok {
				of.Archives = append(of.Archives, packed{p[0], fmt.Sprintf("accrete_%s_%s_%s.tar.gz", version, s[1], p[1]), sum})
			}
		}
		if of.Archives != nil {
			there = append(there, of)
		}
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	err = template.Must(template.New("").Parse(formula)).Execute(f, map[string]any{"Version": version, "Systems": there})
	if err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
