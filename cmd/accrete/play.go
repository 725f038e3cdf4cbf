package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) playCommand() *cobra.Command {
	var (
		o   life.Playing
		you bool
	)
	c := &cobra.Command{
		Use:   "play MODEL ENV [--episodes N] [--you [--first]]",
		Short: "Watch a policy act, or play against it",
		Long: `Play lets a policy act in an environment and prints each step: the state, what it
did, and what that earned. With --you you act yourself, in every second turn of a
game of two: type the name of an action.`,
		Example: `  accrete play frozenlake frozenlake
  accrete play tictactoe tictactoe --you --first
  accrete play taxi taxi --episodes 10 --json`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			p, err := h.Load(args[0])
			if err != nil {
				return err
			}
			w, err := h.World(c.Context(), args[1])
			if err != nil {
				return err
			}
			if w == nil {
				return life.NoWorld(args[1])
			}
			defer w.Close()
			if you {
				o.Ask = a.asker()
			}
			return h.Play(c.Context(), p, w, o, func(s life.Played) error {
				if a.json {
					return a.printJSON(s)
				}
				separator := ": "
				if strings.Contains(s.Words, "\n") {
					separator = "\n"
				}
				fmt.Fprintf(a.out, "%3d  %s%s%s: %s, reward %s\n", s.Step, indented(s.Words), separator, s.By, s.Action, number(s.Reward))
				if s.End {
					fmt.Fprintf(a.out, "the end, after %s\n\n", plural(s.Step, "step"))
				}
				return nil
			})
		}),
	}
	console.CountVar(c.Flags(), &o.Episodes, "episodes", 1, 1, 1_000_000_000, "episodes to act in")
	c.Flags().BoolVar(&you, "you", false, "act yourself, by typing actions")
	c.Flags().BoolVar(&o.First, "first", false, "with --you: you begin")
	return c
}

// indented sets the lines of a board below each other.
func indented(words string) string { return strings.ReplaceAll(words, "\n", "\n     ") }

// asker asks for actions on standard input.
func (a *app) asker() func(board string, legal []string) (string, error) {
	in := bufio.NewReader(a.in)
	return func(board string, legal []string) (string, error) {
		fmt.Fprintf(a.out, "     %s\nyour turn (%s): ", indented(board), strings.Join(legal, ", "))
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return "", fmt.Errorf("no action was typed")
		}
		return line, nil
	}
}
