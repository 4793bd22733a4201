package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/sqlite/raw"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	// markEnd and rescueEnd are the suffixes of the files beside the database.
	markEnd   = "-mark"
	rescueEnd = "-rescue"
	roomEnd   = "-room"
	// markPages is where the record of the newest commit is: with auto-vacuum, tables are at the front.
	markPages = 64
)

// onDisk is the store's files before SQLite has opened them. Nothing in this process has them open, so closing them
// drops no lock; see the house rules.
type onDisk struct {
	base, log *os.File // nil if missing
	size      int64    // of base
	page      int      // bytes
	frames    *raw.Log

	kept   mark.Mark // beside the database
	keptIs error     // why there is none
	id     mark.ID   // of the database that belongs here
	has    found     // in the file alone
	shows  found     // as SQLite would show it
	newest uint64    // of any valid frame
}

// found is a record of the newest commit, if there is one.
type found struct {
	mark.Mark
	ok bool
}

// inspect opens the files and changes nothing.
func inspect(dir *private.Folder, name string) (*onDisk, error) {
	l := &onDisk{page: pageSize}
	err := l.open(dir, name)
	if err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("inspect the database: %w", err), l.close())
	}
	return l, nil
}

func (l *onDisk) close() error {
	var errs []error
	for _, f := range []*os.File{l.base, l.log} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (l *onDisk) open(dir *private.Folder, name string) error {
	logSize := int64(0)
	for _, x := range []struct {
		end  string
		to   **os.File
		size *int64
	}{{"", &l.base, &l.size}, {"-wal", &l.log, &logSize}} {
		f, err := dir.File(name+x.end, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		*x.to = f
		info, err := f.Stat()
		if err != nil {
			return err
		}
		*x.size = info.Size()
	}
	if l.base != nil {
		l.page = raw.PageSize(l.base, pageSize)
	}
	l.frames = &raw.Log{PageSize: l.page}
	if l.log != nil {
		var err error
		if l.frames, err = raw.Scan(l.log, logSize, l.page); err != nil {
			return err
		}
		if l.size == 0 && l.frames.PageSize > 0 {
			l.page = l.frames.PageSize
		}
	}
	l.kept, l.keptIs = mark.Read(dir, name+markEnd)
	if l.keptIs != nil && !errors.Is(l.keptIs, fs.ErrNotExist) && !errors.Is(l.keptIs, thread.ErrDamaged) {
		return l.keptIs
	}
	return nil
}

// view is the database with a part of the log.
func (l *onDisk) view(frames []raw.Frame, skip map[uint32]bool) *raw.File {
	if l.base == nil {
		return raw.View(bytes.NewReader(nil), 0, l.page, l.frames, frames, skip)
	}
	return raw.View(l.base, l.size, l.page, l.frames, frames, skip)
}

// read finds the records of the newest commit.
func (l *onDisk) read() error {
	var err error
	if l.has, err = newestIn(l.view(nil, nil)); err != nil {
		return err
	}
	if l.shows, err = newestIn(l.view(l.frames.Frames[:l.frames.Taken], nil)); err != nil {
		return err
	}
	switch {
	case l.keptIs == nil:
		l.id = l.kept.DB
	case l.has.ok:
		l.id = l.has.DB
	default:
		l.id = l.shows.DB
	}
	for _, f := range l.frames.Frames {
		if !f.Sound || f.Page > markPages {
			continue
		}
		page, err := l.frames.Read(f)
		if err != nil {
			return err
		}
		if m, ok := mark.Find(page); ok && m.DB == l.id {
			l.newest = max(l.newest, m.Seq)
		}
	}
	return nil
}

func newestIn(f *raw.File) (found, error) {
	var newest found
	for n := uint32(2); n <= min(f.Pages, markPages); n++ {
		if f.Free(n) {
			continue
		}
		page, err := f.Page(n)
		if err != nil {
			return newest, err
		}
		if m, ok := mark.Find(page); ok && (!newest.ok || m.Seq > newest.Seq) {
			newest = found{m, true}
		}
	}
	return newest, nil
}

// foreign refuses a database of another program or of a newer version, before anything in it changes.
func (l *onDisk) foreign() error {
	f := l.view(l.frames.Frames[:l.frames.Taken], nil)
	app, version, ok := f.Numbers()
	switch {
	case !ok || l.size == 0:
		return nil // not a database, or a damaged one
	case app != application && !f.Empty() && !l.has.ok && !l.shows.ok:
		return errForeign(app)
	case app == application && version > schema:
		return errNewer(version)
	}
	return nil
}

// damage describes the damage, as far as it can be seen without SQLite; nil if there is none.
func (l *onDisk) damage() error {
	marked := l.keptIs == nil
	lost := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{sqlfile.ErrCheck}, args...)...)
	}
	switch {
	case l.size == 0 && (marked && l.kept.Seq > 0 || len(l.frames.Frames) > 0):
		return lost("the database file is missing or empty")
	case l.size == 0:
		return nil // the first start
	case l.has.ok && l.shows.DB != l.has.DB, marked && l.shows.ok && l.shows.DB != l.id && !l.has.ok:
		return lost("the log beside the database belongs to another database")
	case !l.shows.ok && marked && l.kept.Seq > 0:
		return lost("its record of the newest commit is unreadable")
	case !l.shows.ok:
		return nil // created before there were records
	case marked && l.shows.DB == l.id && l.shows.Seq < l.kept.Seq:
		return lost("its newest %d commits are missing: its log (-wal) is missing, truncated or damaged",
			l.kept.Seq-l.shows.Seq)
	case l.shows.Seq < l.has.Seq:
		return lost("its log (-wal) is older than the database, or damaged")
	case l.newest > l.shows.Seq+1:
		return lost("its log (-wal) is damaged before its end")
	}
	return nil
}

// replaced says that this is a valid database but not the previous one; "" otherwise.
func (l *onDisk) replaced() string {
	switch {
	case l.keptIs == nil && l.shows.ok && l.shows.DB != l.kept.DB:
		return "this is not the database that was used last"
	case l.keptIs != nil && l.shows.ok && l.shows.Seq > 0:
		return "the mark of the newest commit was missing: a loss of the newest commits would not have been noticed"
	}
	return ""
}

// expected is the number that the newest commit must have.
func (l *onDisk) expected() uint64 {
	seq := l.newest
	for _, m := range []found{{l.kept, l.keptIs == nil}, l.has, l.shows} {
		if m.ok && m.DB == l.id {
			seq = max(seq, m.Seq)
		}
	}
	return seq
}

// views are the combinations of database and log that may contain the most, the likeliest first.
func (l *onDisk) views() []*raw.File {
	all, taken, bad := l.frames.Frames, l.frames.Frames[:l.frames.Taken], l.frames.Bad()
	var views []*raw.File
	if l.shows.ok && l.shows.DB != l.id || l.has.ok && l.has.Seq > max(l.newest, l.shows.Seq) {
		all, taken = nil, nil // the log belongs to another database, or is older
	}
	views = append(views, l.view(all, nil))
	if len(bad) > 0 && len(all) > 0 {
		views = append(views, l.view(all, bad)) // the database may contain them already
	}
	if len(taken) > 0 && len(taken) < len(all) {
		views = append(views, l.view(taken, nil))
	}
	if len(all) > 0 && l.size > 0 {
		views = append(views, l.view(nil, nil))
	}
	return views
}
