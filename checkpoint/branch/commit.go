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

// Commit commits all that a worktree holds, untracked files included and ignored ones not, and returns its HEAD;
// that is the old one when there was nothing to commit. Repositories inside the worktree are left out, and what is
// git.Foreign, also where somebody has staged it.
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

// stageAll stages what is to be committed, and returns the HEAD, "" for an unborn one, and whether that differs.
func (t tree) stageAll(ctx context.Context) (head string, changed bool, err error) {
	if what := t.inProgress(); what != "" {
		return "", false, thread.Hint(fmt.Errorf("%s is in the middle of a %s: %w", t.Root, what, thread.ErrConflict),
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

// unstageForeign sets what is not ours to commit back to what a tree has, and reports whether anything else is staged.
func (t tree) unstageForeign(ctx context.Context, than string) (changed bool, err error) {
	out, err := t.run(ctx, git.Call{Args: []string{"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", than, "--"}})
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
		return "", fmt.Errorf("the message is empty: %w", thread.ErrInvalid)
	case len(message) > maxMessage:
		return "", fmt.Errorf("the message is %d bytes long, at most %d are allowed: %w", len(message), maxMessage, thread.ErrInvalid)
	case strings.ContainsRune(message, 0):
		return "", fmt.Errorf("the message holds a NUL byte: %w", thread.ErrInvalid)
	}
	return message + "\n", nil
}

// stage brings the index to what lies in the worktree.
func (t tree) stage(ctx context.Context) error {
	if err := t.unlocked(); err != nil {
		return err
	}
	out, err := t.run(ctx, git.Call{Args: []string{"diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"}})
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
				continue // a submodule that is not checked out; git rm takes one away
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
		if !strings.HasSuffix(path, "/") && !git.IsForeign(path) { // another repository: it keeps its own history
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
