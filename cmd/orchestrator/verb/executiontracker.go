package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/record"
)

// executionTracker is the script of that name: work sessions and executions by hand.
func executionTracker(c *cli) *cobra.Command {
	return script("execution_tracker", "Write down work sessions and executions: the script's names of `session` and `exec`",
		trackInitSession(c), trackInit(c), trackCompletion(c), trackQuery(c), trackCompleteSession(c))
}

// trackFormats are the formats of the script: the first is the usual one.
func trackFormats() []string { return []string{"text", "json", "table"} }

func trackInitSession(c *cli) *cobra.Command {
	var q record.InitSession
	cmd := alias("init-session", "session init")
	cmd.Flags().StringVar(&q.Scope, "scope", "", "what it is for, in a sentence")
	cmd.Flags().StringVar(&q.Name, "session-id", "", "`NAME` of the work session (default: the next work-001)")
	formatted(c, cmd, trackFormats()...)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return initSession(ctx, c, cl, q) })
	return cmd
}

func trackInit(c *cli) *cobra.Command {
	var q record.InitExecution
	var bundle string
	cmd := alias("init-deployment", "exec init")
	f := cmd.Flags()
	f.StringVar(&q.Session, "session-id", "", "`NAME` of the work session that it belongs to")
	f.StringVar(&q.Name, "execution-id", "", "`NAME` of the execution (default: the next exec-001)")
	f.StringVar(&q.Type, "agent-type", "", "`KIND` of agent that it is")
	f.StringVar(&q.Scope, "scope", "", "what it shall do, in a sentence")
	f.Int64Var(&q.Context, "context-token-count", 0, "how many `TOKENS` of context it is given")
	f.StringVar(&bundle, "context-bundle", "", "`BUNDLE` that it is given: an id, or a file that prepare-bundle has written")
	f.StringVar(&q.Model, "model", "", "`MODEL` that it asks")
	formatted(c, cmd, trackFormats()...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return initExecution(c, q, bundle)(cmd, args) }
	return cmd
}

func trackCompletion(c *cli) *cobra.Command {
	var q record.CompleteExecution
	cmd := alias("record-completion", "exec complete")
	f := cmd.Flags()
	f.StringVar(&q.Execution, "execution-id", "", "`NAME` of the execution")
	outcomeFlags(cmd, &q)
	f.StringVar(&q.Message, "final-message", "", "all that it said in the end; - reads it from standard input")
	f.StringVar(&q.Error, "error-message", "", "why it has failed")
	formatted(c, cmd, trackFormats()...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if q.Execution == "" {
			return usagef("record-completion needs --execution-id NAME")
		}
		return completeExecution(c, q)(cmd, args)
	}
	return cmd
}

func trackQuery(c *cli) *cobra.Command {
	var q record.QueryExecutions
	cmd := alias("query", "exec query")
	cmd.Flags().StringVar(&q.Session, "session-id", "", "only of this work session")
	cmd.Flags().StringVar(&q.Type, "agent-type", "", "only of this type of agent")
	formatted(c, cmd, trackFormats()...)
	return queryExecutions(c, cmd, &q)
}

func trackCompleteSession(c *cli) *cobra.Command {
	var q record.CompleteSession
	cmd := alias("complete-session", "session complete")
	cmd.Flags().StringVar(&q.Session, "session-id", "", "`NAME` of the work session")
	sessionStatus(cmd, &q)
	formatted(c, cmd, trackFormats()...)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		if q.Session == "" {
			return usagef("complete-session needs --session-id NAME")
		}
		return completeSession(ctx, c, cl, q)
	})
	return cmd
}
