package main

import (
	"strings"
	"testing"
)

// TestNoticesReachTheScreen fills a context: what masking has to say of it is shown with the thread's name, in the
// program as it is put together.
func TestNoticesReachTheScreen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("full")
	s := r.open(120, 30)
	s.see("full")
	words := strings.Repeat("some words that fill the context of this thread ", 480)
	for range 2 {
		r.turn(name, "say: "+words)
	}
	r.turn(name, "say: a bit more, "+words[:len(words)*2/3])
	r.run("send", name, "hello")
	s.press("!")
	s.see("messages", r.status(name).DisplayName()+": the context has")
	s.press("\x1b")
	s.see("n new")
	s.press("q")
	s.end()
}
