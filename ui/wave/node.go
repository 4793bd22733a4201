package wave

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/graph"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// visit opens a node: its thread, or all of what it asks.
func (f *answers) visit(v wave.View, n wave.NodeView) dialog.Result {
	if q, asks := questionOf(v, n); asks && (n.Gate || n.Thread == "") {
		return host.Stay(func() tea.Cmd { return f.whole(q) })
	}
	if n.Gate {
		return nil
	}
	if n.Thread == "" {
		return host.Stay(func() tea.Cmd { return f.src.Notify(thread.LevelInfo, plain.Line(n.Agent)+" has not begun") })
	}
	id := n.Thread
	return host.Do(func() tea.Cmd { return f.src.cfg.Visit(id) })
}

// mostData is how much of what was handed over is shown; the verb `deliverable get` gives all of it.
const mostData = 64 << 10

// read shows what a node handed over, and what there is to say of it.
func (f *answers) read(task, agent string) tea.Cmd {
	text := dialog.NewText(plain.Line(task+"/"+agent), dialog.Plain("…"))
	f.src.Dialogs.Push(text)
	return host.Call(f.src.Host, host.Quick, api.WaveStatus.On(f.src.Server, wave.TaskRef{Task: task, Agent: agent, Data: true}), func(v wave.View, err error) tea.Cmd {
		if err != nil {
			text.Set([]dialog.Line{{Text: err.Error(), Tok: theme.Bad}})
			return nil
		}
		for _, n := range v.Nodes {
			if n.Agent == agent {
				text.Set(about(n))
			}
		}
		return nil
	})
}

// about says all of a node.
func about(n wave.NodeView) (out []dialog.Line) {
	glyph, tok := graph.Mark(n)
	out = append(out, dialog.Line{Text: strings.TrimSpace(glyph + " " + graph.Word(n) + "  " + graph.Who(n) + "  " + plain.Line(n.Exec)), Tok: tok})
	add := func(title, text string) {
		if text == "" {
			return
		}
		out = append(out, dialog.Line{}, dialog.Line{Text: title, Tok: theme.Heading})
		out = append(out, dialog.Plain(plain.Lines(plain.Start(text, mostData))...)...)
	}
	add("asks", n.Question)
	add("waits for", n.Wait)
	add("error", n.Error)
	add("stalled", n.Stalled)
	add("summary", n.Summary)
	if n.Data != "" {
		out = append(out, dialog.Line{}, dialog.Line{Text: "handed over", Tok: theme.Heading})
		for _, l := range plain.Lines(plain.Start(n.Data, mostData)) {
			out = append(out, dialog.Line{Text: l, Tok: theme.Code})
		}
	}
	var files []string
	for _, x := range n.Files {
		files = append(files, x.Path+"  "+thread.Bytes(x.Bytes))
	}
	add("files", strings.Join(files, "\n"))
	return out
}
