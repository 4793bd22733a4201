package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// refused sends and returns why it was not typed.
func (h *heard) refused(t *testing.T, text string) thread.NotReadyError {
	t.Helper()
	err := h.Send(context.Background(), text)
	var not *thread.NotReadyError
	if !errors.As(err, &not) || !errors.Is(err, thread.ErrBusy) || errors.Is(err, thread.ErrTyped) {
		t.Fatalf("send: %v; screen %q", err, h.Screen())
	}
	return *not
}

func (h *heard) press(t *testing.T, keys string) {
	t.Helper()
	if err := h.Input([]byte(keys)); err != nil {
		t.Fatal(err)
	}
}

// awaitReady waits for OnReady.
func (h *heard) awaitReady(t *testing.T) {
	t.Helper()
	select {
	case <-h.ready:
	case <-time.After(deadline):
		t.Fatalf("OnReady was not called; screen %q", h.Screen())
	}
}

// line is a program that reads lines and shows them.
const line = `printf 'ready>\r\n'; while read -r x; do echo "got [$x]"; done`

// TestSendKeepsOffDrafts has a person type before us, and take it back or send it.
func TestSendKeepsOffDrafts(t *testing.T) {
	for _, c := range []struct{ name, keys, away, want string }{
		{"deleted", "draft", strings.Repeat("\x7f", 5), "got [ours]"},
		{"killed", "draft", "\x15", "got [ours]"},
		{"sent", "draft", "\r", "got [draft]"},
		{"history", "\x1b[A", "\r", "got [ours]"},
		{"pasted", "\x1b[200~draft\x1b[201~", "\r", "got [ours]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, sessions(t), "a", line)
			await.Until(t, "it to start", func() bool { return h.shows("ready>") })
			h.press(t, c.keys)
			if r := h.refused(t, "ours"); !r.Person || r.Reason == "" {
				t.Errorf("refused with %+v", r)
			}
			if h.shows("ours") {
				t.Error("it was typed behind the draft")
			}
			h.press(t, c.away)
			h.awaitReady(t)
			if err := h.Send(context.Background(), "ours"); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "both", func() bool { return h.shows(c.want) && h.shows("got [ours]") })
		})
	}
}

// TestSendHoldsKeys has a person type while ours is on its way.
func TestSendHoldsKeys(t *testing.T) {
	all := sessions(t)
	all.SetSettled(time.Second) // ours is on its way that long
	h := start(t, all, "a", `stty -echo; `+line)
	await.Until(t, "it to start", func() bool { return h.shows("ready>") })
	done := make(chan error, 1)
	go func() { done <- h.Send(context.Background(), "ours") }()
	await.Until(t, "ours to be typed", h.Holding)
	h.press(t, "the")
	h.press(t, "irs\r")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	await.Until(t, "both", func() bool { return h.shows("got [theirs]") })
	if !h.shows("got [ours]") {
		t.Errorf("glued: %q", h.Screen())
	}
}

// TestCtrlCTakesOursBack has a person press ctrl+c while ours is on its way: it is not sent.
func TestCtrlCTakesOursBack(t *testing.T) {
	all := sessions(t)
	all.SetSettled(deadline)
	h := start(t, all, "a", `stty raw -echo; printf 'ready>\r\n'; head -c 5 | od -An -c; sleep 1000`)
	await.Until(t, "it to start", func() bool { return h.shows("ready>") })
	done := make(chan error, 1)
	go func() { done <- h.Send(context.Background(), "ours") }()
	await.Until(t, "ours to be typed", h.Holding)
	h.press(t, "\x03")
	if err := <-done; !errors.Is(err, thread.ErrTyped) || !strings.Contains(err.Error(), "ctrl+c") {
		t.Errorf("send: %v", err)
	}
	await.Until(t, "ctrl+c behind ours, and no return", func() bool { return h.shows(`o   u   r   s 003`) })
}

// TestSendComparesTheInput has agents that show what is typed at once, late, in pieces, twice, not at all, or behind
// what nobody could know of: the return is pressed when the prompt is there, and only then.
func TestSendComparesTheInput(t *testing.T) {
	const taken = "\nprintf '\\r\\n> \\r\\n%s|' TAKEN; sleep 1000"
	// Reads the four bytes of the prompt one by one, and shows what it is told to for each.
	reads := func(shown ...string) string {
		script := "stty raw -echo; printf '> '\n"
		for _, s := range shown {
			script += "head -c 1 >/dev/null; " + s + "\n"
		}
		return script + "head -c 1 | od -An -c | tr -d ' \\n'" + taken
	}
	for _, c := range []struct {
		name, script string
		sent         bool
		err          string
	}{
		{"at once", reads("printf o", "printf u", "printf r", "printf s"), true, ""},
		{"late", reads("", "", "", "sleep 1; printf ours"), true, ""},
		{"very late", reads("", "", "", "sleep 5; printf ours"), true, ""},
		{"in pieces", reads("printf o", "sleep 0.3; printf u", "sleep 0.3; printf r", "sleep 1.5; printf s"), true, ""},
		{"twice", reads("printf oo", "printf uu", "printf rr", "printf ss"), false, "more than was typed"},
		{"behind what was recalled late", reads("printf 'tell me'; printf o", "printf u", "printf r", "printf s"),
			false, "more than was typed"},
		{"never", "stty raw -echo; printf '> '; exec cat >/dev/null", false, "did not react"},
		{"a part", reads("printf o", "printf u", "printf r", ""), false, "did not react"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := sessionsThatShow(t)
			all.SetTakeLimit(8 * time.Second)
			h := start(t, all, "a", c.script)
			err := h.Send(context.Background(), "ours")
			if c.sent {
				if err != nil {
					t.Errorf("send: %v; screen %q", err, h.Screen())
				}
				await.Until(t, "the return", func() bool { return h.shows(`\r`) })
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("send: %v, want %q", err, c.err)
			}
			if typed := errors.Is(err, thread.ErrTyped); typed != (c.name != "never") {
				t.Errorf("typed %v: %v", typed, err)
			}
			if h.shows(`\r`) || h.shows("TAKEN") {
				t.Errorf("the return was pressed: %q", h.Screen())
			}
		})
	}
}

// TestSendKeepsOffWhatTheInputHolds has the agent itself put text into its input, as it does with a turn that was
// interrupted: nothing is typed behind it.
func TestSendKeepsOffWhatTheInputHolds(t *testing.T) {
	t.Parallel()
	h := start(t, sessionsThatShow(t), "a", `stty raw -echo; printf '> put back'; head -c 1; sleep 1000`)
	await.Until(t, "it to start", func() bool { return h.shows("put back") })
	if r := h.refused(t, "ours"); !r.Person || !strings.Contains(r.Reason, "holds something") {
		t.Errorf("refused with %+v", r)
	}
	if h.shows("put backo") {
		t.Errorf("it was typed: %q", h.Screen())
	}
}

// TestKeysThatLeaveNothing has a person press keys of which only the agent knows the effect, and that have none: the
// input is still empty, and a prompt of ours is typed a moment later.
func TestKeysThatLeaveNothing(t *testing.T) {
	for name, key := range map[string]string{
		"Esc": "\x1b", "ctrl+u": "\x15", "history, of which there is none": "\x1b[A", "completion of nothing": "\t",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, sessionsThatShow(t), "a", fmt.Sprintf("stty raw -echo; printf '> '; head -c %d >/dev/null; "+
				"head -c 4; head -c 1 >/dev/null; printf '\\r\\n> \\r\\nTAKEN'; sleep 1000", len(key)))
			await.Until(t, "it to start", func() bool { return h.shows(">") })
			h.press(t, key)
			began := time.Now()
			if err := h.Send(context.Background(), "ours"); err != nil {
				t.Fatalf("send: %v; screen %q", err, h.Screen())
			}
			if took := time.Since(began); took > deadline/2 {
				t.Errorf("it took %v", took)
			}
			await.Until(t, "ours", func() bool { return h.shows("TAKEN") })
		})
	}
}

// TestSendWaitsForAnEmptyScreen has an agent that shows its input, and then nothing while it draws a long history:
// nothing is typed before its input is back, and what was typed before is waited for.
func TestSendWaitsForAnEmptyScreen(t *testing.T) {
	t.Parallel()
	all := sessionsThatShow(t)
	all.SetTakeLimit(500 * time.Millisecond)
	h := start(t, all, "a", `stty raw -echo; printf '> '; sleep 0.1; printf '\033[2J\033[H'; sleep 3
		printf 'history\r\n> '; for c in o u r s; do head -c 1; done; head -c 1 >/dev/null; printf '\r\nTAKEN\r\n> '; sleep 1000`)
	await.Until(t, "an empty screen", func() bool { return h.Screen() != nil && !h.shows(">") })
	if err := h.Send(context.Background(), "ours"); err != nil {
		t.Fatalf("%v; screen %q", err, h.Screen())
	}
	await.Until(t, "the prompt to be taken", func() bool { return h.shows("TAKEN") })

	h = start(t, all, "b", `stty raw -echo; printf '> '; head -c 1 >/dev/null; printf '\033[2J\033[H'; sleep 3
		printf 'history\r\n> o'; for c in u r s; do head -c 1; done; head -c 1 >/dev/null; printf '\r\nTAKEN\r\n> '; sleep 1000`)
	if err := h.Send(context.Background(), "ours"); err != nil {
		t.Fatalf("typed before: %v; screen %q", err, h.Screen())
	}
}
