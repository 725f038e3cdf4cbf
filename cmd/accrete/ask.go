package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) askCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ask MODEL QUESTION",
		Short: "Ask for any column, given any others",
		Long: `Ask answers a question such as 'lstat=5, rm=6, medv=?': what is given, then ? for
what is wanted. Any model can be asked for what it predicts, and a model of all
columns together (gaussian, belief) for any column. A number is answered with its
mean, an interval that holds it in 95 % of cases, and its peaks if there are
several; a name with the probability of each value. What is neither given nor wanted
is unknown; of a model of sequences, the row is one by itself. Names with commas or
spaces around them stand in double quotes. If the model has hardly seen anything
like it, it says so. Of a belief network,
alarm=yes:0.8|no:0.2 is evidence that is not certain, several columns are also
answered together, and 'a ⟂ b | c' asks what its graph makes independent. A library
of cases is asked for a function: arcs of three words, as 'Qc + Qm, Qh + Qm'. A
logic program is asked for a goal, whose variables begin with a capital, as
'parent(X, ann)': all that they may stand for, and why; also of one about clauses,
as 'lgg((p(a) :- q), (p(b) :- q), X)'.`,
		Example: `  accrete ask boston 'lstat=5, rm=6, medv=?'
  accrete ask boston 'medv=40, rm=?, crim=?' --json
  accrete ask cadet 'Ct - Qc, Ct + Qh, Qc + Qm, Qh + Qm'
  accrete ask family 'grandmother(X, ann)'`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			p, err := h.Load(args[0])
			if err != nil {
				return err
			}
			if proved, is, err := life.Prove(c.Context(), p.Model, args[1]); is {
				return a.printProved(proved, err)
			}
			all, err := life.Ask(p.Model, args[1])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(all)
			}
			if all.Solution != nil {
				fmt.Fprint(a.out, all.Solution)
			}
			for i := range all.Answers {
				all.Answers[i].Write(a.out)
			}
			all.Write(a.out)
			return nil
		}),
	}
}

// printProved prints the answers of a logic program.
func (a *app) printProved(proved *life.Proved, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(proved)
	}
	fmt.Fprint(a.out, proved.Text)
	return nil
}
