package verb

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
)

func whyVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "why <thread>", Short: "Explain a thread's state", Args: exactly("<thread>"),
		ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			r, err := api.Why.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			g, err := api.Grants.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(explained{r, g.Grants}, func(w io.Writer) {
				fmt.Fprintf(w, "%s%s since %s\n", r.State, r.More(), r.Since.Local().Format(time.TimeOnly))
				for i, e := range r.Evidence {
					mark := " "
					if i == 0 {
						mark = "→"
					}
					if e.Source == thread.SourcePrompt {
						fmt.Fprintf(w, "  %s  %-8s %s\n", e.At.Local().Format(time.TimeOnly), e.Source, e.Detail)
						continue
					}
					fmt.Fprintf(w, "%s %s  %-8s says %-12s %s\n", mark, e.At.Local().Format(time.TimeOnly), e.Source, e.State,
						e.Detail)
				}
				if r.Question != nil {
					page.Question(w, args[0], *r.Question, time.Now())
				}
				if r.Screen != "" {
					fmt.Fprintf(w, "last lines on its screen:\n  %s\n", strings.ReplaceAll(r.Screen, "\n", "\n  "))
				}
				page.Notes(w, r.Notes)
				if len(g.Grants) > 0 {
					fmt.Fprintf(w, "its agent may also: %s\n", grant.Format(g.Grants))
				}
			})
		}),
	}
}

// explained is the JSON output of why.
type explained struct {
	thread.StateReport
	Grants []thread.Grant `json:"grants,omitempty"`
}
