package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/exitcode"
)

// keysOfTour are the keys that the tour names, as a terminal sends them; every other one is typed as it is written.
var keysOfTour = map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "ctrl+q": "\x11", "→": "\x1b[C"}

// pace is the time between two things that a person does: what arrives at once counts as a paste, and what comes within
// half a second of a dialog's opening as typed without looking.
const pace = 600 * time.Millisecond

// TestReadmeTour takes the README's tour as it is written, in an empty home: what is pressed, what is typed in another
// terminal, and what the right side quotes is seen.
func TestReadmeTour(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.env = append(r.env, "PATH="+filepath.Dir(r.program)+":"+os.Getenv("PATH"))
	_, rows := readme(t, "Tour")
	var s *screen
	for _, row := range rows {
		var saw string
		for _, do := range quotes(row[0]) {
			line, verb := strings.CutPrefix(do, "$ ")
			key, known := keysOfTour[do]
			time.Sleep(pace)
			switch {
			case verb && strings.HasPrefix(line, "orchestrator attach "):
				s = r.open(120, 36, strings.Fields(line)[1:]...)
			case verb:
				saw = r.shell(line)
			case known:
				s.press(key)
			default:
				s.press(do)
			}
		}
		for _, text := range quotes(row[1]) {
			if strings.HasPrefix(row[0], "`$") && saw != "" {
				if !strings.Contains(saw, text) {
					t.Fatalf("%s does not print %q:\n%s", row[0], text, saw)
				}
				continue
			}
			s.see(text)
		}
		if row[0] == "`q`" {
			if code := s.end(); code != exitcode.OK {
				t.Fatalf("the program ended with %d:\n%s", code, s.text())
			}
		}
		t.Logf("done: %s", row[0])
	}
}

// shell runs a line as a person's shell does and returns what it printed.
func (r *rig) shell(line string) string {
	r.t.Helper()
	cmd := r.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
