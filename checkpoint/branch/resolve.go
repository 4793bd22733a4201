package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// InProgress reports whether a merge is in progress in a worktree.
func (m *Merger) InProgress(ctx context.Context, into string) (bool, error) {
	t, err := m.open(ctx, into)
	if err != nil {
		return false, fmt.Errorf("check for a merge: %w", err)
	}
	defer t.close()
	return t.inProgress() == "merge", nil
}

// Unresolved returns the paths with unresolved conflicts, none outside of a merge.
func (m *Merger) Unresolved(ctx context.Context, into string) ([]string, error) {
	t, err := m.open(ctx, into)
	if err != nil {
		return nil, fmt.Errorf("list conflicts: %w", err)
	}
	defer t.close()
	open, err := t.unmerged(ctx)
	if err != nil {
		return nil, fmt.Errorf("list conflicts: %w", err)
	}
	return open, nil
}

// Abort aborts an uncommitted merge; the worktree's own changes stay. Without one it does nothing.
func (m *Merger) Abort(ctx context.Context, into string) error {
	t, err := m.hold(ctx, into)
	if err != nil {
		return fmt.Errorf("abort merge: %w", err)
	}
	defer t.close()
	if err := t.abort(ctx); err != nil {
		return fmt.Errorf("abort merge: %w", err)
	}
	return nil
}

func (t tree) abort(ctx context.Context) error {
	stop, err := t.readNote()
	if err != nil {
		return err
	}
	if t.inProgress() != "merge" {
		return t.aborted(ctx, stop)
	}
	if err := t.trusted(ctx); err != nil {
		return err
	}
	head, err := t.commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	tip, code, err := t.code(ctx, git.Call{
		Args: []string{"rev-parse", "--verify", "--quiet", "MERGE_HEAD"}, OK: []int{1, 128},
	})
	if err != nil {
		return err
	}
	b := begun{Op: opAbort, Head: head, Tip: strings.TrimSpace(string(tip))}
	if stop.Head == b.Head && stop.Tip == b.Tip {
		b.Double = stop.Double
	}
	if code == 0 { // a killed git leaves it empty, and all files complete
		if err := t.begin(b); err != nil {
			return err
		}
	}
	if err := t.undo(ctx); err != nil {
		if stop.Op == opStop {
			return errors.Join(err, t.begin(stop)) // it waits as before
		}
		return errors.Join(err, t.ended())
	}
	failpoint.Hit("branch.abort.ended")
	if err := t.restoreUncommitted(ctx, b.Head, b.Double); err != nil {
		return err
	}
	return t.ended()
}

// aborted completes the abort of a stopped merge by the person's own git.
func (t tree) aborted(ctx context.Context, stop begun) error {
	if stop.Op != opStop {
		return nil
	}
	head, err := t.commit(ctx, "HEAD")
	if err == nil && head == stop.Head {
		err = t.restoreUncommitted(ctx, head, stop.Double)
	}
	return errors.Join(err, t.ended())
}

// Continue commits a merge whose conflicts are resolved; Conflicts names those that are not. A text file without
// conflict marks is resolved; anything else is once it was added with git.
func (m *Merger) Continue(ctx context.Context, into string) (thread.Merged, error) {
	t, err := m.hold(ctx, into)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("continue merge: %w", err)
	}
	defer t.close()
	done, err := t.continueMerge(ctx)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("continue merge: %w", err)
	}
	return done, nil
}

func (t tree) continueMerge(ctx context.Context) (thread.Merged, error) {
	if t.inProgress() != "merge" {
		return thread.Merged{}, thread.Kindf(thread.ErrRefused, "no merge is in progress in %s", t.Root)
	}
	if err := t.trusted(ctx); err != nil {
		return thread.Merged{}, err
	}
	if err := t.identity(ctx); err != nil {
		return thread.Merged{}, err
	}
	if err := t.unlocked(); err != nil {
		return thread.Merged{}, err
	}
	if err := t.stageResolved(ctx); err != nil {
		return thread.Merged{}, err
	}
	open, err := t.unmerged(ctx)
	if err != nil || len(open) > 0 {
		return thread.Merged{Conflicts: open}, err
	}
	failpoint.Hit("branch.continue.staged")
	_, err = t.run(ctx, git.Call{
		Args:    []string{"commit", "--quiet", "--no-verify", "--no-edit", "--cleanup=strip"},
		Config:  []string{"user.useConfigOnly=true"},
		Durable: true, Reflog: true,
	})
	if err != nil {
		return thread.Merged{}, unsigned(err)
	}
	commit, err := t.commit(ctx, "HEAD")
	return thread.Merged{Commit: commit}, err
}

// stageResolved adds the text files whose conflict marks are gone.
func (t tree) stageResolved(ctx context.Context) error {
	out, err := t.run(ctx, git.Call{Args: []string{"ls-files", "-z", "--unmerged"}})
	if err != nil {
		return err
	}
	stages := map[string]int{} // git writes marks for files that both sides have
	for _, line := range git.Fields(out) {
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) == 3 && (f[2] == "2" || f[2] == "3") && strings.HasPrefix(f[0], "100") {
			stages[path]++
		}
	}
	var in bytes.Buffer
	for path, n := range stages {
		if n == 2 && t.unmarked(path) {
			in.WriteString(path + "\x00")
		}
	}
	if in.Len() == 0 {
		return nil
	}
	plain, err := t.plainMerge(ctx, in.Bytes())
	if err != nil || len(plain) == 0 {
		return err
	}
	_, err = t.run(ctx, git.Call{
		Args: []string{"update-index", "-z", "--add", "--stdin"}, Stdin: bytes.NewReader(plain), Durable: true,
	})
	return err
}

// unmarked reports whether a file is text without conflict marks.
func (t tree) unmarked(path string) bool {
	abs := filepath.Join(t.Root, path)
	info, err := os.Lstat(abs)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<20 {
		return false
	}
	b, err := os.ReadFile(abs)
	if err != nil || bytes.ContainsRune(b, 0) {
		return false
	}
	b = append([]byte{'\n'}, b...)
	return !bytes.Contains(b, []byte("\n<<<<<<< ")) && !bytes.Contains(b, []byte("\n>>>>>>> "))
}

// plainMerge keeps the paths that git merges line by line: others never had marks.
func (t tree) plainMerge(ctx context.Context, paths []byte) ([]byte, error) {
	out, err := t.run(ctx, git.Call{Args: []string{"check-attr", "-z", "--stdin", "merge"}, Stdin: bytes.NewReader(paths)})
	if err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	f := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(f); i += 3 {
		switch f[i+2] {
		case "unspecified", "set", "text":
			plain.WriteString(f[i] + "\x00")
		}
	}
	return plain.Bytes(), nil
}
