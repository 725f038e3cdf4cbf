package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release, in semantic versioning; make stamps the tag into it,
// and a build from a checkout adds its revision.
var version = "0.2.0-dev"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  accrete version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = short(s.Value)
					}
				}
			}
			if a.json {
				return a.printJSON(struct {
					Version  string `json:"version"`
					Revision string `json:"revision,omitempty"`
					Go       string `json:"go"`
				}{version, revision, runtime.Version()})
			}
			line := "accrete " + version
			if revision != "" {
				line += " (" + revision + ")"
			}
			fmt.Fprintf(a.out, "%s, %s %s/%s\n", line, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
