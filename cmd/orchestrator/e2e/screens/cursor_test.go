package screens

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// cursor waits until the terminal's cursor is right behind a text, shown in the shape that the person chose; "" waits
// until it is hidden.
func cursor(s *e2e.Screen, behind string) {
	s.T.Helper()
	deadline := time.Now().Add(e2e.Patience)
	for {
		s.Mu.Lock()
		at := s.Term.Cursor()
		var text []byte
		for _, c := range s.Term.Row(nil, at.Y)[:at.X] {
			if c.Width > 0 {
				text = c.AppendText(text)
			}
		}
		s.Mu.Unlock()
		before := string(text)
		if behind == "" && !at.Visible || behind != "" && at.Visible && at.Style == vterm.CursorDefault && strings.HasSuffix(before, behind) {
			return
		}
		if time.Now().After(deadline) {
			s.T.Fatalf("the cursor (%+v) is behind %q, not behind %q:\n%s", at, before, behind, s.Text())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestCursorIsWhereTypingGoes: input methods and screen readers follow the terminal's own cursor. It is behind what
// is typed in the agent, the filter and dialogs, and nowhere else.
func TestCursorIsWhereTypingGoes(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, size := range [][2]int{{60, 20}, {100, 30}} {
		name := r.Demo(fmt.Sprintf("cursor %d", size[0]))
		s := r.Open(size[0], size[1], "attach", name)
		s.See("demo agent", "ctrl+q")
		s.Press("to the agent")
		cursor(s, "to the agent")
		s.Press("\x15\x11") // ctrl+u, ctrl+q
		s.See("n new")
		cursor(s, "")
		s.Press("/")
		cursor(s, "/ ")
		s.Press("cur修复")
		cursor(s, "/ cur修复")
		s.Press("\x1b[D")
		cursor(s, "/ cur修")
		s.Press("\x15\x1b") // ctrl+u, esc
		s.See("n new")
		cursor(s, "")
		s.Press("i")
		s.See("prompt for")
		s.Press("first\x1b[200~ and\nsecond e\u0301x\x1b[201~")
		cursor(s, "second e\u0301x")
		s.Press("\x1b[A\x1b[H") // up, home
		cursor(s, "Prompt      ")
		s.Press("one ")
		cursor(s, "one ")
		s.Press("\x1b")
		s.See("n new")
		cursor(s, "")
		s.Press("q")
		if code := s.End(); code != exitcode.OK {
			t.Errorf("at %v the program ended with %d", size, code)
		}
	}
}
