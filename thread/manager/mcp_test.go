package manager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// servers is a control of MCP servers that remembers what it is told. What is on for a thread is what the test says.
type servers struct {
	mu      sync.Mutex
	on      map[thread.ID][]string
	calls   []string
	ready   func(context.Context) // called in Ready
	refusal error                 // of Take
}

// set says what is on for a thread.
func (s *servers) set(id thread.ID, list ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on == nil {
		s.on = map[thread.ID][]string{}
	}
	s.on[id] = list
}

func (s *servers) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

// count is how many calls begin so; forget forgets all.
func (s *servers) count(begin string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if strings.HasPrefix(c, begin) {
			n++
		}
	}
	return n
}

// Enabled implements thread.MCP, and so do the methods below.
func (s *servers) Enabled(id thread.ID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.on[id])
}

func (s *servers) Prompt(id thread.ID, text string) { s.note("prompt %s %s", id, text) }

func (s *servers) Ready(ctx context.Context, id thread.ID) {
	s.note("ready %s", id)
	s.mu.Lock()
	wait := s.ready
	s.mu.Unlock()
	if wait != nil {
		wait(ctx)
	}
}

func (s *servers) Launch(t thread.Thread) *thread.MCPLaunch {
	s.note("launch %s", t.ID)
	return &thread.MCPLaunch{Name: "orch"}
}

func (s *servers) Launched(id thread.ID, r thread.MCPReach) { s.note("launched %s %v", id, r.Given) }

func (s *servers) Take(_ context.Context, id thread.ID, server, why string) error {
	s.note("take %s %s %s", id, server, why)
	return s.refusal
}

func (s *servers) TurnEnded(id thread.ID) { s.note("turn ended %s", id) }
func (s *servers) Restored(id thread.ID)  { s.note("restored %s", id) }
func (s *servers) Ended(id thread.ID)     { s.note("ended %s", id) }
func (s *servers) Forget(id thread.ID)    { s.note("forget %s", id) }

// withServers is inWorld with a control of MCP servers.
func withServers(t *testing.T, test func(*world, *servers)) {
	t.Helper()
	s := &servers{}
	inWorld(t, func(w *world) { test(w, s) }, func(w *world) { w.cfg.MCP = s })
}

// TestServersOfCheckpoints stores what is on with each turn; forks inherit it and rewinds restore it.
func TestServersOfCheckpoints(t *testing.T) {
	withServers(t, func(w *world, s *servers) {
		p := w.create(thread.NewRequest{Name: "main"})
		set := func(next thread.MCPSwitches) {
			t.Helper()
			if err := w.m.Lifecycle.SetMCP(ctx, string(p.ID), func(thread.MCPSwitches) thread.MCPSwitches { return next }); err != nil {
				t.Fatal(err)
			}
		}
		person := func(server string) thread.MCPSwitch { return thread.MCPSwitch{Server: server, By: thread.MCPPerson} }
		w.talk(p.ID, 1, 1) // nothing is known of servers yet
		s.set(p.ID, "docs", "-docs/delete")
		w.talk(p.ID, 2, 2)
		s.set(p.ID, "browser")
		w.talk(p.ID, 3, 3)
		set(thread.MCPSwitches{On: []thread.MCPSwitch{person("browser")}, Off: []string{"mail"}})
		lists := map[int][]string{}
		turns, err := w.store.Checkpoints(ctx, p.ID, thread.Page{Turns: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range turns {
			lists[c.Turn] = c.MCP
		}
		if len(lists[1]) > 0 || !slices.Equal(lists[2], []string{"docs", "-docs/delete"}) || !slices.Equal(lists[3], []string{"browser"}) {
			t.Errorf("lists %v", lists)
		}
		s.set(p.ID, "browser", "late") // after the last turn
		head := w.fork(thread.ForkRequest{Thread: "main", Label: "at the head"})
		if !head.MCP.Equal(w.status(p.ID).MCP) || head.MCP.IsZero() {
			t.Errorf("a fork at the head has %+v", head.MCP)
		}
		if head.Handoff == nil || !slices.Equal(head.Handoff.EnabledMCPs, []string{"browser", "late"}) {
			t.Errorf("its handoff has %+v", head.Handoff)
		}
		two := w.fork(thread.ForkRequest{Thread: "main", At: "2", Label: "at turn 2"})
		if w, on := two.MCP.Find("docs"); !on || len(two.MCP.On) != 1 || !two.MCP.Exact || w.By != thread.MCPInherited ||
			!strings.Contains(w.Why, "turn 2") || !slices.Equal(two.MCP.Tools, []string{"docs/delete"}) || !slices.Equal(two.MCP.Off, []string{"mail"}) {
			t.Errorf("a fork at turn 2 has %+v", two.MCP)
		}
		if !slices.Equal(two.Handoff.EnabledMCPs, []string{"docs"}) {
			t.Errorf("its handoff has %+v", two.Handoff)
		}
		one := w.fork(thread.ForkRequest{Thread: "main", At: "1", Label: "at turn 1"})
		if !one.MCP.Equal(w.status(p.ID).MCP) || one.Handoff.EnabledMCPs == nil || len(one.Handoff.EnabledMCPs) > 0 {
			t.Errorf("a fork where nothing is known has %+v and %+v", one.MCP, one.Handoff)
		}
		if s.count("restored") > 0 {
			t.Error("a fork restores its parent")
		}
		rewind := func(at string, conversation bool) thread.Status {
			t.Helper()
			_, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: "main", At: at, Files: true, Conversation: conversation})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return w.status(p.ID)
		}
		if now := rewind("2", false); now.MCP.Exact || s.count("restored") > 0 {
			t.Errorf("files alone restore servers: %+v", now.MCP)
		}
		now := rewind("2", true)
		if _, on := now.MCP.Find("docs"); !on || len(now.MCP.On) != 1 || !now.MCP.Exact || s.count("restored "+string(p.ID)) != 1 {
			t.Errorf("rewound to %+v; %v", now.MCP, s.calls)
		}
		w.crash()
		if again := w.status(p.ID); !again.MCP.Equal(now.MCP) {
			t.Errorf("after a crash %+v", again.MCP)
		}
	})
}

// TestServersAreTold follows a prompt: its words are told before it is typed, and the turn's end after it.
func TestServersAreTold(t *testing.T) {
	withServers(t, func(w *world, s *servers) {
		p := w.create(thread.NewRequest{})
		id := string(p.ID)
		if s.count("launch "+id) != 1 || s.count("launched "+id) != 1 {
			t.Errorf("at the start: %v", s.calls)
		}
		w.idle(p.ID)
		var typed string
		s.ready = func(context.Context) { typed = w.sess.of(p.ID).prompts() }
		w.ask(p.ID, "run e2e")
		if s.count("prompt "+id+" run e2e") == 0 || s.count("ready "+id) != 1 || typed != "" || w.sess.of(p.ID).prompts() != "run e2e" {
			t.Errorf("typed %q before it was ready, then %q; %v", typed, w.sess.of(p.ID).prompts(), s.calls)
		}
		first := slices.IndexFunc(s.calls, func(c string) bool { return strings.HasPrefix(c, "prompt ") })
		if ready := slices.Index(s.calls, "ready "+id); first > ready {
			t.Errorf("the prompt is told after its servers were waited for: %v", s.calls)
		}
		if s.count("turn ended") > 0 {
			t.Error("the turn has ended already")
		}
		w.respond(p.ID, "run e2e", "call", false)
		if s.count("turn ended") > 0 {
			t.Error("a turn ends with a tool's call")
		}
		w.respond(p.ID, "run e2e", "answer", true)
		if s.count("turn ended "+id) != 1 {
			t.Errorf("after the turn: %v", s.calls)
		}
		w.m.Traffic.RequestStarted(p.ID, thread.Begun{Prompt: "of a subagent", At: time.Now()})
		w.m.Traffic.RequestStarted(p.ID, thread.Begun{Main: true, Prompt: "typed by hand", At: time.Now()})
		w.m.Traffic.Hook(p.ID, "UserPromptSubmit", []byte(`{"prompt":"reported"}`))
		if s.count("prompt "+id+" typed by hand") != 1 || s.count("prompt "+id+" reported") != 1 || s.count("prompt "+id+" of a") > 0 {
			t.Errorf("prompts in a request and a report: %v", s.calls)
		}
		w.sess.of(p.ID).exit(0)
		synctest.Wait()
		if s.count("ended "+id) != 1 {
			t.Errorf("after the agent's end: %v", s.calls)
		}
	})
}

// TestServersDoNotHoldPromptsUp types a prompt after a while though its servers are not ready, and closes at once.
func TestServersDoNotHoldPromptsUp(t *testing.T) {
	withServers(t, func(w *world, s *servers) {
		s.ready = func(ctx context.Context) { <-ctx.Done() }
		p := w.create(thread.NewRequest{})
		w.idle(p.ID)
		w.ask(p.ID, "run e2e")
		if got := w.sess.of(p.ID).prompts(); got != "" {
			t.Errorf("typed %q at once", got)
		}
		time.Sleep(13 * time.Second)
		synctest.Wait()
		if got := w.sess.of(p.ID).prompts(); got != "run e2e" {
			t.Errorf("typed %q after 13 s", got)
		}
	})
	withServers(t, func(w *world, s *servers) {
		s.ready = func(ctx context.Context) { <-ctx.Done() }
		p := w.create(thread.NewRequest{})
		w.idle(p.ID)
		w.ask(p.ID, "run e2e")
		began := time.Now()
		if err := w.m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took >= time.Second {
			t.Errorf("closed after %v", took)
		}
		w.open()
	})
}

// TestOffersOfServers offers servers through the bar of fork offers, by a kind of their own.
func TestOffersOfServers(t *testing.T) {
	withServers(t, func(w *world, s *servers) {
		p := w.create(thread.NewRequest{})
		offer := func() *thread.Offer { return w.status(p.ID).Offer }
		w.m.Offers.SuggestMCP(p.ID, "docs", "similar tasks used it")
		o := offer()
		if o == nil || o.Server != "docs" || o.Rule != "mcp" || o.Why != "similar tasks used it" {
			t.Fatalf("offer %+v", o)
		}
		w.m.Offers.SuggestMCP(p.ID, "browser", "one at a time")
		if now := offer(); now == nil || now.ID != o.ID {
			t.Errorf("offer %+v", now)
		}
		if _, err := w.m.Offers.Answer(ctx, o.ID, "perhaps"); !errors.Is(err, thread.ErrInvalid) || offer() == nil {
			t.Errorf("nonsense: %v, and then %+v", err, offer())
		}
		before := len(w.sess.of(p.ID).prompts())
		if st, err := w.m.Offers.Answer(ctx, o.ID, "take"); err != nil || st.ID != p.ID {
			t.Errorf("take: %v %v", st.ID, err)
		}
		if s.count("take "+string(p.ID)+" docs similar tasks used it") != 1 || offer() != nil || len(w.sess.of(p.ID).prompts()) != before {
			t.Errorf("taken: %v", s.calls)
		}
		if _, err := w.m.Offers.Answer(ctx, o.ID, "take"); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("twice: %v", err)
		}
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if _, err := w.m.Offers.Answer(ctx, offer().ID, "dismiss"); err != nil || offer() != nil || s.count("take") != 1 {
			t.Errorf("dismiss: %v", err)
		}
		s.refusal = errors.New("it has changed")
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if _, err := w.m.Offers.Answer(ctx, offer().ID, "take"); !errors.Is(err, s.refusal) {
			t.Errorf("refused: %v", err)
		}
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if _, err := w.m.Offers.Answer(ctx, offer().ID, "off"); err != nil {
			t.Fatal(err)
		}
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if o := offer(); o != nil {
			t.Errorf("offered though such offers are off: %+v", o)
		}
		if w.m.Offers.Mode() == thread.OffersOff {
			t.Error("fork offers are off too")
		}
		w.crash()
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if o := offer(); o != nil {
			t.Errorf("offered after a restart: %+v", o)
		}
		if err := w.m.Offers.SetMode(ctx, thread.OffersSuggest); err != nil {
			t.Fatal(err)
		}
		w.m.Offers.SuggestMCP(p.ID, "docs", "again")
		if offer() == nil {
			t.Error("not offered though offers are on again")
		}
	})
}
