package mcpctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/mcpctl"
	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// scripted is a rig whose repository has a server in a script, and a thread t2 in a worktree with the same files.
func scripted(t *testing.T) (r *rig, worktree string) {
	t.Helper()
	r = newRig(t, func(r *rig, _ *mcpctl.Config) {
		worktree = filepath.Join(r.state, "worktrees", "t2")
		fake := r.fake("repo")
		for _, dir := range []string{r.project, worktree} {
			r.script(filepath.Join(dir, "srv.sh"), "repo")
		}
		r.repository(conf{"repo": {"command": "./srv.sh", "env": fake["env"]}})
	})
	r.threads.add("t2", "claude", worktree)
	return r, worktree
}

// script writes a script that is a server, with marks that tell its content from others.
func (r *rig) script(path, name string, marks ...string) {
	r.Helper()
	fake := r.fake(name)
	text := "#!/bin/sh\n"
	for _, m := range marks {
		text += "echo $$ >> " + r.witness(m) + "\n"
	}
	r.put(path, []byte(text+"exec "+fake["command"].(string)+" "+strings.Join(fake["args"].([]string), " ")+"\n"))
	if err := os.Chmod(path, 0o700); err != nil {
		r.Fatal(err)
	}
}

// TestChangedInWorktree starts for a thread what its own folder holds, so it is compared there: what differs from what was
// accepted is not started, is named with its folder, and can be accepted for itself.
func TestChangedInWorktree(t *testing.T) {
	r, worktree := scripted(t)
	// What a sandbox leaves above is no repository.
	if err := os.Mkdir(filepath.Join(filepath.Dir(worktree), ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.approve("repo")
	if _, err := r.callIn("t2", worktree, "repo", "echo"); err != nil {
		t.Fatalf("the same files are not accepted: %v", err)
	}
	r.script(filepath.Join(worktree, "srv.sh"), "repo", "evil") // while it runs, and before anybody has looked
	if err := r.act(mcpctl.ActRestart, "repo", ""); err == nil {
		await.Until(r, "it is stopped or refused", func() bool { return len(r.starts("evil")) == 0 })
	}
	if _, err := r.callIn("t2", worktree, "repo", "echo"); !errors.Is(err, hub.ErrUnapproved) && !strings.Contains(err.Error(), "accepted") {
		t.Errorf("a call in the changed worktree: %v", err)
	}
	_, err := r.CallTool(context.Background(), thread.MCPCall{Server: "repo", Tool: "echo", Thread: "t2"})
	if err == nil {
		t.Error("a person's call for the thread is answered")
	}
	await.Until(r, "it is shown", func() bool { return r.server("t2", "repo").ChangedIn == worktree })
	s := r.server("t2", "repo")
	if s.On || s.Accepted || s.State != string(hub.Unapproved) || !strings.Contains(s.Reason, "changed in "+worktree) {
		t.Errorf("%+v", s)
	}
	_, err = r.CallTool(context.Background(), thread.MCPCall{Server: "repo", Tool: "echo", Thread: "t2"})
	if !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "changed in "+worktree) {
		t.Errorf("a person's call: %v", err)
	}
	why, err := r.Why(context.Background(), thread.MCPTask{Thread: "t2", Text: "use the repo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range why {
		if w.On {
			t.Errorf("why: %+v", w)
		}
	}
	if n := len(r.starts("evil")); n != 0 {
		t.Fatalf("the changed script ran %d times", n)
	}
	// The project's own is as it was.
	if s := r.server("t1", "repo"); !s.Accepted || s.ChangedIn != "" {
		t.Errorf("in the project: %+v", s)
	}
	r.must("t1", "repo", "echo")
	// What is accepted for the thread is what it saw there, and holds there.
	d := r.detail("t2", "repo")
	if len(d.Diff) == 0 || d.Hash == r.detail("t1", "repo").Hash {
		t.Errorf("%+v", d)
	}
	_, err = r.Act(context.Background(), thread.MCPAct{Act: mcpctl.ActApprove, Server: "repo", Hash: d.Hash})
	if !errors.Is(err, thread.ErrConflict) || strings.Contains(err.Error(), "merge") {
		t.Errorf("accepted where it does not stand: %v", err)
	}
	if _, err = r.Act(context.Background(), thread.MCPAct{Act: mcpctl.ActApprove, Server: "repo", Thread: "t2", Hash: d.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.callIn("t2", worktree, "repo", "echo"); err != nil || len(r.starts("evil")) != 1 {
		t.Errorf("after it was accepted: %v, %d starts", err, len(r.starts("evil")))
	}
}
