package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func execInit(c *cli) *cobra.Command {
	var q record.InitExecution
	var bundle, scope string
	cmd := &cobra.Command{
		Use: "init [scope]", Short: "Write down an execution by hand before it begins, and print its name", Args: between(0, 1, "[scope]"),
		Example: `orchestrator exec init "Implement HNSW" --type task-implementor --session work-001 --bundle bundle.json`,
		Long: "Write down an execution before it begins: one that this program does not start itself, such as a sub-agent of\n" +
			"your agent, or work in another tool. What is written down so is a claim, and is marked as one. The scope says in\n" +
			"a sentence what it shall do; without one it is that of its bundle or task. See \"orchestrator help record\".",
	}
	f := cmd.Flags()
	f.StringVar(&scope, "scope", "", "the scope, if it is no argument")
	f.StringVar(&q.Name, "as", "", "`NAME` of the execution (default: the next exec-001)")
	f.StringVar(&q.Session, "session", "", "`NAME` of the work session that it belongs to")
	f.StringVar(&q.Task, "task", "", "with --session: `TITLE` of a task of it, which is made if there is none")
	f.StringVar(&q.Type, "type", "", "`KIND` of agent that it is, such as debugger")
	f.StringVar(&q.Agent, "agent", "", "`PROGRAM` that does it, such as claude")
	f.StringVar(&q.Model, "model", "", "`MODEL` that it asks")
	f.Int64Var(&q.Context, "tokens", 0, "how many `TOKENS` of context it is given")
	f.StringVar(&bundle, "bundle", "", "`BUNDLE` that it is given: an id, or the file that \"orchestrator bundle prepare\" has written")
	f.StringVar(&q.Prompt, "prompt", "", "all of what it is asked; - reads it from standard input")
	timeVar(f, &q.At, "at", "when it began, if that was not now")
	offer(cmd, "session", flagSessions(c))
	offer(cmd, "type", flagTypes(c))
	offer(cmd, "bundle", flagBundles(c))
	spelled(cmd, map[string]string{
		"execution-id": "as", "session-id": "session", "agent-type": "type", "context-token-count": "tokens", "context-bundle": "bundle",
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Scope = scope; len(args) > 0 {
			if q.Scope, err = argOr(cmd, args, "scope", scope); err != nil {
				return err
			}
		}
		if q.Prompt, err = promptText(c, q.Prompt); err != nil {
			return err
		}
		return initExecution(c, q, bundle)(cmd, args)
	}
	return cmd
}

// initExecution writes down an execution that begins in this folder with a bundle, or without one, and prints its name.
func initExecution(c *cli, q record.InitExecution, bundle string) func(*cobra.Command, []string) error {
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) (err error) {
		if q.Dir, err = filepath.Abs(c.dir); err != nil {
			return fmt.Errorf("find this folder: %w", err)
		}
		if bundle != "" {
			arg, err := bundleArg(c, bundle)
			if err != nil {
				return err
			}
			q.Bundle = &arg
		}
		x, err := api.InitExecution.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		sayWarnings(c, x.Warnings)
		return c.out.show(x.Execution, func(w io.Writer) { fmt.Fprintln(w, x.Execution.Execution) })
	})
}
