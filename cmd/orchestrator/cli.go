package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// The exit codes; the README lists them.
const (
	exitOK       = 0
	exitError    = 1 // anything else that went wrong
	exitUsage    = 2 // the command line is wrong
	exitNotFound = 3 // what was named is not there: a thread, turn, agent, file
	exitRefused  = 4 // not now: busy, waits for an approval, conflicts, limits; not granted to an agent
	exitAgent    = 5 // the agent did not finish its answer
)

// cli is one call of the program: what it was given and what its verbs share.
type cli struct {
	output
	stdin   io.Reader
	environ []string
	dir     string // --project
	json    bool   // --json

	project project.Project
	config  Config
	told    bool // that the server is of another build
	warned  bool // of what the store found damaged
}

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// run is the whole program: its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := &cli{output: newOutput(stdout, stderr), stdin: stdin, environ: environ}
	defer c.close()
	root := c.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	err := guard(func() (*cobra.Command, error) { return root.ExecuteContextC(ctx) })
	if err == nil {
		return exitOK
	}
	if quiet := (*silentError)(nil); !errors.As(err, &quiet) {
		fmt.Fprintf(c.stderr, "orchestrator: %v\n", err)
		if c.json || wantsJSON(args) {
			err = errors.Join(err, c.showError(err))
		}
	}
	return exitCode(err)
}

// wantsJSON reports whether a command line that may not have been read to its end asks for JSON.
func wantsJSON(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// failure is what a verb prints with --json where it has no answer. Code is the server's word for the error, "usage"
// for a command line that cannot be understood.
type failure struct {
	Error struct {
		api.Error
		Exit int `json:"exit"`
	} `json:"error"`
}

// showError prints an error as JSON.
func (c *cli) showError(err error) error {
	var f failure
	f.Error.Error, _ = api.FromError(err)
	f.Error.Message, f.Error.Exit = secret.Redact(f.Error.Message), exitCode(err)
	usage := (*usageError)(nil)
	switch general := f.Error.Code == "error"; {
	case errors.As(err, &usage):
		f.Error.Code = "usage"
	case general && f.Error.Exit == exitRefused:
		f.Error.Code = "refused"
	}
	c.json = true
	return c.show(f, nil)
}

// silentError carries an exit code for what was said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// exitCode sorts errors for scripts.
func exitCode(err error) int {
	var usage *usageError
	var silent *silentError
	switch {
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &usage), errors.Is(err, thread.ErrInvalid):
		return exitUsage
	case errors.Is(err, thread.ErrNotFound):
		return exitNotFound
	case errors.Is(err, thread.ErrBusy), errors.Is(err, thread.ErrApproval), errors.Is(err, thread.ErrUnsaved), errors.Is(err, thread.ErrConflict),
		errors.Is(err, thread.ErrLimit), errors.Is(err, thread.ErrRunning), errors.Is(err, thread.ErrNotRunning), errors.Is(err, project.ErrServed),
		errors.Is(err, project.ErrUndecided), errors.Is(err, project.ErrMoved), errors.Is(err, project.ErrWide), errors.Is(err, project.ErrExposed),
		errors.Is(err, thread.ErrNotGranted), errors.Is(err, thread.ErrUnreachable), errors.Is(err, thread.ErrRefused),
		errors.Is(err, thread.ErrNameTaken):
		return exitRefused
	default:
		return exitError
	}
}

// command is the tree of verbs.
func (c *cli) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "orchestrator",
		Short: "Run coding agents in threads that can be forked, resumed and merged",
		Long: "Without a verb, orchestrator opens its screen for the project of the current folder. The server behind it\n" +
			"keeps the agents running when the screen is closed.",
		Args:              noVerb,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return c.prepare() },
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.runUI(cmd.Context()) },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err: err} })
	root.PersistentFlags().StringVar(&c.dir, "project", ".", "folder of the project")
	root.PersistentFlags().BoolVar(&c.json, "json", false, "answer in JSON")
	root.AddCommand(c.verbs()...)
	root.AddCommand(topics()...)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.Args, cmd.RunE = noVerb, func(cmd *cobra.Command, _ []string) error { return usagef("expected %s", belowOf(cmd)) }
		}
	}
	return root
}

// noVerb refuses words that are no verb, with the ones that come near.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	switch {
	case len(near) > 0:
		return usagef("there is no verb %q; near: %s", args[0], strings.Join(near, ", "))
	case cmd.HasParent():
		return usagef("there is no verb %q; expected %s", args[0], belowOf(cmd))
	default:
		return usagef("there is no verb %q; `orchestrator --help` lists them", args[0])
	}
}

// belowOf lists the verbs below one.
func belowOf(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, cmd.Name()+" "+sub.Name())
		}
	}
	return strings.Join(names, ", ")
}

// prepare finds the project and reads the configuration.
func (c *cli) prepare() error {
	p, err := project.Find(context.Background(), c.dir, c.places())
	c.project = p
	if err != nil {
		return err
	}
	c.config, err = loadConfig(p.Root, c.environ, c.configHome(), c.trust().accepted)
	for _, w := range c.config.Warnings {
		fmt.Fprintln(c.stderr, "orchestrator:", w)
	}
	return err
}

// places are the person's folders that our files go to.
func (c *cli) places() project.Places {
	return project.Places{
		Home: lookup(c.environ, "HOME"), State: c.stateHome(), Runtime: lookup(c.environ, "XDG_RUNTIME_DIR"),
		Temp: []string{"/tmp", "/var/tmp", lookup(c.environ, "TMPDIR"), os.TempDir()}, Accepted: c.trust().wide,
	}
}

// claim makes the project's state where there is none, and tells how it was found where that is news.
func (c *cli) claim() error {
	err := c.project.Claim()
	if errors.Is(err, project.ErrWide) {
		err = c.askWide(err)
	}
	for _, n := range c.project.Notices {
		fmt.Fprintln(c.stderr, "orchestrator:", n)
	}
	return err
}

// configHome is $XDG_CONFIG_HOME, ~/.config without it.
func (c *cli) configHome() string {
	if dir := lookup(c.environ, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(lookup(c.environ, "HOME"), ".config")
}

// stateHome is $XDG_STATE_HOME, ~/.local/state without it.
func (c *cli) stateHome() string {
	if dir := lookup(c.environ, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(lookup(c.environ, "HOME"), ".local", "state")
}

// with makes a verb's function of one that needs the server.
func (c *cli) with(f func(ctx context.Context, cl *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cl, err := c.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer cl.Close()
		return f(cmd.Context(), cl, args)
	}
}

// exactly checks the number of arguments and says what they are.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usagef("expected %s, got %d argument(s)", strings.Join(names, " "), len(args))
		}
		return nil
	}
}

// between checks the number of arguments where some may be left out, and says what they are.
func between(least, most int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("expected %s, got %d argument(s)", strings.Join(names, " "), len(args))
		}
		return nil
	}
}

// version is the program's, from its build information.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12 {
			v = "devel-" + s.Value[:12]
		}
	}
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return v
}
