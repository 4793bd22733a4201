package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// maxMessage is the longest commit message, in bytes.
const maxMessage = 64 << 10

// Commit commits everything in a worktree, untracked files included and ignored ones not, and returns its HEAD, which
// stays the same if there was nothing to commit. Repositories inside the worktree are left out, and so is git.Foreign,
// even if it was staged.
func (m *Merger) Commit(ctx context.Context, worktree, message string) (string, error) {
	t, err := m.hold(ctx, worktree)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	defer t.close()
	commit, err := t.commitAll(ctx, message)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return commit, nil
}

func (t tree) commitAll(ctx context.Context, message string) (string, error) {
	message, err := checkMessage(message)
	if err != nil {
		return "", err
	}
	head, changed, err := t.stageAll(ctx)
	if err != nil || !changed {
		return head, err
	}
	failpoint.Hit("branch.commit.staged")
	_, err = t.run(ctx, git.Call{
		Args:    []string{"commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"},
		Stdin:   strings.NewReader(message),
		Config:  []string{"user.useConfigOnly=true"},
		Durable: true, Reflog: true,
	})
	if err != nil {
		return "", unsigned(err)
	}
	failpoint.Hit("branch.commit.committed")
	return t.commit(ctx, "HEAD")
}

// stageAll stages what is to be committed, and returns the HEAD, "" for an unborn branch, and whether the index differs
// from it.
func (t tree) stageAll(ctx context.Context) (head string, changed bool, err error) {
	if what := t.inProgress(); what != "" {
		return "", false, thread.Hint(fmt.Errorf("a %s is in progress in %s: %w", what, t.Root, thread.ErrConflict),
			"continue or abort it first")
	}
	if err := t.trusted(ctx); err != nil {
		return "", false, err
	}
	if err := t.identity(ctx); err != nil {
		return "", false, err
	}
	if err := t.stage(ctx); err != nil {
		return "", false, err
	}
	head, err = t.commit(ctx, "HEAD")
	if err != nil && !errors.Is(err, thread.ErrNotFound) {
		return "", false, err
	}
	than := head
	if than == "" {
		than = t.emptyTree(ctx)
	}
	changed, err = t.unstageForeign(ctx, than)
	return head, changed, err
}

// unstageForeign resets what is not ours to commit to the content of a tree, and reports whether anything else is
// staged.
func (t tree) unstageForeign(ctx context.Context, than string) (changed bool, err error) {
	out, err := t.run(ctx, git.Call{
		Args: []string{"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", than, "--"},
	})
	if err != nil {
		return false, err
	}
	var back bytes.Buffer
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		old := strings.Fields(strings.TrimPrefix(f[i], ":"))
		switch {
		case len(old) != 5:
			return false, fmt.Errorf("git diff-index wrote %q", git.Printable(f[i]))
		case !git.IsForeign(f[i+1]):
			changed = true
		default:
			fmt.Fprintf(&back, "%s %s\t%s\x00", strings.Replace(old[0], "000000", "0", 1), old[2], f[i+1])
		}
	}
	if back.Len() > 0 {
		_, err = t.run(ctx, git.Call{Args: []string{"update-index", "-z", "--index-info"}, Stdin: &back, Durable: true})
	}
	return changed, err
}

func (t tree) emptyTree(ctx context.Context) string {
	out, err := t.line(ctx, "hash-object", "-t", "tree", "--stdin")
	if err != nil {
		return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	}
	return out
}

func checkMessage(message string) (string, error) {
	message = strings.TrimSpace(message)
	switch {
	case message == "":
		return "", thread.Kindf(thread.ErrInvalid, "empty commit message")
	case len(message) > maxMessage:
		return "", fmt.Errorf("commit message has %d bytes, the limit is %d: %w",
			len(message), maxMessage, thread.ErrInvalid)
	case strings.ContainsRune(message, 0):
		return "", thread.Kindf(thread.ErrInvalid, "commit message contains a NUL byte")
	}
	return message + "\n", nil
}

// stage updates the index from the worktree.
func (t tree) stage(ctx context.Context) error {
	if err := t.unlocked(); err != nil {
		return err
	}
	out, err := t.run(ctx, git.Call{
		Args: []string{"diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"},
	})
	if err != nil {
		return err
	}
	var gone, there bytes.Buffer
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		if git.IsForeign(f[i+1]) {
			continue
		}
		to := &there
		if strings.HasSuffix(f[i], " D") {
			if strings.HasPrefix(f[i], ":160000 ") {
				continue // a submodule that is not checked out; git rm removes one
			}
			to = &gone
		}
		to.WriteString(f[i+1] + "\x00")
	}
	out, err = t.run(ctx, git.Call{Args: []string{"ls-files", "-z", "--others", "--exclude-standard"}})
	if err != nil {
		return err
	}
	for _, path := range git.Fields(out) {
		if !strings.HasSuffix(path, "/") && !git.IsForeign(path) { // another repository keeps its own history
			there.WriteString(path + "\x00")
		}
	}
	for _, step := range []struct {
		in   *bytes.Buffer
		args []string
	}{
		{&gone, []string{"update-index", "-z", "--force-remove", "--stdin"}},
		{&there, []string{"update-index", "-z", "--add", "--replace", "--remove", "--stdin"}},
	} {
		if step.in.Len() == 0 {
			continue
		}
		if _, err := t.run(ctx, git.Call{Args: step.args, Stdin: step.in, Durable: true}); err != nil {
			return err
		}
	}
	return nil
}
