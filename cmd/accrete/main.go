// Command accrete learns from tables, keeps what it learnt, and gives it back
// as predictions, rules and pictures. One file a command; this one ties them
// together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	_ "github.com/accrete-ml/accrete/table/arrow"
	_ "github.com/accrete-ml/accrete/table/database/postgres"
	_ "github.com/accrete-ml/accrete/table/database/sqlite"
	_ "github.com/accrete-ml/accrete/table/parquet"
	_ "github.com/accrete-ml/accrete/table/web"
)

func main() { os.Exit(run()) }

// run answers the command line. The ballast is address space that is never
// touched, so it takes no memory: it only makes the collector wait until there
// are some megabytes to collect, which small tables never reach.
func run() int {
	ballast := make([]byte, 32<<20)
	defer runtime.KeepAlive(ballast)
	ctx, stop := console.Interruptible(context.Background(), os.Stderr)
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Exit statuses that scripts rely on.
const (
	exitFailed = 1 // the command could not do what was asked
	exitUsage  = 2 // the command was not used as it is meant to be
)

// usageError marks an error in how a command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// kept marks an error after which the model is there all the same.
type kept struct{ error }

func (e kept) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{ctx: ctx, in: patient.Ending(ctx, in), raw: out, out: &console.Page{W: out}, errs: &console.Page{W: errs}}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := console.Guarded(version, func() error { return root.ExecuteContext(ctx) })
	if over := (*console.MemoryLimit)(nil); err != nil && !errors.As(err, &over) && errors.As(context.Cause(a.ctx), &over) {
		err = remedy.New(remedy.Remedy{Kind: remedy.AllowMemory}, "%w; nothing was changed", over)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE): // the reader of our output has seen enough
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil && !errors.As(err, &kept{}):
		fmt.Fprintln(errs, "accrete: interrupted; nothing was changed")
		return exitFailed
	}
	if words, ok := console.GroupError(err); ok {
		err = usageError{words}
	}
	fmt.Fprintln(errs, "accrete: "+oneLine(err))
	var usage usageError
	if errors.As(err, &usage) || life.IsMisuse(err) {
		return exitUsage
	}
	return exitFailed
}

// oneLine returns the error's text on one line, with its remedy in flags and
// commands.
func oneLine(err error) string {
	text := strings.Join(strings.FieldsFunc(remedy.Text(err, inFlags), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return shown(strings.ReplaceAll(text, context.Canceled.Error(), "interrupted"), console.LongestError)
}

// app is what every command has: the streams and the flags common to all.
type app struct {
	ctx       context.Context
	in        io.Reader
	raw       io.Writer // standard output for programs
	out, errs io.Writer // for people

	json   bool
	seed   uint64
	store  string
	wait   time.Duration
	memory int64 // bytes; 0 for a share of what there is
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "accrete",
		Short: "Learning that you can read, correct and keep",
		Long: `Accrete learns from tables, keeps what it learnt, and gives it back as
predictions, rules and pictures. New rows are learnt without the old ones.`,
		Example: `  accrete learn votes                      a built-in set: rules, accuracy, a model
  accrete learn people.csv --target income your own table
  accrete update people more.csv           learn more rows
  accrete predict people new.csv           answers with probabilities`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			if c.Name() != "serve" { // which goes on when one of its tasks cannot
				a.ctx, _ = console.WithMemory(c.Context(), a.budget()) // ends with the process
				c.SetContext(a.ctx)
			}
		},
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "answer in JSON, for programs")
	console.SeedVar(flags, &a.seed, "seed", 1, "seed of everything random")
	console.WaitVar(flags, &a.wait, "wait", 30*time.Second, "how long to wait for others who change the same model; 0s: not at all")
	flags.Var(console.SizeFlag{Value: &a.memory}, "memory", "how much memory may be used, as in 2GiB (default: three quarters of the machine's)")
	flags.StringVar(&a.store, "store", ".accrete", "folder in which models are kept")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s see %s --help", console.Ended(console.FlagError(err, c.Flags()).Error()), c.CommandPath())
	})
	root.AddGroup(
		&cobra.Group{ID: "learn", Title: "Learn:"},
		&cobra.Group{ID: "read", Title: "Ask and read:"},
		&cobra.Group{ID: "keep", Title: "Keep:"},
		&cobra.Group{ID: "judge", Title: "Judge:"},
		&cobra.Group{ID: "know", Title: "Look around:"},
	)
	for _, group := range []struct {
		id       string
		commands []*cobra.Command
	}{
		{"learn", []*cobra.Command{a.learnCommand(), a.updateCommand(), a.tellCommand(), a.strikeCommand(), a.cutCommand(), a.mergeCommand(), a.forgetCommand()}},
		{"read", []*cobra.Command{a.predictCommand(), a.explainCommand(), a.askCommand(), a.queryCommand(), a.imputeCommand(), a.sampleCommand(), a.rulesCommand(), a.wordsCommand(), a.diffCommand(), a.conflictsCommand(), a.reportCommand(), a.drawCommand()}},
		{"keep", []*cobra.Command{a.logCommand(), a.modelsCommand(), a.undoCommand(), a.restoreCommand(), a.approveCommand(), a.deleteCommand(), a.exportCommand(), a.importCommand(), a.checkCommand()}},
		{"judge", []*cobra.Command{a.evaluateCommand(), a.playCommand(), a.compareCommand(), a.tuneCommand(), a.importanceCommand(), a.verifyCommand(), a.needCommand(), a.reproduceCommand()}},
		{"keep", []*cobra.Command{a.serveCommand(), a.tokenCommand()}},
		{"know", []*cobra.Command{a.describeCommand(), a.learnersCommand(), a.datasetsCommand(), a.versionCommand(), a.fmtCommand(), a.manCommand()}},
	} {
		for _, c := range group.commands {
			c.GroupID = group.id
			c.DisableFlagsInUseLine = true
			c.Args = showUsage(c.Args)
			root.AddCommand(c)
		}
	}
	a.complete(root.Commands())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown shell %q; expected bash, zsh, fish or powershell", args[0])
			}
			return c.Help()
		}
	}
	root.SuggestionsMinimumDistance = 2
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usagef("unknown command %q; did you mean %q?", args[0], near[0])
		}
		return usagef("unknown command %q; see accrete --help", args[0])
	}
	return root
}

// argumentWords says in words for people how many arguments there are.
var argumentWords = strings.NewReplacer("requires at least 1 arg(s), only received", "expected at least 1 argument, got", "accepts at most", "expected at most", "accepts", "expected", "1 arg(s), received", "1 argument, got", "arg(s), received", "arguments, got")

// showUsage turns complaints about the number of arguments into usage errors
// that show how the command is called.
func showUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usagef("%s; usage: accrete %s", argumentWords.Replace(err.Error()), c.Use)
		}
		return nil
	}
}
