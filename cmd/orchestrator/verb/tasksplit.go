package verb

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

func taskSplit(c *cli) *cobra.Command {
	var q wave.SplitRequest
	var detach bool
	cmd := &cobra.Command{
		Use: "split <text>", Short: "Have an agent split a text into tasks, and propose them", Args: exactly("<text>"),
		Example: "orchestrator task split - < notes.md",
		Long: "Have an agent read a text, such as notes or a mail, and propose the tasks in it. It changes nothing, and nothing begins:\n" +
			"change what it proposes with `orchestrator task edit`, and start it with `orchestrator task start`. With - as the text,\n" +
			"standard input is read.\n\n" +
			"Exit codes: 0 there are proposals, or nothing to do in the text; 5 the agent gave no usable answer, and nothing is stored.",
	}
	f := cmd.Flags()
	f.StringVar(&q.Agent, "agent", "", "the agent that splits it (default: agent in the configuration)")
	f.StringVar(&q.Model, "model", "", "the `MODEL` of that")
	f.StringVar((*string)(&q.Tier), "tier", "", "or its class: "+choices(names(thread.Tiers())))
	f.StringVar(&q.Session, "session", "", "`NAME` of the work session that the tasks belong to")
	f.StringVar(&q.Budget, "budget", "", "what splitting may cost, such as 0.50usd or 20k")
	f.BoolVar(&detach, "detach", false, "print the name of the task that splits and do not wait for its end")
	offer(cmd, "agent", c.completeAgents)
	offer(cmd, "session", flagSessions(c))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.Text, err = promptText(c, args[0]); err != nil {
			return err
		}
		if q.Agent, err = agentOr(c, q.Agent); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			q.Plans = offeredPlans(c)
			t, err := api.SplitTask.Do(ctx, cl, q)
			if err != nil {
				return err
			}
			if detach {
				return c.out.show(t, func(w io.Writer) { fmt.Fprintln(w, t.Name) })
			}
			return splitTo(ctx, c, cl, t.Name)
		})(cmd, args)
	}
	return cmd
}

// splitTo waits until a text is split, and prints what is proposed.
func splitTo(ctx context.Context, c *cli, cl *client.Client, name string) error {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Events.Open(listening, cl, api.None{})
	if err != nil {
		events = nil // it looks from time to time
	}
	for {
		v, err := api.WaveStatus.Do(ctx, cl, wave.TaskRef{Task: name})
		switch {
		case err != nil:
			return err
		case v.Task.Status == plan.Complete && v.Task.Reason != "": // its proposals are stored
			list, err := api.Tasks.Do(ctx, cl, wave.ListRequest{Of: name})
			if err != nil {
				return err
			}
			return c.out.show(list, func(w io.Writer) { page.Proposals(w, name, list) })
		case v.Task.Status.Final() && v.Task.Status != plan.Complete, waveWaits(v):
			return splitFailed(v)
		}
		if err := waveChanged(ctx, events, name); err != nil {
			return fmt.Errorf("%s goes on splitting: `orchestrator task list --of %s` shows what it proposes: %w", name, name, err)
		}
	}
}

// splitFailed says why there are no proposals.
func splitFailed(v wave.View) error {
	why := ""
	for _, n := range v.Nodes {
		why = cmp.Or(why, n.Question, n.Error, n.Reason)
	}
	said := fmt.Sprintf("%s is %s: no task was stored", v.Task.Name, page.TaskStatus(v.Task.Status))
	if why = cmp.Or(why, v.Task.Reason); why != "" {
		said += ": " + strings.TrimSuffix(plain.Line(why), ".")
	}
	return &agentError{said + ". `orchestrator wave status " + v.Task.Name + "` shows it"}
}
