package manager_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

// world is everything outside the Manager, as a test sees it. Tests run in a synctest bubble: time
// is virtual and settle waits until nothing moves.
type world struct {
	t       *testing.T
	dir     string
	store   *failing
	agents  map[string]thread.Agent
	natives *natives
	sess    *sessions
	trees   *worktrees
	routes  *gateway
	cfg     manager.Config
	m       *manager.Manager
	events  *log
	stop    context.CancelFunc
	off     atomic.Int64  // what the clock is set wrong by
	usage   *thread.Usage // of responses, nil for a small one
}

// now is what the clock says. Without what Go keeps beside it: a program that is started again does not have that.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.off.Load())).Round(0) }

// set sets the clock wrong.
func (w *world) set(by time.Duration) { w.off.Store(int64(by)) }

// inWorld runs a test in a bubble with a Manager that is open.
func inWorld(t *testing.T, test func(w *world), configure ...func(*world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := &natives{files: map[string][]byte{}}
		w := &world{
			t: t, dir: dir, store: &failing{Store: memory.New(), fuse: &fuse{}}, natives: n,
			sess: &sessions{}, trees: &worktrees{root: dir},
		}
		w.trees.fuse = w.store.fuse
		w.agents = map[string]thread.Agent{
			"claude": &fullAgent{plainAgent{"claude"}, n},
			"codex":  &fullAgent{plainAgent{"codex"}, n},
			"plain":  &plainAgent{"plain"},
		}
		w.cfg = manager.Config{
			Project: dir, StateDir: dir + "/.state", Agents: agents(w.agents),
			Reader: reader{}, Clock: w.now,
		}
		for _, c := range configure {
			c(w)
		}
		w.open()
		defer func() { w.close() }()
		test(w)
	})
}

// open makes a Manager over the stored things and opens it.
func (w *world) open() {
	w.t.Helper()
	if err := w.opens(); err != nil {
		w.t.Fatalf("Open: %v", err)
	}
}

func (w *world) opens() error {
	w.t.Helper()
	cfg := w.cfg
	cfg.Store, cfg.Sessions = w.store, w.sess
	if cfg.Worktrees == nil && w.trees != nil {
		cfg.Worktrees = mortal{w.trees}
	}
	w.m = manager.New(cfg)
	w.routes = &gateway{removed: map[thread.ID]bool{}}
	w.m.Gateway = w.routes
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	ch, err := w.m.Threads.Events(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.events = &log{}
	go w.events.read(ch)
	if err := w.m.Open(ctx); err != nil {
		return err
	}
	synctest.Wait()
	return nil
}

func (w *world) close() {
	w.t.Helper()
	if err := w.m.Close(context.Background()); err != nil {
		w.t.Errorf("Close: %v", err)
	}
	w.stop()
	synctest.Wait()
}

// crash forgets the Manager as a kill -9 does: the store and the native files stay.
func (w *world) crash() {
	w.t.Helper()
	w.store.fuse.blow() // whatever the old one still does has no effect
	w.trees.fuse.blow()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.m.Close(cancelled)
	w.stop()
	synctest.Wait()
	old := w.store
	w.store = &failing{Store: old.Store, fuse: &fuse{}, write: old.refusal()}
	if old.stays {
		w.store.put = old.put
	}
	w.trees.fuse = w.store.fuse
	w.sess.forget()
	w.open()
}

// create makes a thread and starts it.
func (w *world) create(r thread.NewRequest) thread.Status {
	w.t.Helper()
	if r.Agent == "" {
		r.Agent = "claude"
	}
	s, err := w.m.Creation.New(context.Background(), r)
	if err != nil {
		w.t.Fatalf("New: %v", err)
	}
	synctest.Wait()
	return w.status(s.ID)
}

// status returns a thread as it is listed.
func (w *world) status(id thread.ID) thread.Status {
	w.t.Helper()
	list, err := w.m.Threads.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range list {
		if s.ID == id {
			return s
		}
	}
	w.t.Fatalf("thread %s is not listed", id)
	return thread.Status{}
}

// turn lets a thread's agent take a prompt and answer it, with one tool call before the answer.
func (w *world) turn(id thread.ID, prompt string) {
	w.t.Helper()
	w.respond(id, prompt, "call", false)
	w.respond(id, prompt, "answer to "+prompt, true)
}

// respond lets a thread's agent get one model response.
func (w *world) respond(id thread.ID, prompt, text string, ends bool) {
	w.t.Helper()
	s := w.status(id)
	conv := w.natives.conversation(s.Session)
	items := append(conv, item("user", prompt))
	if n := len(conv); n > 0 && strings.Contains(string(conv[n-1].Raw), `"call"`) {
		items = append(conv, item("user", "result"))
	}
	w.m.Traffic.RequestStarted(id, thread.Begun{Main: true, Model: "m1", At: time.Now()})
	answer := item("assistant", text)
	w.natives.append(s.Session, append(items[len(conv):], answer))
	e := thread.Exchange{
		Main: true, Model: "m1", Session: s.Session, Status: 200, Started: time.Now(), Ended: time.Now(),
		Items: items, Answer: &answer, Prompt: prompt, Text: text, Stop: "tool_use",
		Usage: thread.Usage{Input: 10, Output: 5, CostUSD: 0.25, Priced: true}, Window: 200, EndsTurn: ends,
		Masked: 7, SavedUSD: 0.125,
	}
	if w.usage != nil {
		e.Usage = *w.usage
	}
	if ends {
		e.Stop = "end_turn"
	} else {
		e.Tools = []string{"Bash"}
	}
	w.m.Traffic.ExchangeEnded(id, e)
	synctest.Wait()
}

func item(role, text string) thread.Item {
	raw, err := json.Marshal(map[string]string{"role": role, "text": text})
	if err != nil {
		panic(err)
	}
	return thread.Item{Wire: "test", Raw: raw}
}

// texts returns what a conversation says, for comparison.
func texts(items []thread.Item) string {
	var out []string
	for _, it := range items {
		var m map[string]string
		if err := json.Unmarshal(it.Raw, &m); err != nil {
			panic(err)
		}
		out = append(out, m["text"])
	}
	return strings.Join(out, "|")
}

// reader reads the test's wire format.
type reader struct{}

func (reader) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	for _, it := range items {
		var m map[string]string
		if err := json.Unmarshal(it.Raw, &m); err != nil {
			out = append(out, thread.Entry{Kind: thread.EntryAnswer, Text: "unreadable"})
			continue
		}
		kind := thread.EntryAnswer
		switch {
		case m["role"] == "user" && (m["text"] == "result" || strings.HasPrefix(m["text"], "failed: ")):
			kind = thread.EntryResult
		case m["role"] == "user":
			kind = thread.EntryPrompt
		case m["text"] == "call":
			kind = thread.EntryCall
		case m["role"] == "call":
			out = append(out, thread.Entry{Kind: thread.EntryCall, Tool: "Edit", Text: m["text"]})
			continue
		case m["role"] == "result":
			kind = thread.EntryResult
		}
		out = append(out, thread.Entry{Kind: kind, Text: m["text"], Tool: m["tool"], Error: strings.HasPrefix(m["text"], "failed: ")})
	}
	return out
}
