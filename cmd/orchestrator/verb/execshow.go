package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func execShow(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show <execution>", Short: "Show everything about an execution", Args: exactly("<execution>"),
		ValidArgsFunction: completeExecutions(c, 1),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			byID, err := threadNames(ctx, cl, x)
			if err != nil {
				return err
			}
			all := shownExecution{Execution: x}
			if all.Asked, err = wholeText(ctx, cl, x, x.Given); err == nil {
				all.Answered, err = wholeText(ctx, cl, x, x.Said)
			}
			if err != nil {
				return err
			}
			// What belongs to it is a help here: without it, all that the execution itself has is shown.
			chain, unknown := api.HistoryTrace.Do(ctx, cl, record.TraceRequest{Ref: string(x.ID)})
			if unknown == nil {
				all.Outputs = chain.Given.Outputs
			}
			return c.out.show(all, func(w io.Writer) {
				page.Execution(w, x, all.Asked, all.Answered, byID, time.Now())
				if unknown == nil {
					page.CameOf(w, chain)
				}
			})
		}),
	}
}

// shownExecution is an execution with the texts that it has in full.
type shownExecution struct {
	work.Execution
	Asked    string `json:"given_text,omitempty"`
	Answered string `json:"said_text,omitempty"`
	// Outputs are what came of it.
	Outputs []record.Made `json:"outputs,omitempty"`
}

// wholeText returns the text of an event of an execution, "" for none.
func wholeText(ctx context.Context, cl *client.Client, x work.Execution, seq int64) (string, error) {
	if seq == 0 {
		return "", nil
	}
	list, err := api.ExecutionEvents.Do(ctx, cl, api.ExecutionEventsRequest{Execution: string(x.ID), After: seq - 1, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Seq != seq {
		return "", err
	}
	return list[0].Text, nil
}
