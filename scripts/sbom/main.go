// Command sbom writes what is in Go binaries as a bill of materials in
// CycloneDX 1.5 JSON: the modules that were really linked, by their checksums, with
// their licences as docs/dependencies.md has them, which a test compares with the
// modules themselves.
//
// scripts/release calls it for the binaries of cmd/accrete.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	// Licenses are by name, of which not all are SPDX identifiers.
	Licenses []license `json:"licenses,omitempty"`
	// Properties carry the checksum as Go writes it.
	Properties []property `json:"properties,omitempty"`
}

type license struct {
	License struct {
		Name string `json:"name"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION BINARY...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// licences reads the table of modules: | path | version | licence | …
func licences(page string) (map[string][]license, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	all := map[string][]license{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			l := license{}
			l.License.Name = strings.TrimSpace(cells[3])
			all[strings.TrimSpace(cells[1])] = []license{l}
		}
	}
	return all, nil
}

func run(version string, binaries []string) error {
	licensed, err := licences("docs/dependencies.md")
	if err != nil {
		return err
	}
	all := map[string]component{}
	main := component{}
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		main = component{Type: "application", Name: info.Main.Path, Version: version, PURL: "pkg:golang/" + info.Main.Path + "@v" + version}
		all["std"] = component{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			all[m.Path] = component{
				Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
				Licenses: licensed[m.Path], Properties: []property{{"go:sum", m.Sum}},
			}
			if licensed[m.Path] == nil {
				return fmt.Errorf("%s is in %s, and docs/dependencies.md does not say its licence", m.Path, path)
			}
		}
	}
	components := slices.SortedFunc(maps.Values(all), func(a, b component) int { return cmp.Compare(a.Name, b.Name) })
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": main},
		"components": components,
	})
}
