package damage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// TestTurnsComeBack kills a server and loses what its database holds, in part or whole, with the list of threads or
// without: threads, forks, turns and their files are there again, say that they were rebuilt, and go on.
func TestTurnsComeBack(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	for what, lose := range sample.In(t, 3, map[string]func(r *e2e.Rig, state, older string){
		"the newest turns": func(r *e2e.Rig, state, older string) {
			gone(r, state, "state.db-wal", "state.db-shm")
			copy(r, older, filepath.Join(state, "state.db"))
		},
		"the database": func(r *e2e.Rig, state, _ string) { gone(r, state, "state.db", "state.db-wal", "state.db-shm") },
		"the database and its mark": func(r *e2e.Rig, state, _ string) {
			gone(r, state, "state.db", "state.db-wal", "state.db-shm", "state.db-mark")
		},
		"the database and the list": func(r *e2e.Rig, state, _ string) {
			gone(r, state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads")
		},
		"all that is beside the database": func(r *e2e.Rig, state, _ string) {
			gone(r, state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads", "state.db-mark", "state.db-room")
		},
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			name := r.Demo("alpha")
			r.Turn(name, "write a.txt: one")
			r.Ok("stop")
			state := r.StateDir()
			older := filepath.Join(r.Home, "older.db")
			copy(r, filepath.Join(state, "state.db"), older)
			r.Ok("resume", name)
			r.Turn(name, "write a.txt: two")
			fork := e2e.Get[thread.Status](r, "fork", "left", "-t", name).Name
			r.Turn(fork, "write left.txt: one")
			waits := e2e.Get[thread.Status](r, "fork", "waits", "-t", name, "--no-start").Name
			r.Turn(name, "list files")
			was := map[string][]thread.Checkpoint{name: r.Timeline(name), fork: r.Timeline(fork)}
			before := map[string]thread.Status{name: r.Status(name), fork: r.Status(fork)}
			r.KillAll()
			lose(r, state, older)
			_, err := os.Stat(filepath.Join(state, "state.db-threads"))
			blind := err != nil // nothing tells of what never ran but its worktree

			res := r.Run("threads")
			if res.Code != 0 || !strings.Contains(res.Stderr, "report.txt") {
				t.Errorf("threads: exit %d, %q", res.Code, res.Stderr)
			}
			for name, was := range was {
				r.Same(name, was)
				now := r.Status(name)
				if b := before[name]; now.Session != b.Session || now.Turn != b.Turn || now.Parent != b.Parent || now.Worktree.Path != b.Worktree.Path || now.Agent != b.Agent {
					t.Errorf("%s is %+v, was %+v", name, now.Thread, b.Thread)
				}
			}
			for _, fork := range []string{fork, waits} {
				now := r.Status(fork)
				if now.Parent == "" || !blind && (now.ForkPoint == "" || now.Turn < 2) {
					t.Errorf("the fork begins nowhere: %+v", now.Thread)
				}
			}
			if out := r.Ok("checkpoint", "list", name); !strings.Contains(out, thread.NoteRebuilt) {
				t.Errorf("the list says nothing:\n%s", out)
			}
			e2e.Await(t, "the proof", func() bool { return strings.Contains(r.Ok("why", name), thread.NoteRebuilt) })
			if report := r.Reports(state); !strings.Contains(report, "rebuilt: thread") ||
				strings.Contains(strings.ReplaceAll(report, fmt.Sprintf("lost: thread %q", waits), ""), "lost:") || blind != strings.Contains(report, "lost:") {
				t.Errorf("the report says\n%s", report)
			}
			e2e.Await(t, "the words to be found", func() bool { return strings.Contains(r.Run("find", "left.txt").Stdout, fork) })
			if out := r.Ok("checkpoint", "show", name, "2"); !strings.Contains(out, "write a.txt: two") || strings.Contains(out, "list files") {
				t.Errorf("turn 2 is\n%s", out)
			}

			r.Ok("resume", name)
			r.Turn(name, "list files again")
			now := r.Timeline(name)
			if len(now) != len(was[name])+1 || now[0].Turn != 4 || now[0].Session != before[name].Session {
				t.Errorf("after going on: %s", e2e.Prompts(now))
			}
			if out := r.Ok("checkpoint", "show", name, "4"); !strings.Contains(out, "list files again") || strings.Contains(out, "a.txt: two") {
				t.Errorf("turn 4 is\n%s", out)
			}
			// What the agent sent for its newest turn is the whole conversation, from its first prompt on.
			if now[0].Items < 8 {
				t.Errorf("the agent has heard %d messages", now[0].Items)
			}
			third := e2e.Get[thread.Status](r, "fork", "third", "-t", name, "--at", "1")
			r.Turn(third.Name, "list files")
			b, err := os.ReadFile(filepath.Join(third.Dir, "a.txt"))
			if err != nil || strings.TrimSpace(string(b)) != "one" {
				t.Errorf("a fork of turn 1 has %q, %v", b, err)
			}

			// Losing it all once more brings it all back, and nothing twice.
			was[name] = r.Timeline(name)
			r.KillAll()
			gone(r, state, "state.db", "state.db-wal", "state.db-shm")
			r.Ok("threads")
			r.Same(name, was[name])
		})
	}
}

// gone removes files; those that are not there are gone already.
func gone(r *e2e.Rig, dir string, names ...string) {
	r.T.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			r.T.Fatal(err)
		}
	}
}

// copy copies a file.
func copy(r *e2e.Rig, from, to string) {
	r.T.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// TestThreadsAreFoundByTheirRefs loses all that names threads; one of them is known by a worktree alone, another by
// nothing of ours: that one is left alone.
func TestThreadsAreFoundByTheirRefs(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("alpha")
	r.Turn(name, "write a.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "left", "-t", name, "--no-start")
	id := string(r.Status(name).ID)
	r.KillAll()
	state := r.StateDir()
	gone(r, state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads", "state.db-mark")
	r.Git("update-ref", "refs/orchestrator/0123456789abcdef/1", strings.TrimSpace(r.Git("rev-parse", "refs/orchestrator/"+id+"/1")))
	if err := os.RemoveAll(filepath.Join(state, "demo", "sessions")); err != nil {
		t.Fatal(err)
	}
	list := e2e.Get[[]thread.Status](r, "threads", "--all")
	names := map[string]thread.Status{}
	for _, s := range list {
		names[s.Name] = s
	}
	if len(list) != 2 || names[name].ID == "" || names[fork.Name].ID != fork.ID || names[fork.Name].Worktree.Path != fork.Worktree.Path {
		raw, _ := json.Marshal(list)
		t.Errorf("listed are %s", raw)
	}
	report := r.Reports(state)
	for _, want := range []string{"found: thread", name, fork.Name, "lost: thread", "is missing"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	if got := r.Status(name); got.Agent != "demo" || got.Session == "" {
		t.Errorf("%+v", got.Thread)
	}
}
