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

	"orchestrator/thread"
)

// slimAgent is a fullAgent of which much can be left out. Its arguments name what is.
type slimAgent struct {
	fullAgent
	mu      sync.Mutex // guards the rest
	version string
	levers  []thread.Lever
	fails   error
	asked   int
	unused  map[string]string
	warns   []thread.BaseWarning
	chosen  string // the version that the newest start names for its levers
}

func newSlimAgent(name string, n *natives) *slimAgent {
	return &slimAgent{fullAgent: fullAgent{plainAgent{name}, n}, version: "1.0", levers: []thread.Lever{
		{Name: "loops", Profiles: []string{"slim", "minimal"}, Tools: []string{"Loop"}, Words: []string{"/loop"}, Saves: 3000},
		{Name: "skills", Profiles: []string{"slim", "minimal"}, Needs: []string{"loops"}, Saves: 2000},
		{Name: "questions", Profiles: []string{"minimal"}, Tools: []string{"AskPerson"}, Saves: 100},
		{Name: "shell", Profiles: []string{"read-only"}, Tools: []string{"Bash"}},
	}}
}

func (a *slimAgent) change(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *slimAgent) Levers(context.Context, thread.WorldSpec) (thread.Levers, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return thread.Levers{Agent: a.name, Version: a.version, Known: true, Levers: slices.Clone(a.levers)}, a.fails
}

func (a *slimAgent) Surroundings(thread.WorldSpec) []thread.BaseWarning { return a.warns }

// BaseParts knows a file of instructions.
func (a *slimAgent) BaseParts(texts []thread.BaseText) (parts []thread.BaseText) {
	for _, t := range texts {
		if strings.HasPrefix(t.Text, "Contents of AGENTS.md") {
			t.Kind = thread.BaseInstructions
		}
		parts = append(parts, t)
	}
	return parts
}

// Missing knows the words of Claude Code.
func (a *slimAgent) Missing(text string) []string {
	if _, name, ok := strings.Cut(text, "No such tool available: "); ok {
		return strings.Fields(name)[:1]
	}
	return nil
}

func (a *slimAgent) Launch(ctx context.Context, s thread.LaunchSpec) (thread.Launch, error) {
	l, err := a.fullAgent.Launch(ctx, s)
	if len(s.Base) > 0 {
		l.Args = append(l.Args, "--without", strings.Join(s.Base, ","))
	}
	l.Unused = a.unused
	a.change(func() { a.chosen = s.BaseVersion })
	return l, err
}

// without returns what a thread's newest process leaves out.
func (w *world) without(id thread.ID) string {
	w.t.Helper()
	_, left, _ := strings.Cut(w.args(id), "--without ")
	return left
}

// inSlimWorld is inWorld with "slim", whose base can be made smaller, and "slimmer", of which other things can be left out.
func inSlimWorld(t *testing.T, test func(w *world, a *slimAgent), configure ...func(*world)) {
	t.Helper()
	var a *slimAgent
	inWorld(t, func(w *world) { test(w, a) }, append([]func(*world){func(w *world) {
		a = newSlimAgent("slim", w.natives)
		b := newSlimAgent("slimmer", w.natives)
		b.levers = []thread.Lever{{Name: "goals", Profiles: []string{"slim"}}}
		w.agents["slim"], w.agents["slimmer"] = a, b
	}}, configure...)...)
}

func (w *world) setBase(id thread.ID, profile string, keep ...string) thread.BaseChange {
	w.t.Helper()
	change, err := w.m.Bases.Set(ctx, thread.BaseRequest{Thread: string(id), Profile: profile, Keep: keep})
	if err != nil {
		w.t.Fatalf("set base %s: %v", profile, err)
	}
	synctest.Wait()
	return change
}

// again stops a thread and starts it.
func (w *world) again(id thread.ID) {
	w.t.Helper()
	if err := w.m.Agents.Stop(ctx, string(id)); err != nil && !errors.Is(err, thread.ErrNotRunning) {
		w.t.Fatal(err)
	}
	synctest.Wait()
	w.start(id)
}

func (w *world) start(id thread.ID) {
	w.t.Helper()
	if _, err := w.m.Agents.Start(ctx, string(id), 0, 0); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// TestBaseAtTheFirstStart: what is asked for goes first, then what is configured for the agent, then for all.
func TestBaseAtTheFirstStart(t *testing.T) {
	own := map[string]thread.OwnBase{"mine": {From: "slim", Keep: []string{"skills"}, LeaveOut: []string{"AskPerson"}}}
	for _, c := range []struct {
		name, left, why string
		base            thread.BaseConfig
		request         thread.NewRequest
	}{
		{"by hand", "", "full until you choose another", thread.BaseConfig{}, thread.NewRequest{}},
		{"by a verb", "loops,skills", "started for a task", thread.BaseConfig{}, thread.NewRequest{Started: true}},
		{"configured", "loops,questions,skills", "configured", thread.BaseConfig{Profile: "minimal"}, thread.NewRequest{}},
		{"configured for what is started", "shell", "started for a task", thread.BaseConfig{Started: "read-only"}, thread.NewRequest{Started: true}},
		{"for the agent", "shell", "configured for the agent", thread.BaseConfig{Profile: "minimal", Agents: map[string]string{"slim": "read-only"}}, thread.NewRequest{Started: true}},
		{"asked for", "", "chosen", thread.BaseConfig{Agents: map[string]string{"slim": "read-only"}}, thread.NewRequest{Base: "full", Started: true}},
		{"of one's own", "loops,questions", "chosen", thread.BaseConfig{Profiles: own}, thread.NewRequest{Base: "mine"}},
		{"a tool that the task names", "", "loops (the task speaks of it)", thread.BaseConfig{}, thread.NewRequest{Base: "slim", Prompt: "test the `Loop` tool"}},
		{"a word of the task", "", "kept: loops", thread.BaseConfig{}, thread.NewRequest{Base: "slim", Prompt: "/LOOP 5m check"}},
		{"a word that is none", "loops,skills", "chosen", thread.BaseConfig{}, thread.NewRequest{Base: "slim", Prompt: "Loop over the lines"}},
		{"a rule that forbids a tool", "loops,questions,skills", "chosen", thread.BaseConfig{},
			thread.NewRequest{Base: "minimal", Flags: thread.Flags{Args: []string{"--disallowedTools", "Read,AskPerson(*)"}}}},
		{"what a task is about", "shell", "chosen", thread.BaseConfig{}, thread.NewRequest{Base: "read-only", Prompt: "explain the commit hook"}},
		{"the shell by its name", "", "shell (the task speaks of it)", thread.BaseConfig{}, thread.NewRequest{Base: "read-only", Prompt: "use the Bash tool"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inSlimWorld(t, func(w *world, _ *slimAgent) {
				c.request.Agent = "slim"
				s := w.create(c.request)
				if got := w.without(s.ID); got != c.left || strings.Join(s.Base.Left, ",") != c.left {
					t.Errorf("started without %q, stored %+v", got, s.Base)
				}
				if !s.Base.Chosen || !strings.Contains(s.Base.Why, c.why) || s.Base.Left != nil && s.Base.Version != "1.0" {
					t.Errorf("base %+v", s.Base)
				}
				w.turn(s.ID, "p1")
				head, err := w.store.Checkpoint(ctx, w.status(s.ID).Head)
				if err != nil || !slices.Equal(head.Base.Left, s.Base.Left) || head.Base.Profile != s.Base.Profile {
					t.Errorf("recorded %+v, %v", head.Base, err)
				}
			}, func(w *world) { w.cfg.Base = c.base })
		})
	}
}

// TestBaseNotInForce: whoever relies on a profile is told what of it stays, and that the person kept nobody is told.
func TestBaseNotInForce(t *testing.T) {
	for _, c := range []struct {
		name, told string
		level      thread.Level
		request    thread.NewRequest
		base       thread.BaseConfig
	}{
		{"by hand", "base read-only does not leave out everything it should. Its agent keeps editing (slim has no switch for it), shell (your settings)", thread.LevelWarn, thread.NewRequest{Base: "read-only"}, thread.BaseConfig{}},
		{"configured", "shell (your settings)", thread.LevelWarn, thread.NewRequest{}, thread.BaseConfig{Profile: "read-only"}},
		{"by a word", "keeps loops (the task speaks of it), skills (without", thread.LevelInfo, thread.NewRequest{Base: "slim", Prompt: "/loop"}, thread.BaseConfig{}},
		{"of what is started", "", "", thread.NewRequest{Started: true, Prompt: "/loop"}, thread.BaseConfig{}},
		{"kept on purpose", "", "", thread.NewRequest{Base: "mine", Prompt: "/loop"},
			thread.BaseConfig{Profiles: map[string]thread.OwnBase{"mine": {From: "slim", Keep: []string{"loops", "skills"}}}}},
	} {
		inSlimWorld(t, func(w *world, a *slimAgent) {
			a.levers[3].Words, a.levers[3].Kept = []string{"explain"}, "your settings"
			c.request.Agent = "slim"
			s := w.create(c.request)
			told := ""
			for _, e := range w.events.of(thread.EventNotice) {
				if strings.Contains(e.Notice.Text, "everything it should. Its agent keeps") {
					told += e.Notice.Text
					if e.Notice.Level != c.level {
						t.Errorf("%s: told as %s", c.name, e.Notice.Level)
					}
				}
			}
			if c.told == "" != (told == "") || !strings.Contains(told, c.told) || told != "" && !strings.HasPrefix(told, s.Name) {
				t.Errorf("%s: told %q, want %q", c.name, told, c.told)
			}
		}, func(w *world) { w.cfg.Base = c.base })
	}
	inSlimWorld(t, func(w *world, a *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.setBase(s.ID, "minimal", "AskPerson")
		w.again(s.ID)
		if got := w.about("in force"); len(got) > 0 || w.without(s.ID) != "loops,skills" {
			t.Errorf("told %q of what was given back on purpose", got)
		}
	})
}

// TestUnusedTold: what a start cannot leave out is told when it is otherwise than at the last one.
func TestUnusedTold(t *testing.T) {
	inSlimWorld(t, func(w *world, a *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		step := func(what, want string, unused map[string]string) {
			t.Helper()
			w.crash()
			a.unused = unused
			w.again(s.ID)
			if got := strings.Join(w.about("leave"), "; "); want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: told %q, want %q", what, got, want)
			}
		}
		step("as chosen", "", nil)
		step("given back", "base slim does not leave out loops (a file)", map[string]string{"loops": "a file"})
		step("still", "", map[string]string{"loops": "another file"})
		step("more", "loops (a file), skills (a file)", map[string]string{"loops": "a file", "skills": "a file"})
		if b := w.status(s.ID).Base; !slices.Equal(b.Unused, []string{"loops", "skills"}) || !slices.Equal(b.Left, b.Unused) {
			t.Errorf("stored %+v", b)
		}
		step("in force again", "leaves out everything it should again", nil)
	})
}

// TestBaseOfAnAgentWithoutLevers: nothing is left out, and choosing that by hand is an error.
func TestBaseOfAnAgentWithoutLevers(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		s := w.create(thread.NewRequest{Started: true})
		if s.Base.Profile != "" || s.Base.Chosen {
			t.Errorf("base %+v", s.Base)
		}
		w.create(thread.NewRequest{Base: "full"})
		for _, base := range []string{"slim", "no-such"} {
			_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Base: base})
			if err == nil || base == "slim" && (!errors.Is(err, thread.ErrUnsupported) || !strings.Contains(err.Error(), "nothing can be left out of claude")) ||
				base != "slim" && !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("base %s: %v", base, err)
			}
		}
		if _, err := w.m.Bases.Set(ctx, thread.BaseRequest{Thread: s.Name, Profile: "slim"}); !errors.Is(err, thread.ErrUnsupported) {
			t.Errorf("set: %v", err)
		}
		w.turn(s.ID, "p1")
		f := w.fork(thread.ForkRequest{Thread: s.Name, Agent: "slim", Label: "x", Started: true})
		if w.without(f.ID) != "loops,skills" {
			t.Errorf("a fork from an agent without levers has base %+v", f.Base)
		}
		back := w.fork(thread.ForkRequest{Thread: s.Name, Label: "y", Base: "full"})
		if back.Base.Profile != "" {
			t.Errorf("base %+v", back.Base)
		}
	})
}

// TestBaseIsKept: resume, rewind, forks and crashes have the same bytes, whatever became of the configuration, the CLI
// and its levers.
func TestBaseIsKept(t *testing.T) {
	own := map[string]thread.OwnBase{"mine": {From: "slim", Keep: []string{"skills"}}}
	inSlimWorld(t, func(w *world, a *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "mine"})
		w.talk(s.ID, 1, 3)
		asked := a.asked
		same := func(what string, id thread.ID) {
			t.Helper()
			var chosen string
			if a.change(func() { chosen = a.chosen }); chosen != "1.0" {
				t.Errorf("%s: started as chosen with %q", what, chosen)
			}
			if b := w.status(id).Base; w.without(id) != "loops" || !slices.Equal(b.Left, []string{"loops"}) || b.Profile != "mine" || b.Version != "1.0" {
				t.Errorf("%s: started without %q, base %+v", what, w.without(id), b)
			}
		}
		same("first start", s.ID)
		a.change(func() { a.version, a.levers, a.fails = "2.0", nil, errors.New("broken") })
		w.cfg.Base = thread.BaseConfig{Profile: "minimal"} // its own profile is gone
		w.crash()
		w.again(s.ID)
		same("after a crash", s.ID)
		w.again(s.ID)
		same("resumed", s.ID)
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: "2", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		same("rewound", s.ID)
		w.talk(s.ID, 3, 3)
		f := w.fork(thread.ForkRequest{Thread: s.Name, At: "1", Label: "at a turn"})
		same("fork at a turn", f.ID)
		w.talk(f.ID, 2, 2)
		same("fork of a fork", w.fork(thread.ForkRequest{Thread: f.Name, Label: "of it", Started: true}).ID)
		same("fork of a fork at a turn of the first", w.fork(thread.ForkRequest{Thread: f.Name, At: "1", Label: "of it"}).ID)
		same("fresh fork", w.fork(thread.ForkRequest{Thread: f.Name, Label: "of it", Fresh: true, Started: true}).ID)
		same("fork before the first turn", w.fork(thread.ForkRequest{Thread: f.Name, At: "0", Label: "of it"}).ID)
		n := w.fork(thread.ForkRequest{Thread: s.Name, Label: "later", NoStart: true})
		w.crash()
		w.start(n.ID)
		same("fork that was started later", n.ID)
		if a.asked != asked {
			t.Errorf("the agent was asked for its levers %d times more", a.asked-asked)
		}
	}, func(w *world) { w.cfg.Base = thread.BaseConfig{Profiles: own} })
}

// TestBaseOfAThreadOfAnEarlierBuild: its requests have begun with everything, and go on so.
func TestBaseOfAThreadOfAnEarlierBuild(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.talk(s.ID, 1, 2)
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		w.crash()
		if _, err := w.store.UpdateThread(ctx, s.ID, func(t *thread.Thread) error { t.Base = thread.Base{}; return nil }); err != nil {
			t.Fatal(err)
		}
		w.cfg.Base.Profile = "slim"
		w.crash()
		f := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x"})
		w.start(s.ID)
		for _, id := range []thread.ID{s.ID, f.ID} {
			if b := w.status(id).Base; w.without(id) != "" || !b.Chosen || b.Profile != "full" {
				t.Errorf("started without %q, base %+v", w.without(id), b)
			}
		}
	})
}

// TestBaseInForks: a fork to another agent takes the profile of the name, one that asks takes what it asks for.
func TestBaseInForks(t *testing.T) {
	inSlimWorld(t, func(w *world, a *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.talk(s.ID, 1, 2)
		for _, c := range []struct {
			what, left, why string
			r               thread.ForkRequest
		}{
			{"another agent", "goals", "as in the parent", thread.ForkRequest{Agent: "slimmer"}},
			{"an agent without levers", "", "", thread.ForkRequest{Agent: "codex"}},
			{"asked for", "loops,questions,skills", "chosen", thread.ForkRequest{Base: "minimal"}},
			{"asked for at a turn", "", "chosen", thread.ForkRequest{Base: "full", At: "1"}},
		} {
			c.r.Thread, c.r.Label = s.Name, c.what
			f := w.fork(c.r)
			if w.without(f.ID) != c.left || f.Base.Why != c.why {
				t.Errorf("%s: without %q, base %+v", c.what, w.without(f.ID), f.Base)
			}
		}
		if _, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: s.Name, Label: "x", Agent: "codex", Base: "minimal"}); !errors.Is(err, thread.ErrUnsupported) {
			t.Errorf("an agent without levers: %v", err)
		}
		full := w.create(thread.NewRequest{Agent: "slim", Base: "full"})
		w.talk(full.ID, 1, 2)
		for what, c := range map[string]struct {
			left string
			r    thread.ForkRequest
		}{
			"with its conversation": {"", thread.ForkRequest{Started: true}},
			"by hand":               {"", thread.ForkRequest{Fresh: true}},
			"for a task":            {"loops,skills", thread.ForkRequest{Fresh: true, Started: true}},
		} {
			c.r.Thread, c.r.Label = full.Name, what
			if f := w.fork(c.r); w.without(f.ID) != c.left {
				t.Errorf("fork of a full thread %s: without %q", what, w.without(f.ID))
			}
		}
		// A turn of the parent's tells nothing of what the fork's own agent leaves out.
		other := w.fork(thread.ForkRequest{Thread: s.Name, Label: "other", Agent: "slimmer"})
		w.talk(other.ID, 3, 3)
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: other.Name, At: "1", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		rewound := string(w.status(other.ID).Head)
		w.talk(other.ID, 2, 2)
		for _, at := range []string{"1", rewound} {
			if f := w.fork(thread.ForkRequest{Thread: other.Name, Label: "x", At: at}); w.without(f.ID) != "goals" {
				t.Errorf("a fork of a fork with another agent at %s is without %q", at, w.without(f.ID))
			}
		}
		// What an answer was given with counts at its turn.
		w.setBase(s.ID, "minimal")
		w.again(s.ID)
		w.talk(s.ID, 3, 3)
		if f := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", At: "1"}); w.without(f.ID) != "loops,skills" {
			t.Errorf("a fork at a turn before the change is without %q", w.without(f.ID))
		}
		if f := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x"}); w.without(f.ID) != "loops,questions,skills" {
			t.Errorf("a fork after the change is without %q", w.without(f.ID))
		}
	})
}

// TestBaseOfAForkRewoundBeforeItsStart: what was chosen for a fork holds although its agent was not started before it was
// rewound.
func TestBaseOfAForkRewoundBeforeItsStart(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.talk(s.ID, 1, 2)
		f := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", Agent: "slimmer", Base: "minimal", NoStart: true})
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: f.Name, At: "1", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.startAgain(f.ID)
		if b := w.status(f.ID).Base; b.Profile != "minimal" || !b.Chosen {
			t.Errorf("base %+v", b)
		}
	})
}

// TestSetBase changes the profile of threads in every state.
func TestSetBase(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim"})
		w.talk(s.ID, 1, 2)
		change := w.setBase(s.ID, "slim")
		if !change.Waits || change.Base.Next != "slim" || change.Tokens == 0 || !strings.Contains(change.Says(), "written to the provider's cache again (cost unknown)") {
			t.Errorf("%+v: %s", change, change.Says())
		}
		if w.without(s.ID) != "" || w.status(s.ID).Base.Profile != "full" {
			t.Error("a running agent was changed")
		}
		f := w.fork(thread.ForkRequest{Thread: s.Name, At: "1", Label: "x"})
		if w.without(f.ID) != "loops,skills" || f.Base.Next != "" || w.status(s.ID).Base.Next != "slim" {
			t.Errorf("a fork meanwhile: %+v", f.Base)
		}
		w.again(s.ID)
		if b := w.status(s.ID).Base; w.without(s.ID) != "loops,skills" || b.Next != "" || b.Why != "chosen" {
			t.Errorf("after a restart: %+v", b)
		}
		w.setBase(s.ID, "minimal")
		if change := w.setBase(s.ID, "slim"); change.Waits || change.Base.Next != "" {
			t.Errorf("taken back: %+v", change)
		}
		w.setBase(s.ID, "minimal", "AskPerson")
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: "1", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w.without(s.ID) != "loops,skills" || w.status(s.ID).Base.Profile != "minimal" {
			t.Errorf("after a rewind without %q, base %+v", w.without(s.ID), w.status(s.ID).Base)
		}
		for _, bad := range []thread.BaseRequest{{Thread: s.Name}, {Thread: s.Name, Profile: "no-such"}, {Thread: s.Name, Profile: "slim", Keep: []string{"a b"}}} {
			if _, err := w.m.Bases.Set(ctx, bad); !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		n := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", NoStart: true, Agent: "slimmer", Base: "full"})
		if change := w.setBase(n.ID, "slim"); change.Waits || change.Base.Profile != "slim" {
			t.Errorf("never started: %+v", change)
		}
		w.start(n.ID)
		if w.without(n.ID) != "goals" {
			t.Errorf("then it is without %q", w.without(n.ID))
		}
		var both sync.WaitGroup
		for _, p := range []string{"full", "slim"} {
			both.Go(func() {
				for range 10 {
					if _, err := w.m.Bases.Set(ctx, thread.BaseRequest{Thread: s.Name, Profile: p}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		both.Wait()
		next := w.setBase(s.ID, "read-only").Base.Next
		w.crash()
		w.start(s.ID)
		if next != "read-only" || w.without(s.ID) != "shell" {
			t.Errorf("the last one wins: next %q, without %q", next, w.without(s.ID))
		}
	})
}

// TestBaseWithTrouble: a profile that is gone, an agent that does not tell its levers.
func TestBaseWithTrouble(t *testing.T) {
	own := map[string]thread.OwnBase{"mine": {From: "slim"}}
	inSlimWorld(t, func(w *world, a *slimAgent) {
		broken := errors.New("no version")
		s := w.create(thread.NewRequest{Agent: "slim", Base: "mine"})
		w.talk(s.ID, 1, 1)
		n := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", Base: "mine", NoStart: true})
		other := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", Agent: "slimmer", NoStart: true})
		w.setBase(s.ID, "mine")
		w.cfg.Base.Profiles = nil
		w.crash()
		w.start(s.ID)
		if b := w.status(s.ID).Base; w.without(s.ID) != "loops,skills" || b.Next != "" || !strings.Contains(w.events.notices(), "goes on with base mine, not ") {
			t.Errorf("a change to a profile that is gone: %+v, told %s", b, w.events.notices())
		}
		if _, err := w.m.Agents.Start(ctx, n.Name, 0, 0); !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), "no such profile") {
			t.Errorf("a fork that asked for it: %v", err)
		}
		w.setBase(n.ID, "slim")
		w.start(n.ID)
		w.start(other.ID)
		if b := w.status(other.ID).Base; w.without(other.ID) != "" || b.Profile != "full" || !b.Chosen {
			t.Errorf("a fork that inherited it: %+v", b)
		}
		a.change(func() { a.fails = broken })
		if _, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "slim", Base: "slim"}); !errors.Is(err, broken) {
			t.Errorf("asked for: %v", err)
		}
		task := w.create(thread.NewRequest{Agent: "slim", Started: true, Prompt: "go"})
		if b := task.Base; w.without(task.ID) != "" || b.Profile != "full" || !b.Chosen || !strings.Contains(b.Why, "no version") {
			t.Errorf("not asked for: %+v", b)
		}
		w.setBase(n.ID, "minimal")
		w.again(n.ID)
		if b := w.status(n.ID).Base; w.without(n.ID) != "loops,skills" || b.Next != "minimal" {
			t.Errorf("a change that must wait: %+v", b)
		}
		a.change(func() { a.fails = nil })
		w.again(n.ID)
		if w.without(n.ID) != "loops,questions,skills" {
			t.Errorf("then without %q", w.without(n.ID))
		}
	}, func(w *world) { w.cfg.Base = thread.BaseConfig{Profiles: own} })
}

// TestBaseIsStoredBeforeTheStart: a process that runs has the base that is stored, also if the server is killed then.
func TestBaseIsStoredBeforeTheStart(t *testing.T) {
	inSlimWorld(t, func(w *world, a *slimAgent) {
		w.sess.started = func(spec thread.SessionSpec) {
			stored, err := w.store.Store.Thread(ctx, spec.Thread)
			if err != nil || !stored.Base.Chosen || !strings.Contains(fmt.Sprint(spec.Launch.Args), strings.Join(stored.Base.Left, ",")) {
				t.Errorf("started with %v, stored %+v, %v", spec.Launch.Args, stored.Base, err)
			}
		}
		s := w.create(thread.NewRequest{Agent: "slim", Base: "slim", Flags: thread.Flags{NoGateway: true}})
		if !strings.Contains(s.Base.Unchecked, "--no-gateway") || w.without(s.ID) != "loops,skills" {
			t.Errorf("without the gateway: %+v", s.Base)
		}
		n := w.fork(thread.ForkRequest{Thread: s.Name, Label: "x", NoStart: true, Base: "minimal"})
		w.sess.refuse = errors.New("killed")
		if _, err := w.m.Agents.Start(ctx, n.Name, 0, 0); err == nil {
			t.Error("it was started")
		}
		w.sess.refuse = nil
		a.change(func() { a.levers, a.version = a.levers[:1], "2.0" })
		w.crash()
		w.start(n.ID)
		if w.without(n.ID) != "loops,questions,skills" {
			t.Errorf("killed between the store and the start, then without %q", w.without(n.ID))
		}
	})
}

// TestSlimIsOfferedOnce: with the figure of the first request, for each agent of the project.
func TestSlimIsOfferedOnce(t *testing.T) {
	inSlimWorld(t, func(w *world, a *slimAgent) {
		use := thread.Usage{Input: 3000, CacheWrite: 10_000}
		first := func(r thread.NewRequest) {
			t.Helper()
			r.Agent = "slim"
			w.usage = &use
			s := w.create(r)
			w.turn(s.ID, "p1")
			synctest.Wait()
		}
		first(thread.NewRequest{Started: true})
		first(thread.NewRequest{Base: "full"})
		if got := w.events.notices(); strings.Contains(got, "before a word is said") {
			t.Errorf("offered to who has chosen: %s", got)
		}
		first(thread.NewRequest{})
		first(thread.NewRequest{})
		told := w.events.notices()
		w.crash()
		first(thread.NewRequest{})
		want := "slim sends about 13k tokens before a word is said; with base slim it would send about 8.0k. Use `orchestrator context base "
		if got := told + w.events.notices(); strings.Count(got, want) != 1 {
			t.Errorf("told %s", got)
		}
	})
}

// TestSlimIsNotOffered where its parts did not work with the agent's version.
func TestSlimIsNotOffered(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		for range 2 {
			s := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
			w.requests(s.ID, "Read Loop")
		}
		w.usage = &thread.Usage{Input: 3000, CacheWrite: 10_000}
		s := w.create(thread.NewRequest{Agent: "slim"})
		w.turn(s.ID, "p1")
		synctest.Wait()
		if got := w.about("before a word is said"); len(got) > 0 {
			t.Errorf("told %q", got)
		}
	})
}

// TestCompactionWithAChangeToCome tells once that it costs nothing now.
func TestCompactionWithAChangeToCome(t *testing.T) {
	inSlimWorld(t, func(w *world, _ *slimAgent) {
		s := w.create(thread.NewRequest{Agent: "slim"})
		w.talk(s.ID, 1, 1)
		answer := item("assistant", "all of it")
		compact := func() {
			w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Purpose: "compaction", Status: 200, Answer: &answer})
			synctest.Wait()
		}
		compact()
		w.setBase(s.ID, "slim")
		compact()
		compact()
		if got := w.events.notices(); strings.Count(got, "was compacted: changing to base slim") != 1 {
			t.Errorf("told %s", got)
		}
	})
}
