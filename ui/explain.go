package ui

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// why says what speaks for a thread's state.
func (m *Model) why(msg whyMsg) []dialog.Line {
	if msg.err != nil {
		return []dialog.Line{{Text: msg.err.Error(), Tok: theme.Bad}}
	}
	r := msg.report
	look := tree.LookOfReport(r)
	body := []dialog.Line{{Text: look.Glyph + " " + look.Word, Tok: look.Style}}
	if !r.Since.IsZero() {
		body[0].Text += ", for " + elapsed(m.cfg.Clock().Sub(r.Since))
	}
	body = append(body, dialog.Line{})
	for i, e := range r.Evidence {
		mark, tok := "  ", theme.Muted
		if i == 0 {
			mark, tok = "▸ ", theme.Text
		}
		age := ""
		if !e.At.IsZero() {
			age = " (" + elapsed(m.cfg.Clock().Sub(e.At)) + " ago)"
		}
		if e.Source == thread.SourcePrompt {
			body = append(body, dialog.Line{Text: "  prompt " + e.Detail + age, Tok: theme.Muted})
			continue
		}
		body = append(body, dialog.Line{Text: fmt.Sprintf("%s%s says %s: %s%s", mark, sourceName(e.Source), tree.LookOfState(e.State).Word, e.Detail, age), Tok: tok})
	}
	if r.Screen != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: "The last lines of its screen:", Tok: theme.Muted})
		for _, l := range plain.Lines(r.Screen) {
			body = append(body, dialog.Line{Text: "  " + l})
		}
	}
	if len(r.Evidence) == 0 {
		body = append(body, dialog.Line{Text: "Nothing speaks for another state.", Tok: theme.Muted})
	}
	for _, note := range r.Notes {
		body = append(body, dialog.Line{}, dialog.Line{Text: note, Tok: theme.Warn})
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: "The source named first decides; silence means unknown, never idle.", Tok: theme.Muted})
	if o := m.offer(); o != nil {
		body = append(body, dialog.Line{}, dialog.Line{Text: "A fork is offered: " + o.Label, Tok: theme.Accent},
			dialog.Line{Text: "because " + o.Why}, dialog.Line{Text: "rule: " + o.Rule, Tok: theme.Muted})
	}
	return body
}

func sourceName(s thread.Source) string {
	switch s {
	case thread.SourceProcess:
		return "the process"
	case thread.SourceGateway:
		return "the gateway"
	case thread.SourceTranscript:
		return "the transcript"
	case thread.SourceHook:
		return "the agent"
	case thread.SourceScreen:
		return "the screen"
	case thread.SourceSilence:
		return "silence"
	default:
		return string(s)
	}
}

// legend are the marks of the list, with what they say.
func legend() []dialog.Line {
	body := []dialog.Line{{Text: "marks of the list", Tok: theme.Heading}}
	for _, s := range []thread.State{
		thread.StateWorking, thread.StateStarting, thread.StateDone, thread.StateIdle, thread.StateApproval, thread.StateQuestion,
		thread.StateLimited, thread.StateUnauthorised, thread.StateUnavailable, thread.StateUnreachable, thread.StateCut, thread.StateFailed,
		thread.StateSilent, thread.StateInterrupted, thread.StateUnknown, thread.StateExited,
	} {
		look := tree.LookOfState(s)
		body = append(body, dialog.Line{Text: fmt.Sprintf("  %-18s %s", strings.TrimSpace(look.Glyph+" "+look.Mark), look.Word), Tok: look.Style})
	}
	body = append(body, dialog.Line{Text: fmt.Sprintf("  %-18s %s", "›2", "two prompts wait to be typed"), Tok: theme.Accent},
		dialog.Line{Text: fmt.Sprintf("  %-18s %s", "&", "shares its folder with another thread"), Tok: theme.Muted})
	for _, kind := range []thread.OutcomeKind{thread.OutcomeMerged, thread.OutcomeAbandoned} {
		look := tree.LookOf(&thread.Status{Thread: thread.Thread{Outcome: thread.Outcome{Kind: kind}}})
		body = append(body, dialog.Line{Text: fmt.Sprintf("  %-18s %s", look.Glyph, look.Word), Tok: look.Style})
	}
	return body
}

// showHelp lists the keys, those that work here first, and what the marks mean.
func (m *Model) showHelp() {
	here := m.scopes()
	order := append([]intent.Scope{}, here...)
	for _, s := range intent.Scopes() {
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	var body []dialog.Line
	for i, s := range order {
		head := "in " + string(s)
		switch {
		case s == intent.Global:
			head = "everywhere"
		case i < len(here):
			head += ", where you are"
		}
		body = append(body, dialog.Line{Text: head, Tok: theme.Heading})
		for _, b := range m.keys.Bindings(s) {
			labels := make([]string, len(b.Keys()))
			for k, key := range b.Keys() {
				labels[k] = intent.KeyLabel(key)
			}
			body = append(body, dialog.Line{Text: fmt.Sprintf("  %-18s %s", strings.Join(labels, " "), b.Says())})
		}
		if s == intent.Global {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  %-18s %s", "1–9", "go to that thread of the list")})
		}
		body = append(body, dialog.Line{})
		if i == len(here)-1 {
			body = append(append(body, legend()...), dialog.Line{})
		}
	}
	body = append(body, dialog.Line{Text: "While an agent has the keys, only " + m.leaveKey() + " is taken from it.", Tok: theme.Muted},
		dialog.Line{Text: "orchestrator " + m.cfg.Version, Tok: theme.Muted})
	m.dialogs.Push(dialog.NewGuide("keys", body))
}

// showPalette offers every command, and every thread to go to.
func (m *Model) showPalette() {
	var items []dialog.Item
	for _, b := range m.keys.Commands() {
		if scopeApplies(b.Scope, m.scopes()) {
			items = append(items, dialog.Item{Title: b.Says(), Note: b.Label(), Result: runIt{b.Action}})
		}
	}
	for _, s := range m.tree.All() {
		items = append(items, dialog.Item{Title: "go to " + s.DisplayName(), Note: tree.LookOf(s).Word, Result: goTo{id: s.ID}})
	}
	m.dialogs.Push(dialog.NewPicker("commands", items))
}

func scopeApplies(s intent.Scope, here []intent.Scope) bool {
	for _, h := range here {
		if h == s {
			return true
		}
	}
	return s == intent.Global
}

// hits turns what a search found into items.
func (m *Model) hits(msg foundMsg) ([]dialog.Item, string) {
	if msg.err != nil {
		return nil, msg.err.Error()
	}
	var items []dialog.Item
	for _, h := range msg.hits {
		note := h.Where
		if h.Turn > 0 {
			note = fmt.Sprintf("%s, turn %d", h.Where, h.Turn)
		}
		items = append(items, dialog.Item{Title: m.hitName(h), Note: note, Detail: plain.First(h.Snippet), Result: goTo{id: h.Thread, at: h.Checkpoint, n: h.Turn, asked: h.Prompt != ""}})
	}
	if msg.into.Query() == "" {
		return nil, "type to search in names, prompts and answers"
	}
	return items, "nothing found"
}

// agentsKnown takes the agents; the first time it greets who has none.
func (m *Model) agentsKnown(msg agentsMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail("agents", msg.err)
	}
	m.agents = msg.agents
	m.firstRun()
	return nil
}

// builtIn are the agents that need no installation.
func builtIn(name string) bool { return name == "demo" || name == "command" }

// firstRun explains, once and only where there is nothing yet, what was looked for when no coding
// agent is installed, and offers the demo.
func (m *Model) firstRun() {
	if m.news.greeted || !m.conn.listed || len(m.agents) == 0 {
		return
	}
	m.news.greeted = true
	if len(m.tree.All()) > 0 {
		return
	}
	for _, a := range m.agents {
		if a.Found && !builtIn(a.Name) {
			return
		}
	}
	body := []dialog.Line{
		{Text: "No coding agent was found here. These were looked for:"},
		{},
	}
	body = append(body, m.agentLines(false)...)
	body = append(body, dialog.Line{Text: m.keys.KeyOf(intent.Agents) + " lists all the places later.", Tok: theme.Muted}, dialog.Line{}, dialog.Line{Text: "The built-in demo agent needs no installation, no key and no network: it reads and edits files in a thread like the others, by a script."})
	m.dialogs.Push(dialog.NewAsk("welcome", body,
		dialog.Choice{Label: "try the demo", Result: tryDemo{}, Preset: true}, dialog.Cancel("later")))
}

// agentLines lists the agents with what was found of them.
func (m *Model) agentLines(all bool) []dialog.Line {
	var body []dialog.Line
	for _, a := range m.agents {
		switch {
		case a.Found && a.Problem == "":
			if all {
				body = append(body, dialog.Line{Text: strings.TrimSpace(fmt.Sprintf("✓ %-10s %s %s", a.Name, a.Version, a.Path)), Tok: theme.Good})
			}
			continue
		case a.Found:
			body = append(body, dialog.Line{Text: fmt.Sprintf("▲ %-10s %s", a.Name, a.Problem), Tok: theme.Warn})
		default:
			problem := a.Problem
			if problem == "" {
				problem = "not found"
			}
			body = append(body, dialog.Line{Text: fmt.Sprintf("✗ %-10s %s", a.Name, problem), Tok: theme.Warn})
		}
		if a.Hint != "" {
			body = append(body, dialog.Line{Text: "  " + a.Hint, Tok: theme.Muted})
		}
		switch n := len(a.Looked); {
		case n == 0:
		case all || n < 3:
			body = append(body, dialog.Line{Text: "  looked in " + strings.Join(a.Looked, ", "), Tok: theme.Muted})
		default:
			body = append(body, dialog.Line{Text: fmt.Sprintf("  looked in %s and %d other places", a.Looked[0], n-1), Tok: theme.Muted})
		}
	}
	return body
}

func (m *Model) showAgents() {
	m.dialogs.Push(dialog.NewText("agents", m.agentLines(true)))
}

// showResumes opens the list of interrupted threads and reports whether there are any. At the
// start it opens by itself; asked for, archived ones stay out as well.
func (m *Model) showResumes(asked bool) bool {
	left := m.interrupted()
	if len(left) == 0 || (!asked && m.cfg.Open != "") {
		return false
	}
	m.dialogs.Push(dialog.NewResumes(left, m.tree.Thread))
	return true
}

// hitName is what the thread of a hit is shown as.
func (m *Model) hitName(h thread.Hit) string {
	if m.tree.Thread(h.Thread) == nil {
		return h.Name
	}
	return m.name(h.Thread)
}
