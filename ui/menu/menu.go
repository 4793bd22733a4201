// Package menu opens the menu of acts that stop, merge, remove or publish: no single letter at the list does. It shows
// what can be done now with the selected thread.
package menu

import (
	"cmp"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Config is what the menu needs from the root.
type Config struct {
	// Scopes returns the active scopes, innermost first.
	Scopes func() []intent.Scope
	// Do runs a command as its key would.
	Do func(intent.Action) tea.Cmd
}

// Register adds the feature to a host.
func Register(h *host.Host, cfg Config) {
	h.Actions.On(intent.Menu, func() tea.Cmd {
		scope := intent.ThreadMenu
		if slices.Contains(cfg.Scopes(), intent.Context) {
			scope = intent.ContextMenu
		}
		s := h.Threads.Selected()
		title := "threads"
		if s != nil {
			title = s.TypedName()
		}
		marked := h.Threads.Marked()
		if len(marked) > 0 {
			title = fmt.Sprintf("%d marked threads", len(marked))
		}
		var items []dialog.MenuItem
		for _, b := range h.Keys.Entries(scope) {
			if len(marked) > 0 && !h.Actions.ForMarked(b.Action) {
				continue
			}
			if text := useful(s, b); text != "" || len(marked) > 0 {
				text = cmp.Or(text, b.Description())
				items = append(items, dialog.MenuItem{Action: b.Action, Label: b.Label(), Text: text, Hidden: named(b.Action),
					Result: host.Do(func() tea.Cmd {
						if now := h.Threads.Selected(); (now == nil) != (s == nil) || now != nil && now.ID != s.ID {
							return h.Notify(thread.LevelInfo, "Nothing was done: another thread is selected now")
						}
						return cfg.Do(b.Action)
					})})
			}
		}
		h.Dialogs.Push(dialog.NewMenu(plain.Line(title), scope, items))
		return nil
	})
}

// named reports whether the text of another entry names the key of this one.
func named(a intent.Action) bool { return a == intent.StopNow || a == intent.FileAway }

// useful returns the text of an entry, or "" if it means nothing for a thread; nil is no thread.
func useful(s *thread.Status, b intent.Binding) string {
	switch b.Action {
	case intent.Archived, intent.Import, intent.Collect, intent.ResumeAll:
		return b.Description()
	case intent.Stop, intent.StopNow:
		switch {
		case s == nil, !host.Running(s), s.Runs(): // a run is cancelled
			return ""
		case s.TakenOver():
			return "back to runs: end its terminal (ctrl+s: at once)"
		}
	case intent.CancelRun:
		if s == nil || !s.Run.Waiting() && !s.Run.Working() {
			return ""
		}
		return "cancel " + s.Run.Execution
	case intent.ResumeRun:
		switch {
		case s == nil || !s.Runs():
			return ""
		case s.Run.State == "lost":
			return "go on with " + s.Run.Execution + ", which was lost"
		case s.Run.State == "failed" && s.Run.Instead == "":
			return "try " + s.Run.Execution + " again, which failed"
		case !s.Run.Again.IsZero():
			return "try " + s.Run.Execution + " now, which waits for its next attempt"
		}
		return ""
	case intent.FallbackRun:
		if s == nil || !s.Runs() || s.Run.Fallback == "" {
			return ""
		}
		return "have its fallback " + s.Run.Fallback + " go on with " + s.Run.Execution
	case intent.Resume:
		switch {
		case s == nil, host.Running(s), !s.Archived.IsZero():
			return ""
		case s.Runs():
			return "take over: open it in its agent's terminal"
		}
	case intent.Archive:
		if s != nil && !s.Archived.IsZero() {
			return "restore from the archive (ctrl+a: at once)"
		}
	default:
	}
	if s == nil {
		return ""
	}
	return b.Description()
}
