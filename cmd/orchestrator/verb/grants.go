package verb

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
)

// grantsVerb shows and changes what a thread's agent may do.
func grantsVerb(c *cli) *cobra.Command {
	var add, remove []string
	cmd := &cobra.Command{
		Use: "grants <thread>", Short: "Show or change what a thread's agent may do with other threads",
		Long: "Show or change what a thread's agent may do with this program. Without grants it may only look at its own\n" +
			"thread. --add and --remove take comma-separated grants.",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().StringSliceVar(&add, "add", nil, "grants to add: "+grant.Format(grant.Names()))
	cmd.Flags().StringSliceVar(&remove, "remove", nil, "grants to remove")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r := api.GrantsRequest{Thread: args[0]}
		var err error
		if r.Add, err = grant.Parse(add); err != nil {
			return err
		}
		if r.Remove, err = grant.Parse(remove); err != nil {
			return err
		}
		var now api.ThreadGrants
		if len(add)+len(remove) > 0 {
			now, err = api.SetGrants.Do(ctx, cl, r)
		} else {
			now, err = api.Grants.Do(ctx, cl, api.Ref{Thread: args[0]})
		}
		if err != nil {
			return err
		}
		return c.out.show(now, func(w io.Writer) { printGrants(w, now) })
	})
	return cmd
}

func printGrants(w io.Writer, now api.ThreadGrants) {
	fmt.Fprintf(w, "the agent of %s may:\n", now.Thread)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprintln(t, "✓\t\tlook at its own thread")
	for _, m := range grant.All() {
		mark, name := "-", m.Grant
		if has := grant.Of(now.Grants, m.Grant); has != "" {
			mark, name = "✓", has
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", mark, name, m.May)
	}
}
