package ui

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// somePrompts are what a thread was asked: one is open, two wait, one was interrupted, one was and is sent again.
func somePrompts() []thread.Prompt {
	ask := func(id thread.PromptID, st thread.PromptState, text string) thread.Prompt {
		return thread.Prompt{ID: id, Thread: "auth-feature-a3f2", From: thread.FromVerb, State: st, Text: text, Accepted: epoch}
	}
	cut := ask("p1", thread.PromptInterrupted, "explain the parser \x1b[31m")
	cut.Reason = "its agent was killed"
	old := ask("p2", thread.PromptInterrupted, "run the tests")
	open := ask("p3", thread.PromptOpen, "run the tests")
	open.Again = "p2"
	first := ask("p4", thread.PromptQueued, "write the docs\nfor all of it")
	first.Reason = "its agent works"
	done := ask("p0", thread.PromptAnswered, "hello")
	return []thread.Prompt{done, cut, old, open, first, ask("p5", thread.PromptQueued, "then tidy up")}
}

// asking is a world in which the first thread was asked all that.
func asking() *server {
	srv := world()
	srv.prompts = somePrompts()
	srv.threads[0].Prompts, srv.threads[0].Queued = srv.prompts[1:], 2
	return srv
}

func TestPromptsAreSeen(t *testing.T) {
	on(t, asking(), func(r *rig) {
		r.must("›2", "2 queued")
		r.keys("p")
		r.must("prompts of auth-feature", "write the docs", "its agent works", "queued", "explain the parser ␛[31m", "interrupted", "open")
		if see := r.see(); strings.Count(see, "run the tests") != 1 || strings.Contains(see, "hello") {
			t.Errorf("what was answered or sent again is listed:\n%s", see)
		}
		r.keys("esc", "tab", "tab", ". i")
		r.must("Unanswered prompts, 2 queued", "then tidy up")
	})
}

func TestPromptIsEditedAndWithdrawn(t *testing.T) {
	on(t, asking(), func(r *rig) {
		r.keys("p")
		r.text("docs")
		r.keys("enter")
		r.must("for all of it", "queued at 00:00:00, goes after this turn", "[ Edit ]", "[ Withdraw ]")
		r.keys("right", "enter")
		r.text(", please")
		r.must("enter save")
		r.keys("enter")
		r.mustAsk(`edit p4 "write the docs\nfor all of it, please"`)
		r.must("Prompt updated")
		r.keys("p", "down", "enter", "enter") // close
		if r.srv.asked("withdraw") {
			t.Error("it was withdrawn unasked")
		}
		r.keys("p", "down", "enter", "right", "right", "enter")
		r.mustAsk("withdraw p4")
	})
}

func TestInterruptedPromptIsSentAgain(t *testing.T) {
	on(t, asking(), func(r *rig) {
		r.keys("p")
		r.text("explain")
		r.keys("enter")
		r.must("sent at 00:00:00, interrupted: its agent was killed", "[ Send again ]")
		r.keys("enter", "p")
		r.text("explain")
		r.keys("enter", "right", "enter")
		r.mustAsk("again p1")
		r.must("Sent to auth-feature")
	})
	srv := asking()
	srv.threads[0].State.State, srv.threads[0].Execution = thread.StateInterrupted, nil
	on(t, srv, func(r *rig) {
		r.m.tree.Select("auth-feature-a3f2")
		r.wait(100 * time.Millisecond)
		r.must("Unanswered:", "interrupted (its agent was killed): “explain the parser")
		r.keys("p")
		r.text("explain")
		r.keys("enter")
		r.must("Resume the agent first (. r), then send it again")
	})
}

// A prompt's fate is told, and a dialog about one that got further meanwhile says so.
func TestPromptsChange(t *testing.T) {
	on(t, asking(), func(r *rig) {
		r.keys("i")
		r.text("more")
		r.keys("ctrl+s")
		r.must("Queued for auth-feature: its agent works")
		r.keys("p")
		r.text("tidy")
		r.keys("enter", "right", "right")
		p := somePrompts()[5]
		p.State = thread.PromptOpen
		r.event(thread.Event{Kind: thread.EventPrompt, ThreadID: p.Thread, Prompt: &p})
		r.must("The prompt changed from queued to open", "[ Close ]")
		r.keys("enter")
		if r.srv.asked("withdraw") {
			t.Error("it was withdrawn all the same")
		}
		p.State, p.Reason = thread.PromptRefused, "the provider refuses"
		r.event(thread.Event{Kind: thread.EventPrompt, ThreadID: p.Thread, Prompt: &p})
		r.must("“then tidy up” was refused; p to resend it")
	})
}

// A list that is open follows what happens to its prompts.
func TestPromptListFollows(t *testing.T) {
	on(t, asking(), func(r *rig) {
		r.keys("p")
		p := somePrompts()[5]
		p.ID, p.Text = "p6", "and one more"
		r.srv.prompts = append(r.srv.prompts, p)
		r.event(thread.Event{Kind: thread.EventPrompt, ThreadID: p.Thread, Prompt: &p})
		r.must("and one more")
	})
}

// A prompt without an answer that a search finds leads to the prompts of its thread.
func TestFoundPrompt(t *testing.T) {
	srv := asking()
	srv.hits = []thread.Hit{{Thread: "auth-feature-a3f2", Name: "auth-feature-a3f2", Where: "interrupted prompt", Prompt: "p1", Snippet: "explain the parser"}}
	on(t, srv, func(r *rig) {
		r.m.tree.Select("docs-f9a0")
		r.keys("ctrl+f")
		r.text("parser")
		r.keys("enter")
		r.must("prompts of auth-feature", "explain the parser")
	})
}
