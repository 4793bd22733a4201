package manager_test

import (
	"context"
	"strings"
	"testing"

	"orchestrator/thread"
)

// knowing keeps what was known of its sessions' files when they were read for an answer.
type knowing struct {
	fullAgent
	marks map[string][]thread.Mark
}

func (a *knowing) ReadTranscript(ctx context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	if s.Answer != "" {
		a.marks[s.Session] = s.Marks
	}
	return a.fullAgent.ReadTranscript(ctx, s)
}

// TestTheAnswerIsBehindWhatIsThere begins sessions that have turns already, of forks, after a rewind and of a lost one: it is
// known how many lines those are, and the next answer is none of them. All is stored, and forked again.
func TestTheAnswerIsBehindWhatIsThere(t *testing.T) {
	inWorld(t, func(w *world) {
		a := &knowing{fullAgent{plainAgent{"knowing"}, w.natives}, map[string][]thread.Mark{}}
		w.agents["knowing"] = a
		p := w.create(thread.NewRequest{Agent: "knowing"})
		w.talk(p.ID, 1, 3)
		fork := func(of string) thread.ID { return w.fork(thread.ForkRequest{Thread: of, Label: "x"}).ID }
		f := fork(p.Name)
		next := func(what string, id thread.ID) {
			t.Helper()
			session := w.status(id).Session
			had := strings.Count(w.natives.bytes(session), "\n")
			w.respond(id, "again", "answer to p1", true)
			if m := a.marks[session]; had == 0 || len(m) != 1 || m[0].Lines != had {
				t.Errorf("%s: of %d lines are known %+v", what, had, m)
			}
			files, err := w.store.Transcript(ctx, w.status(id).Head)
			if err != nil || len(files) != 1 || string(files[0].Data) != w.natives.bytes(session) {
				t.Errorf("%s: stored is %q of %q, %v", what, files, w.natives.bytes(session), err)
			}
		}
		next("a fork", f)
		next("a fork of the fork", fork(w.status(f).Name))
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "2", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		next("rewound", p.ID)
		w.natives.remove(w.status(f).Session)
		w.crash()
		if _, err := w.m.Agents.Start(ctx, w.status(f).Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		next("lost and written again", f)
	})
}
