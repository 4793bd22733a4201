// Package prompts sends prompts, lists the waiting and unanswered prompts of a thread, and reports what happens to
// them.
package prompts

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature sends prompts, and tracks their states.
type Feature struct {
	*host.Host

	open *dialog.Picker // the list, open or closed
	of   thread.ID
	now  map[thread.PromptID]thread.PromptState // as last reported
}

// New adds the feature to a host.
func New(h *host.Host) *Feature {
	f := &Feature{Host: h, now: map[thread.PromptID]thread.PromptState{}}
	h.Actions.OnThread(intent.Send, f.openNew)
	h.Actions.OnMarked(intent.Send, f.openForAll)
	h.Actions.OnThread(intent.Prompts, f.Open)
	return f
}

// openNew asks for a prompt to send to a thread.
func (f *Feature) openNew(s *thread.Status) tea.Cmd {
	id := s.ID
	in := &dialog.Input{Label: "Prompt", Hint: "Task", Text: field.Field{Multi: true}, Rows: 4}
	f.Dialogs.Push(dialog.NewOne("prompt for "+f.Name(s.ID), in, "Enter a prompt", func(text string) dialog.Result {
		return host.Do(func() tea.Cmd { return f.send(id, text) })
	}).Verb("send"))
	return nil
}

// openForAll asks for a prompt to send to several threads.
func (f *Feature) openForAll(list []*thread.Status) tea.Cmd {
	var ids []thread.ID
	var names []string
	for _, s := range list {
		ids, names = append(ids, s.ID), append(names, s.TypedName())
	}
	in := &dialog.Input{Label: "Prompt", Hint: "Task for each of them", Text: field.Field{Multi: true}, Rows: 4}
	f.Dialogs.Push(dialog.NewOne(fmt.Sprintf("prompt for %d threads: %s", len(ids), plain.Few(names)), in, "Enter a prompt",
		func(text string) dialog.Result {
			return host.Do(func() tea.Cmd {
				f.Threads.Unmark()
				var all []tea.Cmd
				for _, id := range ids {
					all = append(all, f.send(id, text))
				}
				return tea.Batch(all...)
			})
		}).Verb("send to all"))
	return nil
}

// Open lists a thread's waiting and unanswered prompts.
func (f *Feature) Open(s *thread.Status) tea.Cmd {
	f.open, f.of = dialog.NewPicker("prompts of "+f.Name(s.ID), nil), s.ID
	f.open.Status = "Loading …"
	f.Dialogs.Push(f.open)
	return f.load()
}

func (f *Feature) load() tea.Cmd {
	into, id := f.open, f.of
	return host.Call(f.Host, host.Quick, api.Prompts.On(f.Server, api.PromptsRequest{Thread: string(id)}),
		func(list []thread.Prompt, err error) tea.Cmd {
			f.fill(into, list, err)
			return nil
		})
}

// fill fills the list: waiting prompts in their order, then unanswered ones, newest first.
func (f *Feature) fill(into *dialog.Picker, list []thread.Prompt, err error) {
	if err != nil {
		into.Fill(nil, err.Error())
		return
	}
	repeated := map[thread.PromptID]bool{}
	for _, p := range list {
		f.now[p.ID] = p.State
		repeated[p.Again] = true
	}
	var waiting, again []dialog.Item
	for _, p := range list {
		item := dialog.Item{Title: plain.First(p.Text), Note: stateWords(p), Detail: p.Reason, Result: f.seen(p)}
		switch {
		case !p.State.Over():
			waiting = append(waiting, item)
		case p.State.Again() && !repeated[p.ID]:
			again = append([]dialog.Item{item}, again...)
		}
	}
	into.Fill(append(waiting, again...), "No waiting or unanswered prompts")
}

// openPrompt shows a prompt, and what can be done with it.
func (f *Feature) openPrompt(p thread.Prompt) {
	name := f.Name(p.Thread)
	var body []dialog.Line
	for _, l := range plain.Lines(p.Text) {
		body = append(body, dialog.Line{Text: l})
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: fate(p, f.Threads.Thread(p.Thread)), Tok: theme.Muted})
	choices := []dialog.Choice{dialog.Cancel("Close")}
	s := f.Threads.Thread(p.Thread)
	switch {
	case p.State == thread.PromptQueued && cut(p):
		body = append(body, dialog.Line{Tok: theme.Muted,
			Text: "Too long to edit here; use: orchestrator prompts edit " + string(p.ID) + " TEXT"})
		choices = append(choices, dialog.Choice{Label: "Withdraw", Result: f.withdraw(p.ID), Danger: true})
	case p.State == thread.PromptQueued:
		choices = append(choices, dialog.Choice{Label: "Edit", Result: f.edit(p)},
			dialog.Choice{Label: "Withdraw", Result: f.withdraw(p.ID), Danger: true})
	case p.State.Again() && (s == nil || !host.Running(s)):
		body = append(body, dialog.Line{Tok: theme.Warn,
			Text: "Resume the agent first (" + f.Keys.KeyOf(intent.Resume) + "), then send it again."})
	case p.State.Again():
		choices = append(choices, dialog.Choice{Label: "Send again", Result: f.again(p.ID)})
	}
	was := p.State
	f.now[p.ID] = was
	f.Dialogs.Push(dialog.NewAsk("prompt for "+name, body, choices...).Until(func() string {
		if now := f.now[p.ID]; now != was {
			return "The prompt changed from " + string(was) + " to " + string(now) + "."
		}
		return ""
	}))
}

// seen returns the action that opens a prompt of the list.
func (f *Feature) seen(p thread.Prompt) host.Do {
	return func() tea.Cmd {
		f.openPrompt(p)
		return nil
	}
}

// edit asks for a new text for a queued prompt.
func (f *Feature) edit(p thread.Prompt) host.Do {
	return func() tea.Cmd {
		in := &dialog.Input{Label: "Prompt", Text: field.Field{Multi: true}, Rows: 6}
		in.Text.Set(p.Text)
		f.Dialogs.Push(dialog.NewOne("edit prompt for "+f.Name(p.Thread), in, "Enter a prompt, or withdraw this one",
			func(text string) dialog.Result {
				return host.Do(func() tea.Cmd { return f.change(p.ID, text) })
			}).Verb("save"))
		return nil
	}
}

func (f *Feature) withdraw(id thread.PromptID) host.Do {
	return func() tea.Cmd {
		return f.ask("", "Prompt withdrawn", api.CancelPrompt.On(f.Server, api.PromptRef{ID: id}))
	}
}

func (f *Feature) again(id thread.PromptID) host.Do {
	return func() tea.Cmd {
		return f.ask("", "", api.AskAgain.On(f.Server, api.PromptRef{ID: id}))
	}
}

func (f *Feature) send(to thread.ID, text string) tea.Cmd {
	s := f.Threads.Thread(to)
	return f.TypeLines(s != nil && s.RunsLines, text, func(lines bool) tea.Cmd {
		return f.ask(to, "", api.Ask.On(f.Server, api.AskRequest{Thread: string(to), Text: text, Lines: lines}))
	})
}

func (f *Feature) change(id thread.PromptID, text string) tea.Cmd {
	return f.ask("", "Prompt updated", api.EditPrompt.On(f.Server, api.EditRequest{ID: id, Text: text}))
}

// ask sends or changes a prompt of a thread. If it works, said is shown; "" shows the prompt's state.
func (f *Feature) ask(to thread.ID, said string, do func(context.Context) (thread.Prompt, error)) tea.Cmd {
	return host.Call(f.Host, host.Slow, do,
		func(p thread.Prompt, err error) tea.Cmd { return f.tellAsked(to, said, p, err) })
}

// tellAsked reports the result of ask.
func (f *Feature) tellAsked(to thread.ID, said string, p thread.Prompt, err error) tea.Cmd {
	if err != nil {
		return f.Fail("send the prompt", err)
	}
	f.now[p.ID] = p.State
	if said != "" {
		return f.Notify(thread.LevelInfo, said)
	}
	text := "Sent to "
	if p.State == thread.PromptQueued {
		text = "Queued for "
	}
	text += f.Name(p.Thread)
	if to != "" && p.Thread != to {
		text += ", a fork of " + f.Name(to)
	}
	if p.State == thread.PromptQueued && p.Reason != "" {
		text += ": " + p.Reason
	}
	return f.Notify(thread.LevelInfo, text)
}

// Changed handles a change of a prompt.
func (f *Feature) Changed(p thread.Prompt) tea.Cmd {
	was, known := f.now[p.ID]
	f.now[p.ID] = p.State
	var cmds []tea.Cmd
	if f.of == p.Thread && f.Dialogs.Has(f.open) {
		cmds = append(cmds, f.load())
	}
	if p.State.Again() && p.From != thread.FromPane && (!known || was != p.State) {
		cmds = append(cmds, f.Notify(thread.LevelWarn, fmt.Sprintf("%s: %s was %s; %s to resend it",
			f.Name(p.Thread), plain.Excerpt(p.Text, 30), p.State, f.Keys.KeyOf(intent.Prompts))))
	}
	return tea.Batch(cmds...)
}
