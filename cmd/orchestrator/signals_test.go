package main

import (
	"reflect"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"orchestrator/agent/vterm"
)

// TestSignalsEndTheProgram ends the program by each signal from each place, also while it is stopped: it ends, and the
// terminal is as a new one. With the variable of signalRounds there are 50 rounds for each signal.
func TestSignalsEndTheProgram(t *testing.T) {
	manyStarts(t)
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
	r := newRig(t)
	name := r.demo("signals")
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
		for range signalRounds() {
			p := places[round%len(places)]
			round++
			s := r.open(120, 36)
			s.see(name[:7])
			s.press(p.keys)
			s.see(p.see)
			if p.stop {
				s.signal(syscall.SIGSTOP)
			}
			s.signal(sig)
			if p.stop {
				s.signal(syscall.SIGCONT)
			}
			t.Logf("%s at %s", sig, p.name)
			s.end()
			after, err := term.GetState(s.tty.Fd())
			if err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			modes := s.term.Modes()
			s.mu.Unlock()
			want := vterm.New(120, 36, vterm.Options{}).Modes()
			modes.Graphemes = want.Graphemes // terminals differ in what they begin with
			if modes != want || !reflect.DeepEqual(after, fresh) {
				t.Errorf("%s at %s: modes %+v, want %+v; line settings %+v, want %+v", sig, p.name, modes, want, after, fresh)
			}
		}
	}
}

// signal sends the program a signal.
func (s *screen) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}
