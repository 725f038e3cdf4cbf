package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/life"
)

// reading is what rules was asked for.
type reading struct {
	life.RulesOptions
	top                     int
	without, as, on, lemmas string
	growth, members         bool
	table, network          bool
	account, budget         bool
	flags                   dataFlags
}

func (a *app) rulesCommand() *cobra.Command {
	var r reading
	c := &cobra.Command{
		Use:   "rules MODEL [--top N | --bits SHARE | --budget | --growth | --members | --network [--on DATA] | --account [--on DATA] | --as tree|columns [--on DATA] | --lemmas GOAL] [--formal] [--table] [--sd] [--without SOURCE]",
		Short: "Print what a model knows, as rules",
		Long:  help("rules"),
		Example: `  accrete rules votes
  accrete rules votes@2 --top 7
  accrete rules votes --bits 0.8
  accrete rules boston --table --sd
  accrete rules votes --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if c.Flags().Changed("top") {
				r.Top = &r.top
			}
			return a.rules(c.Context(), h, args[0], &r)
		}),
	}
	f := c.Flags()
	console.CountVar(f, &r.top, "top", 0, 0, console.MostCount, "only N rules: those that decide most, or, where they can be fitted again, that tell most")
	console.ShareVar(f, &r.Bits, "bits", 0, "only rules that carry this share of the information, from 0 to 1")
	f.BoolVar(&r.growth, "growth", false, "what each unit of a model that grew removed, and why growth stopped")
	f.BoolVar(&r.members, "members", false, "every hypothesis of a version space (concept)")
	f.BoolVar(&r.account, "account", false, "the model's description length in bits, against sending the rows plainly")
	f.BoolVar(&r.budget, "budget", false, "accuracy on unseen rows by the number of rules, and how few do as well as all")
	f.StringVar(&r.lemmas, "lemmas", "", "all that a theory says of a goal such as 'safe(X,Y)' without any example, as rules over what rows have")
	f.StringVar(&r.as, "as", "", "tree: read the model out as a tree that answers as it does; columns: the rows as CSV, with what clauses compute of each as columns")
	f.BoolVar(&r.Formal, "formal", false, "in the rule language, which files and accrete import read")
	f.BoolVar(&r.table, "table", false, "as a table")
	f.BoolVar(&r.Deviations, "sd", false, "what units expect in deviations from the columns' means")
	f.BoolVar(&r.network, "network", false, "the units of a model that is a network, with their weights (mlp, neuraltree, gaussian, rbf)")
	f.StringVar(&r.on, "on", "", "data whose rows to print the states of the network's units for, to account for, or to read the model out from")
	f.StringVar(&r.without, "without", "", withoutUsage)
	r.flags.register(c)
	c.MarkFlagsMutuallyExclusive("top", "bits", "growth", "members", "network", "account", "budget")
	c.MarkFlagsMutuallyExclusive("formal", "table", "lemmas", "growth", "members", "network", "account", "budget")
	c.MarkFlagsMutuallyExclusive("as", "lemmas", "growth", "members", "network", "account", "budget")
	return c
}

// rules prints what was asked for.
func (a *app) rules(ctx context.Context, h *life.Home, model string, r *reading) error {
	p, err := h.RulesWithout(ctx, model, r.without)
	if err == nil && r.as != "" {
		p, err = a.readOut(ctx, h, p, r)
	}
	if err != nil || r.as == "columns" {
		return err
	}
	if r.lemmas != "" {
		l, err := life.LemmasOf(p, r.lemmas, r.Top)
		if err == nil && a.json {
			return a.printJSON(l)
		}
		l.Write(a.out)
		return err
	}
	clauses := life.Clauses(p, r.Top)
	switch {
	case r.account:
		return a.printAccount(ctx, h, p, r.on, &r.flags)
	case clauses != nil && a.json:
		return a.printJSON(clauses)
	case clauses != nil:
		clauses.WriteClauses(a.out)
		return nil
	case r.growth:
		return a.printGrowth(p)
	case r.members:
		return a.printMembers(p)
	case r.budget:
		return a.printBudget(ctx, h, p)
	case r.network || r.on != "":
		return a.printNetwork(ctx, h, p, r.on, &r.flags)
	case !a.json && life.WriteFormulas(a.out, p.Model, true):
		return nil
	case a.json && life.FormulasOf(p) != nil:
		return a.printJSON(life.FormulasOf(p))
	case a.json:
		list, err := life.RuleEntries(ctx, p, r.RulesOptions)
		if err != nil {
			return err
		}
		list.Policy = life.PolicyOf(p)
		return a.printJSON(list)
	}
	return a.printRules(ctx, p, r.RulesOptions, r.table)
}

// readOut returns a model as another kind of model that answers as it does.
func (a *app) readOut(ctx context.Context, h *life.Home, p *life.Part, r *reading) (_ *life.Part, err error) {
	if r.as != "tree" && r.as != "columns" {
		return nil, usagef("--as %s: expected tree or columns", r.as)
	}
	var data *life.Data
	if r.on != "" {
		if data, err = h.Find(r.on, r.flags.Reading); err != nil {
			return nil, err
		}
	}
	if r.as == "columns" {
		return nil, h.WriteColumns(ctx, a.out, p, data)
	}
	tree, fidelity, err := h.AsTree(ctx, p, data)
	r.Fidelity, r.on = &fidelity, ""
	return tree, err
}

// printRules prints a model as rules for people, or for import.
func (a *app) printRules(ctx context.Context, p *life.Part, o life.RulesOptions, asTable bool) error {
	if !o.Formal && !asTable && !o.Deviations {
		if done, err := life.WritePolicy(a.out, p, o.Top); done {
			return err
		}
		_, err := life.Sentences(ctx, a.out, p, o, 0)
		return err
	}
	base, err := life.ReadRules(ctx, p, o)
	if err != nil {
		return err
	}
	switch {
	case base == nil: // it has none but those that it was told
		printStandings(a.out, p.Model.(*expert.Told))
		return nil
	case o.Formal:
		return base.Write(a.out)
	case asTable:
		life.WriteRuleTable(a.out, p.Model, base, o.Deviations)
		return nil
	}
	return base.Write(a.out)
}

// printBudget prints how accurate a model is with fewer rules.
func (a *app) printBudget(ctx context.Context, h *life.Home, p *life.Part) error {
	b, err := h.Budget(ctx, p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(b)
	}
	for _, line := range b.Lines() {
		fmt.Fprintln(a.out, line)
	}
	return nil
}

// printGrowth prints the certificates of a model that grew.
func (a *app) printGrowth(p *life.Part) error {
	g, err := life.Grown(p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(g)
	}
	for _, c := range g.Certificates {
		fmt.Fprintln(a.out, c)
	}
	if g.Stopped != "" {
		fmt.Fprintln(a.out, "growth stopped: "+g.Stopped)
	}
	return nil
}

// printMembers prints the hypotheses of a version space.
func (a *app) printMembers(p *life.Part) error {
	list, err := life.Members(p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	var rows [][]string
	for _, r := range list.Rules {
		rows = append(rows, []string{strconv.Itoa(r.Member), r.Boundary, r.Text})
	}
	printTable(a.out, []string{"member", "", "rule"}, rows)
	return nil
}

// printAccount prints what a model's rules save, in bits.
func (a *app) printAccount(ctx context.Context, h *life.Home, p *life.Part, on string, flags *dataFlags) (err error) {
	var data *life.Data
	if on != "" {
		if data, err = h.Find(on, flags.Reading); err != nil {
			return err
		}
	}
	account, err := h.Account(ctx, p, data)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(account)
	}
	account.Write(a.out)
	return nil
}

// printNetwork prints a model's units or, with data, what they say to its
// rows.
func (a *app) printNetwork(ctx context.Context, h *life.Home, p *life.Part, on string, flags *dataFlags) (err error) {
	var data *life.Data
	if on != "" {
		if data, err = h.Find(on, flags.Reading); err != nil {
			return err
		}
	}
	n, err := h.Network(ctx, p, data)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(n)
	}
	lines := n.Network.Lines()
	if n.States != nil {
		lines = n.States.Lines()
	}
	for _, line := range lines {
		fmt.Fprintln(a.out, line)
	}
	return nil
}
