package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

// completeSessions suggests work sessions as the first argument.
func completeSessions(c *cli) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.Sessions.Do(ctx, cl, record.QuerySessions{Limit: mostPoints})
			var names []string
			for _, s := range list {
				names = append(names, s.Name+"\t"+page.FirstLine(string(s.Status)+", "+s.Scope))
			}
			return names, err
		})
	}
}

// flagSessions suggests work sessions for a flag.
func flagSessions(c *cli) completion {
	suggest := completeSessions(c)
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return suggest(cmd, nil, prefix)
	}
}
