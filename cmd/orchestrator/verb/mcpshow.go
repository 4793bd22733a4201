package verb

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

func mcpShowVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "show <server>", Short: "Show what a server starts, its tools and patterns", Args: exactly("<server>"),
	}
	cmd.Flags().StringVar(&ref, "thread", "", "say what is on for this thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err != nil {
			return err
		}
		return c.show(d, func(w io.Writer) { printMCPDetail(w, d) })
	})
	return cmd
}

// printMCPDetail prints everything about a server but its log.
func printMCPDetail(w io.Writer, d thread.MCPDetail) {
	printLaunch(w, d)
	if len(d.List) > 0 {
		var t columns
		t.row("", "TOOL", "TOKENS", "ABOUT")
		for _, tool := range d.List {
			box := "[ ]"
			switch {
			case tool.Withheld != "":
				box = "[!]"
			case tool.On:
				box = "[x]"
			}
			about, _, _ := strings.Cut(tool.Description, "\n")
			switch {
			case tool.Withheld != "":
				about = "withheld: " + tool.Withheld
			case tool.Unusable != "":
				about = "not usable: " + tool.Unusable
			}
			t.row(box, tool.Name, "~"+thousands(tool.Tokens), plaintext.Cut(about, 80))
		}
		t.print(w)
	}
	for _, tool := range d.List {
		for _, h := range tool.Hidden {
			fmt.Fprintf(w, "%s has hidden characters: %s\n", tool.Name, h)
		}
		for _, line := range tool.Diff {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, r := range d.Rates {
		fmt.Fprintf(w, "pattern %s would have fired on %d of the last %d prompts\n", r.Pattern, r.Fired, r.Of)
	}
}

// printLaunch prints exactly what a server starts, and how that differs from what was accepted.
func printLaunch(w io.Writer, d thread.MCPDetail) {
	fmt.Fprintf(w, "%s, from %s\n", d.ID, mcpFrom(d.MCPServer))
	for _, line := range d.Launch {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if len(d.Diff) > 0 {
		fmt.Fprintln(w, "changed since you accepted it:")
		for _, line := range d.Diff {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	if d.Reason != "" {
		fmt.Fprintf(w, "%s: %s\n", d.State, d.Reason)
	}
	fmt.Fprintf(w, "hash %s\n", d.Hash)
	if d.ToolsHash != "" {
		fmt.Fprintf(w, "hash of the tools that are withheld %s\n", d.ToolsHash)
	}
}
