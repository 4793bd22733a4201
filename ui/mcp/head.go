package mcp

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// head says above a table what tools and switches cost, when a switch takes effect, and what is wrong.
type head struct {
	report thread.MCPReport
	known  bool // the report was loaded
	err    string
}

// lines returns at most so many lines; key is the key that shows the rest.
func (h head) lines(w, most int, key string) []styled.Line {
	var out []styled.Line
	if h.err != "" {
		text := "not loaded: "
		if h.known {
			text = "not up to date: "
		}
		out = styled.Wrap(w, styled.Span{Text: text + clean(h.err), Tok: theme.Bad})
	}
	if h.known && len(h.report.Servers) > 0 {
		out = append(out, styled.Wrap(w, costs(h.report)...)...)
	}
	trouble := troubles(h.report)
	left := len(trouble)
	for _, remark := range trouble {
		lines := styled.Wrap(w, styled.Span{Text: plain.Line(start(remark.Text)), Tok: remark.Tok})
		reserved := 1 // a row says that there is more
		if left == 1 {
			reserved = 0
		}
		if len(out)+len(lines)+reserved > most {
			break
		}
		out = append(out, lines...)
		left--
	}
	if left == 0 {
		return out
	}
	more := fmt.Sprintf("… %s (%s)", plain.Count(left, "remark"), key)
	return append(out[:min(len(out), max(most-1, 0))], styled.Of(theme.Warn, plain.Cut(more, w)))
}

// costs returns what the tools take of a context, when a switch takes effect and what it costs.
func costs(r thread.MCPReport) []styled.Span {
	if r.None {
		return []styled.Span{{Text: "This agent uses no MCP servers; switches are kept for its forks. Try one: orchestrator mcp call SERVER TOOL"}}
	}
	if r.Tokens == 0 {
		return []styled.Span{{Text: "no tools on"}}
	}
	out := []styled.Span{
		{Text: "on "}, {Text: tokens(r.Tokens), Tok: theme.Strong}, {Text: " of " + tokens(r.All) + " tokens"},
	}
	if takes := clean(r.Takes); takes != "" {
		out = append(out, styled.Span{Text: " · a switch takes effect " + takes})
	}
	if r.CacheTokens > 0 {
		text := " · a switch re-reads "
		if r.Takes != "" {
			text = " and re-reads "
		}
		text += tokens(r.CacheTokens) + " tokens"
		if r.CacheUSD > 0 {
			text += fmt.Sprintf(" ($%.2f)", r.CacheUSD)
		}
		out = append(out, styled.Span{Text: text, Tok: theme.Warn})
	}
	return out
}

// troubles lists what is outside our control, and what is wrong in configuration files.
func troubles(r thread.MCPReport) []styled.Span {
	var out []styled.Span
	for _, text := range r.Outside {
		out = append(out, styled.Span{Text: "! " + plain.Line(text), Tok: theme.Warn})
	}
	for _, p := range r.Problems {
		out = append(out, styled.Span{Text: "× " + plain.Line(at(p.File, p.Line)+": "+p.Text), Tok: theme.Bad})
	}
	return out
}

// at formats a place in a file.
func at(file string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}
