package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/serve"
)

func (a *app) tokenCommand() *cobra.Command {
	var file, expires string
	var t serve.Token
	c := &cobra.Command{
		Use:   "token new|list|revoke [NAME] [--name NAME] [--scope read|write|admin] [--models A,B] [--expires 90d] [--tokens FILE]",
		Short: "Make, list and revoke the tokens that a server lets in",
		Long: `Token makes a secret by which accrete serve knows who calls. It is shown once and
kept as a hash; what is written with it carries its name. Scopes: read asks and
reads, write also learns and corrects, admin also deletes and erases.`,
		Example: `  accrete token new --name clinic --scope write --models heart --expires 90d
  accrete token list
  accrete token revoke --name clinic`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && t.Name == "" {
				t.Name, args = args[1], args[:1]
			}
			return cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)(c, args)
		},
		ValidArgs: []string{"new", "list", "revoke"},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.token(args[0], cmp.Or(file, serve.DefaultTokens(a.store)), t, expires)
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

// token does what was asked for.
func (a *app) token(what, file string, t serve.Token, expires string) (err error) {
	said := serve.TokenSaid{Name: t.Name, Scope: t.Scope}
	switch {
	case what == "list":
		list, err := serve.ListTokens(file)
		if err == nil && !a.json {
			printTable(a.out, serve.TokenHeader, list.Rows())
			return nil
		}
		return cmp.Or(err, a.printJSON(list))
	case t.Name == "":
		return usagef("say which token with --name")
	case what == "revoke":
		err = serve.Revoke(file, t.Name)
	default:
		said.Token, err = serve.NewToken(file, t, expires)
	}
	switch {
	case err != nil:
		return usageError{err}
	case a.json:
		return a.printJSON(said)
	case what == "revoke":
		fmt.Fprintf(a.out, "%s is revoked\n", t.Name)
		return nil
	}
	fmt.Fprintln(a.out, said.Token)
	fmt.Fprintf(a.errs, "note: this is the only time that the token of %s is shown\n", t.Name)
	return nil
}
