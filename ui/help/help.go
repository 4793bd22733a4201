// Package help shows the keys, starting with those that work right now, and a legend of the marks in the list.
package help

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Register adds the feature to a host; scopes returns the active scopes, innermost first.
func Register(h *host.Host, version string, scopes func() []intent.Scope) {
	h.Actions.On(intent.Help, func() tea.Cmd {
		h.Dialogs.Push(newGuide("keys", lines(h.Keys, scopes(), version)))
		return nil
	})
}

// entry is a line of the help: a key or a mark, and what it means.
func entry(what, means string, tok theme.Token) dialog.Line {
	return dialog.Line{Text: "  " + what + strings.Repeat(" ", max(hang-3-plain.Width(what), 0)) + " " + means, Tok: tok}
}

// legend explains the marks in the list.
func legend() []dialog.Line {
	body := []dialog.Line{{Text: "marks in the list", Tok: theme.Heading}}
	for _, g := range thread.Groups() {
		look := tree.LookOfGroup(g)
		body = append(body, entry(look.Glyph, look.Word, look.Style))
	}
	return append(body,
		entry("□", "not running, or abandoned", theme.Muted), entry("■", "merged", theme.Muted),
		entry("+20 ◆1", "20 forks collapsed, of which one needs you", theme.Muted),
		entry("›2", "2 prompts are queued", theme.Text), entry("p", "a prompt was cut off or refused", theme.Waiting),
		entry("≠", "a merge has conflicts", theme.Waiting), entry("&3", "works in the same folder as 3 other threads", theme.Muted),
		entry("*", "pinned", theme.Muted))
}

// lines returns the help: the keys of the active scopes, the legend, and then all other keys.
func lines(keys *intent.Table, here []intent.Scope, version string) []dialog.Line {
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
			head += " (active)"
		}
		body = append(body, dialog.Line{Text: head, Tok: theme.Heading})
		for _, b := range keys.Bindings(s) {
			labels := make([]string, len(b.Keys()))
			for k, key := range b.Keys() {
				labels[k] = intent.KeyLabel(key)
			}
			body = append(body, entry(strings.Join(labels, " "), b.Description(), theme.Text))
		}
		if s == intent.Global {
			body = append(body, entry("1–9", "go to the thread with that number", theme.Text))
		}
		body = append(body, dialog.Line{})
		if i == len(here)-1 {
			body = append(append(body, legend()...), dialog.Line{})
		}
	}
	return append(body, dialog.Line{Tok: theme.Muted,
		Text: "While you type into an agent, all keys but " + keys.LeaveKey() + " go to it."},
		dialog.Line{Text: "orchestrator " + version, Tok: theme.Muted})
}
