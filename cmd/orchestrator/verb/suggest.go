package verb

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// completeBundles suggests bundles for the arguments of a verb, after those that another completion is for. Files are
// suggested where no bundle has what is typed.
func completeBundles(c *cli, before ...completion) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) < len(before) {
			return before[len(args)](cmd, args, prefix)
		}
		names, how := c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.Bundles.Do(ctx, cl, record.BundlesRequest{Limit: mostPoints})
			var names []string
			for _, b := range list {
				if !slices.Contains(args, b.Bundle.ID) {
					names = append(names, b.Bundle.ID+"\t"+page.FirstLine(b.Bundle.AgentType+", "+b.Bundle.Scope))
				}
			}
			return names, err
		})
		return names, how &^ cobra.ShellCompDirectiveNoFileComp
	}
}

// oneOf suggests for the first argument of a verb only.
func oneOf(suggest completion) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return suggest(cmd, args, prefix)
	}
}

// flagBundles suggests bundles for a flag.
func flagBundles(c *cli) completion {
	suggest := completeBundles(c)
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return suggest(cmd, nil, prefix)
	}
}

// flagTypes suggests the types of agents that something is recorded of.
func flagTypes(c *cli) completion {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			sums, err := api.Stats.Do(ctx, cl, record.StatsRequest{By: work.StatByType})
			var names []string
			for _, row := range sums.Rows {
				names = append(names, row.Key)
			}
			return names, err
		})
	}
}
