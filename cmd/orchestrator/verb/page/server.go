package page

import (
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Server prints everything about a server but its log.
func Server(w io.Writer, d thread.MCPDetail) {
	Launch(w, d)
	if len(d.List) > 0 {
		var t Columns
		t.Row("", "TOOL", "TOKENS", "ABOUT")
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
			t.Row(box, tool.Name, "~"+thousands(tool.Tokens), plaintext.Cut(about, 80))
		}
		t.Print(w)
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

// Launch prints exactly what a server starts, and how that differs from what was accepted.
func Launch(w io.Writer, d thread.MCPDetail) {
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
