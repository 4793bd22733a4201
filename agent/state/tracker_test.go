package state_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrator/agent/state"
	"orchestrator/thread"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "7501")

// begin is when every test's process was started; steps are in milliseconds after it.
var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }

// step is one observation; state "-" withdraws, source "look" only asks, "out" is output.
type step struct {
	ms     int
	source thread.Source
	state  thread.State
	want   thread.State // what the tracker says right after
}

const (
	process, gateway, hook, screen = thread.SourceProcess, thread.SourceGateway, thread.SourceHook, thread.SourceScreen

	look  thread.Source = "look"
	out   thread.Source = "out"
	again thread.Source = "again" // a request that repeats one that failed
	comes thread.Source = "comes" // its answer begins
	asked thread.Source = "asked" // a hook reports a prompt

	starting, working, approval, question = thread.StateStarting, thread.StateWorking, thread.StateApproval,
		thread.StateQuestion
	idle, done, unknown, exited      = thread.StateIdle, thread.StateDone, thread.StateUnknown, thread.StateExited
	limited, refused, unavailable    = thread.StateLimited, thread.StateUnauthorised, thread.StateUnavailable
	unreachable, cut, failed, silent = thread.StateUnreachable, thread.StateCut, thread.StateFailed, thread.StateSilent
)

func TestSequences(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"claude: prompt, tool, approval by hook, dialog seen, approved, done", []step{
			{800, hook, idle, idle}, // SessionStart
			{5000, hook, working, working},
			{5050, gateway, working, working},
			{7000, gateway, working, working}, // stop reason tool_use
			{7040, hook, approval, approval},  // PermissionRequest
			{7300, screen, approval, approval},
			{15000, screen, "-", working}, // answered: the dialog is gone, the tool runs
			{15200, hook, working, working},
			{15300, gateway, working, working},
			{18000, hook, idle, working}, // OSC idle comes before the checkpoint is durable
			{18100, gateway, done, done},
			{18200, hook, done, done},
			{99000, look, "", done},
		}},
		{"demo: the report of the work is read after the answer that ended it", []step{
			{1000, gateway, working, working},
			{1300, gateway, done, done},
			{1350, hook, working, done}, // written before the answer, read late
			{1360, hook, idle, done},
			{9000, hook, working, working}, // the next prompt
		}},
		{"claude: the hook's approval is told before the response that led to it", []step{
			{1000, gateway, working, working},
			{2000, hook, approval, approval},
			{2200, gateway, working, approval}, // the same response's end, stored in the meantime
			{9000, gateway, working, working},  // the next request: the dialog was answered
		}},
		{"claude: Esc in a tool: no hook, the gateway waits for a result, OSC says idle", []step{
			{1000, gateway, working, working},
			{4000, hook, working, working},
			{5000, hook, idle, working},
			{6400, look, "", working},
			{6500, look, "", idle},
			{9000, hook, working, working}, // next prompt
			{9050, gateway, working, working},
		}},
		{"claude: plan is answered by a question tool", []step{
			{1000, gateway, question, question},
			{60000, look, "", question},
			{61000, gateway, working, working},
		}},
		{"codex: no hooks trusted, OSC 7501 alone, no gateway", []step{
			{500, hook, idle, idle},
			{2000, hook, working, working},
			{9000, hook, approval, approval},
			{20000, hook, working, working},
			{30000, hook, idle, idle},
		}},
		{"codex: a tool that is silent for long stays working, for ever it does not", []step{
			{1000, hook, working, working},
			{300_000, look, "", working},
			{601_000, look, "", unknown},
			{602_000, out, "", working},
		}},
		{"gemini: titles only, dialog by hand, Esc", []step{
			{2400, screen, idle, idle},
			{5000, screen, working, working},
			{5100, gateway, working, working},
			{8000, gateway, working, working},
			{8100, screen, approval, approval},
			{9000, screen, idle, working}, // Esc on the dialog: the tool's result never comes
			{12000, look, "", idle},
		}},
		{"gemini: an approval rule matches while the request still streams", []step{
			{1000, gateway, working, working},
			{1500, screen, approval, approval},
			{6000, screen, working, working},
		}},
		{"opencode: a frame of before is still standing when the answer is done", []step{
			{1000, gateway, working, working},
			{1200, screen, working, working},
			{5000, gateway, done, done},
			{5080, screen, working, done},
			{5300, screen, "-", done},
			{9000, screen, working, working}, // clearly newer: it works without a request
		}},
		{"opencode: a hook's approval that the rules do not know, answered", []step{
			{1000, gateway, working, working},
			{2000, hook, approval, approval},
			{2100, screen, working, approval}, // the frame before the dialog
			{3000, screen, "-", approval},
			{30000, screen, working, working}, // clearly newer than the dialog
			{31000, gateway, working, working},
		}},
		{"429 and quick retries", []step{
			{1000, gateway, working, working},
			{1100, gateway, limited, limited},
			{1600, again, working, limited},
			{1650, gateway, limited, limited},
			{2700, again, working, limited},
			{5600, look, "", limited},
			{5700, comes, working, limited},
			{7100, look, "", limited},
			{7200, look, "", working}, // this one is answered
			{9000, gateway, done, done},
			{12000, gateway, working, working},
		}},
		{"429 until the agent gives up: what refused stays known", []step{
			{1000, gateway, limited, limited},
			{3000, hook, idle, limited},
			{600_000, look, "", limited},
			{601_000, hook, working, working},
		}},
		{"401", []step{
			{1000, gateway, refused, refused},
			{2000, hook, failed, refused}, // OSC error knows less
			{2000, screen, idle, refused},
		}},
		{"stream cut, the agent says error", []step{
			{1000, gateway, working, working},
			{1900, gateway, cut, cut},
			{2000, hook, failed, cut},
			{4000, gateway, working, working},
		}},
		{"any other program: silence is unknown", []step{
			{100, out, "", starting},
			{29_000, look, "", starting},
			{30_000, look, "", unknown},
			{31_000, out, "", unknown},
		}},
		{"a spinner that does not move", []step{
			{1000, screen, working, working},
			{30_000, look, "", working},
			{31_000, look, "", unknown},
		}},
		{"a rule that matches no more leaves nothing", []step{
			{1000, screen, idle, idle},
			{2000, screen, "-", unknown},
		}},
		{"idle on the screen is no silence", []step{
			{1000, screen, idle, idle},
			{3_600_000, look, "", idle},
		}},
		{"nothing comes after the end", []step{
			{1000, gateway, working, working},
			{2000, process, exited, exited},
			{2100, gateway, done, exited},
			{2200, hook, approval, exited},
			{2300, process, starting, exited},
		}},
		{"older evidence of the same source is dropped", []step{
			{5000, hook, working, working},
			{4000, hook, approval, working},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := state.New(begin)
			for i, s := range c.steps {
				switch {
				case s.source == look:
				case s.source == out:
					tr.Output(at(s.ms))
				case s.state == "-":
					tr.Withdraw(s.source, at(s.ms))
				default:
					tr.Report(evidence(s))
				}
				r := tr.State(at(s.ms))
				if r.State != s.want {
					t.Fatalf("step %d, %s says %s at %d: %s, want %s\n%+v", i, s.source, s.state, s.ms, r.State, s.want, r.Evidence)
				}
				if len(r.Evidence) == 0 || r.Evidence[0].State != r.State {
					t.Fatalf("step %d: the deciding evidence is not first: %+v", i, r)
				}
			}
		})
	}
}

// evidence is what a step reports.
func evidence(s step) thread.Evidence {
	e := thread.Evidence{Source: s.source, State: s.state, Detail: string(s.source), At: at(s.ms)}
	switch s.source {
	case again:
		e.Source, e.Again = gateway, true
	case comes:
		e.Source, e.Answers = gateway, true
	case asked:
		e.Source, e.Prompt = hook, true
	default:
	}
	return e
}

func TestNextIsWhenTheStateChangesByItself(t *testing.T) {
	tr := state.New(begin)
	if got := tr.Next(at(0)); !got.Equal(at(30_000)) {
		t.Errorf("starting: %v", got.Sub(begin))
	}
	tr.Report(thread.Evidence{Source: gateway, State: working, At: at(1000)})
	if got := tr.Next(at(1000)); !got.IsZero() {
		t.Errorf("working by the gateway: %v", got.Sub(begin))
	}
	tr.Report(thread.Evidence{Source: hook, State: idle, At: at(2000)})
	if got := tr.Next(at(2000)); !got.Equal(at(3500)) {
		t.Errorf("idle by a hook: %v", got.Sub(begin))
	}
	if got := tr.Next(at(3500)); !got.IsZero() {
		t.Errorf("settled: %v", got.Sub(begin))
	}
}

// TestDialogBeforeItsResponseEnds shows a dialog on the screen long before the provider closes the
// stream of the response that led to it.
func TestDialogBeforeItsResponseEnds(t *testing.T) {
	tr := state.New(begin)
	for _, s := range []struct {
		at, began int // began is 0 where no end is told
		source    thread.Source
		state     thread.State
		want      thread.State
	}{
		{1000, 0, gateway, working, working},
		{2000, 0, hook, approval, approval},
		{2150, 0, screen, approval, approval},
		{6000, 999, gateway, working, approval},
		{9000, 0, gateway, working, working}, // allowed: the next request
		{9500, 8999, gateway, working, working},
		{9600, 1500, gateway, working, working}, // of another one, that began before the dialog
	} {
		e := thread.Evidence{Source: s.source, State: s.state, At: at(s.at)}
		if s.began != 0 {
			e.Began = at(s.began)
		}
		tr.Report(e)
		if got := tr.State(at(s.at)).State; got != s.want {
			t.Fatalf("at %d: %s, want %s", s.at, got, s.want)
		}
	}
}

func TestSince(t *testing.T) {
	tr := state.New(begin)
	tr.Report(thread.Evidence{Source: gateway, State: working, At: at(1000)})
	tr.Report(thread.Evidence{Source: gateway, State: working, At: at(4000)})
	if r := tr.State(at(9000)); !r.Since.Equal(at(1000)) {
		t.Errorf("since %v", r.Since.Sub(begin))
	}
}

// TestAnyOrder: whatever is reported, there is a state, the end is final, and asking Next and waiting
// that long is all that is needed.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := state.New(begin)
		now, end := 0, false
		sources := []thread.Source{gateway, again, comes, hook, asked, screen, process}
		states := []thread.State{working, approval, question, idle, done, limited, refused, unavailable, unreachable, cut,
			failed, silent, exited, starting, unknown}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			now += rapid.IntRange(0, 5000).Draw(rt, "gap")
			s, st := rapid.SampledFrom(sources).Draw(rt, "source"), rapid.SampledFrom(states).Draw(rt, "state")
			if rapid.IntRange(0, 4).Draw(rt, "withdraw") == 0 {
				tr.Withdraw(s, at(now))
			} else {
				tr.Report(evidence(step{ms: now, source: s, state: st}))
				end = end || s == process && st == exited
			}
			r := tr.State(at(now))
			if r.State == "" || end != (r.State == exited) {
				rt.Fatalf("state %q, ended %v", r.State, end)
			}
			if next := tr.Next(at(now)); !next.IsZero() {
				if !next.After(at(now)) {
					rt.Fatalf("next is %v ago", at(now).Sub(next))
				}
				if got := tr.State(next.Add(-time.Millisecond)); next.Sub(at(now)) > time.Millisecond && !got.Same(r) {
					rt.Fatalf("%+v became %+v before %v", r, got, next)
				}
				now = int(next.Sub(begin) / time.Millisecond)
			}
		}
	})
}

func TestFromStatus(t *testing.T) {
	for _, c := range []struct {
		state, kind, message string
		want                 thread.State
		detail               string
		ok                   bool
	}{
		{"working", "", "", working, "OSC 7501 working", true},
		{"blocked", "permission", "Bash(ls)", approval, "OSC 7501 blocked permission: Bash(ls)", true},
		{"blocked", "", "", approval, "OSC 7501 blocked", true},
		{"blocked", "question", "which one?", question, "OSC 7501 blocked question: which one?", true},
		{"blocked", "auth", "Please run /login", refused, "OSC 7501 blocked auth: Please run /login", true},
		{"error", "", "API\x1b[31m error\n", failed, "OSC 7501 error: API[31m error", true},
		{"done", "", "", done, "OSC 7501 done", true},
		{"clear", "", "", "", "OSC 7501 clear", true},
		{"dancing", "", "", "", "", false},
		{"", "", "", "", "", false},
	} {
		e, ok := state.FromStatus(c.state, c.kind, c.message, begin)
		if ok != c.ok || e.State != c.want || e.Detail != c.detail {
			t.Errorf("FromStatus(%q, %q, %q) = %+v, %v", c.state, c.kind, c.message, e, ok)
		}
	}
	if got := state.Clean(strings.Repeat("ä", 1000)); len(got) > 210 {
		t.Errorf("Clean kept %d bytes", len(got))
	}
}
