package verb

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

func contextBaseVerb(c *cli) *cobra.Command {
	var agent, set string
	var forget bool
	cmd := &cobra.Command{
		Use: "base [thread]", Short: "Show what an agent sends before a word is said",
		Long: "Show what an agent sends with each request before a word is said: its maker's prompt, the definitions of its\n" +
			"tools and those of MCP servers, files of instructions, lists of skills and agents, its surroundings. It is read from\n" +
			"the first request after the agent's start, and counted as `context show` counts. Of a thread, or of the newest one\n" +
			"of an agent; without either, of the newest one that has sent a request.\n\n" +
			"What each part could be left out by, and about how much each profile would send, is known for agents whose\n" +
			"makers let one leave something out. --set gives the thread another profile from its next start, rewind or fork\n" +
			"on, and says what that costs; see `orchestrator help bases`. --forget has what did not work with the version of the\n" +
			"thread's agent tried again by new threads.",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().StringVarP(&agent, "agent", "a", "", "of the newest thread of this agent")
	offer(cmd, "agent", c.completeAgents)
	cmd.Flags().StringVar(&set, "set", "", "another profile for the thread: full, slim, read-only, minimal, or one of yours")
	offer(cmd, "set", completeBases(c))
	cmd.Flags().BoolVar(&forget, "forget", false, "forget what did not work with this version of the thread's agent")
	cmd.MarkFlagsMutuallyExclusive("set", "forget")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q := thread.BaseQuery{Agent: agent, Dir: c.here()}
		if len(args) > 0 {
			if q.Thread = args[0]; agent != "" {
				return usagef("name a thread or an agent, not both")
			}
		}
		if changes := cmd.Flags().Changed("set"); changes || forget {
			switch {
			case q.Thread == "" && forget:
				return usagef("--forget needs a thread of the agent: orchestrator context base THREAD --forget")
			case q.Thread == "":
				return usagef("--set needs a thread: orchestrator context base THREAD --set %s", plaintext.Line(cmp.Or(set, thread.BaseSlim)))
			}
			change, err := api.SetBase.Do(ctx, cl, thread.BaseRequest{Thread: q.Thread, Profile: set, Forget: forget})
			if err != nil {
				return err
			}
			return c.out.show(change, func(w io.Writer) { fmt.Fprintln(w, plaintext.Line(change.Says())) })
		}
		report, err := api.Base.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) { page.Base(w, report) })
	})
	return cmd
}
