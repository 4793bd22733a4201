package ui

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/thread"

	tea "charm.land/bubbletea/v2"
)

// click clicks on the last place where the screen shows a text.
func (r *rig) click(text string) {
	r.t.Helper()
	rows := strings.Split(r.see(), "\n")
	for y := len(rows) - 1; y >= 0; y-- {
		if i := strings.LastIndex(rows[y], text); i >= 0 {
			r.send(tea.MouseClickMsg{X: utf8.RuneCountInString(rows[y][:i]), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	r.t.Errorf("%q is not on the screen:\n%s", text, r.see())
}

// selected returns the selected thread.
func (r *rig) selected() thread.ID {
	if s := r.m.tree.Selected(); s != nil {
		return s.ID
	}
	return ""
}

// TestMoneyTakesClicks: a click selects a row, one on the selected row goes to its thread.
func TestMoneyTakesClicks(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		r.spent()
		stage(r)
		r.m.tree.Select("docs-f9a0")
		r.wait(time.Second)
		r.keys("$", "tab", "tab")
		r.wait(time.Second)
		r.click("$3.90")
		if r.m.dialogs.Top() == nil || r.selected() != "docs-f9a0" {
			t.Errorf("one click went to %s", r.selected())
		}
		r.click("$3.90")
		if r.m.dialogs.Top() != nil || r.selected() != "try-jwt-b7c1" {
			t.Errorf("a second one went to %s\n%s", r.selected(), r.see())
		}
	})
}
