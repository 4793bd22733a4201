package page

import (
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
)

// Servers prints the list of servers, of a thread if one is named.
func Servers(w io.Writer, r thread.MCPReport, of string) {
	ofThread := of != ""
	if len(r.Servers) == 0 {
		fmt.Fprintln(w, "no MCP servers are configured; add one to the project's .mcp.json or to an agent's own file")
	} else {
		var t Columns
		if ofThread {
			t.Row("", "SERVER", "STATE", "SHARE", "TOOLS", "TOKENS", "MEMORY", "STARTS", "LAST CALL", "WHY")
		} else {
			t.Row("SERVER", "STATE", "SHARE", "TOOLS", "TOKENS", "MEMORY", "STARTS", "LAST CALL", "FROM")
		}
		for _, s := range r.Servers {
			row := []string{s.ID, s.State, s.Share, mcpTools(s), mcpTokens(s), Dash(Memory(s)), fmt.Sprint(s.Starts), Called(s)}
			if ofThread {
				t.Row(append(append([]string{s.Box()}, row...), mcpReason(s, of))...)
			} else {
				t.Row(append(row, mcpFrom(s))...)
			}
		}
		t.Print(w)
	}
	for _, s := range r.Servers {
		if s.Reason != "" {
			fmt.Fprintf(w, "%s: %s\n", s.ID, s.Reason)
		}
		if s.Kept != "" {
			fmt.Fprintf(w, "%s: %s\n", s.ID, s.Kept)
		}
		for _, warning := range s.Warnings {
			fmt.Fprintf(w, "%s: %s\n", s.ID, warning)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "%s: %s\n", mcpPlace(p), p.Text)
	}
	if !ofThread {
		return
	}
	if r.None {
		fmt.Fprintln(w, "This agent uses no MCP servers; switches are kept for its forks. Try one: orchestrator mcp call SERVER TOOL")
		return
	}
	fmt.Fprintf(w, "definitions in the context: ~%s of ~%s tokens\n", thousands(r.Tokens), thousands(r.All))
	if r.Takes != "" {
		fmt.Fprintf(w, "a switch takes effect %s\n", r.Takes)
	}
	if r.CacheTokens > 0 {
		cost := ""
		if r.CacheUSD > 0 {
			cost = fmt.Sprintf(" ($%.2f)", r.CacheUSD)
		}
		fmt.Fprintf(w, "a switch costs the prompt cache: ~%s tokens are read again%s\n", thousands(r.CacheTokens), cost)
	}
	for _, o := range r.Outside {
		fmt.Fprintf(w, "outside our control: %s\n", o)
	}
}

func mcpTools(s thread.MCPServer) string {
	if !s.Known {
		return "?"
	}
	return fmt.Sprintf("%d/%d", s.ToolsOn, s.Tools)
}

func mcpTokens(s thread.MCPServer) string {
	if !s.Known {
		return "?"
	}
	return "~" + thousands(s.Tokens)
}

// Memory returns how much memory a server takes.
func Memory(s thread.MCPServer) string {
	if s.Memory == 0 {
		return ""
	}
	return thread.Bytes(s.Memory)
}

// Called returns how often a server was called.
func Called(s thread.MCPServer) string {
	if s.Called.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", s.CallMS)
}

func mcpReason(s thread.MCPServer, of string) string {
	switch {
	case s.ChangedIn != "":
		return "changed in " + s.ChangedIn + ": orchestrator mcp approve " + s.ID + " --thread " + of
	case !s.Accepted && s.Problem == "":
		return "accept it first: orchestrator mcp approve " + s.ID + " --thread " + of
	case s.On:
		return Dash(s.SwitchedBy())
	default:
		return "-"
	}
}

func mcpFrom(s thread.MCPServer) string {
	var from []string
	for _, f := range s.Sources {
		from = append(from, mcpPlace(thread.MCPProblem{File: f.File, Line: f.Line}))
	}
	return strings.Join(from, ", ")
}

// mcpPlace is a place in a file.
func mcpPlace(p thread.MCPProblem) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
