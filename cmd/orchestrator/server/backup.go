package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/checkpoint/backup"
	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/thread"
)

// backupRoom is the name pattern of the folders in the state in which backups are assembled and unpacked.
const backupRoom = "backup-*"

// dropBackupRooms removes those left by a crash.
func dropBackupRooms(state string) error {
	left, err := filepath.Glob(filepath.Join(state, backupRoom))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Backup writes all threads to a new file, while agents work.
func (p transfer) Backup(ctx context.Context, r thread.TransferRequest) (kept thread.BackupReport, err error) {
	dir, err := os.MkdirTemp(p.spool, backupRoom)
	if err != nil {
		return kept, fmt.Errorf("back up: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := backup.Backup{
		About: backup.About{Program: buildinfo.Version(), Created: time.Now(), Project: p.project, Redacted: !r.WithSecrets}, Dir: dir,
	}
	if p.files != nil && !r.NoFiles {
		b.Snapshots, kept.Files = p.files.Save, true
	}
	notes := p.carry.all(&b, &kept)
	var done backup.Copied
	err = writeFile(r.File, func(w io.Writer) (err error) { done, err = b.Write(ctx, p.store, w); return })
	if err != nil {
		return kept, err
	}
	kept.File, kept.Threads, kept.Checkpoints, kept.Secrets, kept.Notes = r.File, len(done.Threads), done.Checkpoints,
		r.WithSecrets, append(done.Notes, notes()...)
	if spooled, unsaved := p.manager.Threads.Refused(); spooled+unsaved > 0 {
		kept.Notes = append(kept.Notes,
			fmt.Sprintf("%d answers that are not in the store yet are missing from it", spooled+unsaved))
	}
	info, err := os.Stat(r.File)
	if err == nil {
		kept.Bytes = info.Size()
	}
	return kept, err
}

// RestoreBackup restores the threads of a backup that do not exist here.
func (p transfer) RestoreBackup(ctx context.Context, r thread.TransferRequest) (kept thread.BackupReport, err error) {
	f, err := openRegular(r.File)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = thread.Kindf(thread.ErrNotFound, "no file %s", r.File)
		}
		return kept, fmt.Errorf("restore: %w", err)
	}
	defer f.Close()
	dir, err := os.MkdirTemp(p.spool, backupRoom)
	if err != nil {
		return kept, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	carried := p.carry.outOf(ctx, func(thread.ID) bool { return true })
	in := backup.Restore{
		File: r.File, Dir: dir, Now: time.Now(), Staged: carried.Staged, Masks: carried.Masks, Undo: carried.Undo,
	}
	recorded := p.carry.work.back(&in, &kept)
	if p.files != nil && !r.NoFiles {
		in.Snapshots = func(ctx context.Context, bundle string, ids []thread.ID) error {
			_, err := p.files.Load(ctx, bundle, ids)
			return err
		}
	}
	in.Place = func(ctx context.Context, about backup.About, t thread.Thread) (thread.Thread, error) {
		t, note := p.settle(ctx, about.Project, t)
		if note != "" {
			kept.Notes = append(kept.Notes, note)
		}
		return t, nil
	}
	about, done, err := in.Read(ctx, p.store, f)
	var ids []thread.ID
	for _, t := range done.Threads { // including those shown before an error
		if _, aerr := p.manager.Threads.Adopt(ctx, t.ID); aerr != nil {
			err = errors.Join(err, aerr)
		}
		ids = append(ids, t.ID)
	}
	kept.LeftOut = p.manager.Lifecycle.Imported(ctx, ids)
	kept.File, kept.Threads, kept.Checkpoints = r.File, len(done.Threads), done.Checkpoints
	for _, t := range done.Existing {
		kept.Existing = append(kept.Existing, t.Name)
		switch {
		case !t.Deleted.IsZero():
			kept.Deleted = append(kept.Deleted, t.Name)
		case !t.Archived.IsZero():
			kept.Archived = append(kept.Archived, t.Name)
		}
	}
	kept.Secrets, kept.Files, kept.Notes = !about.Redacted, in.Snapshots != nil, slices.Concat(kept.Notes, done.Notes, carried.Notes(), recorded())
	return kept, err
}

// settle adapts a thread of a backup to this folder: where its agent runs, and a new worktree with the files of its
// last checkpoint if the old one is gone. The note says what it could not do.
func (p transfer) settle(ctx context.Context, was string, t thread.Thread) (thread.Thread, string) {
	if t.Agent != "" {
		t.Agent = p.known(t.Agent)
	}
	if !t.Deleted.IsZero() {
		return t, "" // its folders stay deleted
	}
	if t.Once.From != "" { // a run was at work in a place of its own
		t.Dir, t.Once.From = t.Once.From, ""
	}
	t.Displaced = true // unless it gets its files below
	if old := t.Worktree; old.Path != "" {
		if isFolder(old.Path) {
			return t, ""
		}
		made, err := p.worktree(ctx, t)
		if err == nil {
			t.Displaced = false
			t.Worktree, t.Dir = made, within(t.Dir, old.Path, made.Path)
			return t, ""
		}
		t.Worktree, t.Dir = thread.Worktree{}, p.project
		return t, fmt.Sprintf("%s lost its worktree and now works in %s: %v", t.Name, p.project, err)
	}
	if t.Dir = within(t.Dir, was, p.project); !isFolder(t.Dir) {
		t.Dir = p.project
	}
	return t, ""
}

// worktree creates a worktree with the files of a thread's last checkpoint.
func (p transfer) worktree(ctx context.Context, t thread.Thread) (made thread.Worktree, err error) {
	if p.files == nil || t.Head == "" {
		return made, errors.New("its files are not in the backup")
	}
	head, err := p.store.Checkpoint(ctx, t.Head)
	if err != nil {
		return made, err
	}
	if head.Snapshot == nil {
		return made, errors.New("its last checkpoint has no files")
	}
	all, err := p.files.Finder.Made(ctx)
	if made, ok := all[t.ID]; err != nil || ok { // by an interrupted restore
		return made, err
	}
	for _, name := range []string{t.Name, thread.NewName(t.Label), thread.NewName(t.Label)} {
		if made, err = p.files.Add(ctx, t.ID, p.project, name, *head.Snapshot); !errors.Is(err, thread.ErrNameTaken) {
			break
		}
	}
	return made, err
}

// within maps a path inside the folder was to the folder now. It returns now if the path is not inside was.
func within(path, was, now string) string {
	if !git.Within(path, was) {
		return now
	}
	return filepath.Join(now, strings.TrimPrefix(path, was))
}
