package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func contextVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "context", Short: "See and change what fills the contexts of threads"}
	cmd.AddCommand(contextShowVerb(c), contextBaseVerb(c), contextModeVerb(c), contextSummaryVerb(c), contextReplayVerb(c))
	for _, v := range []struct {
		use, short, long string
		change           func(r *thread.ContextChange, names []string)
	}{
		{"mask", "Mask results of tools from the next request on",
			"Mask results of tools, or inputs, from the thread's next request on. The provider's cache is written again from\n" +
				"the first of them on: `context show` says what that costs. \"all\" masks everything that can be masked.",
			func(r *thread.ContextChange, names []string) { r.Mask = names }},
		{"unmask", "Send masked results whole again from the next request on",
			"Send masked results whole again from the thread's next request on, and never mask them. This costs a cache write.",
			func(r *thread.ContextChange, names []string) { r.Unmask = names }},
		{"pin", "Never mask these results",
			"Never mask these results. `context unpin` allows it again.",
			func(r *thread.ContextChange, names []string) { r.Pin = names }},
		{"unpin", "Allow masking pinned results again",
			"Allow masking pinned results again. What had been masked before is masked again from the next request on.",
			func(r *thread.ContextChange, names []string) { r.Unpin = names }},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: v.use + " <thread> <result...>", Short: v.short,
			Long: v.long + "\n\nResults are named by the beginning of an id, or by a token, as `context show` prints them.",
			Args: between(2, 1<<20, "<thread>", "<result...>"), ValidArgsFunction: c.completeThreads,
			RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
				r := thread.ContextChange{Thread: args[0]}
				v.change(&r, args[1:])
				return c.changeContext(ctx, cl, r)
			}),
		})
	}
	return cmd
}
