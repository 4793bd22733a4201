package recording_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

// world is all that a recorder knows of outside: its ports write down what it asks of them and tells them, in order.
type world struct {
	t      *testing.T
	thread thread.Thread
	store  *memory.Store
	refuse error
	only   thread.CheckpointKind // that is refused, "" for all
	said   []string
	later  []func(context.Context)
	open   []thread.Prompt // that no turn answers yet
	lost   []thread.Prompt // that seemed lost
	side   float64         // what side requests cost that no stored checkpoint includes
	native []thread.Chunk  // what the agent writes next into its own files
	marks  []thread.Mark   // what was known of them when they were read last
	*recording.Recorder
}

// newWorld has a recorder of a thread to which nothing was said yet.
func newWorld(t *testing.T, spool thread.Spool) *world {
	t.Helper()
	w := &world{t: t, store: memory.New()}
	w.thread = thread.Thread{ID: thread.NewID[thread.ID](), Name: "one-0001", Agent: "a", Session: "s"}
	if err := w.store.CreateThread(t.Context(), w.thread); err != nil {
		t.Fatal(err)
	}
	w.Recorder = w.recorder(spool)
	return w
}

// recorder returns another recorder of the same thread, as another run has.
func (w *world) recorder(spool thread.Spool) *recording.Recorder {
	cfg := recording.Config{
		Store: store{w.store, w}, Past: past.Reader{Store: w.store, Codec: words{}}, Spool: spool, Files: w, Agents: w,
		Env: func(thread.Thread) []string { return nil }, MCPs: func(thread.ID) []string { return nil },
		Clock: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	return recording.New(cfg, w.thread.ID, live{w}, asked{w}, reports{w})
}

// ask gives the agent a prompt.
func (w *world) ask(text string) {
	w.open = append(w.open, thread.Prompt{
		ID: thread.NewPromptID(), Thread: w.thread.ID, Text: text, From: thread.FromVerb, State: thread.PromptOpen,
	})
}

// answer records an answer to a request that holds what was said before.
func (w *world) answer(text string, ends bool, held *recording.Held, said ...string) {
	var items []thread.Item
	for _, s := range said {
		items = append(items, item(s))
	}
	answer := item(text)
	w.Answer(w.t.Context(), thread.Exchange{
		Main: true, Items: items, Answer: &answer, Prompt: said[len(said)-1], Text: text, EndsTurn: ends, Ended: time.Now(),
	}, 1, held)
}

// conversation returns what is stored of what was said.
func (w *world) conversation() string {
	w.t.Helper()
	items, err := w.store.Conversation(w.t.Context(), w.thread.Head)
	if err != nil {
		w.t.Fatal(err)
	}
	var said []string
	for _, it := range items {
		said = append(said, strings.Trim(string(it.Raw), `"`))
	}
	return strings.Join(said, "|")
}

func (w *world) say(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

// heard returns what was said since it was called last.
func (w *world) heard() string {
	said := strings.Join(w.said, "\n")
	w.said = nil
	return said
}

// tryAgain runs the steps that were put off.
func (w *world) tryAgain() {
	later := w.later
	w.later = nil
	for _, step := range later {
		step(w.t.Context())
	}
}

// Take implements recording.Snapshots.
func (w *world) Take(context.Context, thread.ID, string, *thread.Snapshot) (thread.Snapshot, error) {
	w.say("take the files")
	return thread.Snapshot{Commit: "c1"}, nil
}

// Agent implements recording.Agents: there is one, with a transcript.
func (w *world) Agent(string) (thread.Agent, error) { return agent{w: w}, nil }

type agent struct {
	thread.Agent
	w *world
}

func (a agent) ReadTranscript(_ context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	a.w.say("read the transcript up to %q", s.Answer)
	chunks := a.w.native
	a.w.native, a.w.marks = nil, s.Marks
	return chunks, nil
}

// words reads conversations that are plain text.
type words struct{}

func (words) Entries(items []thread.Item) (out []thread.Entry) {
	for _, it := range items {
		kind, text := thread.EntryPrompt, strings.Trim(string(it.Raw), `"`)
		switch {
		case strings.HasPrefix(text, "answer"):
			kind = thread.EntryAnswer
		case strings.HasPrefix(text, "note"):
			continue
		}
		out = append(out, thread.Entry{Kind: kind, Text: text})
	}
	return out
}

// store refuses checkpoints while it is told to.
type store struct {
	*memory.Store
	w *world
}

func (s store) PutCheckpoint(ctx context.Context, c thread.Checkpoint, delta thread.Delta) (thread.Checkpoint, error) {
	if s.w.refuse != nil && (s.w.only == "" || s.w.only == c.Kind) {
		s.w.say("refuse %s %d", c.Kind, c.Turn)
		return thread.Checkpoint{}, s.w.refuse
	}
	s.w.say("put %s %d", c.Kind, c.Turn)
	return s.Store.PutCheckpoint(ctx, c, delta)
}

// live is the thread.
type live struct{ w *world }

func (l live) Thread() thread.Thread             { return l.w.thread }
func (l live) Gone() bool                        { return false }
func (l live) SessionTaken(string) (bool, error) { return false, nil }
func (l live) Windows() map[string]int64         { return nil }
func (l live) Newer() <-chan struct{}            { return nil }
func (l live) SideCost() float64                 { return l.w.side }
func (l live) Later(_ time.Duration, step func(context.Context)) {
	l.w.later = append(l.w.later, step)
}

// asked is what the agent was asked: a prompt is claimed by its own text.
type asked struct{ w *world }

func (a asked) Claim(said string) (found []thread.Prompt) {
	for _, p := range a.w.open {
		if slices.Contains(strings.Split(said, "\n"), p.Text) && p.Turn == 0 {
			found = append(found, p)
		}
	}
	return found
}

func (a asked) Missed(said string) (found []thread.Prompt) {
	for _, p := range a.w.lost {
		if p.Text == said {
			found = append(found, p)
		}
	}
	return found
}

func (a asked) Answering(_ string, fresh []thread.Prompt, turn int, _ thread.PromptID) ([]thread.Prompt, bool) {
	for i := range fresh {
		fresh[i].Turn, fresh[i].State = turn, thread.PromptOpen
		a.keep(fresh[i])
	}
	return fresh, false
}

func (a asked) Ended(ids []thread.PromptID, c thread.Checkpoint, why string) (out []thread.Prompt) {
	for _, p := range slices.Concat(a.w.open, a.w.lost) {
		if slices.Contains(ids, p.ID) {
			p.State, p.Reason, p.Answer = thread.PromptAnswered, why, c.ID
			if c.Interrupted {
				p.State = thread.PromptInterrupted
			}
			out = append(out, p)
		}
	}
	return out
}

func (a asked) Of(thread.Checkpoint) []thread.PromptID { return nil }

func (a asked) Stored(ps []thread.Prompt) {
	for _, p := range ps {
		a.w.say("prompt %q is %s", p.Text, p.State)
		a.keep(p)
	}
}

func (a asked) Lost(ps []thread.Prompt) {
	for _, p := range ps {
		a.w.say("prompt %q is lost as %s", p.Text, p.State)
	}
}

func (a asked) keep(p thread.Prompt) {
	for i := range a.w.open {
		if a.w.open[i].ID == p.ID {
			a.w.open[i] = p
		}
	}
}

// reports follows what the recorder tells.
type reports struct{ w *world }

func (r reports) Read(thread.Exchange) int { return 0 }

func (r reports) Stored(ctx context.Context, s recording.Stored) {
	t, err := r.w.store.Thread(ctx, r.w.thread.ID)
	if err != nil || t.Head != s.Checkpoint.ID {
		r.w.t.Errorf("told of checkpoint %s, and the store's newest is %s, %v", s.Checkpoint.ID, t.Head, err)
	}
	r.w.thread = t
	r.w.side -= s.SideCost
	r.w.say("stored %s %d, over %v", s.Checkpoint.Kind, s.Checkpoint.Turn, s.Over)
}

func (r reports) Answered(_ context.Context, a recording.Answered) {
	r.w.say("answered: %s, ends %v", a.Evidence.State, a.EndsTurn)
}

func (r reports) Recorded(_ context.Context, p recording.Response) {
	r.w.say("recorded turn %d, first %v, %d new", p.Turn, p.First, len(p.News))
}
func (r reports) Adopted(_ context.Context, session string) { r.w.say("session %s", session) }
func (r reports) Refused(why string)                        { r.w.say("refused: %s", why) }
func (r reports) Waiting(pending, unsaved int)              { r.w.say("%d wait, %d unsaved", pending, unsaved) }
func (r reports) Notice(level thread.Level, text string)    { r.w.say("%s: %s", level, text) }

func item(text string) thread.Item { return thread.Item{Wire: "text", Raw: []byte(`"` + text + `"`)} }

var errFull = errors.New("no space left")
