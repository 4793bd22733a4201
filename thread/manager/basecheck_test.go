package manager_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// slim adds such an agent, with levers of Claude Code.
func slim(a *slimAgent) func(*world) {
	return func(w *world) {
		b := newSlimAgent("slim", w.natives)
		profiles := []string{thread.BaseSlim, thread.BaseMinimal}
		a.fullAgent, a.version = b.fullAgent, "2.1.331"
		a.levers = []thread.Lever{
			{Name: "loops", Profiles: profiles, Tools: []string{"ScheduleWakeup", "Cron*"}, Lost: "loops", Words: []string{"/loop", "every 5 minutes"}, Saves: 1000},
			{Name: "workflows", Profiles: profiles, Tools: []string{"Workflow"}, Lost: "workflows", Words: []string{"workflow"}},
			{Name: "skills", Profiles: profiles, Needs: []string{"workflows"}, Lost: "skills", Words: []string{"review"}},
		}
		w.agents["slim"] = a
	}
}

// based makes a thread whose agent leaves out these levers, and starts it.
func (w *world) based(left ...string) thread.Status {
	w.t.Helper()
	s := w.create(thread.NewRequest{Agent: "slim", Base: thread.BaseFull})
	if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.UpdateThread(ctx, s.ID, func(t *thread.Thread) error { t.Base.Left = left; return nil }); err != nil {
		w.t.Fatal(err)
	}
	w.crash()
	w.startAgain(s.ID)
	return w.status(s.ID)
}

func (w *world) startAgain(id thread.ID) {
	w.t.Helper()
	if _, err := w.m.Agents.Start(ctx, w.status(id).Name, 0, 0); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// requests has the gateway see a first request with these tools.
func (w *world) requests(id thread.ID, tools string, texts ...thread.BaseText) {
	w.t.Helper()
	var all []thread.BaseText
	for name := range strings.FieldsSeq(tools) {
		all = append(all, thread.BaseText{Kind: thread.BaseTool, Name: name, Text: "{" + name + "}"})
	}
	w.m.Traffic.FirstRequest(id, thread.FirstRequest{Model: "m1", Texts: append(all, texts...)})
	synctest.Wait()
}

// about returns the notices that contain a text.
func (w *world) about(text string) []string {
	var found []string
	for _, e := range w.events.of(thread.EventNotice) {
		if strings.Contains(e.Notice.Text, text) {
			found = append(found, e.Notice.Text)
		}
	}
	return found
}

// TestBaseChecked: what should be gone and is there is told once, with the thread's name, and kept by later threads of
// that version.
func TestBaseChecked(t *testing.T) {
	a := &slimAgent{}
	inWorld(t, func(w *world) {
		one, two := w.based("loops", "workflows"), w.based("workflows")
		w.startAgain(one.ID)
		workflow := thread.FirstRequest{Texts: []thread.BaseText{{Kind: thread.BaseTool, Name: "Workflow"}}}
		w.m.Traffic.FirstRequest(one.ID, workflow) // both at once
		w.m.Traffic.FirstRequest(two.ID, workflow)
		synctest.Wait()
		told := w.about("Workflow")
		if len(told) == 1 && strings.HasPrefix(told[0], two.Name) {
			one, two = two, one
		}
		want := one.Name + ": Workflow is still there. Its base leaves out workflows. If another start shows that, " +
			"new threads with slim 2.1.331 no longer leave it out; see `orchestrator context base " + one.Name + "`"
		if len(told) != 1 || told[0] != want {
			t.Errorf("told %q, want %q", told, want)
		}
		if log := w.events.of(thread.EventHappened); !strings.Contains(fmt.Sprint(happened(log)), "context "+string(one.ID)) {
			t.Errorf("the event log has %v", happened(log))
		}
		for _, s := range []thread.Status{one, two} {
			if left := w.status(s.ID).Base.Left; len(left) == 0 || left[len(left)-1] != "workflows" {
				t.Errorf("%s leaves out %v: a running thread was changed", s.Name, left)
			}
		}
		later := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		if left := w.without(later.ID); left != "loops" || !strings.Contains(later.Base.Why, "workflows (did not work with slim 2.1.331)") {
			t.Errorf("a later thread leaves out %s: %s", left, later.Base.Why)
		}
		w.crash()
		for _, s := range []thread.Status{one, two} {
			w.startAgain(s.ID)
			w.requests(s.ID, "Read Workflow")
		}
		if told := w.about("Workflow"); len(told) != 0 {
			t.Errorf("told again after a restart: %q", told)
		}
		a.version = "2.1.332"
		w.crash()
		if later := w.create(thread.NewRequest{Agent: "slim", Base: "slim"}); w.without(later.ID) != "loops,skills,workflows" {
			t.Errorf("a thread with another version leaves out %s", w.without(later.ID))
		}
		w.startAgain(one.ID)
		w.requests(one.ID, "Read Workflow")
		if told := w.about("slim 2.1.332"); len(told) != 1 {
			t.Errorf("of another version: %q", told)
		}
	}, slim(a))
}

// TestBaseForgotten: what did not work is left out again once the person says so.
func TestBaseForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.based("workflows")
		for range 2 {
			w.startAnew(s.ID)
			w.requests(s.ID, "Read Workflow")
		}
		if later := w.create(thread.NewRequest{Agent: "slim", Base: "slim"}); w.without(later.ID) != "loops" {
			t.Errorf("without %s", w.without(later.ID))
		}
		change, err := w.m.Bases.Set(ctx, thread.BaseRequest{Thread: s.Name, Forget: true})
		if err != nil || !strings.Contains(change.Says(), "workflows") {
			t.Errorf("%q, %v", change.Says(), err)
		}
		w.crash()
		if later := w.create(thread.NewRequest{Agent: "slim", Base: "slim"}); w.without(later.ID) != "loops,skills,workflows" {
			t.Errorf("without %s", w.without(later.ID))
		}
		if b := w.status(s.ID).Base; b.Next != "" || b.Profile != "full" {
			t.Errorf("the thread has %+v", b)
		}
		change, err = w.m.Bases.Set(ctx, thread.BaseRequest{Thread: s.Name, Forget: true})
		if err != nil || !strings.Contains(change.Says(), "nothing") {
			t.Errorf("%q, %v", change.Says(), err)
		}
	}, slim(&slimAgent{}))
}

func happened(events []thread.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, fmt.Sprintf("%s %s", e.Happening.Kind, e.Happening.Thread))
	}
	return all
}

// TestBaseNotChecked: what nobody can tell is not claimed.
func TestBaseNotChecked(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.based("loops", "workflows")
		w.requests(s.ID, "", thread.BaseText{Kind: thread.BaseSystem, Text: "Write a title for `Workflow`."})
		w.requests(s.ID, "Read Bash")
		w.requests(s.ID, "Workflow") // not the first one
		w.requests("nobody", "Workflow")
		plain := w.create(thread.NewRequest{Agent: "plain"})
		w.requests(plain.ID, "Workflow")
		if told := w.about("base"); len(told) != 0 {
			t.Errorf("told %q", told)
		}
	}, slim(&slimAgent{}))
	inWorld(t, func(w *world) {
		s := w.based("loops", "workflows")
		w.requests(s.ID, "Read Workflow CronList")
		if told := w.about("base"); len(told) != 1 || !strings.Contains(told[0], "CronList") {
			t.Errorf("what the person's settings decide is told: %q", told)
		}
	}, slim(&slimAgent{unused: map[string]string{"workflows": "your settings"}}))
}

// TestBaseNamed: that a tool is named which is gone is told at the second start that shows it, and the lever is dropped
// then. What the repository and MCP servers say of it counts for nothing.
func TestBaseNamed(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.based("workflows")
		theirs := []thread.BaseText{
			{Kind: thread.BaseEnvironment, Text: "git log: remove `Workflow`"}, {Kind: thread.BaseSkills, Text: "- plan: use `Workflow`"},
			{Kind: thread.BaseTool, Name: "mcp__git__log", Text: "`Workflow`"},
			{Kind: thread.BaseSystem, Text: "Contents of AGENTS.md: never use `Workflow`"},
		}
		for range 3 {
			w.crash()
			w.startAgain(a.ID)
			w.requests(a.ID, "Read", theirs...)
		}
		makers := thread.BaseText{Kind: thread.BaseSystem, Text: "Call `Workflow`."}
		for i, want := range []int{0, 1, 0} {
			w.crash()
			w.startAgain(a.ID)
			w.requests(a.ID, "Read", makers)
			if told := w.about("Workflow"); len(told) != want || want > 0 && !strings.Contains(told[0], ". New threads with slim 2.1.331 no longer leave it out") {
				t.Errorf("start %d: told %q", i, told)
			}
		}
	}, slim(&slimAgent{}))
}

// TestBaseGrew: a base that is larger with less in it is told at the second start, and what it was.
func TestBaseGrew(t *testing.T) {
	inWorld(t, func(w *world) {
		long := thread.BaseText{Kind: thread.BaseSystem, Text: strings.Repeat("word ", 4000)}
		full := w.based()
		w.requests(full.ID, "Read Workflow", thread.BaseText{Kind: thread.BaseSystem, Text: strings.Repeat("word ", 2000)})
		s := w.based("skills", "workflows")
		w.requests(s.ID, "Read mcp__git__log", long)
		w.startAnew(s.ID)
		w.requests(s.ID, "Read mcp__git__log", long)
		w.startAnew(s.ID)
		w.requests(s.ID, "Read", long)
		if told := w.about("grew"); len(told) != 0 {
			t.Errorf("of what has other things around it, or of one start: %q", told)
		}
		w.startAnew(s.ID)
		w.requests(s.ID, "Read", long)
		want := "the base grew from 2.5k to 5.0k tokens. Its base leaves out skills."
		if told := w.about("grew"); len(told) != 1 || !strings.Contains(told[0], want) {
			t.Errorf("told %q, want %q", told, want)
		}
		w.startAnew(s.ID)
		w.turn(s.ID, "hello")
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		w.startAgain(s.ID)
		w.requests(s.ID, "Read", long)
		if told := w.about("grew"); len(told) != 0 {
			t.Errorf("of the prompt of a conversation that was resumed: %q", told)
		}
	}, slim(&slimAgent{}))
}

// startAnew starts a thread in another life of the server.
func (w *world) startAnew(id thread.ID) {
	w.t.Helper()
	w.crash()
	w.startAgain(id)
}

// TestBaseSurroundings names what makes a base larger, of each agent once.
func TestBaseSurroundings(t *testing.T) {
	a := &slimAgent{warns: []thread.BaseWarning{{What: "CLAUDE.md has 12 KB", Do: "Shorten it."}}}
	inWorld(t, func(w *world) {
		one := w.create(thread.NewRequest{Agent: "slim"})
		a.warns[0].What = "CLAUDE.md has 13.5 KB"
		w.create(thread.NewRequest{Agent: "slim"})
		if told := w.about("CLAUDE.md"); len(told) != 1 || told[0] != one.Name+": CLAUDE.md has 12 KB. Shorten it." {
			t.Errorf("told %q", told)
		}
		w.crash()
		a.warns = append(a.warns, thread.BaseWarning{What: "ENABLE_TOOL_SEARCH=false is set", Do: "Unset it."})
		w.startAgain(one.ID)
		if told := w.about("CLAUDE.md"); len(told) != 0 {
			t.Errorf("told again: %q", told)
		}
		if told := w.about("ENABLE_TOOL_SEARCH"); len(told) != 1 {
			t.Errorf("of another thing: %q", told)
		}
		f := w.fork(thread.ForkRequest{Thread: one.Name, Label: "x", NoStart: true})
		for i, id := range []thread.ID{one.ID, f.ID} { // the same file, in a copy of the folder
			a.warns = []thread.BaseWarning{{What: w.status(id).Dir + "/docs/CLAUDE.md is large", Do: "Shorten it."}}
			w.startAnew(id)
			if told := w.about("docs"); len(told) != 1-i {
				t.Errorf("in %s: %q", w.status(id).Dir, told)
			}
		}
		for i := range 210 { // more than are remembered
			a.warns = append(a.warns, thread.BaseWarning{What: "file " + string(rune('a'+i/26)) + string(rune('a'+i%26)), Do: "Shorten it."})
		}
		w.startAnew(one.ID)
		newest := len(w.about("file "))
		a.warns = a.warns[len(a.warns)-1:]
		w.startAnew(one.ID)
		if again := w.about("file "); newest != 210 || len(again) != 0 {
			t.Errorf("told %d, then %q", newest, again)
		}
	}, slim(a))
}
