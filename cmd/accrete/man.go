package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
)

// manCommand writes the pages of the manual for those who make packages.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the pages of the manual",
		Example: `  accrete man /usr/local/share/man/man1`,
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for name, page := range console.ManPages(c.Root(), version) {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(page), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
