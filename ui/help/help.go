// Package help lists the keys, those that work where the person is first, and what the marks of the list mean.
package help

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Register adds the feature; scopes are those whose keys are asked, innermost first.
func Register(h *host.Host, version string, scopes func() []intent.Scope) {
	h.On(intent.Help, func() tea.Cmd {
		h.Dialogs.Push(newGuide("keys", lines(h.Keys, scopes(), version)))
		return nil
	})
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

// lines are the keys, those of the scopes that are asked now first, and the legend below them.
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
			head += ", where you are"
		}
		body = append(body, dialog.Line{Text: head, Tok: theme.Heading})
		for _, b := range keys.Bindings(s) {
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
	return append(body, dialog.Line{Text: "While an agent has the keys, only " + keys.LeaveKey() + " is taken from it.", Tok: theme.Muted},
		dialog.Line{Text: "orchestrator " + version, Tok: theme.Muted})
}
