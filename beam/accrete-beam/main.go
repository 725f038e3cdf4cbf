// Command accrete-beam learns, answers and judges over shards on any runner of
// Apache Beam: prism (the default, in this process), Flink, Spark, Dataflow. What
// it learns is an ordinary model file, which accrete import reads.
//
// The same binary is what runs on workers: started by a container's boot program
// (--worker), or as a process by a runner (--id … --provision_endpoint …). It is
// also a prism of its own, for those who have no cluster: accrete-beam prism.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accrete-ml/accrete/beam/shards"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	_ "github.com/accrete-ml/accrete/table/arrow"
	_ "github.com/accrete-ml/accrete/table/parquet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its world handed in.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if isWorker(args) {
		flag.Parse()
		beam.Init() // works until the runner is done, and ends the process
		return 0
	}
	if worker, endpoint, ok := isProcess(args); ok {
		return work(ctx, worker, endpoint, errs)
	}
	root := &cobra.Command{
		Use: "accrete-beam", Short: "Learn from more rows than one machine holds, on Apache Beam",
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(out)
	root.SetErr(errs)
	root.SetArgs(args)
	root.AddCommand(learnCommand(), predictCommand(), evaluateCommand(), costCommand(), prismCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(errs, "accrete-beam: %v\n", err)
		if errors.Is(err, context.Canceled) {
			return 130
		}
		return 1
	}
	return 0
}

// isWorker reports whether a container's boot program started this process.
func isWorker(args []string) bool {
	for _, a := range args {
		if a == "--worker" || a == "--worker=true" || a == "-worker" || a == "-worker=true" {
			return true
		}
	}
	return false
}

// isProcess reports whether a runner started this process as a worker, by
// --id=WORKER --provision_endpoint=ADDRESS. Prism quotes the first.
func isProcess(args []string) (worker, endpoint string, ok bool) {
	for _, a := range args {
		if v, is := strings.CutPrefix(a, "--id="); is {
			worker = strings.Trim(v, "'\"")
		}
		if v, is := strings.CutPrefix(a, "--provision_endpoint="); is {
			endpoint = v
		}
	}
	return worker, endpoint, worker != "" && endpoint != ""
}

// work is the life of a worker that is a process.
func work(ctx context.Context, worker, endpoint string, errs io.Writer) int {
	ctx = grpcx.WriteWorkerID(ctx, worker)
	info, err := tools.ProvisionInfo(ctx, endpoint)
	if err != nil {
		fmt.Fprintf(errs, "accrete-beam: worker %s hears nothing from %s: %v\n", worker, endpoint, err)
		return 1
	}
	address := func(url string) string {
		if url == "" {
			return endpoint
		}
		return url
	}
	beam.Init()
	err = harness.MainWithOptions(ctx, address(info.GetLoggingEndpoint().GetUrl()), address(info.GetControlEndpoint().GetUrl()),
		harness.Options{StatusEndpoint: info.GetStatusEndpoint().GetUrl(), RunnerCapabilities: info.GetRunnerCapabilities()})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(errs, "accrete-beam: worker %s: %v\n", worker, err)
		return 1
	}
	return 0
}

// jobFlags are those of all commands that run a job.
type jobFlags struct {
	plan     shards.Plan
	temp     string
	deadline time.Duration
	attempts int
	tries    int
	json     bool
	local    bool
	verbose  bool
}

// shown are the flags of Beam that help lists; runners know more.
var shown = []string{"runner", "endpoint", "environment_type", "environment_config", "worker_binary", "job_name", "parallelism", "project", "region", "staging_location"}

func (f *jobFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringSliceVar(&f.plan.Nominal, "nominal", nil, "columns to read as names")
	fs.StringSliceVar(&f.plan.Numeric, "numeric", nil, "columns to read as numbers")
	fs.StringSliceVar(&f.plan.Ignore, "ignore", nil, "columns to leave out")
	fs.StringVar(&f.plan.Weight, "weight", "", "column of row weights")
	fs.Uint64Var(&f.plan.Seed, "seed", 1, "seed of everything random")
	fs.StringVar(&f.temp, "temp", "", "folder that the driver and all workers share, for results of passes (default beside --out)")
	fs.DurationVar(&f.deadline, "deadline", time.Hour, "how long one pass over the shards may take; when it is submitted again, twice as long as the time before")
	fs.IntVar(&f.attempts, "attempts", 2, "how often a pass is submitted that the runner gave up or that ran into its deadline")
	fs.IntVar(&f.tries, "tries", 3, "how often a worker reads a shard that cannot be read")
	fs.BoolVar(&f.json, "json", false, "one JSON document")
	fs.BoolVar(&f.local, "local", false, "in this process, without Beam: what jobs are compared with")
	fs.BoolVar(&f.verbose, "verbose", false, "show what Beam logs")
	fs.AddGoFlagSet(flag.CommandLine)
	fs.VisitAll(func(x *pflag.Flag) {
		if flag.CommandLine.Lookup(x.Name) != nil && x.Name != "id" {
			x.Hidden = !slices.Contains(shown, x.Name)
		}
	})
}

// job makes the job of an address.
func (f *jobFlags) job(ctx context.Context, data, out string, errs io.Writer) (*shards.Job, error) {
	beam.Init()
	f.logging(errs)
	found, err := shards.Find(ctx, data)
	if err != nil {
		return nil, err
	}
	f.plan.Data, f.plan.Attempts = data, f.tries
	j := &shards.Job{Plan: f.plan, Shards: found, Temp: f.temp, Local: f.local, Attempts: f.attempts, Deadline: f.deadline, At: time.Now(),
		Note: func(text string) { fmt.Fprintln(errs, text) }}
	if j.Temp == "" {
		j.Temp = filepath.Dir(out)
	}
	if !strings.Contains(j.Temp, "://") {
		if j.Temp, err = filepath.Abs(j.Temp); err != nil {
			return nil, err
		}
	}
	return j, f.environment()
}

// environment has workers that are processes run this very binary, and staged
// binaries be this one: the runner is not to build any.
func (f *jobFlags) environment() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if strings.EqualFold(*jobopts.EnvironmentType, "process") && *jobopts.EnvironmentConfig == "" {
		config, err := json.Marshal(map[string]string{"command": self})
		if err != nil {
			return err
		}
		*jobopts.EnvironmentConfig = string(config)
	}
	if *jobopts.WorkerBinary == "" {
		*jobopts.WorkerBinary = self
	}
	if *runners.Runner == "" && *jobopts.Endpoint != "" {
		*runners.Runner = "universal"
	}
	return nil
}

// logging keeps Beam quiet unless somebody wants to hear it.
func (f *jobFlags) logging(errs io.Writer) {
	if f.verbose {
		beamlog.SetLogger(&beamlog.Standard{Level: beamlog.SevInfo})
		return
	}
	beamlog.SetLogger(&beamlog.Standard{Level: beamlog.SevFatal})
	slog.SetDefault(slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelError + 4})))
}

func learnCommand() *cobra.Command {
	var f jobFlags
	var name, out string
	var set []string
	c := &cobra.Command{
		Use: "learn SHARDS --target COL --learner NAME --out FILE", Short: "Learn a model of all shards; accrete import reads it", Args: cobra.ExactArgs(1),
		Example: `  accrete-beam learn 'logs/2026-*.parquet' --target failed --learner bayes --out failed.accrete
  accrete-beam learn 'gs://bucket/logs/*.csv' --target failed --learner bayes --out failed.accrete \
      --runner dataflow --project P --region R --staging_location gs://bucket/staging --temp gs://bucket/temp`,
		RunE: func(c *cobra.Command, args []string) error {
			start := time.Now()
			if f.plan.Settings = map[string]string{}; out == "" {
				return errors.New("where is the model to go? name a file by --out")
			}
			for _, s := range set {
				key, value, ok := strings.Cut(s, "=")
				if !ok {
					return fmt.Errorf("--set %s: expected key=value", s)
				}
				f.plan.Settings[key] = value
			}
			if name == "" {
				name = life.NameOf(out)
			}
			if err := store.CheckName(name); err != nil {
				return err
			}
			j, err := f.job(c.Context(), args[0], out, c.ErrOrStderr())
			if err != nil {
				return err
			}
			l, err := j.Learn(c.Context())
			if err != nil {
				return err
			}
			if err := shards.Save(c.Context(), l, name, out); err != nil {
				return err
			}
			size := l.Model.Size()
			if f.json {
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"model": name, "version": 1, "learner": l.Model.Learner(), "target": targetOf(f.plan.Target),
					"rows": size.Rows, "rules": size.Rules, "units": size.Units, "seconds": time.Since(start).Seconds(), "shards": len(j.Shards), "read": l.Rows, "passes": l.Passes, "complete": l.All})
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d rows in %d shards, %d passes\nmodel %s: %s, %.0f rows, %d rules, %d units\nnext: accrete import %s\n",
				args[0], l.Rows, len(j.Shards), l.Passes, name, l.Model.Learner(), size.Rows, size.Rules, size.Units, out)
			return nil
		},
	}
	c.Flags().StringVar(&f.plan.Target, "target", "", "column to predict")
	c.Flags().StringVar(&f.plan.Learner, "learner", life.DefaultForClasses, "learner")
	c.Flags().StringArrayVar(&set, "set", nil, "setting of the learner, key=value")
	c.Flags().StringVar(&name, "name", "", "name of the model (default the file's)")
	c.Flags().StringVar(&out, "out", "", "file of the model")
	c.Flags().IntVar(&f.plan.Rows, "rows", 200_000, "distinct rows that are gathered at most, for learners that keep rows")
	f.register(c)
	return c
}

func targetOf(name string) any {
	if name == "" {
		return nil
	}
	return name
}

// load reads a model file into a plan.
func (f *jobFlags) load(path string) error {
	m, _, err := store.ReadFile(path)
	if err != nil {
		return err
	}
	f.plan.Model, err = learn.Encode(m)
	return err
}

func predictCommand() *cobra.Command {
	var f jobFlags
	var out string
	c := &cobra.Command{
		Use: "predict MODELFILE SHARDS --out FOLDER", Short: "Answer for each row of all shards, a file a shard", Args: cobra.ExactArgs(2),
		Example: `  accrete-beam predict failed.accrete 'logs/2027-*.parquet' --out answers`,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("where are the answers to go? name a folder by --out")
			}
			if err := f.load(args[0]); err != nil {
				return err
			}
			f.plan.JSON, f.plan.Out = f.json, out
			j, err := f.job(c.Context(), args[1], filepath.Join(out, "x"), c.ErrOrStderr())
			if err != nil {
				return err
			}
			if f.temp == "" {
				j.Temp = out
				if !strings.Contains(out, "://") {
					if j.Temp, err = filepath.Abs(out); err != nil {
						return err
					}
				}
			}
			rows, err := j.Predict(c.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%.0f answers in %d files: %s\n", rows, len(j.Shards), out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder of the answers")
	c.Flags().StringVar(&f.plan.ID, "id", "", "write this column of the shards before the answers")
	f.register(c)
	return c
}

func evaluateCommand() *cobra.Command {
	var f jobFlags
	c := &cobra.Command{
		Use: "evaluate MODELFILE SHARDS", Short: "Judge a model by shards whose answers are known", Args: cobra.ExactArgs(2),
		Example: `  accrete-beam evaluate failed.accrete 'logs/2027-*.parquet'`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(args[0]); err != nil {
				return err
			}
			j, err := f.job(c.Context(), args[1], args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			r, err := j.Judge(c.Context())
			if err != nil {
				return err
			}
			if f.json {
				return json.NewEncoder(c.OutOrStdout()).Encode(r)
			}
			if r.Accuracy == nil {
				fmt.Fprintf(c.OutOrStdout(), "%.0f rows in %d shards: off by %.4g (RMSE), %.4g (MAE)\n", r.Rows, len(j.Shards), *r.RMSE, *r.MAE)
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "%.0f rows in %d shards: accuracy %.2f %% (%.2f %% to %.2f %%), log loss %.4f, Brier score %.4f\n",
				r.Rows, len(j.Shards), 100**r.Accuracy, 100**r.AccuracyLow, 100**r.AccuracyHigh, *r.LogLoss, *r.Brier)
			return nil
		},
	}
	f.register(c)
	return c
}

func prismCommand() *cobra.Command {
	var port int
	c := &cobra.Command{
		Use: "prism", Short: "Run prism, Beam's runner for one machine, as a process of its own", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			beamlog.SetLogger(&beamlog.Standard{Level: beamlog.SevWarn})
			ctx, cancel := context.WithCancelCause(c.Context())
			defer cancel(nil)
			if _, err := prism.CreateJobServer(ctx, prism.Options{Port: port, CancelFn: cancel}); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "prism is ready: --endpoint localhost:%d\n", port)
			<-ctx.Done()
			return nil
		},
	}
	c.Flags().IntVar(&port, "port", 8073, "port of the job service")
	return c
}
