package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func contextModeVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "policy <thread> [<mode>]", Short: "Set how much of a thread's conversation is masked",
		Long: "Set how much of a thread's conversation is masked, from its next request on; without a mode, show that and\n" +
			"the rules by tool:\n\n" +
			"  safe     old results of tools, but not of the files that are being worked on\n" +
			"  lean     those too\n" +
			"  observe  nothing; only count, and send every request as the agent made it\n" +
			"  off      nothing, and do not count either\n" +
			"  default  as configured: the settings masking and masking_login\n\n" +
			"Rules by tool, which keep more in every mode, are set in the configuration: masking_keep and masking_tools.",
		Args: between(1, 2, "<thread>", "[<mode>]"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if len(args) == 1 {
				report, err := api.Context.Do(ctx, cl, api.Ref{Thread: args[0]})
				if err != nil {
					return err
				}
				return c.out.show(report, func(w io.Writer) { page.Policy(w, report) })
			}
			mode := thread.MaskMode(args[1])
			if mode == "default" {
				mode = thread.MaskDefault
			}
			return c.changeContext(ctx, cl, thread.ContextChange{Thread: args[0], Mode: &mode})
		}),
	}
}
