package verb

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

// allocateOptions are the flags of what records a bundle of an execution.
type allocateOptions struct {
	q      record.AllocateRequest
	bundle string
}

func (o *allocateOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.q.Planned, "planned", false, "it was not sent to the agent")
}

func bundleAllocate(c *cli) *cobra.Command {
	var o allocateOptions
	cmd := &cobra.Command{
		Use: "allocate <execution> <bundle>", Short: "Record that an execution was given a bundle", Args: exactly("<execution>", "<bundle>"),
		ValidArgsFunction: completeBundles(c, completeExecutions(c, 1)),
		Long: "Record that an execution that is written down by hand was given a bundle. What runs of this program were given is\n" +
			"recorded by itself.",
	}
	o.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.q.Execution, o.bundle = args[0], args[1]
		return o.run(c, cmd, args)
	}
	return cmd
}

func (o *allocateOptions) run(c *cli, cmd *cobra.Command, args []string) (err error) {
	if o.q.Bundle, err = bundleArg(c, o.bundle); err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		list, err := api.AllocateBundle.Do(ctx, cl, o.q)
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) { page.Allocations(w, list) })
	})(cmd, args)
}
