package branch_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// TestRefusalsSayWhatToDo: what git alone says badly, or not at all.
func TestRefusalsSayWhatToDo(t *testing.T) {
	says := func(t *testing.T, err, is error, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err == nil || !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
				t.Errorf("%v does not say %q", err, text)
			}
		}
	}
	t.Run("locked", func(t *testing.T) {
		r := newRepo(t)
		r.writeIn(r.side, "a", "side\n")
		r.commit(r.side, "work")
		r.writeIn(r.side, "a", "more\n")
		r.write(".git/index.lock", "")
		r.write(".git/worktrees/side/index.lock", "")
		_, err := r.merger.Merge(t.Context(), r.dir, "side", "m")
		says(t, err, thread.ErrBusy, "another git process is running in "+r.dir, ".git/index.lock if no git is running")
		_, err = r.merger.Preview(t.Context(), r.dir, r.side)
		says(t, err, thread.ErrBusy, "another git process is running")
		_, err = r.merger.Commit(t.Context(), r.side, "more")
		says(t, err, thread.ErrBusy, "another git process is running in "+r.side)
	})
	t.Run("unborn", func(t *testing.T) {
		r := newRepo(t)
		r.writeIn(r.side, "a", "side\n")
		r.commit(r.side, "work")
		r.git("checkout", "-q", "--orphan", "new")
		r.git("rm", "-qrf", "--cached", ".")
		_, err := r.merger.Merge(t.Context(), r.dir, "side", "m")
		says(t, err, thread.ErrRefused, r.dir+" has no commits yet", "first commit")
		if _, err := r.merger.Preview(t.Context(), r.dir, r.side); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("preview: %v", err)
		}
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "apart")
		head := r.git("rev-parse", "HEAD")
		_, err = r.merger.Merge(t.Context(), r.dir, "side", "m")
		says(t, err, thread.ErrRefused, "no common history", "git rebase --root --onto "+head)
		r.gitIn(r.side, "rebase", "-q", "--root", "--onto", head)
		if done, err := r.merger.Merge(t.Context(), r.dir, "side", "m"); err != nil || done.Commit == "" ||
			r.read(r.dir, "a") != "side\n" {
			t.Errorf("after what it says: %+v %v", done, err)
		}
	})
	t.Run("unsigned", func(t *testing.T) {
		r := newRepo(t)
		r.git("config", "--global", "commit.gpgSign", "true")
		r.git("config", "--global", "gpg.program", "false")
		r.writeIn(r.side, "a", "side\n")
		var said *git.Error
		if _, err := r.merger.Commit(t.Context(), r.side, "work"); !errors.As(err, &said) ||
			!strings.Contains(err.Error(), "user.signingKey") {
			t.Errorf("a signer that fails: %v", err)
		}
	})
}
