package screens

import (
	ossignal "os/signal"
	"reflect"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/e2e"
)

// TestSignalsEndTheProgram ends the program by each signal from each place, also while it is stopped: it ends, and the
// terminal is as a new one. With the variable of signalRounds there are 50 rounds for each signal.
func TestSignalsEndTheProgram(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	fresh, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	r := e2e.NewRig(t)
	name := r.Demo("signals")
	places := []struct {
		name, keys, see string
		stop            bool
	}{
		{"the list", "", name[:7], false},
		{"a dialog", "n", "new thread", false},
		{"the help", "?", "Type to search", false},
		{"an agent", "\r", "demo agent", false},
		{"the timeline", "\t", "No turns yet", false},
		{"stopped", "", name[:7], true},
	}
	round := 0
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if sig == syscall.SIGHUP && ossignal.Ignored(sig) {
			t.Log("SKIPPED: a hangup: this runs below nohup, where it ends nothing")
			continue
		}
		for range e2e.SignalRounds() {
			p := places[round%len(places)]
			round++
			s := r.Open(120, 36)
			s.See(name[:7])
			s.Press(p.keys)
			s.See(p.see)
			if p.stop {
				signal(s, syscall.SIGSTOP)
			}
			signal(s, sig)
			if p.stop {
				signal(s, syscall.SIGCONT)
			}
			t.Logf("%s at %s", sig, p.name)
			s.End()
			after, err := term.GetState(s.Tty.Fd())
			if err != nil {
				t.Fatal(err)
			}
			s.Mu.Lock()
			modes := s.Term.Modes()
			s.Mu.Unlock()
			want := vterm.New(120, 36, vterm.Options{}).Modes()
			modes.Graphemes = want.Graphemes // terminals differ in what they begin with
			if modes != want || !reflect.DeepEqual(after, fresh) {
				t.Errorf("%s at %s: modes %+v, want %+v; line settings %+v, want %+v", sig, p.name, modes, want, after, fresh)
			}
		}
	}
}

// signal sends the program a signal.
func signal(s *e2e.Screen, sig syscall.Signal) {
	s.T.Helper()
	if err := s.Cmd.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
}
