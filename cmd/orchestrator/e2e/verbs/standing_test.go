package verbs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestWhereThePersonStands starts threads from a package of a monorepo: agents work in the folder in which the person
// is, what is named without a full path is found from there, and nobody works outside of the project or in git's files.
func TestWhereThePersonStands(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	root := r.Project
	app := filepath.Join(root, "packages", "app")
	for _, dir := range []string{app, filepath.Join(root, "tools")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, prog := range []string{"packages/app/prog", "tools/prog"} {
		r.Write(prog, "#!/bin/sh\npwd > ran-"+filepath.Base(filepath.Dir(prog))+"; exec cat\n")
		if err := os.Chmod(filepath.Join(root, prog), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.Git("add", "-A")
	r.Git("-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "packages")
	side := filepath.Join(filepath.Dir(root), "side")
	r.Git("worktree", "add", "-q", "-b", "side", side)
	if err := os.Symlink(filepath.Dir(root), filepath.Join(app, "away")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from string
		args []string
		dir  string // "" if it is refused
		says string
	}{
		{from: app, dir: app, says: "it works in " + app},
		{from: root, dir: root},
		{from: app, args: []string{"--dir", "."}, dir: app},
		{from: app, args: []string{"--dir", ".."}, dir: filepath.Dir(app)},
		{from: app, args: []string{"--dir", "../.."}, dir: root},
		{from: root, args: []string{"--dir", "packages/app/"}, dir: app},
		{from: app, args: []string{"--dir", "../../.."}, says: "outside of the project"},
		{from: app, args: []string{"--dir", "away"}, says: "outside of the project"},
		{from: app, args: []string{"--dir", "/"}, says: "outside of the project"},
		{from: app, args: []string{"--dir", "none"}, says: "Create it first"},
		{from: app, args: []string{"--dir", "../../.git"}, says: "Go to " + root},
		{from: app, args: []string{"--dir", "../../.git/refs/heads"}, says: "in a git directory"},
		{from: side, dir: root, says: "--dir . works here"},
		{from: side, args: []string{"--dir", "."}, dir: side},
		{from: filepath.Dir(root), args: []string{"--project", app}, dir: app, says: "it works in " + app},
		{from: filepath.Dir(root), args: []string{"--project", app, "--dir", "project/tools"}, dir: filepath.Join(root, "tools")},
	} {
		r.Project = c.from
		got := r.Run(append([]string{"new", "-a", "demo", "--no-worktree", "one"}, c.args...)...)
		what := strings.TrimPrefix(c.from, filepath.Dir(root)) + " " + strings.Join(c.args, " ")
		if !strings.Contains(got.Stderr, c.says) || (got.Code == 0) != (c.dir != "") {
			t.Errorf("%s: %+v", what, got)
		}
		if c.says == "" && strings.Contains(got.Stderr, "it works in") {
			t.Errorf("%s: says %s", what, got.Stderr)
		}
		r.Project = root
		if got.Code == 0 {
			if s := r.Status(strings.TrimSpace(got.Stdout)); s.Dir != c.dir {
				t.Errorf("%s: works in %s, not in %s", what, s.Dir, c.dir)
			}
		}
	}
	// Programs: from where the person is, in the worktree of their own too, and in forks.
	for _, c := range []struct {
		from string
		args []string
		ran  string // the file that the program leaves in the thread's folder
	}{
		{app, []string{"--", "./prog"}, "ran-app"},
		{app, []string{"--", "../../tools/prog"}, "ran-tools"},
		{app, []string{"--dir", "../../tools", "--", "./prog"}, "ran-app"},
		{app, []string{"-w", "--", "./prog"}, "ran-app"},
		{filepath.Join(root, "tools"), []string{"--dir", "..", "--", "./prog"}, "ran-tools"},
	} {
		r.Project = c.from
		s := e2e.Get[thread.Status](r, append([]string{"new", "--json", "-a", "command", "runs"}, c.args...)...)
		e2e.Await(t, c.ran, func() bool {
			b, err := os.ReadFile(filepath.Join(s.Dir, c.ran))
			return err == nil && strings.TrimSpace(string(b)) == s.Dir
		})
		if filepath.IsAbs(s.Launch.Program[0]) {
			t.Errorf("%v: the program is stored as %s", c.args, s.Launch.Program[0])
		}
		if s.Worktree.Path != "" && s.Dir != filepath.Join(s.Worktree.Path, "packages/app") {
			t.Errorf("%v: works in %s of its worktree", c.args, s.Dir)
		}
	}
	r.Project = app
	parent := r.Ok("new", "-a", "demo", "--no-worktree", "parent")
	r.Turn(parent, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "--json", "other", "-t", parent, "-a", "command", "--", "../../tools/prog")
	e2e.Await(t, "the fork's program", func() bool {
		_, err := os.Stat(filepath.Join(fork.Dir, "ran-tools"))
		return err == nil
	})
	if fork.Dir != filepath.Join(fork.Worktree.Path, "packages/app") {
		t.Errorf("the fork works in %s", fork.Dir)
	}
}

// TestBareLayout: from the folder of a bare repository and from a git directory the worktrees are named, and no agent
// is started in git's files.
func TestBareLayout(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Git("add", "-A")
	r.Git("-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "all", "--allow-empty")
	top := filepath.Join(filepath.Dir(r.Project), "layout")
	r.Git("clone", "-q", "--bare", r.Project, filepath.Join(top, ".bare"))
	bare := filepath.Join(top, ".bare")
	if err := os.WriteFile(filepath.Join(top, ".git"), []byte("gitdir: ./.bare\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(bare, "inside")
	for _, dir := range []string{filepath.Join(top, "main"), inside} {
		r.Git("-C", bare, "worktree", "add", "-q", "--detach", dir)
	}
	gitDir := filepath.Join(r.Project, ".git")
	for _, c := range []struct {
		from, says string
		refused    bool
	}{
		{top, filepath.Join(top, "main"), false},
		{bare, filepath.Join(top, "main"), true},
		{filepath.Join(bare, "refs"), filepath.Join(top, "main"), true},
		{gitDir, "Go to " + r.Project, true},
		{filepath.Join(gitDir, "objects"), "Go to " + r.Project, true},
		{filepath.Join(bare, "worktrees", "main"), filepath.Join(top, "main"), true},
		{inside, "", false},
		{filepath.Join(top, "main"), "", false},
	} {
		r.Project = c.from
		got := r.Run("new", "-a", "demo", "one")
		if (got.Code != 0) != c.refused || !strings.Contains(got.Stderr, c.says) {
			t.Errorf("%s: %+v", strings.TrimPrefix(c.from, filepath.Dir(top)), got)
		}
		r.Run("stop", "--force")
	}
	r.Project = filepath.Join(top, "main")
	r.Git("-C", bare, "config", "extensions.worktreeConfig", "true")
	r.Git("-C", bare, "config", "core.bare", "true")
	r.Git("-C", bare, "config", "core.repositoryformatversion", "1")
	if err := os.WriteFile(filepath.Join(bare, "worktrees/main/config.worktree"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("doctor"); !strings.Contains(got.Stdout+got.Stderr, "config --worktree core.bare false") {
		t.Errorf("a worktree that git takes for bare: %+v", got)
	}
}
