package manager

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// noteStands is the note of the safety checkpoint that a displaced thread begins with.
const noteStands = "the folder as it was when the agent was started here; the files of turn %d were not restored"

// Imported returns what threads came without, also on the screen: their files, where their folders have others, and what
// the snapshots of them do not have.
func (m *Lifecycle) Imported(ctx context.Context, ids []thread.ID) []thread.LeftOut {
	left := m.displaced(ctx, ids)
	looked := map[string]bool{} // trees
	for _, id := range ids {
		l := m.registry.run(id)
		if l == nil {
			continue
		}
		more, err := l.neverTaken(ctx, looked, left)
		if err != nil {
			m.cfg.Log.Warn("find out what the snapshots of a thread do not have", "thread", string(id), "err", err)
		}
		left = append(left, more...)
	}
	return left
}

// neverTaken returns what the files of a thread's newest turn lack: files that no snapshot takes, and contents that
// git-lfs keeps.
func (l *run) neverTaken(ctx context.Context, looked map[string]bool, known []thread.LeftOut) ([]thread.LeftOut, error) {
	t := l.live.thread()
	if t.Head == "" || !t.Deleted.IsZero() || !t.Archived.IsZero() {
		return nil, nil
	}
	was, err := l.past.SnapshotAt(ctx, t.Head)
	if err != nil || was == nil || looked[was.Tree] {
		return nil, err
	}
	looked[was.Tree] = true
	dir := l.cfg.rootOf(t)
	left := l.notices.skipped(thread.OpImport, l.live.id, dir, was.Skipped, known)
	f, ok := l.cfg.Merges.(thread.ContentFinder)
	if !ok {
		return left, nil
	}
	content, err := f.ContentLeft(ctx, dir, was.Commit)
	l.notices.tellLeftOut(thread.OpImport, l.live.id, content)
	return append(left, content...), err
}

// displaced returns which threads came to folders that do not have their files, also on the screen.
func (m *Lifecycle) displaced(ctx context.Context, ids []thread.ID) []thread.LeftOut {
	var left []thread.LeftOut
	stands := map[string]thread.Snapshot{} // by folder
	for _, id := range ids {
		l := m.registry.run(id)
		if l == nil {
			continue
		}
		said, err := l.displaced(ctx, stands, len(ids) == 1)
		if err != nil {
			m.cfg.Log.Warn("compare a folder with the files of a thread", "thread", string(id), "err", err)
		}
		if said == nil {
			continue
		}
		if left = append(left, *said); len(left) <= tellAtMost {
			m.notices.post(id, thread.LevelWarn, "%s leaves out %s", thread.OpImport, said)
		}
	}
	if more := len(left) - tellAtMost; more > 0 {
		m.notices.post("", thread.LevelWarn, "%s leaves out the files of %s more", thread.OpImport, plaintext.Count(more, "thread"))
	}
	return left
}

// displaced returns which of a thread's files its folder does not have, nil if it has them or nothing is known of them.
func (l *run) displaced(ctx context.Context, stands map[string]thread.Snapshot, count bool) (*thread.LeftOut, error) {
	t := l.live.thread()
	if !t.Displaced || t.Head == "" || l.cfg.Worktrees == nil || !t.Deleted.IsZero() || !t.Archived.IsZero() {
		return nil, nil
	}
	left := &thread.LeftOut{Kind: thread.LeftFiles, Path: t.Dir}
	was, err := l.past.SnapshotAt(ctx, t.Head)
	if err != nil {
		return nil, err
	}
	if was == nil {
		left.Why = t.Name + " came without the files of its turns: none of them can be shown or restored"
		return left, nil
	}
	now, known := stands[t.Dir]
	if !known {
		if now, err = l.cfg.Worktrees.Take(ctx, l.live.id, t.Dir, was); errors.Is(err, thread.ErrNoRepository) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		stands[t.Dir] = now
	}
	if now.Tree == was.Tree {
		return nil, nil
	}
	differ := ""
	if count && l.cfg.Differ != nil {
		files, err := l.cfg.Differ.Diff(ctx, t.Dir, was.Commit, now.Commit)
		if err != nil {
			return nil, err
		}
		differ = " (different: " + plaintext.Count(len(files), "file") + ")"
	}
	left.Why = fmt.Sprintf("the folder is not as it was after turn %d of %s%s, whose next turn goes on from it as it is; "+
		"`orchestrator checkpoint restore --files %s %d` restores the files here, `orchestrator fork LABEL -t %s` in a "+
		"worktree of its own", t.Turn, t.Name, differ, t.Name, t.Turn, t.Name)
	return left, nil
}

// stand makes the folder of a displaced thread, as it is, what its next turn is compared with.
func (l *run) stand(ctx context.Context) error {
	t := l.live.thread()
	if !t.Displaced {
		return nil
	}
	if err := l.recorder.Stand(ctx, fmt.Sprintf(noteStands, t.Turn)); err != nil {
		l.notices.post(l.live.id, thread.LevelWarn,
			"%s: its folder could not be compared with the files of turn %d: the next turn shows their differences as its own: %v",
			t.DisplayName(), t.Turn, err)
	}
	return l.live.update(ctx, func(t *thread.Thread) error { t.Displaced = false; return nil })
}
