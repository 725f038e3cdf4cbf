// Command sbom writes what is in Go binaries as a bill of materials in
// CycloneDX 1.5 JSON: the modules that were really linked, by their checksums.
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
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	// Properties carry the checksum as Go writes it.
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(binaries []string) error {
	all := map[string]component{}
	main := component{}
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		main = component{Type: "application", Name: info.Main.Path, Version: info.Main.Version, PURL: "pkg:golang/" + info.Main.Path}
		all["std"] = component{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			all[m.Path] = component{
				Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
				Properties: []property{{"go:sum", m.Sum}},
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
