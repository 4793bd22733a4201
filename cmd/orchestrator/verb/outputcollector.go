package verb

import "github.com/spf13/cobra"

// outputCollector is the script of that name: what came of executions.
func outputCollector(c *cli) *cobra.Command {
	collects := renamed(outputCollect(c), "collect")
	formatted(c, collects, "text", "json")
	return script("output_collector", "Write down what came of executions: the script's names of `output` and `session report`",
		collects, renamed(outputQuery(c), "query"), renamed(sessionReport(c), "synthesize"))
}

// synthesizeReports is the hidden verb synthesize_reports, the name of the older script.
func synthesizeReports(c *cli) *cobra.Command {
	cmd := renamed(sessionReport(c), "synthesize_reports")
	cmd.Hidden = true
	return cmd
}
