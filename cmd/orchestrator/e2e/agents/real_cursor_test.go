package agents

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// tmux is a terminal that was not made by us, with the program in it.
type tmux struct {
	t    *testing.T
	name string
}

// openTmux starts the program in tmux.
func (r *realRig) openTmux(args ...string) tmux {
	r.T.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		r.T.Skip("SKIPPED, not run: tmux is the terminal whose cursor is looked at; install it")
	}
	m := tmux{r.T, "cursor-" + strconv.FormatInt(time.Now().UnixNano(), 36)}
	cmd := exec.Command("tmux", append([]string{"-L", m.name, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "120", "-y", "36", r.Program}, args...)...)
	cmd.Dir, cmd.Env = r.Project, r.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		r.T.Fatalf("%v %s", err, out)
	}
	r.T.Cleanup(func() {
		if r.T.Failed() {
			r.T.Logf("the terminal at the end:\n%s", m.do("capture-pane", "-p"))
		}
		m.do("kill-server")
	})
	return m
}

func (m tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", m.name}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Errorf("tmux %v: %v %s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// before returns the text before the terminal's cursor in its row, and whether the cursor is shown. The picture and the
// cursor are of one moment.
func (m tmux) before() (text string, shown bool) {
	m.t.Helper()
	all := m.do("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}", ";", "capture-pane", "-p")
	at, screen, _ := strings.Cut(all, "\n")
	fields, rows := strings.Fields(at), strings.Split(screen, "\n")
	if len(fields) != 3 {
		m.t.Fatalf("tmux says %q", all)
	}
	x, _ := strconv.Atoi(fields[0])
	if y, _ := strconv.Atoi(fields[1]); y < len(rows) {
		text = rows[y]
	}
	width := 0
	for i, c := range text {
		if width >= x {
			return text[:i], fields[2] == "1"
		}
		if width++; unicode.In(c, unicode.Hangul, unicode.Han) {
			width++
		}
	}
	return text + strings.Repeat(" ", max(0, x-width)), fields[2] == "1"
}

// TestRealCursor looks at the cursor of the terminal, which input methods follow, while a person types to agents that hide
// theirs: it stands behind what was typed, in wide characters too, and while the agent draws that it works.
func TestRealCursor(t *testing.T) {
	const samples = 20 // of each step
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			begin := time.Now()
			r := newRealRig(t, cli)
			name := r.start("typed to")
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			m := r.openTmux("attach", name)
			right, all, hidden := 0, 0, 0
			look := func(behind string) {
				t.Helper()
				e2e.Await(t, "the cursor behind "+behind, func() bool { text, _ := m.before(); return strings.HasSuffix(text, behind) })
				for range samples {
					text, shown := m.before()
					if all++; strings.HasSuffix(text, behind) {
						right++
					} else {
						t.Errorf("the cursor is behind %q, not behind %q", text, behind)
					}
					if !shown {
						hidden++
					}
					time.Sleep(40 * time.Millisecond) // several frames of an agent that works
				}
			}
			e2e.Await(t, "the agent in the pane", func() bool { return strings.Contains(m.do("capture-pane", "-p"), "ctrl+q back to threads") })
			m.do("send-keys", "-l", "abc")
			look("abc")
			m.do("send-keys", "-l", "한글x修")
			look("abc한글x修")
			m.do("send-keys", "-N", "7", "BSpace")
			r.Ok("send", "-d", name, "works. #hold:work #say:done")
			r.request("works.")
			r.AwaitState(name, thread.StateWorking)
			m.do("send-keys", "-l", "다음z")
			look("다음z")
			r.model.Release("work")
			t.Logf("%s: the cursor was right in %d of %d samples, hidden in %d, in %v", cli.Name, right, all, hidden, time.Since(begin).Round(time.Second))
		})
	}
}
