package verb

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func stageInfoVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "info <token>", Short: "Describe staged data and show its first lines", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			info, err := api.StageInfo.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.show(info, func(w io.Writer) { printInfo(w, info, time.Now()) })
		}),
	}
}

func printInfo(w io.Writer, d thread.StagedInfo, now time.Time) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name+":", value)
		}
	}
	row("Token", string(d.Token))
	row("Records", thousands(d.Records))
	row("Size", thread.Bytes(d.Bytes))
	row("Type", string(d.Kind))
	row("Source", d.Source)
	row("Labels", strings.Join(d.Labels, ", "))
	row("Thread", string(d.Thread))
	row("Created", thread.Age(now.Sub(d.Created))+" ago")
	row("Expires", expiry(d.Staged, now))
	row("Kept because of", strings.Join(d.Pins, ", "))
	row("SHA-256", d.SHA256)
	row("File", d.File)
	name := "Preview:"
	for _, line := range d.Preview {
		fmt.Fprintf(w, "%-9s %s\n", name, line)
		name = ""
	}
	if d.More {
		fmt.Fprintf(w, "%-9s ...\n", "")
	}
}
