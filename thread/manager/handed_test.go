package manager_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	exec "orchestrator/thread/work"
)

// TestRunsKeepWhatTheyAreGiven: the whole prompt as it was sent, without secrets, and which items of the bundle stood in it.
func TestRunsKeepWhatTheyAreGiven(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		record := w.cfg.Runs.Store.(exec.Record)
		made, err := bundle.Make(bundle.Order{AgentType: "reviewer", Scope: "look", Items: []bundle.Item{
			{Source: "a.md", Content: []byte("alpha\n")}, {Source: "b.md", Content: []byte("never sent\n")},
		}}, bundle.Target{Count: func(string) int64 { return 3 }}, time.Now())
		if err == nil {
			made.Kept, err = record.PutBundle(ctx, made.Kept, made.Pieces)
		}
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("words of the prompt ", 1000)
		s := w.once("alpha\n\nfix it with ghp_16C7e42F292c6912E7710c838347Ae178B4a "+long, func(r *thread.NewRequest) {
			r.Given = thread.Given{Bundle: made.Kept.Bundle.ID, Scope: "look", Replays: "0123456789abcdef"}
		})
		x := w.runIs(s.ID, exec.Running)
		sent := w.sess.of(s.ID).prompts()
		if x.Bundle != "bundle-001" || x.Scope != "look" || x.Replays != "0123456789abcdef" || x.Given == 0 || s.Label != "look" {
			t.Errorf("%+v, %q", x, s.Label)
		}
		events, err := record.Events(ctx, x.ID, x.Given-1, 1)
		if err != nil || len(events) != 1 || events[0].Kind != exec.KindGiven || events[0].Attempt != 1 || strings.Contains(events[0].Text, "ghp_16C7") ||
			len(events[0].Text) < len(sent)-100 || !strings.HasPrefix(events[0].Text, "alpha\n\nfix it") || !strings.HasSuffix(events[0].Text, sent[len(sent)-40:]) {
			t.Errorf("%v: %.200v", err, events)
		}
		pieces, err := record.Allocations(ctx, x.ID)
		var got []string
		for _, p := range pieces {
			got = append(got, string(p.Type)+" "+p.Source)
			if p.Included != (p.Source != "b.md") || p.Claimed || p.Bundle != "bundle-001" || p.Hash == "" {
				t.Errorf("%+v", p)
			}
		}
		if want := "file a.md, file b.md, briefing prompt"; err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%v: %v, want %s", err, got, want)
		}
	}, withRuns)
}

// TestGivenWithoutARecord: what cannot be kept keeps no run from its prompt.
func TestGivenWithoutARecord(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("fix it", func(r *thread.NewRequest) { r.Given.Bundle = "bundle-404" })
		x := w.runIs(s.ID, exec.Running)
		if got := w.sess.of(s.ID).prompts(); got != "fix it" || x.Bundle != "bundle-404" {
			t.Errorf("asked %q", got)
		}
	}, withRuns)
}
