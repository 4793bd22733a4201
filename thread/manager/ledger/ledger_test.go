package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/ledger"
	"orchestrator/thread/work"
)

// store is a record that can be away.
type store struct {
	mu     sync.Mutex
	rows   map[work.ID]work.Execution
	events map[work.ID][]work.Event
	order  []work.ID
	err    error
	hold   chan struct{} // each write waits until it is closed; nil for not
	tries  int
	bad    map[work.ID]error // of rows that it does not take
	unread error             // of lists
}

func newStore() *store {
	return &store{rows: map[work.ID]work.Execution{}, events: map[work.ID][]work.Event{}}
}

func (s *store) enter() error {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	s.tries++
	return s.err
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *store) Add(_ context.Context, x work.Execution, _ ...work.Event) (work.Execution, error) {
	err := s.enter()
	defer s.mu.Unlock()
	if err = cmp.Or(err, s.bad[x.ID]); err != nil {
		return x, err
	}
	if known, ok := s.rows[x.ID]; ok {
		return known, nil
	}
	x, e, err := work.Added(x, time.Now())
	if err != nil {
		return x, err
	}
	x.Name = fmt.Sprintf("%s-%03d", x.Kind.Prefix(), len(s.rows)+1)
	s.rows[x.ID], s.order = x, append(s.order, x.ID)
	s.events[x.ID] = append(s.events[x.ID], e)
	return x, nil
}

func (s *store) Change(
	_ context.Context, id work.ID, fence int64, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	err := s.enter()
	defer s.mu.Unlock()
	old, ok := s.rows[id]
	switch err = cmp.Or(err, s.bad[id]); {
	case err != nil:
		return old, err
	case !ok:
		return old, thread.ErrNotFound
	case old.Fence != fence:
		return old, work.ErrFence
	}
	x, events, err := work.Changed(old, false, change, events, time.Now())
	if err != nil {
		return old, err
	}
	s.rows[id] = x
	s.events[id] = append(s.events[id], events...)
	return x, nil
}

func (s *store) Append(_ context.Context, id work.ID, fence int64, events ...work.Event) error {
	err := s.enter()
	defer s.mu.Unlock()
	if err == nil && s.rows[id].Fence != fence {
		err = work.ErrFence
	}
	if err == nil {
		s.events[id] = append(s.events[id], events...)
	}
	return err
}

func (s *store) Execution(_ context.Context, ref string) (work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.rows[work.ID(ref)]
	if !ok {
		return x, thread.ErrNotFound
	}
	return x, nil
}

func (s *store) Recorded(_ context.Context, q work.RecordQuery) (list []work.Execution, err error) {
	err = s.enter()
	defer s.mu.Unlock()
	if err = cmp.Or(err, s.unread); err != nil {
		return nil, err
	}
	begun := q.Before == ""
	for _, id := range slices.Backward(s.order) {
		x := s.rows[id]
		if begun && slices.Contains(q.Kinds, x.Kind) && slices.Contains(q.States, x.State) && len(list) < q.Limit {
			list = append(list, x)
		}
		begun = begun || id == q.Before
	}
	return list, nil
}

// text is what the events of a kind say.
func (s *store) text(id work.ID, kind string) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events[id] {
		if e.Kind == kind {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// natives are the rows of sub-agents, in the order in which they came.
func (s *store) natives() (list []work.Execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if x := s.rows[id]; x.Kind == work.KindNative {
			list = append(list, x)
		}
	}
	return list
}

// bench is a ledger over a store.
type bench struct {
	*store
	t     *testing.T
	l     *ledger.Ledger
	close context.CancelFunc
	wait  *sync.WaitGroup
}

const (
	theThread  = thread.ID("aaaaaaaaaaaaaaaa")
	theProcess = thread.ExecutionID("bbbbbbbbbbbbbbbb")
)

func newBench(t *testing.T, s *store, file, server string) *bench {
	return newLogging(t, s, file, server, slog.New(slog.DiscardHandler))
}

func newLogging(t *testing.T, s *store, file, server string, log *slog.Logger) *bench {
	closing, end := context.WithCancel(t.Context())
	wait := &sync.WaitGroup{}
	l := ledger.New(ledger.Config{
		Store: s, Log: log, Now: time.Now, Context: context.Background(), Closing: closing,
		Begin: func() bool { wait.Add(1); return true }, Done: wait.Done, File: file, Host: "host", User: "user", Server: server,
	})
	return &bench{store: s, t: t, l: l, close: end, wait: wait}
}

func (b *bench) begin(id thread.ExecutionID) {
	b.l.Begin(ledger.Process{
		ID: id, Thread: thread.Thread{ID: theThread, Name: "a-1234", Agent: "demo", Dir: "/w"}, Model: "m", Version: "1.2",
		Prompt: "do it with AKIA" + "ABCDEFGHIJKLMNOP", Started: time.Now(), Calls: calls,
	})
}

// calls reads an answer of the form "type|name|prompt;…", or "done:TEXT".
func calls(answer thread.Item) (c ledger.Calls) {
	text := string(answer.Raw)
	if said, ok := strings.CutPrefix(text, "done:"); ok {
		return ledger.Calls{Ends: true, Said: said}
	}
	for d := range strings.SplitSeq(text, ";") {
		if f := strings.Split(d, "|"); len(f) == 3 {
			c.Handed = append(c.Handed, thread.Delegation{Type: f[0], Name: f[1], Prompt: f[2]})
		}
	}
	return c
}

// tokens is what each answer costs.
var tokens = thread.Usage{Input: 10, Output: 1, CostUSD: 0.5, Priced: true}

// main has the agent answer with calls.
func (b *bench) main(text, calls string) {
	e := thread.Exchange{Main: true, Text: text, Model: "m-1", Usage: tokens, Ended: time.Now(), Answer: &thread.Item{Raw: []byte(calls)}}
	if calls != "" {
		e.Tools = []string{"x"}
	}
	b.l.Exchange(theThread, e)
}

// side has a sub-agent ask with a prompt and get an answer; calls are those of it.
func (b *bench) side(a thread.SubAgent, prompt, text, calls string) {
	b.l.Began(theThread, thread.Begun{Sub: a, Model: "m-2", Prompt: prompt, At: time.Now()})
	e := thread.Exchange{
		Sub: a, Purpose: "subagent", Prompt: prompt, Text: text, Model: "m-2", Usage: tokens, Started: time.Now(), Ended: time.Now(),
		Answer: &thread.Item{Raw: []byte(calls)},
	}
	if calls != "" {
		e.Tools = []string{"x"}
	}
	b.l.Exchange(theThread, e)
}

func (b *bench) end(exit thread.Exit, asked bool) { b.l.End(theProcess, theThread, exit, asked) }

// row returns the row of the process once all is written.
func (b *bench) row() work.Execution {
	synctest.Wait()
	x, err := b.Execution(b.t.Context(), string(theProcess))
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// natives are the rows of sub-agents once all is written.
func (b *bench) natives() []work.Execution {
	synctest.Wait()
	return b.store.natives()
}

// run calls a test in a bubble with a process in a terminal.
func run(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newStore(), "", "s")
		b.begin(theProcess)
		test(b)
		b.close()
		b.wait.Wait()
	})
}

// TestTerminal: the row is there before Begin returns, and has at its end what was asked, said and used.
func TestTerminal(t *testing.T) {
	run(t, func(b *bench) {
		if x, err := b.Execution(t.Context(), string(theProcess)); err != nil || x.State != work.Running {
			t.Fatalf("after Begin: %+v, %v", x, err)
		}
		b.l.Asked(theThread, "the second prompt")
		b.main("", "t||p")
		b.main("first answer", "")
		if x := b.row(); x.Answer != "first answer" || x.Usage.Output != 2 || x.Model != "m-1" {
			t.Errorf("after a turn: %+v", x)
		}
		b.side(thread.SubAgent{Key: "k"}, "p", "found", "")
		b.main("last answer sk-ant-api03-"+strings.Repeat("a", 95), "")
		b.end(thread.Exit{}, false)
		b.end(thread.Exit{Code: 3}, false) // once
		x := b.row()
		if x.State != work.Completed || x.Usage.Output != 4 || x.Usage.CostUSD != 2 || x.Kind != work.KindTerminal || x.Version != "1.2" ||
			x.Dir != "/w" || x.Host != "host" || x.User != "user" || x.Ended.IsZero() || x.Process != theProcess {
			t.Errorf("at its end: %+v", x)
		}
		given, said := b.text(x.ID, work.KindGiven), b.text(x.ID, work.KindSaid)
		if len(given) != 1 || !strings.HasPrefix(given[0], "do it with [redacted") || len(said) != 1 || !strings.HasPrefix(said[0], "last answer [redacted") {
			t.Errorf("given %q, said %q", given, said)
		}
	})
}

// TestOutcomes of processes in terminals.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		exit   thread.Exit
		asked  bool
		state  work.State
		reason string
	}{
		"left":      {thread.Exit{}, false, work.Completed, ""},
		"stopped":   {thread.Exit{Code: 143, Reason: "stopped"}, true, work.Completed, "stopped"},
		"failed":    {thread.Exit{Code: 3}, false, work.Failed, "its process ended with code 3"},
		"killed":    {thread.Exit{Code: 137}, false, work.Failed, "its process was killed by signal 9"},
		"too large": {thread.Exit{Limit: true, Reason: "too many processes"}, false, work.Failed, "too many processes"},
	} {
		run(t, func(b *bench) {
			b.end(c.exit, c.asked)
			if x := b.row(); x.State != c.state || x.Reason != c.reason {
				t.Errorf("%s: %s %q", name, x.State, x.Reason)
			}
		})
	}
}

// TestNatives: two of different type, one of which starts another; each request is counted once, in the sub-agent and in its
// process.
func TestNatives(t *testing.T) {
	run(t, func(b *bench) {
		b.main("", "Explore||look for a;Plan||plan for b")
		one, two, three := thread.SubAgent{Key: "k1"}, thread.SubAgent{Key: "k2"}, thread.SubAgent{Key: "k3"}
		b.side(one, "# note\nlook for a\nplease", "", "x") // it calls a tool
		b.side(two, "plan for b", "", "Look||deeper")
		b.side(three, "deeper", "done deep", "")
		b.side(one, "look for a", "found a", "")
		if list := b.natives(); list[0].State != work.Running {
			t.Errorf("it may go on: %+v", list[0])
		}
		b.side(two, "", "", "done:planned b")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		list := b.natives()
		if len(list) != 3 {
			t.Fatalf("%d rows", len(list))
		}
		for i, want := range []struct {
			kind, given, said string
			parent            work.ID
			requests          int64
		}{
			{"Explore", "look for a", "found a", work.ID(theProcess), 2}, {"Plan", "plan for b", "planned b", work.ID(theProcess), 2},
			{"Look", "deeper", "done deep", list[1].ID, 1},
		} {
			x := list[i]
			if given, said := b.text(x.ID, work.KindGiven), b.text(x.ID, work.KindSaid); x.Type != want.kind || x.State != work.Completed || x.Parent != want.parent ||
				!slices.Equal(given, []string{want.given}) || !slices.Equal(said, []string{want.said}) || x.Scope != want.given || x.Answer != want.said ||
				x.Usage.Output != want.requests || x.Usage.CostUSD != float64(want.requests)/2 || x.Key != fmt.Sprintf("k%d", i+1) || x.Claimed ||
				x.Model != "m-2" || x.Thread != theThread || x.Process != theProcess || x.Dir != "/w" {
				t.Errorf("given %q, said %q: %+v", given, said, x)
			}
		}
		b.end(thread.Exit{}, true)
		if x := b.row(); x.Usage.Output != 6 {
			t.Errorf("the process used %+v", x.Usage)
		}
	})
}

// TestEndsWithProcess: what becomes of sub-agents whose process ends.
func TestEndsWithProcess(t *testing.T) {
	for name, c := range map[string]struct {
		exit  thread.Exit
		asked bool
		do    func(b *bench, a thread.SubAgent)
		want  work.State
	}{
		"killed in its middle":  {thread.Exit{Code: 137}, false, func(b *bench, a thread.SubAgent) { b.side(a, "p", "", "x") }, work.Lost},
		"stopped in its middle": {thread.Exit{Code: 143}, true, func(b *bench, a thread.SubAgent) { b.side(a, "p", "", "x") }, work.Cancelled},
		"it had said its last":  {thread.Exit{Code: 137}, false, func(b *bench, a thread.SubAgent) { b.side(a, "p", "that is all", "") }, work.Completed},
		"while it asked": {thread.Exit{Code: 137}, false, func(b *bench, a thread.SubAgent) {
			b.l.Began(theThread, thread.Begun{Sub: a, Prompt: "p"})
		}, work.Lost},
		"it left its request": {thread.Exit{Code: 137}, false, func(b *bench, a thread.SubAgent) {
			b.l.Began(theThread, thread.Begun{Sub: a, Prompt: "p"})
			b.l.Exchange(theThread, thread.Exchange{Sub: a, Fault: thread.FaultAgent, Err: "the agent closed the connection", Interrupted: true})
		}, work.Lost},
		"its request failed": {thread.Exit{}, true, func(b *bench, a thread.SubAgent) {
			b.l.Began(theThread, thread.Begun{Sub: a, Prompt: "p"})
			b.l.Exchange(theThread, thread.Exchange{Sub: a, Status: 500, Err: "overloaded"})
		}, work.Failed},
	} {
		run(t, func(b *bench) {
			c.do(b, thread.SubAgent{Key: "k"})
			b.end(c.exit, c.asked)
			synctest.Wait()
			if list := b.natives(); len(list) != 1 || list[0].State != c.want || list[0].Ended.IsZero() {
				t.Errorf("%s: %+v", name, list)
			}
		})
	}
}

// TestHooks: in every order, with and without requests, a sub-agent is one row; what only hooks tell is a claim.
func TestHooks(t *testing.T) {
	begins := func(b *bench) { b.l.Hook(theThread, thread.SubReport{Key: "k", Type: "Explore"}) }
	stops := func(b *bench) {
		b.l.Hook(theThread, thread.SubReport{Key: "k", Type: "Explore", Ended: true, Said: "as the hook has it"})
	}
	asks := func(b *bench) { b.side(thread.SubAgent{Key: "k"}, "prompt", "as we saw it", "") }
	for name, c := range map[string]struct {
		do      []func(*bench)
		state   work.State
		said    string
		claimed bool
	}{
		"begins":               {[]func(*bench){begins}, work.Running, "", true},
		"begins, stops":        {[]func(*bench){begins, stops}, work.Completed, "as the hook has it", true},
		"stops only":           {[]func(*bench){stops}, work.Completed, "as the hook has it", true},
		"stops twice":          {[]func(*bench){begins, stops, stops}, work.Completed, "as the hook has it", true},
		"begins after it":      {[]func(*bench){stops, begins}, work.Completed, "as the hook has it", true},
		"all":                  {[]func(*bench){begins, asks, stops}, work.Completed, "as we saw it", false},
		"asks before":          {[]func(*bench){asks, begins, stops}, work.Completed, "as we saw it", false},
		"goes on after it":     {[]func(*bench){begins, stops, asks}, work.Completed, "as we saw it", false},
		"no id":                {[]func(*bench){func(b *bench) { b.l.Hook(theThread, thread.SubReport{Type: "x"}) }, begins}, work.Running, "", true},
		"of an unknown thread": {[]func(*bench){func(b *bench) { b.l.Hook("other", thread.SubReport{Key: "x"}) }, begins}, work.Running, "", true},
	} {
		run(t, func(b *bench) {
			for _, do := range c.do {
				do(b)
				synctest.Wait()
			}
			list := b.natives()
			if len(list) != 1 {
				t.Fatalf("%s: %d rows", name, len(list))
			}
			x, said := list[0], b.text(list[0].ID, work.KindSaid)
			if x.State != c.state || x.Claimed != c.claimed || x.Type != "Explore" || c.said != "" && (len(said) == 0 || said[len(said)-1] != c.said) {
				t.Errorf("%s: said %q: %+v", name, said, x)
			}
		})
	}
}

// TestSameWords: conversations without ids that begin with the same words one after the other are two; a request that is
// repeated is none of its own.
func TestSameWords(t *testing.T) {
	run(t, func(b *bench) {
		first, later := thread.SubAgent{Key: "c", Made: true, First: true}, thread.SubAgent{Key: "c", Made: true}
		b.main("", "A||p;B||p")
		b.l.Began(theThread, thread.Begun{Sub: first, Prompt: "p"})
		b.l.Exchange(theThread, thread.Exchange{Sub: first, Status: 529, Err: "busy"})
		b.side(first, "p", "", "x")
		b.side(later, "", "one", "")
		b.side(first, "p", "two", "")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		list := b.natives()
		if len(list) != 2 || list[0].Answer != "one" || list[1].Answer != "two" || list[0].Type != "A" || list[1].Type != "B" ||
			list[0].Usage.Output != 2 || list[1].Usage.Output != 1 || list[0].ID == list[1].ID {
			t.Errorf("%+v", list)
		}
	})
}

// TestNamed: an agent that names its sub-agents gets their prompts by their names, whatever their conversations begin with.
func TestNamed(t *testing.T) {
	run(t, func(b *bench) {
		b.main("", "|one|first;|two|second")
		b.side(thread.SubAgent{Key: "k2", Name: "two"}, "what the parent was asked: first", "b", "")
		b.side(thread.SubAgent{Key: "k1", Name: "one"}, "", "a", "")
		synctest.Wait()
		list := b.natives()
		if len(list) != 2 || list[0].Scope != "second" || list[1].Scope != "first" || list[0].Type != "two" || list[1].Type != "one" {
			t.Errorf("%+v", list)
		}
	})
}

// TestLiars: ids with odd bytes, ten thousand ids, parents in a circle.
func TestLiars(t *testing.T) {
	run(t, func(b *bench) {
		odd := []string{"\x1b[2J", "a\x00b", strings.Repeat("x", 100_000), "../../etc/passwd\n", "\xff\xfe", "é"}
		for _, key := range odd {
			b.side(thread.SubAgent{Key: key, Type: "\x1b[31mred", Parent: key}, "p", "said", "")
		}
		b.side(thread.SubAgent{Key: "x", Parent: "y"}, "p", "", "")
		b.side(thread.SubAgent{Key: "y", Parent: "x"}, "p", "", "")
		for i := range 10_000 {
			b.side(thread.SubAgent{Key: fmt.Sprint("id", i)}, "p", "", "")
		}
		b.end(thread.Exit{}, true)
		x := b.row()
		list := b.natives()
		if len(list) != 1000 {
			t.Errorf("%d rows", len(list))
		}
		for _, n := range list[:len(odd)] {
			if !strings.HasPrefix(n.Key, "sha256:") || len(n.Key) != 23 || n.Parent != x.ID {
				t.Errorf("key %q of %q", n.Key, n.Parent)
			}
		}
		if notes := b.text(x.ID, "note"); len(notes) != 1 || !strings.Contains(notes[0], "more than 1000 sub-agents") {
			t.Errorf("notes %q", notes)
		}
		if want := int64(len(odd) + 2 + 10_000); x.Usage.Output != want {
			t.Errorf("the process used %d, want %d", x.Usage.Output, want)
		}
	})
}

// TestRun: a run's sub-agents hang on its row, which is not written.
func TestRun(t *testing.T) {
	run(t, func(b *bench) {
		of := work.Execution{ID: "cccccccccccccccc", Thread: theThread, Agent: "demo", Session: "s", Task: "t"}
		b.l.Begin(ledger.Process{ID: "dddddddddddddddd", Thread: thread.Thread{ID: theThread, Agent: "demo"}, Run: of, Calls: calls})
		b.main("", "T||p")
		b.side(thread.SubAgent{Key: "k"}, "p", "", "x")
		b.l.End("dddddddddddddddd", theThread, thread.Exit{Code: 137}, false)
		synctest.Wait()
		if list := b.natives(); len(list) != 1 || list[0].Parent != of.ID || list[0].Session != "s" || list[0].Task != "t" || list[0].State != work.Lost {
			t.Errorf("%+v", list)
		}
		if _, err := b.Execution(t.Context(), string(of.ID)); err == nil {
			t.Error("the run was written")
		}
	})
}

// TestAway: no method waits longer than a second while the store is away; all is written once it is back, once.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		b := newBench(t, s, "", "s")
		s.hold = make(chan struct{})
		before := time.Now()
		b.begin(theProcess)
		if d := time.Since(before); d > time.Second {
			t.Errorf("the start waited %v for a store that hangs", d)
		}
		close(s.hold)
		synctest.Wait()
		s.fail(thread.ErrUnreachable)
		before = time.Now()
		b.begin("eeeeeeeeeeeeeeee")
		b.main("", "T||p")
		b.side(thread.SubAgent{Key: "k"}, "p", "found", "")
		b.main("all", "")
		b.l.End("eeeeeeeeeeeeeeee", theThread, thread.Exit{}, false)
		if d := time.Since(before); d > time.Second {
			t.Errorf("it waited %v for a store that is away", d)
		}
		time.Sleep(10 * time.Minute)
		s.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		list := b.natives()
		x, err := s.Execution(t.Context(), "eeeeeeeeeeeeeeee")
		if err != nil || x.State != work.Completed || x.Answer != "all" || len(list) != 1 || list[0].Answer != "found" || list[0].State != work.Completed {
			t.Errorf("%+v, %v, %+v", x, err, list)
		}
		for kind, want := range map[string]int{work.KindGiven: 1, work.KindSaid: 1} {
			if got := s.text(x.ID, kind); len(got) != want {
				t.Errorf("%s %q", kind, got)
			}
		}
		b.close()
		b.wait.Wait()
	})
}

// TestNextServer: what one server cannot write, and what it leaves open, the next one writes, lost; another server's open
// rows of its own stay.
func TestNextServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "ledger", "waiting.json")
		s := newStore()
		b := newBench(t, s, file, "one")
		b.begin(theProcess)
		b.side(thread.SubAgent{Key: "k"}, "p", "", "x")
		synctest.Wait()
		s.fail(thread.ErrDiskFull)
		b.begin("eeeeeeeeeeeeeeee")
		b.side(thread.SubAgent{Key: "k2"}, "the other prompt", "", "x")
		time.Sleep(time.Minute)
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file: %v, %v", info, err)
		}
		b.close() // killed: neither process ends
		b.wait.Wait()
		s.fail(nil)

		next := newBench(t, s, file, "two")
		third := thread.Execution{ID: "ffffffffffffffff", Thread: theThread, Agent: "demo", Started: time.Now()}
		next.l.Recover([]ledger.Left{
			{Execution: thread.Execution{ID: theProcess, Thread: theThread}, Thread: thread.Thread{ID: theThread, Agent: "demo"}, Used: thread.Usage{Output: 40}},
			{Execution: third, Thread: thread.Thread{ID: theThread, Agent: "demo"}},
		})
		synctest.Wait()
		next.l.Begin(ledger.Process{ID: "1111111111111111", Thread: thread.Thread{ID: theThread, Agent: "demo"}, Started: time.Now()})
		synctest.Wait()
		for id, want := range map[work.ID]work.State{
			work.ID(theProcess): work.Lost, "eeeeeeeeeeeeeeee": work.Lost, "ffffffffffffffff": work.Lost, "1111111111111111": work.Running,
		} {
			if x, err := s.Execution(t.Context(), string(id)); err != nil || x.State != want || want == work.Lost && x.Ended.IsZero() {
				t.Errorf("%s: %s %v", id, x.State, err)
			}
		}
		if x, _ := s.Execution(t.Context(), string(theProcess)); x.Usage.Output != 40 {
			t.Errorf("it used %+v, and its thread 40 since it began", x.Usage)
		}
		list := s.natives()
		if len(list) != 2 || list[0].State != work.Lost || list[1].State != work.Lost || !slices.Equal(s.text(list[1].ID, work.KindGiven), []string{"the other prompt"}) {
			t.Errorf("%+v", list)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
		next.close()
		next.wait.Wait()
	})
}

// TestFull: what waits is bounded; texts go before rows.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		b := newBench(t, s, "", "s")
		s.fail(thread.ErrUnreachable)
		large := strings.Repeat("0 ", 500_000)
		for i := range 80 {
			b.l.Begin(ledger.Process{ID: thread.ExecutionID(fmt.Sprintf("%016x", i)), Thread: thread.Thread{ID: theThread, Agent: "demo"}, Prompt: large, Started: time.Now()})
		}
		s.fail(nil)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		whole := 0
		for i := range 80 {
			id := work.ID(fmt.Sprintf("%016x", i))
			if _, err := s.Execution(t.Context(), string(id)); err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
			whole += len(s.text(id, work.KindGiven))
		}
		if whole == 0 || whole > 70 {
			t.Errorf("%d texts of 80 were kept", whole)
		}
		b.close()
		b.wait.Wait()
	})
}

// TestNil: without a store nothing is recorded, and nothing breaks.
func TestNil(t *testing.T) {
	l := ledger.New(ledger.Config{})
	l.Begin(ledger.Process{})
	l.Asked("x", "y")
	l.Began("x", thread.Begun{Sub: thread.SubAgent{Key: "k"}})
	l.Exchange("x", thread.Exchange{})
	l.Hook("x", thread.SubReport{Key: "k"})
	l.End("x", "y", thread.Exit{}, false)
	l.Recover(nil)
}
