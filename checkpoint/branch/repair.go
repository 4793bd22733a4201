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

// noteName is a file in a worktree's own part of the repository. Whoever changes the worktree's branch holds a lock on
// it, git included, so that a git that outlives its server is waited for. It says what has begun and is empty
// otherwise: git writes files one by one, and a killed git leaves some of them merged and one of them incomplete.
const noteName = "orchestrator-merge"

// begun is the content of the note: every file that it changes was as in Head when it began.
type begun struct {
	Op   string `json:"op"`
	Head string `json:"head"`
	Tip  string `json:"tip"`           // the commit to merge
	Own  string `json:"own,omitempty"` // tree with the person's uncommitted changes, if there are any
	// Double is a tree with those of them that the merge has too: aborting it would lose them.
	Double string `json:"double,omitempty"`
}

const (
	opMerge = "merge"
	opStop  = "stop"  // a merge waits with its conflicts; nothing is running
	opAbort = "abort" // of a merge with conflicts
)

// hold opens a worktree exclusively for a change, and repairs what a killed process left. The caller closes its note.
func (m *Merger) hold(ctx context.Context, dir string) (tree, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return tree{}, err
	}
	if t.note, err = flock.Lock(ctx, filepath.Join(t.GitDir, noteName)); err != nil {
		t.close()
		return tree{}, err
	}
	if err := t.shareNote(); err != nil {
		t.close()
		return tree{}, err
	}
	sweep(t.temp)
	sweep(m.state)
	if err := t.repair(ctx); err != nil {
		t.close()
		return tree{}, err
	}
	return t, nil
}

// shareNote makes the note writable for everyone who can write to its folder: in a repository shared by several users,
// the next one to merge needs the lock as well.
func (t tree) shareNote() error {
	folder, err := os.Stat(t.GitDir)
	if err != nil {
		return fmt.Errorf("share the lock: %w", err)
	}
	mode := os.FileMode(0o600)
	for _, who := range []os.FileMode{0o060, 0o006} {
		if folder.Mode().Perm()&who&0o022 != 0 {
			mode |= who
		}
	}
	note, err := t.note.Stat()
	if err == nil && note.Mode().Perm() != mode {
		err = t.note.Chmod(mode)
	}
	if err != nil && !errors.Is(err, os.ErrPermission) { // it belongs to another user, who has shared it
		return fmt.Errorf("share the lock: %w", err)
	}
	return nil
}

// Repair waits for a merge that still runs in a worktree, and repairs what a killed one left: its files are as in the
// worktree's last commit again. A merge with conflicts is left to the person.
func (m *Merger) Repair(ctx context.Context, into string) error {
	t, err := m.hold(ctx, into)
	if err != nil {
		return fmt.Errorf("repair merge: %w", err)
	}
	t.close()
	return nil
}

// begin records what begins.
func (t tree) begin(b begun) error {
	raw, err := json.Marshal(b)
	if err == nil {
		err = t.ended() // if it is killed in between, the note is empty, which is true before and after
	}
	if err != nil {
		return err
	}
	_, err = t.note.WriteAt(raw, 0)
	return errors.Join(err, t.note.Sync())
}

// ended empties the note.
func (t tree) ended() error { return t.note.Truncate(0) }

// repair repairs what has begun and never ended.
func (t tree) repair(ctx context.Context) error {
	b, err := t.readNote()
	switch {
	case err != nil:
		return err
	case b.Op == "":
		return t.ended() // nothing, or killed while it was written: nothing had begun
	case b.Op == opStop:
		return nil // it waits for the person
	}
	if err := t.rollBack(ctx, b); err != nil {
		return fmt.Errorf("roll back an interrupted %s: %w", b.Op, err)
	}
	return t.ended()
}

// readNote reads the note; its Op is empty if it says nothing.
func (t tree) readNote() (begun, error) {
	info, err := t.note.Stat()
	if err != nil || info.Size() == 0 {
		return begun{}, err
	}
	raw := make([]byte, min(info.Size(), 4096))
	if _, err := t.note.ReadAt(raw, 0); err != nil {
		return begun{}, err
	}
	var b begun
	if json.Unmarshal(raw, &b) != nil || !git.IsObjectID(b.Head) || !git.IsObjectID(b.Tip) ||
		(b.Own != "" && !git.IsObjectID(b.Own)) || (b.Double != "" && !git.IsObjectID(b.Double)) {
		return begun{}, nil
	}
	return b, nil
}

// rollBack rolls a worktree back to before a merge, unless the merge is complete or waits for the person.
func (t tree) rollBack(ctx context.Context, b begun) error {
	head, err := t.commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	under := t.inProgress() == "merge"
	if head != b.Head { // complete, or the person continued
		parents, err := t.line(ctx, "rev-list", "--parents", "--max-count=1", head, "--")
		if err == nil && under && parents == head+" "+b.Head+" "+b.Tip {
			err = t.quitMerge(ctx)
		}
		return err
	}
	if err := t.trusted(ctx); err != nil {
		return err
	}
	if err := t.unlocked(); err != nil {
		return err
	}
	if under && b.Op == opMerge { // everything is written
		if open, err := t.unmerged(ctx); err != nil || len(open) > 0 {
			return err
		}
	}
	if err := t.repairFiles(ctx, b); err != nil {
		return err
	}
	switch {
	case b.Op == opAbort && under:
		err = t.undo(ctx)
	case under:
		err = t.quitMerge(ctx)
	}
	if err != nil || b.Op != opAbort {
		return err
	}
	return t.restoreUncommitted(ctx, b.Head, b.Double)
}

// quitMerge makes git forget the merge in progress.
func (t tree) quitMerge(ctx context.Context) error {
	_, err := t.run(ctx, git.Call{Args: []string{"merge", "--quit"}})
	return err
}

// undo has git abort the merge in progress.
func (t tree) undo(ctx context.Context) error {
	if err := t.unlocked(); err != nil {
		return err
	}
	_, err := t.run(ctx, git.Call{Args: []string{"merge", "--abort"}, Durable: true, Reflog: true})
	return err
}

// repairFiles restores incomplete files, and those that git discarded: when it cannot continue, for instance on a full
// disk, it resets the worktree to its last commit.
func (t tree) repairFiles(ctx context.Context, b begun) error {
	tr, err := t.try(ctx, b.Head, b.Tip)
	if errors.Is(err, thread.ErrUnsupported) {
		return nil // the next merge reports incomplete files
	}
	if err != nil {
		return err
	}
	defer tr.close()
	torn, err := t.torn(ctx, b.Head, tr)
	if err != nil {
		return err
	}
	if err := t.resetFiles(ctx, b.Head, torn); err != nil {
		return err
	}
	return t.restoreUncommitted(ctx, b.Head, b.Own)
}

// restoreUncommitted restores uncommitted changes from a tree, "" for none, where only git has written since.
func (t tree) restoreUncommitted(ctx context.Context, head, own string) error {
	if own == "" {
		return nil
	}
	tmp, err := newScratch(t.temp)
	if err != nil {
		return err
	}
	defer tmp.remove()
	tr := &trial{scratch: tmp, result: own}
	if tr.changes, err = t.changes(ctx, nil, head, own); err != nil {
		return err
	}
	torn, err := t.torn(ctx, head, tr)
	if err != nil {
		return err
	}
	return t.restore(ctx, own, torn, "--worktree")
}
