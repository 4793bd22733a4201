package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestEnvironmentOfTheShell starts agents from a shell that is newer than the server: they have its variables and
// programs, and that is said; what an agent itself starts has the server's, and nothing of it is stored.
func TestEnvironmentOfTheShell(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	const secret = "sk-of-todays-shell-0123456789"
	first := r.env
	out := func(name string) string {
		var b []byte
		file := filepath.Join(r.project, name)
		await(t, file, func() bool {
			var err error
			b, err = os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(b), "\n")
		})
		return strings.TrimSpace(string(b))
	}
	show := func(file string) []string {
		return []string{"-a", "command", "--no-worktree", "--", "/bin/sh", "-c", "echo \"$NEW_KEY\" > " + file + "; exec cat"}
	}
	r.ok(append([]string{"new", "old"}, show("old")...)...)
	if got := out("old"); got != "" {
		t.Fatalf("the agent has %q", got)
	}
	bin := filepath.Join(r.home, "newbin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "mytool"), []byte("#!/bin/sh\necho found > tool; exec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, kv := range first {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	r.env = append(slices.DeleteFunc(slices.Clone(first), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }),
		"NEW_KEY="+secret, "PATH="+bin+":"+path)
	got := r.run(append([]string{"new", "newer"}, show("newer")...)...)
	if got.code != 0 || !strings.Contains(got.stderr, "NEW_KEY, PATH") || !strings.Contains(got.stderr, "orchestrator restart") {
		t.Errorf("nothing was said: %+v", got)
	}
	if strings.Contains(got.stderr+got.stdout, secret) {
		t.Error("the value was shown")
	}
	if got := out("newer"); got != secret {
		t.Errorf("the agent has %q", got)
	}
	newer := strings.TrimSpace(got.stdout)
	r.ok("new", "tool", "-a", "command", "--no-worktree", "--", "mytool")
	if got := out("tool"); got != "found" {
		t.Errorf("a program on the new PATH: %q", got)
	}
	r.ok("stop", newer)
	os.Remove(filepath.Join(r.project, "newer"))
	if s := get[[]thread.Status](r, "resume", newer); s[0].Environ == nil || !s[0].Environ.Shell {
		t.Errorf("the resume does not say which environment it used: %+v", s[0].Environ)
	}
	if got := out("newer"); got != secret {
		t.Errorf("resumed, the agent has %q", got)
	}
	r.ok("stop", newer)
	r.env = first // the older shell again
	if got := r.ok("resume", newer); strings.Contains(got, "environment of this shell") {
		t.Errorf("said without a difference: %s", got)
	}
	err := filepath.WalkDir(r.stateDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
			t.Errorf("the value is stored in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
