package verb

import "github.com/spf13/cobra"

func bundleVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "bundle",
		Short: "Prepare, count, share, explain and brief the context that agents are given"}
	cmd.AddCommand(bundlePrepare(c), bundleList(c), bundleShow(c), bundleExplain(c), bundleBudget(c), bundleDedup(c), bundleBrief(c),
		bundleAllocate(c))
	return cmd
}
