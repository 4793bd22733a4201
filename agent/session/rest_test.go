package session_test

import (
	"regexp"
	"testing"

	"orchestrator/agent"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestRestBeforeADialog has an agent's title say that it rests, and then its screen show an input for a moment, as
// Gemini CLI does before it asks whether to trust the folder: nobody is told that it waits for a prompt.
func TestRestBeforeADialog(t *testing.T) {
	all := sessionsWith(t, []agent.Rule{
		{State: thread.StateApproval, Pattern: regexp.MustCompile(`Trust\?`), Detail: "asks for trust"},
		{State: thread.StateIdle, Pattern: regexp.MustCompile(`Type your message`), Detail: "waits", Prompt: true},
		{State: thread.StateIdle, Lines: agent.InTitle, Pattern: regexp.MustCompile(`^◇`), Detail: "title shows idle"},
	})
	h := start(t, all, "a", `stty -echo
printf '\033]0;◇ Ready\007drawn'; read x
printf '\033[2J\033[HType your message'; sleep 0.3; printf '\033[2J\033[HTrust?'; read x
printf '\033[2J\033[HType your message'; read x
printf '\033[2J\033[Hhalf a draft'; read x`)
	await.Until(t, "the title", func() bool { return h.shows("drawn") && h.Examined() })
	if h.now() != thread.StateStarting {
		t.Errorf("its title alone says that it rests: %s", h.now())
	}
	next := func(want thread.State) {
		t.Helper()
		if err := h.Input([]byte("\r")); err != nil {
			t.Fatal(err)
		}
		await.Until(t, string(want), func() bool { return h.now() == want })
	}
	next(thread.StateApproval)
	if h.told(thread.StateIdle) {
		t.Errorf("told %v before it asked for trust", h.states)
	}
	next(thread.StateIdle)
	next(thread.StateIdle)
	await.Until(t, "its title", func() bool { return h.State().Why() == "title shows idle" })
}

// TestRestBetweenTwoViews has an agent that rests clear its screen for a moment, as OpenCode does at its first prompt:
// its state is not unknown, unless that lasts.
func TestRestBetweenTwoViews(t *testing.T) {
	h := start(t, sessions(t), "a", `stty -echo
printf '> '; read x; printf '\033[2J\033[Hdrawing'; sleep 0.4; printf '\033[2J\033[Hdrawn\r\n> '; read x
printf '\033[2J\033[Hsomething else'; read x`)
	await.Until(t, "its input", func() bool { return h.now() == thread.StateIdle })
	h.press(t, "\r")
	await.Until(t, "the other view", func() bool { return h.shows("drawn") && h.Examined() })
	if h.told(thread.StateUnknown) {
		t.Errorf("told %v between two views", h.states)
	}
	h.press(t, "\r")
	await.Until(t, "doubt", func() bool { return h.now() == thread.StateUnknown })
}
