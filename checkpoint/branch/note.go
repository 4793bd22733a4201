package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orchestrator/checkpoint/flock"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// noteName is a file in a worktree's own part of the repository. Who changes the worktree's branch holds a lock on it,
// git included, so that a git that outlives its server is waited for. It says what was begun and is empty otherwise:
// git writes files one by one, and one that is killed leaves some of them merged and one of them half.
const noteName = "orchestrator-merge"

// begun is what the note says: every file that it changes was as in Head when it began.
type begun struct {
	Op   string `json:"op"`
	Head string `json:"head"`
	Tip  string `json:"tip"`           // the commit to merge
	Own  string `json:"own,omitempty"` // tree with the person's uncommitted changes, where there are any
}

const (
	opMerge = "merge"
	opAbort = "abort" // of a merge with conflicts
)

// hold opens a worktree for a change, alone, and puts right what a killed one left. The caller closes its note.
func (m *Merger) hold(ctx context.Context, dir string) (tree, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return tree{}, err
	}
	if t.note, err = flock.Lock(ctx, filepath.Join(t.GitDir, noteName)); err != nil {
		return tree{}, err
	}
	sweep(t.temp)
	if err := t.repair(ctx); err != nil {
		t.note.Close()
		return tree{}, err
	}
	return t, nil
}

// Repair waits for a merge that still runs in a worktree, and puts right what one left that was killed: its files are
// again as in the worktree's last commit. A merge that stands there with its conflicts is left to the person.
func (m *Merger) Repair(ctx context.Context, into string) error {
	t, err := m.hold(ctx, into)
	if err != nil {
		return fmt.Errorf("repair merge: %w", err)
	}
	return t.note.Close()
}

// begin writes down what begins.
func (t tree) begin(b begun) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	_, err = t.note.WriteAt(raw, 0)
	return errors.Join(err, t.note.Sync())
}

// ended empties the note.
func (t tree) ended() error { return t.note.Truncate(0) }

// repair puts right what was begun and never ended.
func (t tree) repair(ctx context.Context) error {
	info, err := t.note.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	raw := make([]byte, min(info.Size(), 4096))
	if _, err := t.note.ReadAt(raw, 0); err != nil {
		return err
	}
	var b begun
	if json.Unmarshal(raw, &b) != nil || !git.IsObjectID(b.Head) || !git.IsObjectID(b.Tip) || (b.Own != "" && !git.IsObjectID(b.Own)) {
		return t.ended() // killed while it was written: nothing had begun
	}
	if err := t.takeBack(ctx, b); err != nil {
		return fmt.Errorf("take back what a %s left that was cut off: %w", b.Op, err)
	}
	return t.ended()
}

// takeBack brings a worktree back to before a merge, unless the merge is done or waits for the person.
func (t tree) takeBack(ctx context.Context, b begun) error {
	head, err := t.commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	under := t.inProgress() == "merge"
	if head != b.Head { // done, or the person went on
		parents, err := t.line(ctx, "rev-list", "--parents", "--max-count=1", head, "--")
		if err == nil && under && parents == head+" "+b.Head+" "+b.Tip {
			err = t.quit(ctx)
		}
		return err
	}
	if err := t.trusted(ctx); err != nil {
		return err
	}
	lock := filepath.Join(t.GitDir, "index.lock")
	if _, err := os.Lstat(lock); err == nil {
		return thread.Hint(fmt.Errorf("git is at work in %s, or was killed there: %w", t.Root, thread.ErrBusy), "remove "+lock+" when no git runs")
	}
	if under && b.Op == opMerge { // all is written
		if open, err := t.unmerged(ctx); err != nil || len(open) > 0 {
			return err
		}
	}
	if err := t.putRight(ctx, b); err != nil || !under {
		return err
	}
	if b.Op == opAbort {
		return t.undo(ctx)
	}
	return t.quit(ctx)
}

// quit has git forget that it is in the middle of a merge.
func (t tree) quit(ctx context.Context) error {
	_, err := t.run(ctx, git.Call{Args: []string{"merge", "--quit"}})
	return err
}

// putRight brings the files that are half written back, and those that git threw away: when it cannot go on, with a
// full disk say, it resets the worktree to its last commit.
func (t tree) putRight(ctx context.Context, b begun) error {
	tr, err := t.try(ctx, b.Head, b.Tip)
	if errors.Is(err, thread.ErrUnsupported) {
		return nil // what is half written is named by the next merge
	}
	if err != nil {
		return err
	}
	defer tr.close()
	torn, err := t.torn(ctx, b.Head, tr)
	if err != nil {
		return err
	}
	if err := t.putBack(ctx, b.Head, torn); err != nil || b.Own == "" {
		return err
	}
	own := &trial{scratch: tr.scratch, env: tr.env, result: b.Own}
	if own.changes, err = t.changes(ctx, nil, b.Head, b.Own); err != nil {
		return err
	}
	if torn, err = t.torn(ctx, b.Head, own); err != nil {
		return err
	}
	return t.restore(ctx, b.Own, torn, "--worktree")
}
