package verb

import (
	"github.com/spf13/cobra"

	"orchestrator/thread/record"
)

// outputCollector is the hidden verb output_collector, for instructions that call a script of that name.
func outputCollector(c *cli) *cobra.Command {
	return script("output_collector", "Write down what came of executions: the script's names of `output` and `session report`",
		scriptCollect(c), scriptOutputs(c), scriptSynthesize(c))
}

func scriptCollect(c *cli) *cobra.Command {
	var q record.CollectOutputs
	cmd := alias("collect", "output collect")
	cmd.Flags().StringVar(&q.Execution, "execution-id", "", "`NAME` of the execution")
	collectFlags(cmd, &q)
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if q.Execution == "" {
			return usagef("collect needs --execution-id NAME")
		}
		return collect(c, q)(cmd, args)
	}
	return cmd
}

func scriptOutputs(c *cli) *cobra.Command {
	var o outputOptions
	cmd := alias("query", "output query")
	o.flags(c, cmd, "session-id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

func scriptSynthesize(c *cli) *cobra.Command {
	var o reportOptions
	return synthesize(c, alias("synthesize", "session report"), &o)
}

// synthesizeReports is the hidden verb synthesize_reports, the name of the older script. It has the flags of synthesize.
func synthesizeReports(c *cli) *cobra.Command {
	var o reportOptions
	cmd := alias("synthesize_reports", "session report")
	cmd.Hidden = true
	return synthesize(c, cmd, &o)
}

// synthesize has a verb write a report.
func synthesize(c *cli, cmd *cobra.Command, o *reportOptions) *cobra.Command {
	cmd.Flags().StringVar(&o.session, "session-id", "", "`NAME` of the work session")
	o.flags(c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.session == "" {
			return usagef("%s needs --session-id NAME", cmd.Name())
		}
		return o.run(c, cmd, args)
	}
	return cmd
}
