package verb

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func checkpointList(c *cli) *cobra.Command {
	p := thread.Page{Turns: true}
	var all bool
	cmd := &cobra.Command{Use: "list <thread>", Short: "List a thread's turns, newest first",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads}
	limit := 50
	cmd.Flags().IntVar(&limit, "limit", limit, "maximum number of rows, 0 for all")
	cmd.Flags().BoolVar(&all, "all", false, "list every response, not only turns")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: must be 0 (all) or more", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		p.Turns, p.All, p.Limit = !all, true, limit+1
		list, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: args[0], Page: p})
		if err != nil {
			return err
		}
		list = first(c, list, limit, "newest turns", "checkpoint list --limit 0 "+args[0])
		return c.out.show(list, func(w io.Writer) {
			t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			defer t.Flush()
			fmt.Fprintln(t, "CHECKPOINT\tTURN\tKIND\tCONTEXT\tFILES\tTIME\tPROMPT")
			for _, cp := range list {
				files := "-"
				if cp.Snapshot != nil {
					files = fmt.Sprintf("%d +%d −%d", cp.Snapshot.Files, cp.Snapshot.Insertions, cp.Snapshot.Deletions)
				}
				kind, note := page.Kind(cp), cp.Note
				if note == thread.NoteRebuilt {
					kind, note = kind+", "+note, ""
				}
				when, about := cp.Created.Local().Format(time.DateTime), page.About(cp.Prompt, note)
				turn := strconv.Itoa(cp.Turn)
				if cp.Kind == thread.KindPrompt {
					turn, kind = "-", kind+", "+string(cp.Ended)
				}
				if cp.Damaged {
					when, about = "-", "cannot be read: the stored data is damaged"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cp.ID[:8], turn, kind, page.Gauge(cp.Gauge), files,
					when, about)
			}
		})
	})
	return cmd
}
