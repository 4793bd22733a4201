package ui

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// The messages and results about prompts.
type (
	// askedMsg is what became of a prompt that was sent, edited, withdrawn or sent again.
	askedMsg struct {
		to   thread.ID
		said string // told where it worked; empty tells how far the prompt got
		got  thread.Prompt
		err  error
	}
	promptsMsg struct {
		into *dialog.Picker
		id   thread.ID
		list []thread.Prompt
		err  error
	}

	promptSeen struct{ prompt thread.Prompt }
	promptEdit struct{ prompt thread.Prompt }
	promptDrop struct{ id thread.PromptID }
	promptMore struct{ id thread.PromptID }
)

func (promptSeen) DialogResult() {}

func (promptEdit) DialogResult() {}

func (promptDrop) DialogResult() {}

func (promptMore) DialogResult() {}

// asked is what is known of prompts beyond what statuses tell.
type asked struct {
	open *dialog.Picker // the list on show, or that was
	of   thread.ID
	now  map[thread.PromptID]thread.PromptState // as told last
}

// openPrompts lists what a thread was asked and has not answered.
func (m *Model) openPrompts(s *thread.Status) tea.Cmd {
	m.asked.open, m.asked.of = dialog.NewPicker("prompts of "+s.DisplayName(), nil), s.ID
	m.asked.open.Status = "looking …"
	m.dialogs.Push(m.asked.open)
	return m.loadPrompts()
}

func (m *Model) loadPrompts() tea.Cmd {
	into, id := m.asked.open, m.asked.of
	return m.call(quick, func(ctx context.Context) tea.Msg {
		list, err := m.cfg.Server.Prompts(ctx, string(id), false)
		return promptsMsg{into, id, list, err}
	})
}

// listPrompts fills the list: first what waits, in its order, then what was not answered, the newest first.
func (m *Model) listPrompts(msg promptsMsg) {
	if msg.err != nil {
		msg.into.Fill(nil, msg.err.Error())
		return
	}
	repeated := map[thread.PromptID]bool{}
	for _, p := range msg.list {
		m.asked.now[p.ID] = p.State
		repeated[p.Again] = true
	}
	var waiting, again []dialog.Item
	for _, p := range msg.list {
		item := dialog.Item{Title: plain.First(p.Text), Note: string(p.State), Detail: p.Reason, Result: promptSeen{p}}
		switch {
		case !p.State.Over():
			waiting = append(waiting, item)
		case p.State.Again() && !repeated[p.ID]:
			again = append([]dialog.Item{item}, again...)
		}
	}
	msg.into.Fill(append(waiting, again...), "nothing waits, and everything was answered")
}

// openPrompt shows a prompt, and what can be done with it.
func (m *Model) openPrompt(p thread.Prompt) {
	name := m.name(p.Thread)
	var body []dialog.Line
	for _, l := range plain.Lines(p.Text) {
		body = append(body, dialog.Line{Text: l})
	}
	state := string(p.State) + ", asked at " + p.Accepted.Local().Format("15:04:05")
	if p.Reason != "" {
		state += ": " + p.Reason
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: state, Tok: theme.Muted})
	choices := []dialog.Choice{dialog.Cancel("Close")}
	s := m.tree.Thread(p.Thread)
	switch {
	case p.State == thread.PromptQueued && cut(p):
		body = append(body, dialog.Line{Text: "It is too long to be edited here: orchestrator prompts edit " + string(p.ID) + " TEXT", Tok: theme.Muted})
		choices = append(choices, dialog.Choice{Label: "Withdraw", Result: promptDrop{p.ID}, Danger: true})
	case p.State == thread.PromptQueued:
		choices = append(choices, dialog.Choice{Label: "Edit", Result: promptEdit{p}}, dialog.Choice{Label: "Withdraw", Result: promptDrop{p.ID}, Danger: true})
	case p.State.Again() && (s == nil || !running(s)):
		body = append(body, dialog.Line{Text: "It can be sent again when the agent runs: " + m.keys.KeyOf(intent.Resume) + " resumes it.", Tok: theme.Warn})
	case p.State.Again():
		choices = append(choices, dialog.Choice{Label: "Send again", Result: promptMore{p.ID}})
	}
	was := p.State
	m.asked.now[p.ID] = was
	m.dialogs.Push(dialog.NewAsk("a prompt for "+name, body, choices...).Until(func() string {
		if now := m.asked.now[p.ID]; now != was {
			return "It was " + string(was) + " and is " + string(now) + " meanwhile."
		}
		return ""
	}))
}

// cut reports whether a prompt came as an excerpt.
func cut(p thread.Prompt) bool { return strings.HasSuffix(p.Text, "…") }

// promptResult does what was chosen for a prompt.
func (m *Model) promptResult(r dialog.Result) (tea.Cmd, bool) {
	srv := m.cfg.Server
	switch r := r.(type) {
	case dialog.Prompted:
		return m.ask(r.ID, "", func(ctx context.Context) (thread.Prompt, error) { return srv.Ask(ctx, string(r.ID), r.Text) }), true
	case dialog.Edited:
		return m.ask("", "the prompt is changed", func(ctx context.Context) (thread.Prompt, error) { return srv.EditPrompt(ctx, r.ID, r.Text) }), true
	case promptSeen:
		m.openPrompt(r.prompt)
	case promptEdit:
		m.dialogs.Push(dialog.NewEdit(r.prompt, m.name(r.prompt.Thread)))
	case promptDrop:
		return m.ask("", "the prompt is withdrawn", func(ctx context.Context) (thread.Prompt, error) { return srv.CancelPrompt(ctx, r.id) }), true
	case promptMore:
		return m.ask("", "", func(ctx context.Context) (thread.Prompt, error) { return srv.AskAgain(ctx, r.id) }), true
	default:
		return nil, false
	}
	return nil, true
}

func (m *Model) ask(to thread.ID, said string, do func(context.Context) (thread.Prompt, error)) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		p, err := do(ctx)
		return askedMsg{to, said, p, err}
	})
}

// tellAsked says what became of a prompt.
func (m *Model) tellAsked(msg askedMsg) tea.Cmd {
	p := msg.got
	if msg.err != nil {
		return m.fail("not sent", msg.err)
	}
	m.asked.now[p.ID] = p.State
	if msg.said != "" {
		return m.tell(thread.LevelInfo, msg.said)
	}
	text := "sent to "
	if p.State == thread.PromptQueued {
		text = "queued for "
	}
	text += m.name(p.Thread)
	if msg.to != "" && p.Thread != msg.to {
		text += ", a fork of " + m.name(msg.to)
	}
	if p.State == thread.PromptQueued && p.Reason != "" {
		text += ": " + p.Reason
	}
	return m.tell(thread.LevelInfo, text)
}

// promptChanged takes the news of a prompt.
func (m *Model) promptChanged(p thread.Prompt) tea.Cmd {
	was, known := m.asked.now[p.ID]
	m.asked.now[p.ID] = p.State
	var cmds []tea.Cmd
	if m.asked.of == p.Thread && m.dialogs.Has(m.asked.open) {
		cmds = append(cmds, m.loadPrompts())
	}
	if p.State.Again() && p.From != thread.FromPane && (!known || was != p.State) {
		cmds = append(cmds, m.tell(thread.LevelWarn, fmt.Sprintf("%s: %s was %s; %s sends it again",
			m.name(p.Thread), dialog.Excerpt(p.Text, 30), p.State, m.keys.KeyOf(intent.Prompts))))
	}
	return tea.Batch(cmds...)
}

// unanswered are the lines about what a thread was asked and has not answered.
func unanswered(prompts []thread.Prompt) []dialog.Line {
	var out []dialog.Line
	for _, p := range prompts {
		text := string(p.State)
		if p.Reason != "" {
			text += " (" + p.Reason + ")"
		}
		out = append(out, dialog.Line{Text: text + ": " + dialog.Excerpt(p.Text, 120), Tok: theme.Warn})
	}
	return out
}
