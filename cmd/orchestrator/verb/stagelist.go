package verb

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func stageListVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List staged data, newest first", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			list, err := api.StageList.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			return c.show(list, func(w io.Writer) { printStaged(w, list, time.Now()) })
		}),
	}
}

func printStaged(w io.Writer, list []thread.Staged, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no staged data; `… | orchestrator stage` adds some")
		return
	}
	var t columns
	t.row("TOKEN", "RECORDS", "SIZE", "TYPE", "SOURCE", "AGE", "EXPIRES", "LABELS")
	for _, d := range list {
		t.row(string(d.Token), strconv.FormatInt(d.Records, 10), thread.Bytes(d.Bytes), string(d.Kind), dash(d.Source),
			thread.Age(now.Sub(d.Created)), expiry(d, now), strings.Join(d.Labels, ", "))
	}
	t.print(w)
}

// expiry returns how long staged data is still kept.
func expiry(d thread.Staged, now time.Time) string {
	if len(d.Pins) > 0 {
		return "pinned"
	}
	return thread.Age(d.Expires.Sub(now).Round(time.Minute)) // what is kept for three hours is not said to be for two
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
