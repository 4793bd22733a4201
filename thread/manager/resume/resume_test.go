package resume_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/resume"
)

// agent has a native session that it verifies and writes again.
type agent struct {
	thread.Agent
	matched int64
	whole   bool
	refuse  error // of the first Rebuild
	specs   []thread.RebuildSpec
}

func (a *agent) Verify(context.Context, thread.TranscriptSpec) (int64, bool, error) {
	return a.matched, a.whole, nil
}

func (a *agent) Rebuild(_ context.Context, s thread.RebuildSpec) (string, error) {
	a.specs = append(a.specs, s)
	if err := a.refuse; err != nil {
		a.refuse = nil
		return "", err
	}
	if s.NewSession != "" {
		return s.NewSession, nil
	}
	return s.Session, nil
}

// begun is an agent that has written of a session of which nothing is stored.
type begun struct{ agent }

func (*begun) ReadTranscript(context.Context, thread.TranscriptSpec) ([]thread.Chunk, error) {
	return []thread.Chunk{{File: "main", Data: []byte("o")}}, nil
}

// threads are a few, and the sessions that belong to others.
type threads struct {
	all   map[thread.ID]thread.Thread
	taken string
}

func (t threads) Thread(id thread.ID) (thread.Thread, bool) {
	found, ok := t.all[id]
	return found, ok
}

func (t threads) SessionTaken(_ thread.ID, session string) (bool, error) {
	return session == t.taken, nil
}

// said is a thread of one turn with a stored transcript.
func said(t *testing.T) (resume.Finder, thread.Thread) {
	t.Helper()
	store := memory.New()
	th := thread.Thread{ID: thread.NewID[thread.ID](), Name: "one-0001", Agent: "a", Session: "s1", Dir: "/work"}
	if err := store.CreateThread(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: th.ID, Turn: 1, Kind: thread.KindTurn, Session: "s1", Items: 1,
	}
	_, err := store.PutCheckpoint(t.Context(), c, thread.Delta{
		Items:      []thread.Item{{Wire: "text", Raw: []byte(`"one"`)}},
		Transcript: []thread.Chunk{{File: "main", Data: []byte("one")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if th, err = store.Thread(t.Context(), th.ID); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	return resume.Finder{
		Store: store, Past: past.Reader{Store: store, Log: log}, Threads: threads{}, Log: log,
		Env: func(thread.Thread) []string { return nil }, StateDir: func(thread.ID) string { return "/state" },
		Places: func(dir string) []string { return []string{dir, "/old" + dir} },
	}, th
}

// TestAssess names the best way back, and why not a better one.
func TestAssess(t *testing.T) {
	for name, tc := range map[string]struct {
		agent  thread.Agent
		change func(*resume.Finder, *thread.Thread)
		how    thread.ResumeHow
		detail string
	}{
		"its own session": {&agent{matched: 3, whole: true}, nil, thread.ResumeNative, "✓ verified (3 B)"},
		"its session has other content": {
			&agent{matched: 1}, nil, thread.ResumeRebuilt,
			"differs from the stored one after 1 bytes; the session will be rebuilt",
		},
		"its session is another's": {
			&agent{matched: 3, whole: true}, func(f *resume.Finder, _ *thread.Thread) { f.Threads = threads{taken: "s1"} },
			thread.ResumeRebuilt, "its session belongs to another thread",
		},
		"another agent": {
			&agent{}, func(f *resume.Finder, th *thread.Thread) {
				of := *th
				f.Threads, th.ID, th.Agent = threads{all: map[thread.ID]thread.Thread{th.ID: of}}, "fork", "b"
			}, thread.ResumePrimer, "a summary of the stored conversation",
		},
		"nothing was said": {
			&agent{}, func(_ *resume.Finder, th *thread.Thread) { th.Head, th.Turn = "", 0 },
			thread.ResumeFresh, "no turns yet",
		},
		"a run was stopped in its first turn": {
			&begun{}, func(_ *resume.Finder, th *thread.Thread) { th.Head, th.Turn, th.Once.On = "", 0, true },
			thread.ResumeNative, "continues in its own session",
		},
		"a run was stopped before it wrote anything": {
			&agent{}, func(_ *resume.Finder, th *thread.Thread) { th.Head, th.Turn, th.Once.On = "", 0, true },
			thread.ResumeFresh, "no turns yet",
		},
		"a first turn in a terminal was cut off": {
			&begun{}, func(_ *resume.Finder, th *thread.Thread) { th.Head, th.Turn = "", 0 },
			thread.ResumeFresh, "no turns yet",
		},
		"the store lost it": {
			&agent{}, func(_ *resume.Finder, th *thread.Thread) { th.Head = "" },
			thread.ResumeNative, "the stored turns are lost",
		},
		"the store lost it, and its session is another's": {
			&agent{}, func(f *resume.Finder, th *thread.Thread) { th.Head, f.Threads = "", threads{taken: "s1"} },
			thread.ResumePrimer, "the stored turns are lost",
		},
	} {
		f, th := said(t)
		if tc.change != nil {
			tc.change(&f, &th)
		}
		if p, err := f.Assess(t.Context(), th, tc.agent); err != nil || p.How != tc.how || !strings.Contains(p.Detail, tc.detail) {
			t.Errorf("%s: %s, %s, %v", name, p.How, p.Detail, err)
		}
	}
}

// TestRebuild writes a session from what is stored: the same one, or a new one where that holds something else.
func TestRebuild(t *testing.T) {
	f, th := said(t)
	a := &agent{}
	if session, err := f.Rebuild(t.Context(), th, a); err != nil || session != "s1" {
		t.Errorf("session %q, %v", session, err)
	}
	a = &agent{refuse: errors.New("the session has more")}
	session, err := f.Rebuild(t.Context(), th, a)
	if err != nil || session == "s1" || len(a.specs) != 2 {
		t.Errorf("session %q after %d tries, %v", session, len(a.specs), err)
	}
	if got := string(a.specs[1].Files[0].Data); got != "one" || !slices.Equal(a.specs[1].FromDirs, []string{"/work", "/old/work"}) {
		t.Errorf("written from %q of %s", got, a.specs[1].FromDirs)
	}
	fork := th
	fork.Session = ""
	a = &agent{}
	if session, err := f.Rebuild(t.Context(), fork, a); err != nil || session == "s1" || a.specs[0].NewSession == "" {
		t.Errorf("a thread without a session gets %q, %v", session, err)
	}
	f.Threads = threads{taken: "s1"}
	a = &agent{}
	if session, err := f.Rebuild(t.Context(), th, a); err != nil || session == "s1" || a.specs[0].NewSession == "" {
		t.Errorf("a thread whose session is another's gets %q, %v", session, err)
	}
	f.Threads = threads{taken: session}
	if got, err := f.Rebuild(t.Context(), th, taking{a, session}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("another thread's session %q, %v", got, err)
	}
}

// taking writes a session that it chooses itself.
type taking struct {
	*agent
	session string
}

func (a taking) Rebuild(context.Context, thread.RebuildSpec) (string, error) { return a.session, nil }

// late has written more of the answer than is stored.
type late struct {
	*agent
	answer string
	marks  []thread.Mark
}

func (a *late) ReadTranscript(_ context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	a.marks = s.Marks
	return []thread.Chunk{{File: "main", Offset: s.Marks[0].Size, Data: []byte(a.answer)}}, nil
}

func (a *late) ReadUsage(chunks []thread.Chunk) (all []thread.Exchange, _ error) {
	for _, c := range chunks {
		for line := range strings.Lines(string(c.Data)) {
			all = append(all, thread.Exchange{Main: true, Text: line})
		}
	}
	return all, nil
}

// answers reads every item as an answer.
type answers struct{}

func (answers) Entries([]thread.Item) []thread.Entry {
	return []thread.Entry{{Kind: thread.EntryAnswer, Text: "the answer"}}
}

// TestRebuildCatchesUp has the agent write down its last answer after the files were stored.
func TestRebuildCatchesUp(t *testing.T) {
	f, th := said(t)
	f.Past.Codec = answers{}
	a := &late{agent: &agent{}, answer: ", the answer"}
	if _, err := f.Rebuild(t.Context(), th, a); err != nil {
		t.Fatal(err)
	}
	if got := string(a.specs[0].Files[0].Data); got != "one, the answer" {
		t.Errorf("written is %q", got)
	}
	sum := sha256.Sum256([]byte("one"))
	if len(a.marks) != 1 || a.marks[0].Size != 3 || a.marks[0].SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("marks %v", a.marks)
	}
}

// TestRebuildMissesTheSameAnswer has two turns with the same answer: what is stored of the first is not taken for the
// second, also if the second wrote all of the file again, as the first turn of a fork does.
func TestRebuildMissesTheSameAnswer(t *testing.T) {
	const again = "\nthe answer"
	for name, tc := range map[string]struct {
		second []thread.Chunk // what the second turn stored
		want   string
		reads  bool
	}{
		"nothing":          {nil, "one, the answer" + again, true},
		"its answer":       {[]thread.Chunk{{File: "main", Offset: 15, Data: []byte(again)}}, "one, the answer" + again, false},
		"all but it":       {[]thread.Chunk{{File: "main", Data: []byte("ONE, the answer")}}, "ONE, the answer" + again, true},
		"all again, whole": {[]thread.Chunk{{File: "main", Data: []byte("ONE, the answer" + again)}}, "ONE, the answer" + again, false},
	} {
		f, th := said(t)
		f.Past.Codec = answers{}
		store, ok := f.Store.(*memory.Store)
		if !ok {
			t.Fatal("another store")
		}
		for turn, chunks := range [][]thread.Chunk{{{File: "main", Offset: 3, Data: []byte(", the answer")}}, tc.second} {
			c := thread.Checkpoint{
				ID: thread.NewID[thread.CheckpointID](), Thread: th.ID, Parent: th.Head, Turn: turn + 2, Kind: thread.KindTurn,
				Session: "s1", Items: 1,
			}
			if _, err := store.PutCheckpoint(t.Context(), c, thread.Delta{Keep: 1, Transcript: chunks}); err != nil {
				t.Fatal(err)
			}
			th.Head, th.Turn = c.ID, c.Turn
		}
		a := &late{agent: &agent{}, answer: again}
		if _, err := f.Rebuild(t.Context(), th, a); err != nil {
			t.Fatal(err)
		}
		if got := string(a.specs[0].Files[0].Data); got != tc.want || (a.marks != nil) != tc.reads {
			t.Errorf("%s: written is %q, read %v", name, got, a.marks)
		}
	}
}
