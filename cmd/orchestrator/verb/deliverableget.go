package verb

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func deliverableGet(c *cli) *cobra.Command {
	var q wave.GetRequest
	var raw bool
	cmd := &cobra.Command{
		Use: "get [task] <agent>", Short: "Print what an agent of a plan has handed over", Args: between(1, 2, "[task] <agent>"),
		Long: "Print what an agent of a plan has handed over. JSON is indented by two; with --raw it is byte for byte what the agent\n" +
			"gave, and nothing else is printed. An agent of a plan names no task: of what it reads it gets the version that it was\n" +
			"given, unless it asks for another.",
	}
	cmd.Flags().IntVar(&q.Version, "version", 0, "this version (default: the current one)")
	cmd.Flags().BoolVar(&raw, "raw", false, "only the data, as it was given")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if q.Version < 0 {
			return usagef("--version %d: must be 1 or more", q.Version)
		}
		q.Agent = args[len(args)-1]
		if len(args) > 1 {
			q.Task = args[0]
		}
		h, err := api.GetDeliverable.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		if raw {
			_, err := io.WriteString(c.out.data(), rawData(h))
			return err
		}
		return c.out.show(h, func(w io.Writer) { page.Deliverable(w, h) })
	})
	return cmd
}

// rawData is what was given: a text, or the text of a JSON value.
func rawData(h plan.HandOver) string {
	var text string
	if h.Type != plan.OutputJSON && json.Unmarshal([]byte(h.Data), &text) == nil {
		return text
	}
	return h.Data
}
