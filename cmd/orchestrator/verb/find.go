package verb

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

func findVerb(c *cli) *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "find <words>", Short: "Search names, prompts, answers and changed files of all threads",
		Args: between(1, math.MaxInt, "<words>")}
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of hits, 0 for all")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: must be 0 (all) or more", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		hits, err := api.Find.Do(ctx, cl, api.FindRequest{Query: strings.Join(args, " "), Limit: limit + 1})
		if err != nil {
			return err
		}
		hits = first(c, hits, limit, "best hits", fmt.Sprintf("find --limit 0 %q", strings.Join(args, " ")))
		return c.out.show(hits, func(w io.Writer) {
			if len(hits) == 0 {
				fmt.Fprintln(w, "no matches")
			}
			for _, h := range hits {
				where := h.Where
				if h.Turn > 0 {
					where = fmt.Sprintf("%s in turn %d", h.Where, h.Turn)
				}
				fmt.Fprintf(w, "%s  %s, %s\n    %s\n", h.Name, where, h.At.Local().Format(time.DateTime),
					strings.Join(strings.Fields(h.Snippet), " "))
			}
		})
	})
	return cmd
}
