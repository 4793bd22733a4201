package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func sessionInit(c *cli) *cobra.Command {
	var q record.InitSession
	var spend budgetFlag
	var metadata, scope string
	cmd := &cobra.Command{
		Use: "init [scope]", Short: "Begin a work session, and print its name", Args: between(0, 1, "[scope]"),
		Example: `orchestrator session init "Implement vector search" --as orch-2025-01-17-001`,
		Long: "Begin a work session, and print its name. The scope says in a sentence what it is for. Its policy says when\n" +
			"what agents ask for in it begins: manual, once you start it; suggest, once you agree; auto, by itself.",
	}
	f := cmd.Flags()
	f.StringVar(&scope, "scope", "", "the scope, if it is no argument")
	f.StringVar(&q.Name, "as", "", "`NAME` of the work session (default: the next work-001)")
	f.StringVar((*string)(&q.Policy), "policy", "", "who agrees before it spends money: "+choices(names(work.Approvals()))+" (default: suggest)")
	f.Var(&spend, "budget", "`AMOUNT` that all of it may spend: 2.50usd or $2.50, 200k tokens, or both with a comma")
	f.Float64Var(&q.WarnAt, "warn-at", 0, "`PART` of the budget at which you are warned (default: 0.75)")
	f.StringVar(&metadata, "metadata", "", "`JSON` object that is kept with it")
	offer(cmd, "policy", cobra.FixedCompletions(names(work.Approvals()), cobra.ShellCompDirectiveNoFileComp))
	spelled(cmd, map[string]string{"session-id": "as"})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if len(args) > 0 && scope != "" && q.Name == "" { // the argument is its name
			args, q.Name = nil, args[0]
		}
		if q.Scope, err = argOr(cmd, args, "scope", scope); err != nil {
			return err
		}
		q.Metadata = json.RawMessage(metadata)
		if metadata != "" && !json.Valid(q.Metadata) {
			return usagef(`--metadata: no JSON. Write it as {"key": "value"}`)
		}
		if spend.text != "" {
			if q.Budget, err = budget.Parse(spend.text); err != nil {
				return err
			}
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			s, err := api.InitSession.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			sayWarnings(c, s.Warnings)
			return c.out.show(s, func(w io.Writer) { fmt.Fprintln(w, s.Name) })
		})(cmd, args)
	}
	return cmd
}

// sayWarnings prints what was odd about something that was done all the same. Values that are printed as JSON may have them
// too.
func sayWarnings(c *cli, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.out.stderr, "orchestrator:", w)
	}
}
