package screens

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestBorderAfterAnOffer accepts an offered fork on the screen: the rule below the pane, on which the offer stood, is whole
// again.
func TestBorderAfterAnOffer(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, size := range [][2]int{{120, 36}, {100, 30}} {
		name := r.Demo("cookies")
		r.Turn(name, "say we sign the session cookies with a key")
		s := r.Open(size[0], size[1], "attach", name)
		s.See("demo agent")
		s.Press("let's try another approach: say tokens in the header\r")
		r.AwaitState(name, thread.StateIdle, thread.StateDone)
		e2e.Await(t, "the offer", func() bool { return r.Status(name).Offer != nil })
		s.Press("\x11")
		s.See("◇ fork?", "terminal · timeline")
		s.Press("a")
		s.See("[ Fork ]")
		s.Press("\x1b[C")
		s.Press("\r")
		e2e.Await(t, "the fork's answer", func() bool {
			list := e2e.Get[[]thread.Status](r, "threads")
			return len(list) > 1 && list[len(list)-1].Turn > 1
		})
		bottom := func() string {
			rows := strings.Split(strings.TrimRight(s.Text(), "\n"), "\n")
			return rows[len(rows)-3]
		}
		e2e.Await(t, "the rule below the pane", func() bool {
			_, edge, ok := strings.Cut(bottom(), "┴")
			return ok && strings.Trim(edge, "─") == ""
		})
		r.Ok("delete", name)
		s.Press("q")
		s.End()
	}
}
