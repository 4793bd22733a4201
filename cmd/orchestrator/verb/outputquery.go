package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/record/report"
)

// outputOptions are the flags of what lists outputs.
type outputOptions struct {
	q      record.QueryOutputs
	types  []string
	format *scriptFormat
}

func outputQuery(c *cli) *cobra.Command {
	var o outputOptions
	cmd := &cobra.Command{
		Use: "query", Short: "List what came of executions, newest first", Args: exactly(),
		Long: "List what came of executions, newest first, with all versions of a file. Beside a file stands what was claimed of its\n" +
			"execution's checks, and what they said. An agent without the grant \"read\" sees what it recorded, and what came of its\n" +
			"own executions.",
		Example: "  orchestrator output query --agent-type systematic-debugger -n 10\n  orchestrator output query --file lib/search.ts --since 3d --format markdown",
	}
	cmd.Flags().StringVar(&o.q.Session, "session", "", "only of this work session")
	cmd.Flags().StringVar(&o.q.AgentType, "agent-type", "", "only of agents of this type, such as debugger")
	typesVar(cmd, &o.types)
	timeVar(cmd.Flags(), &o.q.Since, "since", "only since then")
	limitVar(cmd, &o.q.Limit, 100)
	o.format = formatted(c, cmd, "text", "json", "markdown")
	cmd.Flags().StringVar(&o.q.Path, "file", "", "only of this file of the project")
	cmd.Flags().StringVar(&o.q.Execution, "execution", "", "only of this execution")
	cmd.Flags().BoolVar(&o.q.Current, "current", false, "only the newest version of each file; what is claimed of it is beside what was seen")
	offer(cmd, "session", flagSessions(c))
	offer(cmd, "agent-type", flagTypes(c))
	offer(cmd, "execution", flagExecutions(c))
	spelled(cmd, map[string]string{"session-id": "session", "execution-id": "execution"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

func (o *outputOptions) run(c *cli, cmd *cobra.Command, args []string) error {
	if o.q.Limit < 1 || o.q.Limit > mostAnswers {
		return usagef("--limit %d: must be 1 to %d", o.q.Limit, mostAnswers)
	}
	o.q.Types = typesOf(o.types)
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		o.q.Path = inProject(o.q.Path, c.project.Root)
		list, err := api.QueryOutputs.Do(ctx, cl, o.q)
		if err != nil {
			return err
		}
		if o.format.is == "markdown" && !c.out.json {
			_, err := fmt.Fprint(c.out.stdout, report.Outputs(list))
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Outputs(w, list) })
	})(cmd, args)
}
