package session_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestMenusThatNoRuleKnows: an agent that has shown its input and does not show it any more, while it seems to wait for a
// prompt, asks the person something: it is not idle, until its input is back. One that works is not asked about.
func TestMenusThatNoRuleKnows(t *testing.T) {
	const shown, away = `printf '\033[2J\033[H> '`, `printf '\033[2J\033[HPick one\r\n  red\r\n  blue\r\n'`
	for _, c := range []struct {
		name, then string
		want       thread.State
	}{
		{"a menu", away, thread.StateQuestion},
		{"a menu below its idle title", `printf '\033[2J\033[Hmenu\r\n> \r\nred'`, thread.StateQuestion},
		{"another screen", `printf '\033[?1049h\033[2J\033[Hpager'`, thread.StateQuestion},
		{"it works meanwhile", `printf '\033]0;busy\007'; ` + away, thread.StateWorking},
		{"a known dialog", `printf '\033[2J\033[HAllow?'`, thread.StateApproval},
		{"its input again", shown, thread.StateIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, sessionsThatShow(t), "a", "stty raw -echo; "+shown+"; head -c 1 >/dev/null; "+c.then+
				"; head -c 1 >/dev/null; printf '\\033[?1049l\\033]0;\\007'; "+shown+"; sleep 1000")
			await.Until(t, "its input", func() bool { return h.now() == thread.StateIdle })
			if err := h.Input([]byte("x")); err != nil {
				t.Fatal(err)
			}
			await.Until(t, string(c.want), func() bool { return h.now() == c.want })
			if c.want == thread.StateQuestion {
				if r := h.refused(t, "ours"); !r.Person {
					t.Errorf("refused with %+v", r)
				}
			}
			if err := h.Input([]byte("x")); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "its input again", func() bool { return h.now() == thread.StateIdle })
		})
	}
}
