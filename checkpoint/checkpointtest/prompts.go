package checkpointtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// ask is a new prompt for a thread.
func ask(id thread.ID, text string) thread.Prompt {
	return thread.Prompt{
		ID: thread.NewPromptID(), Thread: id, From: thread.FromVerb, Text: text, State: thread.PromptQueued, Accepted: start,
	}
}

func (f *fixture) ask(id thread.ID, text string) thread.Prompt {
	f.Helper()
	p, err := f.store.PutPrompt(f.ctx, ask(id, text))
	f.ok(err)
	return p
}

func (f *fixture) prompts(id thread.ID, open bool, limit int, want ...thread.Prompt) {
	f.Helper()
	got, err := f.store.Prompts(f.ctx, id, open, limit)
	f.ok(err)
	f.equal(got, append([]thread.Prompt{}, want...))
}

func testPrompts(_ *testing.T, f *fixture) {
	a, b := f.thread("a-0001"), f.thread("b-0001")
	f.prompts("", false, 0)
	odd := f.ask(a.ID, "bytes \x00\x1b[2J of a 'quoted' \"kind\"\n"+strings.Repeat("x", 1<<20))
	second, other, third := f.ask(a.ID, "second"), f.ask(b.ID, "other"), f.ask(a.ID, "third")
	if !(odd.Seq < second.Seq && second.Seq < other.Seq && other.Seq < third.Seq) {
		f.Fatalf("out of order: %d %d %d %d", odd.Seq, second.Seq, other.Seq, third.Seq)
	}
	f.reopen()
	f.prompts(a.ID, false, 0, odd, second, third)
	f.prompts(a.ID, false, 2, second, third)
	f.prompts("", true, 0, odd, second, other, third)

	// Each step of a life replaces the row and keeps its place.
	second.State, second.Opened = thread.PromptOpen, start.Add(time.Second).In(time.FixedZone("x", 3600))
	got, err := f.store.PutPrompt(f.ctx, second)
	f.ok(err)
	second.Opened = second.Opened.UTC()
	f.equal(got, second)
	second.State, second.Reason, second.Ended = thread.PromptInterrupted, "the agent ended", start.Add(time.Minute)
	second.Turn, second.With, second.Again, second.Answer = 7, third.ID, odd.ID, "c1"
	_, err = f.store.PutPrompt(f.ctx, second)
	f.ok(err)
	f.reopen()
	f.prompts(a.ID, true, 0, odd, third)
	f.prompts("", true, 1, third)
	f.prompts(a.ID, false, 0, odd, second, third)
	got, err = f.store.Prompt(f.ctx, second.ID)
	f.ok(err)
	f.equal(got, second)

	_, err = f.store.Prompt(f.ctx, "p000000000000")
	f.is(err, thread.ErrNotFound)
	_, err = f.store.PutPrompt(f.ctx, ask("none", "x"))
	f.is(err, thread.ErrNotFound)
	_, err = f.store.PutPrompt(f.ctx, thread.Prompt{Thread: a.ID, Text: "x"})
	f.is(err, thread.ErrInvalid)
	moved := other
	moved.Thread = a.ID
	_, err = f.store.PutPrompt(f.ctx, moved)
	f.is(err, thread.ErrInvalid)
	_, err = f.store.PutPrompt(f.ctx, ask(a.ID, strings.Repeat("x", 5<<20)))
	f.is(err, thread.ErrInvalid)

	f.ok(f.store.PurgeThread(f.ctx, a.ID))
	f.prompts("", false, 0, other)
	_, err = f.store.PutPrompt(f.ctx, third)
	f.is(err, thread.ErrNotFound)
	if next := f.ask(b.ID, "next"); next.Seq <= third.Seq {
		f.Fatalf("place %d was given twice", next.Seq)
	}
}

// testPromptsPut stores what a checkpoint answers together with it, or not at all.
func testPromptsPut(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	p, with := f.ask(a.ID, "one"), f.ask(a.ID, "two")
	c := f.next(a.ID, thread.Checkpoint{})
	p.State, p.Answer, p.Ended = thread.PromptAnswered, c.ID, start
	with.State, with.Answer, with.With, with.Ended = thread.PromptAnswered, c.ID, p.ID, start
	typed := thread.Prompt{
		ID: thread.NewPromptID(), Thread: a.ID, From: thread.FromPane, Text: "three", State: thread.PromptAnswered,
		Accepted: start,
	}
	d := thread.Delta{Items: []thread.Item{item("q")}, Prompts: []thread.Prompt{p, with, typed}}
	bad := c
	bad.Parent = "none"
	_, err := f.store.PutCheckpoint(f.ctx, bad, d)
	f.is(err, thread.ErrNotFound)
	f.prompts(a.ID, true, 0, f.first(a.ID), f.second(a.ID))
	f.put(c, d)
	f.put(c, d) // again changes nothing
	f.reopen()
	all, err := f.store.Prompts(f.ctx, a.ID, false, 0)
	f.ok(err)
	typed.Seq = all[2].Seq
	f.equal(all, []thread.Prompt{p, with, typed})
	f.prompts("", true, 0)
	got, err := f.store.Conversation(f.ctx, c.ID)
	f.ok(err)
	f.equal(fmt.Sprint(len(got)), "1")
}

// first and second return a thread's prompts as they are stored.
func (f *fixture) first(id thread.ID) thread.Prompt  { return f.nth(id, 0) }
func (f *fixture) second(id thread.ID) thread.Prompt { return f.nth(id, 1) }

func (f *fixture) nth(id thread.ID, n int) thread.Prompt {
	f.Helper()
	all, err := f.store.Prompts(f.ctx, id, false, 0)
	f.ok(err)
	f.equal(all[n].State, thread.PromptQueued)
	return all[n]
}
