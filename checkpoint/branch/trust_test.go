package branch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git/gittest"
)

// baited is a repository with a remote, whose files ask for a filter, a merge driver and a diff driver called "evil".
type baited struct {
	*repo
	canary string
	ran    func() int
	clean  string // its configuration as it was
}

func newBaited(t *testing.T) *baited {
	t.Helper()
	r := newRepo(t)
	b := &baited{repo: r}
	b.canary, b.ran = gittest.Canary(t, r.top)
	bare := filepath.Join(r.top, "remote")
	r.git("init", "-q", "--bare", bare)
	r.git("remote", "add", "origin", bare)
	r.write(".gitattributes", "* filter=evil merge=evil diff=evil\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "attributes")
	r.gitIn(r.side, "merge", "-q", "main")
	b.clean = r.read(r.dir, ".git/config")
	return b
}

// config writes the repository's own configuration: what it was, and more.
func (b *baited) config(more string) { b.Helper(); b.write(".git/config", b.clean+more) }

// steps is all that is done with a repository, each as if it were the first; the names of those that were refused.
func (b *baited) steps(n string) map[string]error {
	b.Helper()
	ctx := context.Background()
	failed := map[string]error{}
	did := func(step string, err error) {
		if err != nil {
			failed[step] = err
		}
	}
	b.writeIn(b.side, "a", "side "+n+"\n")
	b.writeIn(b.side, "new", n)
	_, err := b.merger.Preview(ctx, b.dir, b.side)
	did("preview", err)
	_, err = b.merger.Commit(ctx, b.side, "work "+n)
	did("commit", err)
	_, _, err = b.merger.Reachable(ctx, b.side, b.dir)
	did("reachable", err)
	_, err = b.merger.Merge(ctx, b.dir, "side", "merge "+n)
	did("merge", err)
	_, err = b.merger.Push(ctx, b.dir, "main")
	did("push", err)
	did("repair", b.merger.Repair(ctx, b.dir))
	return failed
}

// conflicts makes the two branches collide, and tells what became of merge, abort and continue.
func (b *baited) conflicts(n string) error {
	b.Helper()
	ctx := context.Background()
	b.writeIn(b.side, "a", "of the side "+n+"\n")
	_, err := b.merger.Commit(ctx, b.side, "side")
	b.write("a", "of main "+n+"\n")
	_, merr := b.merger.Commit(ctx, b.dir, "main")
	err = errors.Join(err, merr)
	for range 2 {
		_, merr = b.merger.Merge(ctx, b.dir, "side", "m")
		err = errors.Join(err, merr)
		if in, _ := b.merger.InProgress(ctx, b.dir); in {
			err = errors.Join(err, b.merger.Abort(ctx, b.dir))
		}
	}
	_, merr = b.merger.Merge(ctx, b.dir, "side", "m")
	b.write("a", "of both "+n+"\n")
	_, cerr := b.merger.Continue(ctx, b.dir)
	return errors.Join(err, merr, cerr)
}

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	b := newBaited(t)
	gittest.PlantHooks(t, filepath.Join(b.dir, ".git"), b.canary)
	var evil strings.Builder
	evil.WriteString(gittest.ConfigHooks(b.canary))
	for _, key := range gittest.Ignored {
		evil.WriteString(gittest.Line(key, b.canary))
	}
	b.config(evil.String())
	// The remote is a folder, with all that the repository may bring too.
	remote := filepath.Join(b.top, "remote")
	gittest.PlantHooks(t, remote, b.canary)
	b.writeIn(remote, "config", b.read(remote, "config")+evil.String()+"[receive]\n\tautoGC = true\n[gc]\n\tauto = 1\n\trecentObjectsHook = "+b.canary+"\n")
	b.writeIn(remote, "objects/info/alternates", filepath.Join(b.dir, ".git/objects")+"\n")
	for _, n := range []string{"1", "2"} {
		if failed := b.steps(n); len(failed) > 0 {
			t.Errorf("what is of no use for these steps stops them: %v", failed)
		}
	}
	if err := b.conflicts("1"); err != nil {
		t.Errorf("conflicts: %v", err)
	}
	if _, err := b.merger.Push(context.Background(), b.dir, "main"); err != nil {
		t.Error(err)
	}
	if got := gittest.Run(t, b.env, remote, "-c", "core.fsmonitor=", "rev-parse", "main"); got !=
		b.git("rev-parse", "main") {
		t.Error("nothing was pushed")
	}
	if n := b.ran(); n > 0 {
		t.Errorf("%d programs ran:\n%s", n, b.read(b.top, "canary-ran"))
	}
	cmd := exec.Command("git", "commit", "-q", "--allow-empty", "-m", "bait")
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), b.env...)
	if _ = cmd.Run(); b.ran() == 0 {
		t.Error("nothing runs for a git that is asked without care: the bait is none")
	}
}

func TestProgramsAreRefused(t *testing.T) {
	b := newBaited(t)
	ctx := context.Background()
	b.writeIn(b.side, "loose", "x")
	var refused *branch.ProgramError
	for _, where := range []string{"config", "worktree", "include"} {
		plant := func(key string) {
			line := gittest.Line(key, b.canary)
			switch where {
			case "config":
				b.config(line)
			case "worktree":
				b.config("[extensions]\n\tworktreeConfig = true\n")
				b.write(".git/worktrees/side/config.worktree", line)
				b.write(".git/config.worktree", line)
			case "include":
				b.write("team.config", line)
				b.config("[includeIf \"gitdir:**\"]\n\tpath = ../team.config\n")
			}
		}
		for _, key := range gittest.Converts {
			plant(key)
			before := b.gitIn(b.side, "rev-parse", "HEAD")
			_, err := b.merger.Commit(ctx, b.side, "m")
			if !errors.As(err, &refused) || !strings.EqualFold(refused.Programs[0].Key, key) ||
				!strings.Contains(err.Error(), "trust --git") {
				t.Errorf("%s: commit with %s: %v", where, key, err)
			}
			if strings.HasPrefix(key, "filter.") && (len(refused.Files) == 0 ||
				!strings.Contains(err.Error(), ".gitattributes")) {
				t.Errorf("%s: it is not said which files: %v", key, err)
			}
			if after := b.gitIn(b.side, "rev-parse", "HEAD"); after != before ||
				b.gitIn(b.side, "diff-index", "--cached", "--name-only", "HEAD") != "" {
				t.Errorf("%s: %s: something was committed or staged", where, key)
			}
			if _, err := b.merger.Preview(ctx, b.dir, b.side); !errors.As(err, &refused) {
				t.Errorf("%s: preview with %s: %v", where, key, err)
			}
			if _, _, err := b.merger.Reachable(ctx, b.side, b.dir); !errors.As(err, &refused) {
				t.Errorf("%s: reachable with %s: %v", where, key, err)
			}
			if _, err := b.merger.Merge(ctx, b.dir, "side", "m"); !errors.As(err, &refused) {
				t.Errorf("%s: merge with %s: %v", where, key, err)
			}
		}
		for _, key := range gittest.Connects {
			plant(key)
			_, err := b.merger.Push(ctx, b.dir, "main")
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "trust --git") {
				t.Errorf("%s: push with %s: %v", where, key, err)
			}
		}
		if n := b.ran(); n > 0 {
			t.Fatalf("%s: %d programs ran:\n%s", where, n, b.read(b.top, "canary-ran"))
		}
	}
	// What is refused for a push is no matter to a commit.
	b.config(gittest.Line("core.sshCommand", b.canary))
	b.write(".git/config.worktree", "")
	b.commit(b.side, "m")
}

// TestConfigurationFlips changes the repository's own configuration, and what its files ask for, every few milliseconds
// while all steps are done again and again.
func TestConfigurationFlips(t *testing.T) {
	rounds := 8
	if s := os.Getenv("FLIP_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	b := newBaited(t)
	gittest.PlantHooks(t, filepath.Join(b.dir, ".git"), b.canary)
	var evil strings.Builder
	evil.WriteString(gittest.ConfigHooks(b.canary))
	for _, keys := range [][]string{gittest.Converts, gittest.Connects, gittest.Ignored} {
		for _, key := range keys {
			evil.WriteString(gittest.Line(key, b.canary))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var flips sync.WaitGroup
	flipped := 0
	flips.Go(func() { // until cancel
		tick := time.NewTicker(4 * time.Millisecond)
		defer tick.Stop()
		texts := []string{b.clean, b.clean + evil.String()}
		for ; ctx.Err() == nil; <-tick.C {
			flipped++
			tmp := filepath.Join(b.dir, ".git/config.new")
			if os.WriteFile(tmp, []byte(texts[flipped%2]), 0o600) == nil {
				_ = os.Rename(tmp, filepath.Join(b.dir, ".git/config"))
			}
		}
	})
	done, refusals := 0, 0
	for i := range rounds {
		failed := b.steps(strings.Repeat("x", i%7))
		done += 6 - len(failed)
		for step, err := range failed {
			var refused *branch.ProgramError
			if !errors.As(err, &refused) {
				t.Errorf("%s: %v", step, err)
			}
			refusals++
		}
	}
	cancel()
	flips.Wait()
	if n := b.ran(); n > 0 {
		t.Errorf("%d programs ran:\n%s", n, b.read(b.top, "canary-ran"))
	}
	if done == 0 || refusals == 0 {
		t.Errorf("%d steps done, %d refused: the flips were not met", done, refusals)
	}
	t.Logf("%d steps done, %d refused, %d flips", done, refusals, flipped)
}

// TestFrozenOnceRead changes the configuration at the one moment that counts: when it was judged, before it is used.
func TestFrozenOnceRead(t *testing.T) {
	b := newBaited(t)
	gittest.PlantHooks(t, filepath.Join(b.dir, ".git"), b.canary)
	var evil strings.Builder
	evil.WriteString(gittest.ConfigHooks(b.canary))
	for _, keys := range [][]string{gittest.Converts, gittest.Connects, gittest.Ignored} {
		for _, key := range keys {
			evil.WriteString(gittest.Line(key, b.canary))
		}
	}
	// Identity is asked for by way of the frozen configuration, after the judgement.
	asked := 0
	b.accepted["x"] = ""
	m, err := branch.New(branch.Config{State: b.views, Env: b.env, Accepted: func(string, []byte) bool {
		asked++
		b.config(evil.String())
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.merger = m
	harmless := gittest.Line("core.sshCommand", "ssh") // asked about at each opening, in the way of a push alone
	ctx := context.Background()
	b.config(harmless)
	b.writeIn(b.side, "a", "side\n")
	if _, err := b.merger.Commit(ctx, b.side, "work"); err != nil {
		t.Error(err)
	}
	b.config(harmless)
	if _, err := b.merger.Merge(ctx, b.dir, "side", "m"); err != nil {
		t.Error(err)
	}
	b.config(harmless)
	if _, _, err := b.merger.Reachable(ctx, b.dir, b.dir); err != nil && !strings.Contains(err.Error(), "is not trusted") {
		t.Error(err)
	}
	if asked < 3 {
		t.Errorf("asked %d times", asked)
	}
	if n := b.ran(); n > 0 {
		t.Errorf("%d programs ran:\n%s", n, b.read(b.top, "canary-ran"))
	}
}

func TestAcceptedProgramsRun(t *testing.T) {
	b := newBaited(t)
	ctx := context.Background()
	b.write("tools/up.sh", "tr a-z A-Z\n")
	b.writeIn(b.side, "tools/up.sh", "tr a-z A-Z\n")
	b.write(".gitattributes", "a filter=up\n")
	b.writeIn(b.side, ".gitattributes", "a filter=up\n")
	b.config("[filter \"up\"]\n\tclean = \"sh tools/up.sh\"\n\trequired = true\n")
	b.writeIn(b.side, "a", "words\n")
	var refused *branch.ProgramError
	if _, err := b.merger.Commit(ctx, b.side, "m"); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	own, err := branch.Own(ctx, b.side, b.env...)
	if err != nil {
		t.Fatal(err)
	}
	b.accepted[own.Place()] = string(own.Content())
	b.commit(b.side, "m")
	if got := b.git("show", "side:a"); got != "WORDS" {
		t.Errorf("the accepted filter did not run: %q", got)
	}
	b.writeIn(b.side, "tools/up.sh", "touch "+filepath.Join(b.top, "changed")+"; cat\n")
	b.writeIn(b.side, "a", "more words\n")
	if _, err := b.merger.Commit(ctx, b.side, "m"); !errors.As(err, &refused) {
		t.Errorf("a changed script of an accepted filter: %v", err)
	}
	b.writeIn(b.side, "tools/up.sh", "tr a-z A-Z\n")
	b.config("[filter \"up\"]\n\tclean = \"sh tools/up.sh \"\n\trequired = true\n")
	if _, err := b.merger.Commit(ctx, b.side, "m"); !errors.As(err, &refused) {
		t.Errorf("a changed command of an accepted filter: %v", err)
	}
}

// TestPersonsOwn: what the person's own configuration says goes on working.
func TestPersonsOwn(t *testing.T) {
	t.Run("filter", func(t *testing.T) {
		r := newRepo(t)
		r.git("config", "filter.mine.clean", "tr a-z A-Z")
		r.git("config", "--global", "filter.mine.clean", "tr a-z A-Z")
		r.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
		r.write(".gitattributes", "c filter=mine\n")
		r.write("c", "words\n")
		r.commit(r.dir, "m")
		if got := r.git("show", "HEAD:c"); got != "WORDS" {
			t.Errorf("c = %q", got)
		}
	})
	t.Run("signing with an SSH key", func(t *testing.T) {
		if _, err := exec.LookPath("ssh-keygen"); err != nil {
			t.Skip("ssh-keygen is not installed: signing is not tested")
		}
		r := newRepo(t)
		key := filepath.Join(r.top, "home/key")
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		public := r.read(r.top, "home/key.pub")
		r.writeIn(r.top, "home/signers", "person@example.org "+public)
		for _, kv := range [][2]string{
			{"commit.gpgSign", "true"}, {"gpg.format", "ssh"}, {"user.signingKey", key},
			{"gpg.ssh.allowedSignersFile", filepath.Join(r.top, "home/signers")},
		} {
			r.git("config", "--global", kv[0], kv[1])
		}
		r.writeIn(r.side, "a", "side\n")
		r.git("verify-commit", r.commit(r.side, "work"))
		done, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
		if err != nil {
			t.Fatal(err)
		}
		r.git("verify-commit", done.Commit)
	})
	t.Run("address of a remote", func(t *testing.T) {
		r := newRepo(t)
		bare := filepath.Join(r.top, "remote")
		r.git("init", "-q", "--bare", bare)
		r.git("remote", "add", "origin", "work:remote")
		r.git("config", "--global", "url."+r.top+"/.insteadOf", "work:")
		if _, err := r.merger.Push(context.Background(), r.dir, "main"); err != nil {
			t.Fatal(err)
		}
		if gittest.Run(t, r.env, bare, "rev-parse", "main") != r.git("rev-parse", "origin/main") {
			t.Error("nothing was pushed, or the remote's branch is not known here")
		}
	})
	t.Run("ssh command and credential helper", func(t *testing.T) {
		r := newRepo(t)
		r.writeIn(r.top, "ssh.sh", "#!/bin/sh\necho \"$@\" >"+r.top+"/ssh-args\nexit 1\n")
		if err := os.Chmod(filepath.Join(r.top, "ssh.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		r.git("remote", "add", "origin", "git@example.org:team/x")
		r.git("config", "--global", "core.sshCommand", filepath.Join(r.top, "ssh.sh"))
		if _, err := r.merger.Push(context.Background(), r.dir, "main"); err == nil {
			t.Error("pushed to nowhere")
		}
		if args := r.read(r.top, "ssh-args"); !strings.Contains(args, "git@example.org") {
			t.Errorf("ssh got %q", args)
		}
	})
}

// TestLargeFiles: git-lfs keeps them, and a push takes them along.
func TestLargeFiles(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed: large files are not tested")
	}
	r := newRepo(t)
	r.git("lfs", "install", "--skip-repo")
	bare := filepath.Join(r.top, "remote")
	r.git("init", "-q", "--bare", bare)
	r.git("remote", "add", "origin", "file://"+bare)
	r.writeIn(r.side, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	r.writeIn(r.side, "x.bin", "large\n")
	r.commit(r.side, "a large file")
	if got := r.git("show", "side:x.bin"); !strings.HasPrefix(got, "version https://git-lfs") {
		t.Fatalf("what is committed is %q", got)
	}
	if _, err := r.merger.Merge(context.Background(), r.dir, "side", "m"); err != nil {
		t.Fatal(err)
	}
	if got := r.read(r.dir, "x.bin"); got != "large\n" {
		t.Errorf("what is checked out is %q", got)
	}
	if _, err := r.merger.Push(context.Background(), r.dir, "main"); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(bare, "lfs/objects/*/*/*"))
	if err != nil || len(found) != 1 {
		t.Errorf("large files at the remote: %v %v", found, err)
	}
}
