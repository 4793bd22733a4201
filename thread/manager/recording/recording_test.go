package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/recording"
)

// TestStoredBeforeItIsTold records a turn of two responses: all that belongs to one is stored before anything tells of
// it, and the end of the turn with the files and the prompt before the thread may be shown waiting.
func TestStoredBeforeItIsTold(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("one")
	w.answer("answer: a call", false, nil, "one")
	want := `read the transcript up to ""
put response 1
0 wait, 0 unsaved
stored response 1, over false
prompt "one" is open
answered: working, ends false
recorded turn 1, first true, 2 new`
	if got := w.heard(); got != want {
		t.Errorf("the first response:\n%s\nwant\n%s", got, want)
	}
	w.answer("answer: done", true, nil, "one", "answer: a call", "result")
	want = `put response 1
0 wait, 0 unsaved
stored response 1, over false
read the transcript up to "answer: done"
take the files
put turn 1
0 wait, 0 unsaved
stored turn 1, over false
prompt "one" is answered
answered: idle, ends true
recorded turn 1, first false, 2 new`
	if got := w.heard(); got != want {
		t.Errorf("the end of the turn:\n%s\nwant\n%s", got, want)
	}
	if got := w.conversation(); got != "one|answer: a call|result|answer: done" {
		t.Errorf("stored is %s", got)
	}
	if w.Open() || w.Amid() {
		t.Error("the turn counts as open")
	}
}

// TestRefusedThenTaken has the store refuse a turn and take it later: it is told once why, nothing counts as answered
// before, and all is stored in the order in which it came.
func TestRefusedThenTaken(t *testing.T) {
	for name, tc := range map[string]struct {
		spool   thread.Spool
		unsaved int
	}{
		"in memory":    {nil, 1},
		"in the spool": {&spool{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.spool)
			w.refuse = errFull
			m := &meter{}
			w.answer("answer: one", true, m.hold(1<<20), "one")
			w.answer("answer: two", true, m.hold(1<<20), "one", "answer: one", "two")
			said := w.heard()
			for _, never := range []string{"\nstored ", "answered: "} {
				if strings.Contains(said, never) {
					t.Errorf("while the store refuses it is told %q:\n%s", never, said)
				}
			}
			if n := strings.Count(said, "is not stored yet"); n != 1 {
				t.Errorf("people are told %d times:\n%s", n, said)
			}
			if want := fmt.Sprintf("4 wait, %d unsaved", 4*tc.unsaved); !strings.Contains(said, want) {
				t.Errorf("it is not told that %s:\n%s", want, said)
			}
			if m.held > 1<<14 {
				t.Errorf("%d bytes are held of what waits", m.held)
			}
			w.tryAgain()
			if got := w.heard(); !strings.Contains(got, "refuse response 1") || strings.Contains(got, "put ") {
				t.Errorf("the next try:\n%s", got)
			}
			w.refuse = nil
			w.tryAgain()
			want := `put response 1
stored response 1, over false
put turn 1
stored turn 1, over false
answered: idle, ends true
put response 2
stored response 2, over false
put turn 2
0 wait, 0 unsaved
stored turn 2, over true
info: one-0001: all answers are stored now
answered: idle, ends true`
			if got := w.heard(); got != want {
				t.Errorf("once the store takes them:\n%s\nwant\n%s", got, want)
			}
			if got := w.conversation(); got != "one|answer: one|two|answer: two" {
				t.Errorf("stored is %s", got)
			}
			if len(w.later) != 0 || m.held != 0 {
				t.Errorf("%d steps are put off, %d bytes held", len(w.later), m.held)
			}
		})
	}
}

// TestGivenUp has the store refuse an answer for good: its prompt is lost, the thread is let go, and the next answer
// brings what is missing.
func TestGivenUp(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("one")
	w.refuse = thread.ErrInvalid
	w.answer("answer: one", true, nil, "one")
	said := w.heard()
	for _, want := range []string{
		"error: one-0001: the answer of turn 1 cannot be stored", `prompt "one" is lost`,
		"answered: idle, ends true", "0 wait, 0 unsaved",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it is not told that %s:\n%s", want, said)
		}
	}
	w.refuse = nil
	w.answer("answer: two", true, nil, "one", "answer: one", "two")
	if got := w.conversation(); got != "one|answer: one|two|answer: two" {
		t.Errorf("stored is %s", got)
	}
	if len(w.later) != 0 {
		t.Error("storing is tried again")
	}
}

// TestALeftTurnIsClosed has the person interrupt a turn and ask again: the turn is closed as what it is, with its files.
func TestALeftTurnIsClosed(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("one")
	w.answer("answer: a call", false, nil, "one")
	if !w.Amid() {
		t.Error("the turn does not count as under way")
	}
	w.Leave(t.Context())
	said := w.heard()
	if !strings.Contains(said, "take the files\nput turn 1") || !strings.Contains(said, `prompt "one" is interrupted`) {
		t.Errorf("the turn was left:\n%s", said)
	}
	w.ask("two")
	w.answer("answer: two", true, nil, "one", "answer: a call", "two")
	if said := w.heard(); !strings.Contains(said, "put turn 2") || !strings.Contains(said, `prompt "two" is answered`) {
		t.Errorf("the next turn:\n%s", said)
	}
}

// TestReadFromTheSpool takes over what an earlier run left in the spool, and goes on from it while the store still
// refuses.
func TestReadFromTheSpool(t *testing.T) {
	kept := &spool{}
	w := newWorld(t, kept)
	w.refuse = errFull
	w.answer("answer: one", true, nil, "one")
	again := w.recorder(kept)
	w.heard()
	w.later = nil
	again.Recover(t.Context(), thread.Spooled{Places: []int64{0, 1}})
	if said := w.heard(); !strings.Contains(said, "2 wait, 0 unsaved") {
		t.Errorf("what was kept:\n%s", said)
	}
	w.Recorder = again
	w.answer("answer: two", true, nil, "one", "answer: one", "two")
	if said := w.heard(); !strings.Contains(said, "recorded turn 2, first true, 2 new") {
		t.Errorf("the next answer:\n%s", said)
	}
	w.refuse = nil
	w.tryAgain()
	if got := w.conversation(); got != "one|answer: one|two|answer: two" {
		t.Errorf("stored is %s", got)
	}
	if len(kept.puts) != 0 {
		t.Errorf("%d are left in the spool", len(kept.puts))
	}
}

// TestKeptInOrder has the spool fail for the first of what the store refuses: what follows is not kept without it.
func TestKeptInOrder(t *testing.T) {
	kept := &spool{refuse: thread.KindResponse}
	w := newWorld(t, kept)
	w.refuse = errFull
	w.answer("answer: one", true, nil, "one")
	if said := w.heard(); len(kept.puts) != 0 || !strings.Contains(said, "2 wait, 2 unsaved") {
		t.Errorf("%d are kept without the first:\n%s", len(kept.puts), said)
	}
	kept.refuse = ""
	w.tryAgain()
	if said := w.heard(); len(kept.puts) != 2 || !strings.Contains(said, "2 wait, 0 unsaved") {
		t.Errorf("%d are kept once the spool takes them:\n%s", len(kept.puts), said)
	}
}

// TestGivenUpIsSetAside has the store refuse for good what the spool keeps: it is kept where people find it.
func TestGivenUpIsSetAside(t *testing.T) {
	kept := &spool{}
	w := newWorld(t, kept)
	w.refuse = errFull
	w.answer("answer: one", true, nil, "one")
	w.refuse = thread.ErrInvalid
	w.heard()
	w.tryAgain()
	want := "one-0001: its answers that could not be stored are kept in /aside"
	if said := w.heard(); !kept.aside || !strings.Contains(said, want) {
		t.Errorf("set aside %v, it is not told that %s:\n%s", kept.aside, want, said)
	}
}

// TestSettle has a crash between an answer and its turn's checkpoint: the next run writes that, with the files, once.
func TestSettle(t *testing.T) {
	w := newWorld(t, nil)
	w.refuse, w.only = errFull, thread.KindTurn
	w.answer("answer: one", true, nil, "one")
	w.refuse = nil
	w.heard()
	w.Recorder = w.recorder(nil)
	w.Settle(t.Context())
	if said := w.heard(); !strings.Contains(said, "take the files\nput turn 1") {
		t.Errorf("the next run:\n%s", said)
	}
	w.Settle(t.Context())
	if said := w.heard(); strings.Contains(said, "put ") {
		t.Errorf("settled already:\n%s", said)
	}
}

// TestSideRequestsCountOnce has the store refuse two answers after a side request: both tell its cost once.
func TestSideRequestsCountOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.side = 0.5
	w.refuse = errFull
	w.answer("answer: one", true, nil, "one")
	w.answer("answer: two", true, nil, "one", "answer: one", "two")
	w.refuse = nil
	w.tryAgain()
	if cost := w.thread.Gauge.CostUSD; cost != 0.5 || w.side != 0 {
		t.Errorf("the thread costs %v, %v of side requests are left", cost, w.side)
	}
}

// TestAnotherSessionHasOtherFiles has the agent open a session: nothing of its files is known yet.
func TestAnotherSessionHasOtherFiles(t *testing.T) {
	w := newWorld(t, nil)
	w.native = []thread.Chunk{{File: "main", Data: []byte("one")}}
	w.answer("answer: one", true, nil, "one")
	w.Written(t.Context())
	if len(w.marks) != 1 || w.marks[0].Size != 3 {
		t.Errorf("of the first session's files is known %v", w.marks)
	}
	w.Adopt(t.Context(), "s2")
	w.Written(t.Context())
	if len(w.marks) != 0 {
		t.Errorf("of the new session's files is known %v", w.marks)
	}
}

// TestAWrittenSessionIsKnown has a session written again, or the agent open one that has turns: what is there is stored
// whole with the next answer, which is behind it.
func TestAWrittenSessionIsKnown(t *testing.T) {
	const first, turns, more = "one\n", "1\n2\n", "3\n4\n"
	for name, begin := range map[string]func(w *world){
		"written": func(w *world) { w.Rewritten(t.Context(), "s2"); w.Begin("s2") },
		"opened":  func(w *world) { w.Adopt(t.Context(), "s2") },
		"and the record forgotten": func(w *world) {
			w.Rewritten(t.Context(), "s2")
			w.Forget()
			w.Begin("s2")
		},
	} {
		w := newWorld(t, nil)
		w.native = []thread.Chunk{{File: "main", Data: []byte(first)}}
		w.answer("answer: one", true, nil, "one")
		w.native = []thread.Chunk{{File: "main", Data: []byte(turns)}}
		begin(w)
		w.native = []thread.Chunk{{File: "main", Data: []byte(turns + more)}}
		w.answer("answer: two", true, nil, "one", "answer: one", "two")
		if len(w.marks) != 1 || w.marks[0].Lines != 2 {
			t.Errorf("%s: before the answer is known %+v", name, w.marks)
		}
		if files, err := w.store.Transcript(t.Context(), w.thread.Head); err != nil || len(files) != 1 || string(files[0].Data) != turns+more {
			t.Errorf("%s: stored is %q, %v", name, files, err)
		}
		w.Written(t.Context())
		if len(w.marks) != 1 || w.marks[0].Size != 8 || w.marks[0].Lines != 4 {
			t.Errorf("%s: after the answer is known %+v", name, w.marks)
		}
	}
}

// meter counts what is held.
type meter struct{ held int64 }

func (m *meter) keep(n int64) (release func()) {
	m.held += n
	return func() { m.held -= n }
}

func (m *meter) hold(n int64) *recording.Held {
	return recording.Hold(thread.Exchange{Bytes: n, Keep: m.keep})
}

// spool keeps the checkpoints of one thread in memory.
type spool struct {
	thread.Spool
	puts   []spooled
	refuse thread.CheckpointKind // that it cannot append
	aside  bool
}

type spooled struct {
	c thread.Checkpoint
	d thread.Delta
}

func (s *spool) Append(c thread.Checkpoint, d thread.Delta) (int64, error) {
	if c.Kind == s.refuse {
		return 0, errFull
	}
	s.puts = append(s.puts, spooled{c, d})
	return int64(len(s.puts) - 1), nil
}

func (s *spool) Read(_ thread.ID, at int64) (thread.Checkpoint, thread.Delta, error) {
	return s.puts[at].c, s.puts[at].d, nil
}

func (s *spool) Drop(thread.ID) error { s.puts = nil; return nil }

func (s *spool) SetAside(thread.ID) (string, error) {
	s.aside = true
	return "/aside", nil
}
