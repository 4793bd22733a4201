package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestTurnsComeBack kills a server and loses what its database holds, in part or whole, with the list of threads or
// without: threads, forks, turns and their files are there again, say that they were rebuilt, and go on.
func TestTurnsComeBack(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	for what, lose := range map[string]func(r *rig, state, older string){
		"the newest turns": func(r *rig, state, older string) {
			r.gone(state, "state.db-wal", "state.db-shm")
			r.copy(older, filepath.Join(state, "state.db"))
		},
		"the database": func(r *rig, state, _ string) { r.gone(state, "state.db", "state.db-wal", "state.db-shm") },
		"the database and its mark": func(r *rig, state, _ string) {
			r.gone(state, "state.db", "state.db-wal", "state.db-shm", "state.db-mark")
		},
		"the database and the list": func(r *rig, state, _ string) {
			r.gone(state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads")
		},
		"all that is beside the database": func(r *rig, state, _ string) {
			r.gone(state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads", "state.db-mark", "state.db-room")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			name := r.demo("alpha")
			r.turn(name, "write a.txt: one")
			r.ok("stop")
			state := r.stateDir()
			older := filepath.Join(r.home, "older.db")
			r.copy(filepath.Join(state, "state.db"), older)
			r.ok("resume", name)
			r.turn(name, "write a.txt: two")
			fork := get[thread.Status](r, "fork", "left", "-t", name).Name
			r.turn(fork, "write left.txt: one")
			waits := get[thread.Status](r, "fork", "waits", "-t", name, "--no-start").Name
			r.turn(name, "list files")
			was := map[string][]thread.Checkpoint{name: r.timeline(name), fork: r.timeline(fork)}
			before := map[string]thread.Status{name: r.status(name), fork: r.status(fork)}
			r.killAll()
			lose(r, state, older)
			_, err := os.Stat(filepath.Join(state, "state.db-threads"))
			blind := err != nil // nothing tells of what never ran but its worktree

			res := r.run("threads")
			if res.code != 0 || !strings.Contains(res.stderr, "report.txt") {
				t.Errorf("threads: exit %d, %q", res.code, res.stderr)
			}
			for name, was := range was {
				r.same(name, was)
				now := r.status(name)
				if b := before[name]; now.Session != b.Session || now.Turn != b.Turn || now.Parent != b.Parent || now.Worktree.Path != b.Worktree.Path || now.Agent != b.Agent {
					t.Errorf("%s is %+v, was %+v", name, now.Thread, b.Thread)
				}
			}
			for _, fork := range []string{fork, waits} {
				now := r.status(fork)
				if now.Parent == "" || !blind && (now.ForkPoint == "" || now.Turn < 2) {
					t.Errorf("the fork begins nowhere: %+v", now.Thread)
				}
			}
			if out := r.ok("checkpoint", "list", name); !strings.Contains(out, thread.NoteRebuilt) {
				t.Errorf("the list says nothing:\n%s", out)
			}
			await(t, "the proof", func() bool { return strings.Contains(r.ok("why", name), thread.NoteRebuilt) })
			if report := r.reports(state); !strings.Contains(report, "rebuilt: thread") ||
				strings.Contains(strings.ReplaceAll(report, fmt.Sprintf("lost: thread %q", waits), ""), "lost:") || blind != strings.Contains(report, "lost:") {
				t.Errorf("the report says\n%s", report)
			}
			await(t, "the words to be found", func() bool { return strings.Contains(r.run("find", "left.txt").stdout, fork) })
			if out := r.ok("checkpoint", "show", name, "2"); !strings.Contains(out, "write a.txt: two") || strings.Contains(out, "list files") {
				t.Errorf("turn 2 is\n%s", out)
			}

			r.ok("resume", name)
			r.turn(name, "list files again")
			now := r.timeline(name)
			if len(now) != len(was[name])+1 || now[0].Turn != 4 || now[0].Session != before[name].Session {
				t.Errorf("after going on: %s", prompts(now))
			}
			if out := r.ok("checkpoint", "show", name, "4"); !strings.Contains(out, "list files again") || strings.Contains(out, "a.txt: two") {
				t.Errorf("turn 4 is\n%s", out)
			}
			// What the agent sent for its newest turn is the whole conversation, from its first prompt on.
			if now[0].Items < 8 {
				t.Errorf("the agent has heard %d messages", now[0].Items)
			}
			third := get[thread.Status](r, "fork", "third", "-t", name, "--at", "1")
			r.turn(third.Name, "list files")
			b, err := os.ReadFile(filepath.Join(third.Dir, "a.txt"))
			if err != nil || strings.TrimSpace(string(b)) != "one" {
				t.Errorf("a fork of turn 1 has %q, %v", b, err)
			}

			// Losing it all once more brings it all back, and nothing twice.
			was[name] = r.timeline(name)
			r.killAll()
			r.gone(state, "state.db", "state.db-wal", "state.db-shm")
			r.ok("threads")
			r.same(name, was[name])
		})
	}
}

// gone removes files; those that are not there are gone already.
func (r *rig) gone(dir string, names ...string) {
	r.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// copy copies a file.
func (r *rig) copy(from, to string) {
	r.t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// timeline is a thread's turns, the newest first.
func (r *rig) timeline(name string) []thread.Checkpoint {
	r.t.Helper()
	return get[[]thread.Checkpoint](r, "checkpoint", "list", name)
}

// reports are what was found damaged, all of it.
func (r *rig) reports(state string) string {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "damaged-*", "report.txt"))
	if err != nil {
		r.t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// same compares a thread's turns with what they were: prompts, answers, what they used, and the files they left.
func (r *rig) same(name string, was []thread.Checkpoint) {
	r.t.Helper()
	now := r.timeline(name)
	if len(now) != len(was) {
		r.t.Errorf("%s: %s, was %s", name, prompts(now), prompts(was))
		return
	}
	for i, w := range was {
		n := now[i]
		if n.Turn != w.Turn || n.Kind != w.Kind || n.Prompt != w.Prompt || n.Answer != w.Answer || n.Model != w.Model || n.Gauge.Tokens != w.Gauge.Tokens ||
			n.Usage.Context() != w.Usage.Context() {
			r.t.Errorf("%s: turn %d is %+v, was %+v", name, w.Turn, n, w)
		}
		if w.Snapshot != nil && n.Snapshot != nil && w.Snapshot.Tree != n.Snapshot.Tree {
			r.t.Errorf("%s: turn %d has the files of %+v, had those of %+v", name, w.Turn, n.Snapshot, w.Snapshot)
		}
		if w.Snapshot != nil && w.Snapshot.Files > 0 && n.Snapshot == nil {
			r.t.Errorf("%s: turn %d has no files", name, w.Turn)
		}
	}
}

// prompts are what was asked, for people.
func prompts(list []thread.Checkpoint) string {
	var all []string
	for _, c := range slices.Backward(list) {
		all = append(all, fmt.Sprintf("%d %s %q", c.Turn, c.Kind, c.Prompt))
	}
	return strings.Join(all, ", ")
}

// TestThreadsAreFoundByTheirRefs loses all that names threads; one of them is known by a worktree alone, another by
// nothing of ours: that one is left alone.
func TestThreadsAreFoundByTheirRefs(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("alpha")
	r.turn(name, "write a.txt: one")
	fork := get[thread.Status](r, "fork", "left", "-t", name, "--no-start")
	id := string(r.status(name).ID)
	r.killAll()
	state := r.stateDir()
	r.gone(state, "state.db", "state.db-wal", "state.db-shm", "state.db-threads", "state.db-mark")
	r.git("update-ref", "refs/orchestrator/0123456789abcdef/1", strings.TrimSpace(r.git("rev-parse", "refs/orchestrator/"+id+"/1")))
	if err := os.RemoveAll(filepath.Join(state, "demo", "sessions")); err != nil {
		t.Fatal(err)
	}
	list := get[[]thread.Status](r, "threads", "--all")
	names := map[string]thread.Status{}
	for _, s := range list {
		names[s.Name] = s
	}
	if len(list) != 2 || names[name].ID == "" || names[fork.Name].ID != fork.ID || names[fork.Name].Worktree.Path != fork.Worktree.Path {
		raw, _ := json.Marshal(list)
		t.Errorf("listed are %s", raw)
	}
	report := r.reports(state)
	for _, want := range []string{"found: thread", name, fork.Name, "lost: thread", "is missing"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	if got := r.status(name); got.Agent != "demo" || got.Session == "" {
		t.Errorf("%+v", got.Thread)
	}
}
