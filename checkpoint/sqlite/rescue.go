package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orchestrator/checkpoint/pack"
	"orchestrator/checkpoint/quarantine"
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/sqlite/raw"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
)

// rescue quarantines a damaged database and copies what verifies into a new one in its place. Until the new one is
// complete it has another name, so that an interrupted rescue starts again.
func rescue(
	ctx context.Context, dir *private.Folder, path string, now time.Time, cause error,
) (rep *Report, err error) {
	l, err := inspect(dir, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	rep, err = copyBest(ctx, l, path, cause)
	if err != nil {
		return nil, err
	}
	find, err := quarantine.New(dir, now)
	if err != nil {
		return nil, err
	}
	defer find.Close()
	rep.Quarantined = find.Path()
	if err := quarantine.Report(find, rep.String()); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh(path), path+rescueEnd); err != nil {
		return nil, fmt.Errorf("store: quarantine: %w", err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	failpoint.Hit("sqlite.rescue.copied")
	return rep, moveAside(find.Path(), path)
}

// fresh is the path of a rescue's new database.
func fresh(path string) string { return path + rescueEnd + "-new" }

// moveAside ends a rescue. The log goes first: alone it is harmless, but beside a new file it would be another
// database's.
func moveAside(find, path string) error {
	for _, end := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+end, filepath.Join(find, filepath.Base(path)+end))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: quarantine: %w", err)
		}
		failpoint.Hit("sqlite.rescue.moved")
	}
	if err := errors.Join(atomicfile.SyncDir(find), os.Rename(path+rescueEnd, path)); err != nil {
		return fmt.Errorf("store: quarantine: %w", err)
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// finishRescue completes a rescue that was interrupted after its new database was complete.
func finishRescue(dir *private.Folder, path string) (*Report, error) {
	if !sqlfile.Exists(path + rescueEnd) {
		return nil, nil
	}
	name, err := quarantine.Newest(dir)
	if err != nil {
		return nil, fmt.Errorf("finish the rescue: %w", err)
	}
	if name == "" { // the folder has been removed since: it is unknown what this is
		return nil, os.Remove(path + rescueEnd)
	}
	rep := &Report{Cause: "an earlier start found the damage and was interrupted during the repair",
		Quarantined: dir.Path(name)}
	return rep, moveAside(dir.Path(name), path)
}

// copyBest builds a new database from the view that has the most.
func copyBest(ctx context.Context, l *onDisk, path string, cause error) (*Report, error) {
	views := l.views()
	var best *Report
	most, built, at := -1, -1, 0
	for i, v := range views {
		rep, score, err := copyView(ctx, l, v, path, cause)
		if err != nil {
			return nil, err
		}
		if built = i; score > most {
			best, most, at = rep, score, i
		}
	}
	if at != built {
		var err error
		if best, _, err = copyView(ctx, l, views[at], path, cause); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// copyView copies what verifies of a view into a new database. The score counts it.
func copyView(
	ctx context.Context, l *onDisk, v *raw.File, path string, cause error,
) (rep *Report, score int, err error) {
	to := &Store{path: fresh(path), packer: pack.InOrder(), health: &health{path: fresh(path), whole: true}}
	image := path + rescueEnd + "-image"
	if err := removeAll(to.path, image); err != nil {
		return nil, 0, err
	}
	sqlfile.Create(to.path)
	if err := to.connect(ctx); err != nil {
		return nil, 0, err
	}
	rep = &Report{Cause: strings.TrimPrefix(cause.Error(), sqlfile.ErrCheck.Error()+": ")}
	s := &salvage{ctx: ctx, view: v, to: to, rep: rep, good: map[int64]int64{}, numbers: map[thread.ID]int64{},
		owners: map[int64]thread.ID{}, tx: &tx{ctx: ctx, db: to.writer, stmts: map[string]*sql.Stmt{}}}
	s.from, err = openImage(ctx, v, image)
	if err == nil {
		defer s.from.Close()
	} else if errors.Is(err, syscall.ENOSPC) {
		return nil, 0, errors.Join(err, to.disconnect())
	}
	err = s.all()
	s.tx.close()
	if err == nil {
		score = rep.Threads + rep.Checkpoints + s.seqs
		err = s.number(l)
	}
	// The last one to close folds the log in.
	return rep, score, errors.Join(err, to.disconnect(), removeAll(image))
}

// removeAll removes databases that an earlier rescue left.
func removeAll(paths ...string) error {
	for _, p := range paths {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(p + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("store: remove the remains of an earlier rescue: %w", err)
			}
		}
	}
	return nil
}

// openImage writes a view to a database file and opens it, for the small tables that SQLite must read.
func openImage(ctx context.Context, v *raw.File, image string) (*sql.DB, error) {
	f, err := os.OpenFile(image, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: rescue: %w", err)
	}
	_, err = v.WriteTo(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("store: rescue: %w", err)
	}
	u := url.URL{Scheme: "file", Path: image, RawQuery: "immutable=1&_query_only=1"}
	c := sql.OpenDB(sqlfile.Connector(u.String()))
	c.SetMaxOpenConns(1)
	var n int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n); err != nil {
		return nil, errors.Join(db(err), c.Close())
	}
	return c, nil
}

// writeReport writes a report on damage that was repaired in place, so that it is shown until a person has read it.
func (s *Store) writeReport(dir *private.Folder, now time.Time) error {
	if s.report == nil || s.report.Quarantined != "" {
		return nil
	}
	find, err := quarantine.New(dir, now)
	if err != nil {
		return err
	}
	return errors.Join(quarantine.Report(find, s.report.String()), find.Close())
}
