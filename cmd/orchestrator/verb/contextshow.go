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

func contextShowVerb(c *cli) *cobra.Command {
	var results bool
	cmd := &cobra.Command{
		Use: "show <thread>", Short: "Show what fills a thread's context", Args: exactly("<thread>"),
		Long: "Show what fills a thread's context, what is masked of it, and what masking now would mean. It is known from the\n" +
			"thread's requests since the server started.",
		ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVar(&results, "results", false, "list the results of tools too")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		report, err := api.Context.Do(ctx, cl, api.Ref{Thread: args[0]})
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) { page.Context(w, report, results) })
	})
	return cmd
}

func (c *cli) changeContext(ctx context.Context, cl *client.Client, r thread.ContextChange) error {
	report, err := api.ChangeContext.Do(ctx, cl, r)
	if err != nil {
		return err
	}
	return c.out.show(report, func(w io.Writer) { page.Context(w, report, false) })
}
