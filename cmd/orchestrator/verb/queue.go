package verb

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// allAgents is what people call all agents together.
const allAgents = "all"

func queueVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "queue", Short: "Show, pause and limit what waits and runs without a terminal"}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List what runs and what waits, in the order in which it starts, and why", Args: exactly(),
			RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
				q, err := api.Queue.Do(ctx, cl, api.None{})
				if err != nil {
					return err
				}
				return showQueue(ctx, c, cl, q)
			})},
		queueChange(c, "pause [agent]", "Start nothing more, of one agent or at all; what runs goes on", work.QueueChange{Pause: true}),
		queueChange(c, "resume [agent]", "Start again what waits", work.QueueChange{Resume: true}),
		queueLimit(c),
	)
	return cmd
}

// showQueue prints how the queue stands.
func showQueue(ctx context.Context, c *cli, cl *client.Client, q work.QueueReport) error {
	byID, err := threadNames(ctx, cl)
	if err != nil {
		return err
	}
	return c.out.show(q, func(w io.Writer) { page.Queue(w, q, byID, time.Now()) })
}

// queueChange returns a verb that changes the queue of one agent or of all.
func queueChange(c *cli, use, short string, change work.QueueChange) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: between(0, 1, "[agent]"), ValidArgsFunction: completeQueues(c),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if len(args) > 0 {
				change.Agent = agentOf(args[0])
			}
			return setQueue(ctx, c, cl, change)
		}),
	}
}

func queueLimit(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "limit <agent>|<account>|all <number>", Short: "Set how many runs of an agent, of an account, or of all, work at the same time",
		Example: "orchestrator queue limit all 4",
		Args:    exactly("<agent>", "<number>"), ValidArgsFunction: completeQueues(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 {
				return usagef("limit %s: must be 1 or more; `orchestrator queue pause` starts none", args[1])
			}
			return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
				if thread.IsAccountName(args[0]) {
					return setQueue(ctx, c, cl, work.QueueChange{Account: args[0], Limit: n})
				}
				return setQueue(ctx, c, cl, work.QueueChange{Agent: agentOf(args[0]), Limit: n})
			})(cmd, args)
		},
	}
}

// setQueue changes the queue and prints how it stands then.
func setQueue(ctx context.Context, c *cli, cl *client.Client, change work.QueueChange) error {
	q, err := api.SetQueue.Do(ctx, cl, change)
	if err != nil {
		return err
	}
	return showQueue(ctx, c, cl, q)
}

// agentOf returns what the domain calls an agent's queue.
func agentOf(word string) string {
	if word == allAgents {
		return ""
	}
	return word
}

func completeQueues(c *cli) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, directive := c.completeAgents(cmd, args, prefix)
		return append(all, allAgents), directive
	}
}
