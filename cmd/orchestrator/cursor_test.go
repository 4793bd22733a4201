package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/exitcode"
)

// cursor waits until the terminal's cursor is right behind a text, shown in the shape that the person chose; "" waits
// until it is hidden.
func (s *screen) cursor(behind string) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		s.mu.Lock()
		at := s.term.Cursor()
		var text []byte
		for _, c := range s.term.Row(nil, at.Y)[:at.X] {
			if c.Width > 0 {
				text = c.AppendText(text)
			}
		}
		s.mu.Unlock()
		before := string(text)
		if behind == "" && !at.Visible || behind != "" && at.Visible && at.Style == vterm.CursorDefault && strings.HasSuffix(before, behind) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the cursor (%+v) is behind %q, not behind %q:\n%s", at, before, behind, s.text())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestCursorIsWhereTypingGoes: input methods and screen readers follow the terminal's own cursor. It is behind what
// is typed in the agent, the filter and dialogs, and nowhere else.
func TestCursorIsWhereTypingGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, size := range [][2]int{{60, 20}, {100, 30}} {
		name := r.demo(fmt.Sprintf("cursor %d", size[0]))
		s := r.open(size[0], size[1], "attach", name)
		s.see("demo agent", "ctrl+q")
		s.press("to the agent")
		s.cursor("to the agent")
		s.press("\x15\x11") // ctrl+u, ctrl+q
		s.see("n new")
		s.cursor("")
		s.press("/")
		s.cursor("/ ")
		s.press("cur修复")
		s.cursor("/ cur修复")
		s.press("\x1b[D")
		s.cursor("/ cur修")
		s.press("\x15\x1b") // ctrl+u, esc
		s.see("n new")
		s.cursor("")
		s.press("i")
		s.see("prompt for")
		s.press("first\x1b[200~ and\nsecond e\u0301x\x1b[201~")
		s.cursor("second e\u0301x")
		s.press("\x1b[A\x1b[H") // up, home
		s.cursor("Prompt      ")
		s.press("one ")
		s.cursor("one ")
		s.press("\x1b")
		s.see("n new")
		s.cursor("")
		s.press("q")
		if code := s.end(); code != exitcode.OK {
			t.Errorf("at %v the program ended with %d", size, code)
		}
	}
}
