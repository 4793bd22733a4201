package state_test

import (
	"testing"
	"time"

	"orchestrator/agent/state"
	"orchestrator/thread"
)

// TestTrouble says for each kind of trouble what is shown of it, whether the agent retries, and whether it gave up.
func TestTrouble(t *testing.T) {
	const retries, stuck = "retries", "stuck"
	type row struct {
		step
		more string // retries, stuck, or neither
	}
	for _, c := range []struct {
		name string
		rows []row
	}{
		{"refused within a millisecond, and told late", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1001, gateway, limited, limited}, ""},
			{step{1060, hook, working, limited}, ""}, // the hook's process took its time
			{step{1100, hook, idle, limited}, ""},
			{step{2100, look, "", limited}, stuck},
		}},
		{"unreachable while the agent retries for minutes, then gives up", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1001, gateway, unreachable, unreachable}, ""},
			{step{1500, screen, working, unreachable}, ""},
			{step{1600, again, working, unreachable}, retries},
			{step{1601, gateway, unreachable, unreachable}, retries},
			{step{9000, screen, working, unreachable}, retries}, // its spinner is no news
			{step{9500, hook, working, unreachable}, retries},
			{step{40_000, again, working, unreachable}, retries},
			{step{40_001, gateway, unreachable, unreachable}, retries},
			{step{40_100, hook, idle, unreachable}, retries},
			{step{41_099, look, "", unreachable}, retries},
			{step{41_100, look, "", unreachable}, stuck},
			{step{900_000, look, "", unreachable}, stuck},
			{step{901_000, hook, working, working}, ""}, // the person goes on
			{step{901_100, gateway, working, working}, ""},
		}},
		{"it gave up, and draws its screen again", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1001, gateway, unavailable, unavailable}, ""},
			{step{2000, again, working, unavailable}, retries},
			{step{2001, gateway, unavailable, unavailable}, retries},
			{step{2100, screen, idle, unavailable}, retries},
			{step{3600, look, "", unavailable}, stuck},
			{step{9000, screen, idle, unavailable}, stuck},
			{step{9500, screen, working, unavailable}, stuck}, // a window that is drawn from its top
			{step{9600, screen, idle, unavailable}, stuck},
			{step{9700, hook, idle, unavailable}, stuck},
			{step{20_000, again, working, unavailable}, retries}, // it did not
			{step{20_001, gateway, unavailable, unavailable}, retries},
			{step{21_000, screen, idle, unavailable}, retries},
			{step{22_500, look, "", unavailable}, stuck},
		}},
		{"cut again and again", []row{
			{step{1000, gateway, working, working}, ""},
			{step{3000, gateway, cut, cut}, ""},
			{step{3500, again, working, cut}, retries},
			{step{3600, comes, working, cut}, retries},
			{step{4000, gateway, cut, cut}, retries},
			{step{5000, again, working, cut}, retries},
			{step{5100, comes, working, cut}, retries},
			{step{6599, look, "", cut}, retries},
			{step{6600, look, "", working}, ""}, // this one goes on
			{step{20_000, gateway, idle, idle}, ""},
		}},
		{"a retry succeeds at once", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1100, gateway, limited, limited}, ""},
			{step{2000, again, working, limited}, retries},
			{step{2100, gateway, idle, idle}, ""},
		}},
		{"another kind of failure is the same trouble", []row{
			{step{1000, gateway, limited, limited}, ""},
			{step{2000, again, working, limited}, retries},
			{step{2100, gateway, unavailable, unavailable}, retries},
			{step{3000, again, working, unavailable}, retries},
		}},
		{"a request that asks for something else is no retry", []row{
			{step{1000, gateway, refused, refused}, ""},
			{step{5000, gateway, working, working}, ""},
		}},
		{"a prompt ends stale trouble before its request comes", []row{
			{step{1000, gateway, refused, refused}, ""},
			{step{1500, asked, working, refused}, ""}, // the one that was refused, told late
			{step{9000, asked, working, working}, ""},
		}},
		{"a dialog in the middle of it", []row{
			{step{1000, gateway, limited, limited}, ""},
			{step{2000, screen, question, question}, ""},
			{step{4000, screen, "-", limited}, ""},
		}},
		{"an agent of which nothing is known gives up by its silence", []row{
			{step{1000, gateway, limited, limited}, ""},
			{step{2000, again, working, limited}, retries},
			{step{2100, gateway, limited, limited}, retries},
			{step{182_099, look, "", limited}, retries},
			{step{182_100, look, "", limited}, stuck},
		}},
		{"an attempt that hangs is not given up", []row{
			{step{1000, gateway, limited, limited}, ""},
			{step{2000, again, working, limited}, retries},
			{step{2100, screen, idle, limited}, retries},
			{step{600_000, look, "", limited}, retries},
		}},
		{"no gateway: the agent says error", []row{
			{step{1000, hook, working, working}, ""},
			{step{2000, hook, failed, failed}, stuck},
			{step{3000, hook, working, working}, ""},
		}},
		{"the provider is silent", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1100, hook, working, working}, ""},
			{step{9000, gateway, silent, silent}, ""},
			{step{9500, hook, working, silent}, ""},
			{step{12_000, screen, working, silent}, ""},
			{step{30_000, comes, working, working}, ""},
		}},
		{"Esc in the middle of an answer: OSC says idle", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1050, hook, working, working}, ""},
			{step{5000, gateway, unknown, working}, ""}, // the agent hung up
			{step{5040, hook, idle, idle}, ""},
		}},
		{"Esc in the middle of an answer: idle is said before the connection ends", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1050, hook, working, working}, ""},
			{step{4990, hook, idle, working}, ""},
			{step{5000, gateway, unknown, idle}, ""},
		}},
		{"Esc in the middle of an answer: only the screen shows it", []row{
			{step{1000, gateway, working, working}, ""},
			{step{1050, hook, working, working}, ""},
			{step{5000, gateway, unknown, working}, ""},
			{step{5150, screen, idle, working}, ""},
			{step{6000, look, "", idle}, ""},
		}},
		{"Esc in the middle of an answer: nothing tells", []row{
			{step{1000, gateway, working, working}, ""},
			{step{5000, gateway, unknown, unknown}, ""},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := state.New(begin)
			for i, r := range c.rows {
				switch {
				case r.source == look:
				case r.state == "-":
					tr.Withdraw(r.source, at(r.ms))
				default:
					tr.Report(evidence(r.step))
				}
				got := tr.State(at(r.ms))
				more := map[bool]string{got.Retrying: retries, got.Stuck: stuck}[true]
				if got.State != r.want || more != r.more || got.Stuck && got.Retrying {
					t.Fatalf("row %d, %s says %s at %d: %s %s, want %s %s\n%+v", i, r.source, r.state, r.ms, got.State, more, r.want,
						r.more, got.Evidence)
				}
			}
		})
	}
}

// TestStartIsAwaited has an agent that takes a minute until it takes a prompt, with a frame before that says nothing.
func TestStartIsAwaited(t *testing.T) {
	tr := state.New(begin)
	tr.Expect(state.StartPatience)
	for _, s := range []step{
		{1000, out, "", starting},
		{2000, screen, question, question}, // whether to trust the folder
		{9000, screen, "-", starting},
		{60_000, look, "", starting},
		{61_000, screen, idle, idle},
		{70_000, screen, "-", unknown},
	} {
		switch {
		case s.source == look:
		case s.source == out:
			tr.Output(at(s.ms))
		case s.state == "-":
			tr.Withdraw(s.source, at(s.ms))
		default:
			tr.Report(evidence(s))
		}
		if got := tr.State(at(s.ms)).State; got != s.want {
			t.Fatalf("at %d: %s, want %s", s.ms, got, s.want)
		}
	}
	if got := tr.Next(begin); got.Sub(begin) > state.StartPatience {
		t.Errorf("looked at next after %v", got.Sub(begin))
	}
}

// TestUntil: the end of a limit is told with it, and no other trouble has one.
func TestUntil(t *testing.T) {
	tr := state.New(begin)
	end := begin.Add(time.Hour)
	tr.Report(thread.Evidence{Source: gateway, State: limited, At: at(1000), Until: end})
	if r := tr.State(at(2000)); !r.Until.Equal(end) {
		t.Errorf("until %v", r.Until)
	}
	tr.Report(thread.Evidence{Source: gateway, State: unavailable, At: at(3000)})
	if r := tr.State(at(4000)); !r.Until.IsZero() {
		t.Errorf("then until %v", r.Until)
	}
}
