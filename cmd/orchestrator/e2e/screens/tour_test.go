package screens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// keysOfTour are the keys that the tour names, as a terminal sends them; every other one is typed as it is written.
var keysOfTour = map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "ctrl+q": "\x11", "→": "\x1b[C", "space": " "}

// pace is the time between two things that a person does: what arrives at once counts as a paste, and what comes within
// half a second of a dialog's opening as typed without looking.
const pace = 600 * time.Millisecond

// TestReadmeTour takes the README's tour as it is written, in an empty home: what is pressed, what is typed in another
// terminal, and what the right side quotes is seen.
func TestReadmeTour(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "PATH="+filepath.Dir(r.Program)+":"+os.Getenv("PATH"))
	_, rows := e2e.Readme(t, "Tour")
	var s *e2e.Screen
	for _, row := range rows {
		var saw string
		for _, do := range e2e.Quotes(row[0]) {
			line, verb := strings.CutPrefix(do, "$ ")
			key, known := keysOfTour[do]
			time.Sleep(pace)
			switch {
			case verb && line == "orchestrator":
				s = r.Open(80, 24)
				s.See("No threads yet")
				time.Sleep(2 * time.Second)                                              // the welcome comes after the list, once the agents are known
				if welcome := "[ Try the demo ]"; !strings.Contains(s.Text(), welcome) { // agents are installed
					s.Press("\r")
					s.See(welcome)
				}
			case verb:
				saw = r.Shell(line)
			case known:
				s.Press(key)
			default:
				s.Press(do)
			}
		}
		for _, text := range e2e.Quotes(row[1]) {
			if strings.HasPrefix(row[0], "`$") && saw != "" {
				if !strings.Contains(saw, text) {
					t.Fatalf("%s does not print %q:\n%s", row[0], text, saw)
				}
				continue
			}
			s.See(text)
		}
		if row[0] == "`q`" {
			if code := s.End(); code != exitcode.OK {
				t.Fatalf("the program ended with %d:\n%s", code, s.Text())
			}
		}
		t.Logf("done: %s", row[0])
	}
}
