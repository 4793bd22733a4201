// Package consent lets an agent put text on the person's clipboard if the person agrees: once, or for its thread. What is
// on the clipboard is never told to an agent. Consent ends with the screen.
package consent

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature asks for consent.
type Feature struct {
	*host.Host
	copy  func(name, what, text string) tea.Cmd
	agree map[thread.ID]answer
	want  map[thread.ID]string // the newest text of each thread that was not answered
}

// answer is what the person said about a thread.
type answer int

const (
	unasked answer = iota
	asked
	allowed
	denied
)

// Register adds the feature; copy copies a text of a thread.
func Register(h *host.Host, copy func(name, what, text string) tea.Cmd) *Feature {
	f := &Feature{h, copy, map[thread.ID]answer{}, map[thread.ID]string{}}
	h.Actions.OnThread(intent.AgentCopy, f.show)
	return f
}

// what is what is copied.
const what = "text of its agent"

// Wanted handles an agent's wish to put a text on the clipboard. A thread asks once.
func (f *Feature) Wanted(id thread.ID, text string) tea.Cmd {
	switch f.agree[id] {
	case allowed:
		return f.copy(f.Name(id), what, text)
	case denied:
		return nil
	case asked:
		f.want[id] = text
		return nil
	case unasked:
	}
	f.agree[id], f.want[id] = asked, text
	return f.Notify(thread.LevelInfo, fmt.Sprintf("%s: its agent wants to put %s on the clipboard. %s in the list shows it",
		f.Name(id), thread.Bytes(int64(len(text))), f.Keys.KeyOf(intent.AgentCopy)))
}

// show shows what the agent of a thread wants to put on the clipboard, and asks.
func (f *Feature) show(s *thread.Status) tea.Cmd {
	id, name, text := s.ID, f.Name(s.ID), f.want[s.ID]
	if text == "" {
		return f.Notify(thread.LevelInfo, name+": its agent wants to put nothing on the clipboard")
	}
	body := []dialog.Line{{Text: "Its agent wants to put " + thread.Bytes(int64(len(text))) + " on the clipboard:"}, {}}
	for _, l := range plain.Lines(text) {
		body = append(body, dialog.Line{Text: l, Tok: theme.Code})
	}
	say := func(a answer, copies bool) dialog.Result {
		return host.Do(func() tea.Cmd {
			delete(f.want, id)
			f.agree[id] = a
			if copies {
				return f.copy(name, what, text)
			}
			return nil
		})
	}
	f.Dialogs.Push(dialog.NewAsk("clipboard of "+name, body, dialog.Cancel("Not now"),
		dialog.Choice{Label: "Copy this", Result: say(unasked, true), Read: true},
		dialog.Choice{Label: "Always for this thread", Result: say(allowed, true), Read: true},
		dialog.Choice{Label: "Never for this thread", Result: say(denied, false)}))
	return nil
}
