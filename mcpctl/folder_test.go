package mcpctl_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/mcpctl"
	"orchestrator/mcpctl/definition"
	"orchestrator/thread"
)

// monorepo is a rig whose repository has a folder with servers of its own: app, a script, shared, that threads share, and
// same, which the project has too.
func monorepo(t *testing.T) (r *rig, app, worktree string) {
	t.Helper()
	r = newRig(t, func(r *rig, _ *mcpctl.Config) {
		app = filepath.Join(r.project, "packages", "app")
		worktree = filepath.Join(r.state, "worktrees", "t3")
		r.put(filepath.Join(worktree, ".git"), []byte("gitdir: elsewhere\n"))
		r.repository(conf{"root": r.fake("root"), "same": r.fake("same-root")})
		fake := r.fake("app")
		shared := with(r.fake("shared"), "x-orchestrator", map[string]any{"share": "project"})
		shared["command"], shared["args"] = "./shared.sh", []string{}
		for _, dir := range []string{app, filepath.Join(worktree, "packages", "app")} {
			r.script(filepath.Join(dir, "srv.sh"), "app")
			r.script(filepath.Join(dir, "shared.sh"), "shared")
			r.write(filepath.Join(dir, ".mcp.json"), conf{
				"app": {"command": "./srv.sh", "env": fake["env"]}, "same": r.fake("same-app"), "shared": shared,
			})
		}
	})
	r.threads.add("t2", "claude", app)
	r.threads.add("t3", "claude", filepath.Join(worktree, "packages", "app"))
	return r, app, filepath.Join(worktree, "packages", "app")
}

// TestServersOfFolders offers to a thread in a folder of the project the servers that are configured there, once they are
// accepted there, and to no other thread.
func TestServersOfFolders(t *testing.T) {
	r, app, inWorktree := monorepo(t)
	ids := func(id string) string {
		var all []string
		for _, s := range r.report(id).Servers {
			all = append(all, s.ID)
		}
		return strings.Join(all, " ")
	}
	for id, want := range map[string]string{"": "root same", "t1": "root same", "t2": "app root same shared", "t3": "app root same shared"} {
		if got := ids(id); got != want {
			t.Errorf("thread %q: servers %q, want %q", id, got, want)
		}
	}
	in, err := r.Report(context.Background(), thread.MCPQuery{Dir: app})
	if err != nil || len(in.Servers) != 4 {
		t.Errorf("who is in the folder sees %+v (%v)", in.Servers, err)
	}
	// Nothing of it is started before it is accepted, and what is accepted of the project is not what stands in the folder.
	r.approve("same")
	if s := r.server("t1", "same"); !s.Accepted {
		t.Errorf("%+v", s)
	}
	for _, server := range []string{"app", "same", "shared"} {
		if s := r.server("t2", server); s.Accepted || s.On {
			t.Errorf("%s: %+v", server, s)
		}
		if _, err := r.callIn("t2", app, server, "echo"); err == nil {
			t.Errorf("%s answers", server)
		}
		err := r.flip("t2", server, true)
		if err == nil || !strings.Contains(err.Error(), "--thread") {
			t.Errorf("%s is switched on, or the way is not said: %v", server, err)
		}
	}
	for _, server := range []string{"app", "same", "shared"} {
		d := r.detail("t2", server)
		if _, err := r.Act(context.Background(), thread.MCPAct{Act: mcpctl.ActApprove, Server: server, Thread: "t2", Hash: d.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	for _, server := range []string{"app", "same", "shared"} {
		if _, err := r.callIn("t2", app, server, "echo"); err != nil {
			t.Errorf("%s: %v", server, err)
		}
		if s := r.server("t2", server); !s.On || !s.Accepted {
			t.Errorf("%s: %+v", server, s)
		}
	}
	if len(r.starts("same-app")) != 1 || len(r.starts("same-root")) != 0 {
		t.Error("same is the project's, not the folder's")
	}
	// A worktree with the same files: the same decision. One with other files is asked about.
	if _, err := r.callIn("t3", inWorktree, "app", "echo"); err != nil {
		t.Errorf("in a worktree: %v", err)
	}
	if s := r.server("t2", "shared"); s.Share != string(definition.ByProject) {
		t.Errorf("%+v", s)
	}
	if _, err := r.callIn("t3", inWorktree, "shared", "echo"); err != nil || len(r.starts("shared")) != 1 {
		t.Errorf("a shared server: %v, %d starts", err, len(r.starts("shared")))
	}
	r.script(filepath.Join(inWorktree, "srv.sh"), "app", "evil")
	_ = r.act(mcpctl.ActRestart, "app", "")
	r.threads.add("t4", "claude", inWorktree)
	if _, err := r.callIn("t4", inWorktree, "app", "echo"); err == nil || len(r.starts("evil")) != 0 {
		t.Errorf("changed code of a worktree ran: %v", err)
	}
	// The folder's file changes: it is asked again.
	r.write(filepath.Join(app, ".mcp.json"), conf{"app": {"command": "./other.sh"}})
	r.Launch(thread.Thread{ID: "nobody", Dir: app})
	if got := ids("t2"); got != "app root same" {
		t.Errorf("after the file changed: %q", got)
	}
	if s := r.server("t2", "app"); s.Accepted {
		t.Errorf("%+v", s)
	}
	if s := r.server("t2", "same"); !s.Accepted { // now the project's
		t.Errorf("%+v", s)
	}
}

// TestForeignServersOfFolders tells an adapter of every server that its CLI would read on the way to its folder.
func TestForeignServersOfFolders(t *testing.T) {
	r, app, inWorktree := monorepo(t)
	r.write(filepath.Join(r.project, "packages", ".mcp.json"), conf{"middle": r.fake("middle")})
	for _, dir := range []string{app, inWorktree} {
		l := r.Launch(thread.Thread{ID: "new", Agent: "claude", Dir: dir})
		var names []string
		for _, f := range l.Foreign["claude"] {
			names = append(names, f.Name)
		}
		for _, want := range []string{"app", "middle", "root", "same", "shared"} {
			if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+want+" ") {
				t.Errorf("%s: %s is not told of: %q", dir, want, names)
			}
		}
		if !l.Distrust["claude"] {
			t.Errorf("%s: what nobody accepted is trusted", dir)
		}
	}
}
