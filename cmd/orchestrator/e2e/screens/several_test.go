package screens

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestSeveralAtOnce has three agents on one screen: from inside one of them, two keys show what each of the others last
// said, and four their terminals. Keys go to one of them only, what ends gives its place up, and no size of the screen
// loses any of it.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	names := map[string]string{}
	for _, word := range []string{"alpha", "beta", "gamma"} {
		name := r.Demo(word)
		names[word] = name
		r.Ok("send", name, "run echo "+word+"-says")
		r.AwaitState(name, thread.StateIdle, thread.StateDone)
	}
	s := r.Open(200, 50, "attach", names["alpha"])
	s.See("alpha-says", "ctrl+q")

	keys := func(keys ...string) {
		for _, k := range keys {
			s.Press(k)
			time.Sleep(300 * time.Millisecond) // keys that come at once are text
		}
	}
	keys("\x11", "V") // the stack
	s.See("─ stack ─")
	e2e.Await(t, "what each of them did", func() bool {
		_, stack, _ := strings.Cut(s.Text(), "─ stack ─")
		return strings.Contains(stack, "echo beta-says") && strings.Contains(stack, "echo gamma-says")
	})

	keys("V", "V")                                                                      // by two columns to the wall
	all := []string{"run echo alpha-says", "run echo beta-says", "run echo gamma-says"} // they stand in the terminals only
	s.See(all...)

	s.Press("\r") // into the first one
	s.See("ctrl+q back to threads")
	s.Press("only here")
	s.See("only here")
	if n := strings.Count(s.Text(), "only here"); n != 1 {
		t.Errorf("keys are shown %d times:\n%s", n, s.Text())
	}
	keys("\x15", "\x11") // nothing stays in its input

	for i := range 40 {
		if err := pty.Setsize(s.Tty, &pty.Winsize{Cols: uint16(60 + i*61%180), Rows: uint16(20 + i*17%60)}); err != nil {
			t.Fatal(err)
		}
		s.Mu.Lock()
		s.Term.Resize(60+i*61%180, 20+i*17%60)
		s.Mu.Unlock()
		if i%10 == 9 {
			s.Press("V")
		}
	}
	if err := pty.Setsize(s.Tty, &pty.Winsize{Cols: 200, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	s.Mu.Lock()
	s.Term.Resize(200, 50)
	s.Mu.Unlock()
	for i := 0; ; i++ { // to the wall again
		s.Press("V")
		wall := func() bool {
			text := s.Text()
			return strings.Contains(text, "┼") && strings.Contains(text, all[0]) && strings.Contains(text, all[1]) && strings.Contains(text, all[2])
		}
		shown := false
		for until := time.Now().Add(2 * time.Second); !shown && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			shown = wall()
		}
		if shown {
			break
		}
		if i == 8 {
			t.Fatalf("the wall does not come back:\n%s", s.Text())
		}
	}

	r.Ok("stop", names["gamma"])
	e2e.Await(t, "its place to be free", func() bool { return !strings.Contains(s.Text(), all[2]) })
	s.See(all[0], all[1])
	for word, name := range names {
		if st := r.Status(name); st.Turn != 1 {
			t.Errorf("%s has %d turns", word, st.Turn)
		}
	}
	s.Press("q")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("the program ended with %d:\n%s", code, s.Text())
	}
}
