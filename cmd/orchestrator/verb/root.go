// Package verb contains the verbs of the command line and the screen. A verb reads its arguments, asks the server of
// the project, which it starts if there is none, and prints what it learns, for people or as JSON, through one writer
// that lets nothing but text reach the terminal.
package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/thread/api"
	"orchestrator/thread/secret"
)

// Run runs the program and returns its exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := &cli{out: newOutput(stdout, stderr), called: os.Args[0], stdin: stdin, environ: environ}
	defer c.out.close()
	root := c.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(c.out.stdout)
	root.SetErr(c.out.stderr)
	err := guard(func() (*cobra.Command, error) { return root.ExecuteContextC(ctx) })
	if err == nil {
		return exitcode.OK
	}
	if quiet := (*silentError)(nil); !errors.As(err, &quiet) {
		fmt.Fprintf(c.out.stderr, "orchestrator: %v\n", err)
		if c.out.json || wantsJSON(args) {
			err = errors.Join(err, c.showError(err))
		}
	}
	return exitCode(err)
}

// wantsJSON reports whether a command line asks for JSON, even if it could not be parsed completely.
func wantsJSON(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	for i, arg := range args {
		switch arg {
		case "--json", "--json=true", "--output=json", "-o=json", "-ojson":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == string(formatJSON) {
				return true
			}
		}
	}
	return false
}

// failure is what a verb prints with --json if it fails. Code is the server's code for the error, or "usage" for an
// invalid command line.
type failure struct {
	Error struct {
		protocol.Error
		Exit int `json:"exit"`
	} `json:"error"`
}

// showError prints an error as JSON.
func (c *cli) showError(err error) error {
	var f failure
	f.Error.Error, _ = protocol.FromError(err)
	f.Error.Message, f.Error.Exit = secret.Redact(f.Error.Message), exitCode(err)
	usage := (*usageError)(nil)
	switch general := f.Error.Code == "error"; {
	case errors.As(err, &usage):
		f.Error.Code = "usage"
	case general && f.Error.Exit == exitcode.Refused:
		f.Error.Code = "refused"
	}
	c.out.json = true
	return c.out.show(f, nil)
}

// name is what the person or agent calls the program.
func (c *cli) name() string {
	if filepath.Base(c.called) == replica.Alias {
		return replica.Alias
	}
	return "orchestrator"
}

// command returns the root command with all verbs.
func (c *cli) command() *cobra.Command {
	root := &cobra.Command{
		Use:   c.name(),
		Short: "Run coding agents in threads that can be forked, resumed and merged",
		Long: "Without a verb, orchestrator opens the screen for the project in the current folder. Its server keeps\n" +
			"agents running when the screen is closed.",
		Args:              noVerb,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return c.prepare() },
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.runUI(cmd.Context()) },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&c.dir, "project", ".", "project folder")
	root.PersistentFlags().BoolVar(&c.out.json, "json", false, "print JSON")
	root.PersistentFlags().VarP(&formatFlag{json: &c.out.json}, "output", "o", "text, or json: the same as --json")
	root.AddCommand(c.verbs()...)
	root.AddCommand(topics()...)
	knownHelp(root)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.Args, cmd.RunE = noVerb,
				func(cmd *cobra.Command, _ []string) error {
					return usagef("%s needs a verb: %s", cmd.Name(), belowOf(cmd))
				}
		}
	}
	return root
}

// verbs returns all verbs; the bigger ones have files of their own.
func (c *cli) verbs() []*cobra.Command {
	return []*cobra.Command{
		newVerb(c), runVerb(c), sendVerb(c), promptsVerb(c), approveVerb(c), denyVerb(c), answerVerb(c),
		threadsVerb(c), inboxVerb(c), offerVerb(c), eventsVerb(c), switchVerb(c), attachVerb(c), resumeVerb(c), setupVerb(c), whyVerb(c), grantsVerb(c),
		execVerb(c), historyVerb(c), statsVerb(c), queueVerb(c), bundleVerb(c), contextManager(c), validateOrchestration(c), checkContextBounds(c), forkVerb(c), checkpointVerb(c), mergeVerb(c), finishVerb(c), abandonVerb(c), pushVerb(c, false),
		waveVerb(c), deliverableVerb(c), sessionVerb(c), taskVerb(c), executionTracker(c), outputVerb(c), outputCollector(c), synthesizeReports(c),
		pushVerb(c, true), findVerb(c), costVerb(c), budgetVerb(c), contextVerb(c), mcpVerb(c), mcpBridgeVerb(c), stageVerb(c), retrieveVerb(c), unstageVerb(c),
		renameVerb(c), pinVerb(c), exportVerb(c), importVerb(c), backupVerb(c), restoreBackupVerb(c), gcVerb(c),
		refVerb(c, "archive", "Archive a thread, stopping its agent", api.Archive, "archived"),
		refVerb(c, "restore", "Restore an archived thread", api.Unarchive, "restored"),
		refVerb(c, "delete", "Delete a thread (undelete restores it until gc removes it)", api.Delete, "deleted"),
		refVerb(c, "undelete", "Restore a deleted thread", api.Undelete, "restored"),
		stopVerb(c), restartVerb(c), doctorVerb(c), trustVerb(c), adoptVerb(c), versionVerb(c),
		serveVerb(c), hookVerb(c), demoVerb(c), demoNotesVerb(c),
	}
}
