package verb

import "github.com/spf13/cobra"

func outputVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output", Short: "What came of executions: files, results of checks, insights, errors",
		Long: "Write down, list and check what came of executions. What agents of ours have made of files is written down by itself\n" +
			"when they end. See \"orchestrator help outputs\".",
	}
	synthesis := renamed(sessionReport(c), "synthesize")
	synthesis.Hidden = true
	cmd.AddCommand(outputCollect(c), outputQuery(c), outputCheck(c), synthesis)
	return cmd
}
