package mcp

import (
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// mostLines is how many lines of a log or a description are laid out.
const mostLines = 1000

// Details returns everything about a server.
func Details(d thread.MCPDetail, keys *intent.Table, now time.Time) []styled.Span {
	s := &d.MCPServer
	state := stateOf(s)
	out := []styled.Span{{Text: state.sign + " " + state.word, Tok: state.tok}}
	for _, fact := range facts(s, keys, now) {
		out = append(out, styled.Span{Text: fact})
	}
	out = append(out, styled.Span{})
	add := func(label, value string) {
		if value != "" {
			out = append(out, styled.Span{Text: fmt.Sprintf("%-11s%s", label, plain.Line(value))})
		}
	}
	add("transport", s.Transport)
	add("target", s.Target)
	if s.Known {
		add("tools", fmt.Sprintf("%d of %d on, %s tokens", s.ToolsOn, s.Tools, tokens(s.Tokens)))
	}
	add("share", s.Share)
	add("memory", size(s.Memory))
	if s.PID > 0 {
		add("process", fmt.Sprint(s.PID))
	}
	if s.Starts > 0 {
		add("starts", fmt.Sprint(s.Starts))
	}
	add("last call", called(s, now))
	out = append(out, sources(s)...)
	out = append(out, rates(d)...)
	return append(out, commands(d)...)
}

// Launch returns exactly what is started, how that differs from what was accepted, and where it comes from.
func Launch(d thread.MCPDetail) []styled.Span {
	out := commands(d)
	if len(out) == 0 {
		out = []styled.Span{{Text: "What would be started is not known.", Tok: theme.Warn}}
	} else {
		out = out[1:] // an empty line
	}
	if len(d.Diff) > 0 {
		out = append(out, styled.Span{}, styled.Span{Text: "Changed since it was accepted:", Tok: theme.Warn})
		out = append(out, diff(d.Diff)...)
	}
	if d.Problem != "" {
		out = append(out, styled.Span{}, styled.Span{Text: "× " + plain.Line(d.Problem), Tok: theme.Bad})
	}
	if len(d.Warnings) > 0 {
		out = append(out, styled.Span{})
	}
	for _, w := range d.Warnings {
		out = append(out, styled.Span{Text: "! " + plain.Line(w), Tok: theme.Warn})
	}
	out = append(out, sources(&d.MCPServer)...)
	if d.Hash != "" {
		out = append(out, styled.Span{}, styled.Span{Text: "launch hash " + plain.Exact(d.Hash), Tok: theme.Muted})
	}
	return out
}

// Log shows what a server printed.
func Log(d thread.MCPDetail) []styled.Span {
	if len(d.Log) == 0 {
		return []styled.Span{{Text: "It has printed nothing.", Tok: theme.Muted}}
	}
	var out []styled.Span
	for _, entry := range d.Log {
		for _, l := range plain.Lines(strings.TrimSuffix(entry, "\n")) {
			out = append(out, styled.Span{Text: l})
		}
	}
	if more := len(out) - mostLines; more > 0 {
		out[more] = styled.Span{Text: "… " + plain.Count(more, "older line"), Tok: theme.Muted}
		out = out[more:]
	}
	return out
}

// Withheld shows the tools that are withheld, with their changes, and reports whether there are any.
func Withheld(d thread.MCPDetail) ([]styled.Span, bool) {
	var out []styled.Span
	for i := range d.List {
		if d.List[i].Withheld == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, styled.Span{})
		}
		out = append(out, Tool(&d.List[i])...)
	}
	return out, len(out) > 0
}

// Tool returns everything about a tool.
func Tool(t *thread.MCPTool) []styled.Span {
	out := []styled.Span{{Text: plain.Exact(t.Name) + "  " + tokens(t.Tokens) + " tokens", Tok: theme.Strong}}
	if t.Withheld != "" {
		out = append(out, styled.Span{Text: "! withheld: " + plain.Line(t.Withheld), Tok: theme.Warn})
	}
	if t.Unusable != "" {
		out = append(out, styled.Span{Text: "not usable: " + plain.Line(t.Unusable), Tok: theme.Muted})
	}
	for _, h := range t.Hidden {
		out = append(out, styled.Span{Text: "! hidden: " + plain.Line(h), Tok: theme.Warn})
	}
	if len(t.Diff) > 0 {
		out = append(out, diff(t.Diff)...)
	}
	for i, l := range plain.Lines(strings.TrimSpace(t.Description)) {
		if i == mostLines {
			return append(out, styled.Span{Text: "… there is more", Tok: theme.Muted})
		}
		out = append(out, styled.Span{Text: l})
	}
	return out
}

// Troubles lists everything that is outside our control, and everything wrong in configuration files.
func Troubles(r thread.MCPReport) []styled.Span {
	out := troubles(r)
	if len(out) == 0 {
		return []styled.Span{{Text: "There are no problems.", Tok: theme.Muted}}
	}
	return out
}

// commands shows exactly what is started, a mark before each line.
func commands(d thread.MCPDetail) []styled.Span {
	if len(d.Launch) == 0 {
		return nil
	}
	out := []styled.Span{{}, {Text: "It will run exactly this:", Tok: theme.Heading}}
	for _, l := range d.Launch {
		out = append(out, styled.Span{Text: "▸ " + plain.Exact(l), Tok: theme.Code})
	}
	return out
}

// diff shows lines that begin with + or -.
func diff(lines []string) []styled.Span {
	var out []styled.Span
	for _, l := range lines {
		tok := theme.Code
		switch {
		case strings.HasPrefix(l, "+"):
			tok = theme.DiffAdd
		case strings.HasPrefix(l, "-"):
			tok = theme.DiffDel
		}
		out = append(out, styled.Span{Text: "  " + plain.Exact(l), Tok: tok})
	}
	return out
}

// sources lists where a server is configured.
func sources(s *thread.MCPServer) []styled.Span {
	if len(s.Sources) == 0 {
		return nil
	}
	out := []styled.Span{{}, {Text: "Configured in:", Tok: theme.Heading}}
	for _, from := range s.Sources {
		text := "  " + at(from.File, from.Line)
		if from.Agent != "" {
			text += ", for " + from.Agent
		}
		if from.Scope != "" {
			text += " (" + from.Scope + ")"
		}
		out = append(out, styled.Span{Text: plain.Line(text)})
	}
	if !s.Trusted {
		out = append(out, styled.Span{Text: "It comes with the repository.", Tok: theme.Warn})
	}
	return out
}

// rates shows the patterns of a server, and how often each would have fired.
func rates(d thread.MCPDetail) []styled.Span {
	if len(d.Rates) == 0 && len(d.Pattern) == 0 {
		return nil
	}
	out := []styled.Span{{}, {Text: "Switched on by these words in a prompt:", Tok: theme.Heading}}
	if len(d.Rates) == 0 {
		for _, p := range d.Pattern {
			out = append(out, styled.Span{Text: "  " + plain.Line(p)})
		}
	}
	for _, r := range d.Rates {
		line := styled.Span{Text: "  " + plain.Line(r.Pattern) + fmt.Sprintf("  %d of %s", r.Fired, plain.Count(r.Of, "past prompt"))}
		if r.Problem != "" {
			line.Text, line.Tok = line.Text+"  "+plain.Line(r.Problem), theme.Bad
		}
		out = append(out, line)
	}
	return out
}
