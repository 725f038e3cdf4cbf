package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/serve"
)

func (a *app) tokenCommand() *cobra.Command {
	var file, expires string
	var t serve.Token
	c := &cobra.Command{
		Use:   "token new|list|revoke [--name NAME] [--scope read|write|admin] [--models A,B] [--expires 90d] [--tokens FILE]",
		Short: "Make, list and revoke the tokens that a server lets in",
		Long: `Token makes a secret by which accrete serve knows who calls. It is shown once and
kept as a hash; what is written with it carries its name. Scopes: read asks and
reads, write also learns and corrects, admin also deletes and erases.`,
		Example: `  accrete token new --name clinic --scope write --models heart --expires 90d
  accrete token list
  accrete token revoke --name clinic`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"new", "list", "revoke"},
		RunE: func(_ *cobra.Command, args []string) error {
			file = cmp.Or(file, serve.DefaultTokens(a.store))
			switch {
			case args[0] == "list":
				return a.listTokens(file)
			case t.Name == "":
				return usagef("say which token with --name")
			case args[0] == "revoke":
				if err := serve.Revoke(file, t.Name); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]string{"revoked": t.Name})
				}
				fmt.Fprintf(a.out, "%s is revoked\n", t.Name)
				return nil
			}
			return a.newToken(file, t, expires)
		},
	}
	f := c.Flags()
	f.StringVar(&file, "tokens", "", "file of tokens (default: tokens in the store)")
	f.StringVar(&t.Name, "name", "", "who the token is for; what is written with it carries this name")
	f.StringVar(&t.Scope, "scope", "read", "what it allows: read, write or admin")
	f.StringSliceVar(&t.Models, "models", nil, "only these models")
	f.StringVar(&expires, "expires", "", "how long it lasts, as in 90d (default: until it is revoked)")
	return c
}

func (a *app) newToken(file string, t serve.Token, expires string) error {
	t.Made = time.Now().UTC().Truncate(time.Second)
	if expires != "" {
		age, err := serve.ParseAge(expires)
		if err != nil {
			return usagef("--expires: %v", err)
		}
		end := t.Made.Add(age)
		t.Expires = &end
	}
	secret, err := serve.NewToken(file, t)
	if err != nil {
		return usageError{err}
	}
	if a.json {
		return a.printJSON(struct {
			Name  string `json:"name"`
			Scope string `json:"scope"`
			Token string `json:"token"`
		}{t.Name, t.Scope, secret})
	}
	fmt.Fprintf(a.out, "%s\n", secret)
	fmt.Fprintf(a.errs, "note: this is the only time that the token of %s is shown\n", t.Name)
	return nil
}

func (a *app) listTokens(file string) error {
	all, err := serve.ReadTokens(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if a.json {
		for i := range all {
			all[i].Hash = short(all[i].Hash)
		}
		return a.printJSON(struct {
			Tokens []serve.Token `json:"tokens"`
		}{append([]serve.Token{}, all...)})
	}
	var rows [][]string
	for _, t := range all {
		end := "never"
		if t.Expires != nil {
			end = life.Stamp(*t.Expires)
		}
		rows = append(rows, []string{t.Name, t.Scope, cmp.Or(strings.Join(t.Models, ", "), "all"), life.Stamp(t.Made), end})
	}
	printTable(a.out, []string{"name", "scope", "models", "made", "expires"}, rows)
	return nil
}
