package verb

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

func waveCompare(c *cli) *cobra.Command {
	var r wave.CompareRequest
	cmd := &cobra.Command{
		Use: "compare <task> --agent A", Short: "Have an agent's work done once more by something else, and compare", Args: exactly("<task>"),
		Long: "Have the work of an agent of a plan done once more with the same inputs by another agent, model or tier, and show what\n" +
			"came of it beside the current version. It is a run of its own, and its result is not handed over unless you say\n" +
			"--take. With --versions two versions of what the agent has handed over are compared, and nothing runs.",
		Example: "  orchestrator wave compare task-001 --agent vision --with tier:fast\n  orchestrator wave compare task-001 --agent vision --versions 1,2",
	}
	f := cmd.Flags()
	f.StringVar(&r.Agent, "agent", "", "the `AGENT` of the plan")
	f.StringVar(&r.With, "with", "", "what works this time: an agent such as demo, model:NAME or tier:NAME")
	f.StringVar(&r.Execution, "execution", "", "look at a comparison that has begun, by its execution")
	f.IntSliceVar(&r.Versions, "versions", nil, "two versions to compare, such as 1,2")
	f.BoolVar(&r.Take, "take", false, "hand over what comes of it, as the current version")
	cmd.MarkFlagsMutuallyExclusive("with", "execution", "versions")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if r.Task = args[0]; r.Agent == "" || r.With == "" && r.Execution == "" && len(r.Versions) == 0 {
			return usagef("give --agent, and --with or --versions")
		}
		if len(r.Versions) > 0 && (len(r.Versions) != 2 || r.Take) {
			return usagef("--versions takes two versions, such as 1,2, and nothing is taken")
		}
		v, err := api.CompareWave.Do(ctx, cl, r)
		if err == nil && v.Running {
			fmt.Fprintf(c.out.stderr, "orchestrator: %s works beside %s/%s\n", v.Other.Execution, v.Task, v.Agent)
		}
		for err == nil && v.Running {
			r.With, r.Execution = "", v.Other.Execution
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(comparePause):
			}
			v, err = api.CompareWave.Do(ctx, cl, r)
		}
		if err != nil {
			return err
		}
		return c.out.show(v, func(w io.Writer) { page.Compared(w, v) })
	})
	return cmd
}

// comparePause is how long it waits until it looks again.
const comparePause = 500 * time.Millisecond
