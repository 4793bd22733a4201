// Package alert notifies the user of a waiting thread outside the screen: by the terminal's bell or desktop
// notifications.
package alert

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Of notifies in the given ways that a thread has started to wait. It returns nil if the thread does not wait, or
// already did. Nothing in the text can end the escape sequence early.
func Of(ways []string, before, now *thread.Status) tea.Cmd {
	switch {
	case !now.Waits() || before == nil,
		before.State.State == now.State.State && before.State.Since.Equal(now.State.Since),
		before.Waits() && before.State.State == now.State.State:
		return nil
	}
	seq := sequence(ways, now.DisplayName()+": "+tree.LookOf(now).Word)
	if seq == "" {
		return nil
	}
	return tea.Raw(seq)
}

// sequence returns the escape sequences that show a text in the given ways.
func sequence(ways []string, text string) string {
	text = plain.Cut(strings.Map(func(r rune) rune {
		if r == ';' {
			return ','
		}
		return r
	}, plain.Line(text)), 200)
	var b strings.Builder
	for _, w := range ways {
		switch w {
		case "bell":
			b.WriteByte('\a')
		case "osc9":
			fmt.Fprintf(&b, "\x1b]9;%s\x1b\\", text)
		case "osc777":
			fmt.Fprintf(&b, "\x1b]777;notify;orchestrator;%s\x1b\\", text)
		}
	}
	return b.String()
}
