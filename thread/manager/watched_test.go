package manager_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// given returns what a thread's newest process was given by the fake adapters.
func (w *world) given(id thread.ID, key string) string {
	w.t.Helper()
	for _, kv := range w.sess.of(id).spec.Launch.Env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			return v
		}
	}
	return ""
}

func (w *world) readDirs(id thread.ID) []string {
	w.t.Helper()
	return strings.Split(w.given(id, "READ_DIRS"), ":")
}

// TestWatch: what an agent writes for the next one is named before that starts, with who ran meanwhile.
func TestWatch(t *testing.T) {
	write := func(dir, name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inWorld(t, func(w *world) {
		seen := 0
		warned := func() string { // since the last call
			all := w.events.notices()
			said := all[seen:]
			seen = len(all)
			if !strings.Contains(said, "agent configuration files changed") {
				return ""
			}
			return said
		}
		write(w.dir, "RULES.md", "be kind")
		a := w.create(thread.NewRequest{Label: "one"})
		if got := warned(); got != "" {
			t.Errorf("the first start: %s", got)
		}
		b := w.create(thread.NewRequest{Label: "two"})
		if got := warned(); got != "" {
			t.Errorf("nothing changed: %s", got)
		}
		time.Sleep(time.Second)
		write(w.dir, ".rules/allow.json", "all")
		w.turn(a.ID, "write rules")
		again := func(s thread.Status) string {
			if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
				t.Fatal(err)
			}
			return warned()
		}
		got := again(b)
		if !strings.Contains(got, b.Name+": agent configuration files changed: .rules/allow.json (new); agents that ran since: "+a.Name) {
			t.Errorf("after a change: %q", got)
		}
		if got := again(a); got != "" {
			t.Errorf("told twice: %s", got)
		}
		time.Sleep(time.Second)
		write(w.dir, "RULES.md", "be quick")
		c := w.create(thread.NewRequest{Label: "three"})
		if got := warned(); !strings.Contains(got, "RULES.md; agents that ran since: ") || strings.Contains(got[strings.Index(got, "agents that ran since"):], c.Name) {
			t.Errorf("at a first start: %q", got)
		}
		// A fork in a worktree of its own begins with what its parent's folder was accepted with.
		write(w.dir, "RULES.md", "be rude")
		f := w.fork(thread.ForkRequest{Thread: a.Name, Label: "fork"})
		write(f.Dir, "RULES.md", "be rude")
		if got, own := w.given(f.ID, "ORIGIN"), w.given(a.ID, "ORIGIN"); got != w.dir || own != "" {
			t.Errorf("the fork stands for %q, its parent for %q", got, own)
		}
		if got := again(f); !strings.Contains(got, "RULES.md") {
			t.Errorf("in a fork: %q", got)
		}
		if got := again(f); got != "" {
			t.Errorf("in a fork, twice: %s", got)
		}
	})
}
