package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/ground/await"
)

// TestWatch: a viewer that only watches decides the terminal's size while it is alone, and never against one who shows
// the terminal in full, or who watches in a larger size; its keys change no size.
func TestWatch(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `stty -echo; while read x; do echo "$x is $(stty size)"; done`)
	n := 0
	size := func(what, want string) {
		t.Helper()
		n++
		await.Until(t, what, func() bool {
			mark := fmt.Sprintf("%d-%d", n, time.Now().UnixNano())
			if err := h.Input([]byte(mark + "\n")); err != nil {
				return false
			}
			await.Until(t, "its reply", func() bool { return strings.Contains(strings.Join(h.Screen(), ""), mark+" is ") })
			return strings.Contains(strings.Join(h.Screen(), ""), mark+" is "+want)
		})
	}
	attach := func(cols, rows int, watch bool) *mirror {
		v, err := all.Attach("a", cols, rows, watch)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		return newMirror(v)
	}
	small := attach(60, 20, true)
	size("the size of the only watcher", "20 60")
	large := attach(70, 22, true)
	size("the size of a larger watcher", "22 70")
	if err := small.v.Resize(65, 21, true); err != nil {
		t.Fatal(err)
	}
	size("the size of the larger watcher still", "22 70")
	full := attach(50, 18, false)
	size("the size of who shows it in full", "18 50")
	if err := large.v.Resize(100, 40, true); err != nil {
		t.Fatal(err)
	}
	if err := large.v.Input([]byte("typed\n")); err != nil {
		t.Fatal(err)
	}
	size("the size of who shows it in full still", "18 50")
	if err := small.v.Resize(65, 21, false); err != nil { // the person now works in it
		t.Fatal(err)
	}
	size("the size of who works in it", "21 65")
	if err := small.v.Resize(65, 21, true); err != nil {
		t.Fatal(err)
	}
	size("the size of who is left in full", "18 50")
	full.v.Close()
	size("the size of the larger watcher again", "40 100")
}

// TestWatchedFlood: a viewer that only watches gets little of a flood, and the right screen with its history afterwards.
func TestWatchedFlood(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `stty -echo; read x; seq 1 300000; echo the end; sleep 1000`)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	v, err := all.Attach("a", 80, 24, true)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	m := newMirror(v)
	if _, err := v.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if err := h.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	if err := m.follow(ctx, func(s string) bool { return strings.Contains(s, "the end") }); err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(h.Screen(), "\n"); m.text() != want {
		t.Errorf("the watcher sees %q, the session %q", m.text(), want)
	}
	if m.bytes > 1<<20 { // of 2 MB
		t.Errorf("the watcher got %d KB of a flood", m.bytes>>10)
	}
	if err := m.follow(ctx, func(string) bool { return m.term.History() >= 900 }); err != nil {
		t.Fatal(err)
	}
	if err := v.Resize(80, 24, false); err != nil { // nothing holds it back from now on
		t.Fatal(err)
	}
}
