package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestRealMoved moves a project with a thread of each real CLI, again and again, and puts something else where it was:
// the next request holds the whole conversation and today's folder, and the agent works there.
func TestRealMoved(t *testing.T) {
	steps := []struct{ what, script string }{
		{"moved", `mv "$OLD" "$NEW"`},
		{"a link at the old place", `mv "$OLD" "$NEW"; ln -s "$NEW" "$OLD"`},
		{"another repository at the old place", `mv "$OLD" "$NEW"; git init -q "$OLD"`},
		{"exchanged with another project", `mv "$NEW" "$NEW.x"; mv "$OLD" "$NEW"; mv "$NEW.x" "$OLD"`},
		{"moved by its parent", `mkdir "$OLD.up"; mv "$OLD" "$OLD.up/"; mkdir "$OLD"; mv "$OLD.up" "${NEW%/*}"`},
	}
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			top := filepath.Dir(r.Project)
			places := []string{r.Project}
			for i := range steps {
				places = append(places, filepath.Join(top, fmt.Sprintf("place-%d", i+1)))
			}
			last := len(places) - 1
			places[last] = filepath.Join(places[last], filepath.Base(places[last-1]))
			cli.SetUp(t, r.Home, r.model.URL(), places...)
			name := r.talked(2)
			fork := e2e.Get[thread.Status](r.Rig, "fork", "another way", "-t", name)
			r.Ok("send", fork.Name, "forked. #say:answered-forked.")
			r.Project = places[4]
			if err := os.Mkdir(r.Project, 0o700); err != nil {
				t.Fatal(err)
			}
			r.Git("init", "-q")
			other := r.Demo("other")
			r.Turn(other, "write other.txt: mine")
			r.Ok("stop")
			r.Project = places[0]
			asked := []string{"prompt-1.", "prompt-2."}
			for i, step := range steps {
				r.Ok("stop")
				r.Project = places[i+1]
				cmd := exec.CommandContext(t.Context(), "sh", "-ec", step.script)
				cmd.Dir, cmd.Env = top, append(os.Environ(), "OLD="+places[i], "NEW="+r.Project)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", step.script, err, out)
				}
				r.Ok("resume", name)
				prompt := fmt.Sprintf("moved-%d.", i+1)
				r.Ok("send", name, prompt+" #bash:pwd > where.txt #say:answered-"+prompt)
				q := r.request(prompt)
				for _, p := range asked {
					if !strings.Contains(strings.Join(q.Turn.Prompts(), "\n"), p) {
						t.Errorf("%s: the request lacks %s", step.what, p)
					}
				}
				asked = append(asked, prompt)
				if got := strings.TrimSpace(r.Read("where.txt")); got != r.Project {
					t.Errorf("%s: the agent works in %s, not in %s", step.what, got, r.Project)
				}
				if !strings.Contains(string(q.Body), r.Project) {
					t.Errorf("%s: the request does not name %s", step.what, r.Project)
				}
				t.Logf("%s: %s, %d prompts in the request", cli.Name, step.what, len(q.Turn.Prompts()))
			}
			r.Ok("resume", fork.Name)
			r.Ok("send", fork.Name, "fork-after. #say:answered-after.")
			if got := strings.Join(r.request("fork-after.").Turn.Prompts(), "\n"); !strings.Contains(got, "prompt-2.") || !strings.Contains(got, "forked.") {
				t.Errorf("the fork's request holds %q", got)
			}
			late := e2e.Get[thread.Status](r.Rig, "fork", "a late one", "-t", name)
			r.Ok("send", late.Name, "late. #bash:pwd > where.txt #say:answered-late.")
			q := r.request("late.")
			for _, p := range asked {
				if !strings.Contains(strings.Join(q.Turn.Prompts(), "\n"), p) {
					t.Errorf("a fork of what was moved lacks %s", p)
				}
			}
			if b, err := os.ReadFile(filepath.Join(late.Dir, "where.txt")); err != nil || strings.TrimSpace(string(b)) != late.Dir {
				t.Errorf("a fork of what was moved works in %q: %v", b, err)
			}
			t.Logf("%s: moved %d times in %v", cli.Name, len(steps), time.Since(begin).Round(time.Second))
		})
	}
}
