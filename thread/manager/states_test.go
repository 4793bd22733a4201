package manager

import (
	"testing"

	"orchestrator/thread"
)

func TestOnce(t *testing.T) {
	var o once
	for i, step := range []struct {
		release bool
		take    bool // what take returns
	}{{take: true}, {take: false}, {take: false}, {release: true, take: true}, {take: false}} {
		if step.release {
			o.release()
		}
		if got := o.take(); got != step.take || o != taken {
			t.Errorf("step %d: take is %v, want %v; then %v", i, got, step.take, o)
		}
	}
}

func TestEnding(t *testing.T) {
	exited, failed, limit, killed := thread.Exit{}, thread.Exit{Code: 1}, thread.Exit{Code: 1, Limit: true}, thread.Exit{Code: 137}
	if !killed.Killed() || failed.Killed() {
		t.Fatal("the exits are not what the table says")
	}
	for name, tt := range map[string]struct {
		asked, working, closing bool
		exit                    thread.Exit
		ending                  ending
		lost                    bool
	}{
		"by itself":                {exit: exited, ending: unasked},
		"by itself, failed":        {exit: failed, ending: unasked},
		"working, without failure": {working: true, exit: exited, ending: amid},
		"working, failed":          {working: true, exit: failed, ending: amid, lost: true},
		"killed":                   {exit: killed, ending: unasked, lost: true},
		"at its limit":             {exit: limit, ending: unasked, lost: true},
		"asked":                    {asked: true, exit: exited, ending: asked},
		"asked, working":           {asked: true, working: true, exit: failed, ending: asked},
		"asked, killed":            {asked: true, working: true, exit: killed, ending: asked},
		"with the server":          {asked: true, closing: true, exit: exited, ending: asked, lost: true},
		"while the server closes":  {closing: true, exit: failed, ending: unasked},
	} {
		var e ending
		if tt.asked {
			e = asked
		}
		e.came(tt.working)
		if lost := e.lost(tt.exit, tt.closing); e != tt.ending || lost != tt.lost {
			t.Errorf("%s: %v, lost %v; want %v, %v", name, e, lost, tt.ending, tt.lost)
		}
	}
}
