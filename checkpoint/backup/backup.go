// Package backup writes all threads of a project to one file, and restores them from it.
//
// The file is a tar archive: "about" (JSON: the layout, who wrote it, when, from which folder), "threads.db" (a store
// of package sqlite, whichever store the project uses) with its "threads.db-mark", "snapshots.bundle" (a git bundle of
// the files that were kept, if any), "staged/<thread>" (the data that its agent has staged; "staged/project" is the
// person's), "masks/<thread>" (what is masked of its conversation), "work" (the record of work, in the format of package
// workfile) and, last, "sums", the SHA-256 of each. Threads,
// checkpoints and prompts keep their ids, and so do the refs of the snapshots: forked, pinned, archived and deleted
// threads remain so. Staged data and masks are streams of the caller's, as in package archive; a backup without them has
// layout 1, which older programs read, and one without a record of work layout 2.
//
// A backup is made while the store is in use: each thread is copied as of one moment, with all of its ancestors.
//
// Restore verifies every sum before it writes anything, but that of the record of work, whose lines have their own. It leaves existing threads as they are, and makes the others
// visible only when all of their checkpoints and files are stored. What a crash leaves incomplete is rolled back at the
// store's next start (see archive.Repair).
//
// A backup is for its owner only: a thread in it says which program runs for it. Grants are not restored.
package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

const (
	layout  = 3
	carried = 2
	plain   = 1

	nameAbout  = "about"
	nameStore  = "threads.db"
	nameMark   = "threads.db-mark"
	nameBundle = "snapshots.bundle"
	nameSums   = "sums"

	maxAbout = 1 << 20
	maxSums  = 16 << 20 // two parts of each thread
)

// About describes a backup.
type About struct {
	Layout  int       `json:"layout"`
	Program string    `json:"program"` // program version that wrote it
	Created time.Time `json:"created"`
	Project string    `json:"project"` // the folder of the project
	// Redacted is set if secrets were redacted in conversations.
	Redacted bool `json:"redacted,omitempty"`
}

// Source is a store to back up.
type Source interface {
	Store
	OpenExecutions(context.Context) ([]thread.Execution, error)
}

// Backup describes how to write a backup.
type Backup struct {
	About
	Dir string // an exclusive folder of the caller, removed afterwards
	// Snapshots writes a git bundle of the stored files and returns the number of its refs; nil for none.
	Snapshots func(context.Context, io.Writer) (int, error)
	// Staged writes the data that a thread's agent has staged, or for "" what belongs to no thread, and Masks what is
	// masked of a thread, whose parents come before it; nil for none. They leave out secrets themselves.
	Staged, Masks func(thread.ID, io.Writer) error
	// Work writes the record of work, and leaves out secrets itself. It says whether there is any. Nil for none.
	Work func(context.Context, io.Writer) (bool, error)
}

// Write writes a backup. The output before an error is not a backup.
func (b Backup) Write(ctx context.Context, from Source, w io.Writer) (Copied, error) {
	done, err := b.write(ctx, from, w)
	if err != nil {
		return done, fmt.Errorf("back up: %w", err)
	}
	return done, nil
}

func (b Backup) write(ctx context.Context, from Source, w io.Writer) (Copied, error) {
	runs, err := from.OpenExecutions(ctx)
	if err != nil {
		return Copied{}, err
	}
	file := filepath.Join(b.Dir, nameStore)
	store, err := sqlite.Open(ctx, file, sqlite.Options{InOrder: true})
	if err != nil {
		return Copied{}, err
	}
	c := copying{from: from, to: store, now: b.Created, redact: b.Redacted, running: map[thread.ID]bool{}}
	for _, x := range runs {
		c.running[x.Thread] = true
	}
	done, err := c.run(ctx)
	if err := errors.Join(err, store.Close()); err != nil {
		return done, err
	}
	parts, err := writers{b.Staged, b.Masks}.write(b.Dir, done.Threads)
	if err != nil {
		return done, err
	}
	recorded, err := writeWork(ctx, b.Dir, b.Work)
	if err != nil {
		return done, err
	}
	b.Layout = layoutOf(parts, recorded)
	t := &writer{tar: tar.NewWriter(w), now: b.Created, sums: map[string]string{}}
	about, err := json.Marshal(b.About)
	if err == nil {
		err = t.bytes(nameAbout, about)
	}
	if err == nil {
		err = t.file(nameStore, file)
	}
	if err == nil {
		err = t.file(nameMark, filepath.Join(b.Dir, nameMark))
	}
	if err == nil && b.Snapshots != nil {
		err = b.bundle(ctx, t)
	}
	for _, p := range parts {
		if err == nil {
			err = t.file(p.name(), p.file)
		}
	}
	if err == nil && recorded != "" {
		err = t.file(nameWork, recorded)
	}
	if err == nil {
		var sums []byte
		if sums, err = json.Marshal(t.sums); err == nil {
			err = t.bytes(nameSums, sums)
		}
	}
	return done, errors.Join(err, t.tar.Close())
}

// layoutOf returns the oldest layout that has what a backup has.
func layoutOf(parts []part, recorded string) int {
	switch {
	case recorded != "":
		return layout
	case len(parts) > 0:
		return carried
	default:
		return plain
	}
}

// bundle adds the snapshots, if there are any.
func (b Backup) bundle(ctx context.Context, t *writer) error {
	name := filepath.Join(b.Dir, nameBundle)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := b.Snapshots(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil || n == 0 {
		return err
	}
	return t.file(nameBundle, name)
}

// writer writes entries and keeps their checksums.
type writer struct {
	tar  *tar.Writer
	now  time.Time
	sums map[string]string
}

func (w *writer) entry(name string, size int64, in io.Reader) error {
	h := tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: w.now.UTC().Truncate(time.Second), Format: tar.FormatGNU,
	}
	if err := w.tar.WriteHeader(&h); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w.tar, sum), in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	w.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

func (w *writer) bytes(name string, b []byte) error {
	return w.entry(name, int64(len(b)), bytes.NewReader(b))
}

func (w *writer) file(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return w.entry(name, info.Size(), f)
}

// Restore describes how to restore a backup.
type Restore struct {
	File string // its name, for people
	Dir  string // an exclusive folder of the caller, removed afterwards
	Now  time.Time
	// Snapshots imports the refs of threads from a git bundle; nil ignores the bundle.
	Snapshots func(ctx context.Context, bundle string, ids []thread.ID) error
	// Staged and Masks import what Backup's functions of these names wrote, the former first, and parents before their
	// forks; the zero values ignore it. A thread whose parent's masks are not its own has Masks read an empty stream.
	Staged, Masks archive.Part
	// CheckWork reads all of the record of work before anything is written, and Work imports it once all threads are
	// restored; nil ignores it. Whole is false if it does not match its checksum.
	CheckWork func(io.Reader) error
	Work      func(ctx context.Context, f io.ReaderAt, size int64, whole bool) error
	// Undo removes what they stored for a thread that was not restored after all; nil for nothing.
	Undo func(thread.ID) error
	// Place adapts a thread to its new location: its folder, its worktree, its agent. It runs once the thread's
	// checkpoints and files are restored.
	Place func(context.Context, About, thread.Thread) (thread.Thread, error)
}

// Read restores the threads of a backup that are not in the store. Nothing is written before the whole file was
// checked.
func (r Restore) Read(ctx context.Context, to Store, in io.Reader) (About, Copied, error) {
	about, done, err := r.read(ctx, to, in)
	if err != nil {
		return about, done, fmt.Errorf("restore %s: %w", r.File, err)
	}
	return about, done, nil
}

func (r Restore) read(ctx context.Context, to Store, in io.Reader) (about About, done Copied, err error) {
	about, parts, whole, err := r.unpack(in)
	carried := readers{r.Staged, r.Masks}
	if err == nil {
		err = carried.check(parts)
	}
	if err == nil && r.CheckWork != nil {
		err = readWork(r.Dir, func(f *os.File, _ int64) error { return r.CheckWork(f) })
	}
	if err != nil {
		return about, done, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(r.Dir, nameStore), sqlite.Options{InOrder: true})
	if err != nil {
		return about, done, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if store.Report() != nil {
		return about, done, fmt.Errorf("%s: %w", nameStore, thread.ErrDamaged)
	}
	c := copying{from: store, to: to, file: r.File, now: r.Now, undo: r.Undo}
	c.carry = func(threads []thread.Thread) (replaced, error) { return carried.carry(parts, threads) }
	c.place = func(ctx context.Context, t thread.Thread) (thread.Thread, error) {
		t.Grants = nil
		return r.Place(ctx, about, t)
	}
	bundle := filepath.Join(r.Dir, nameBundle)
	if _, err := os.Lstat(bundle); err == nil && r.Snapshots != nil {
		c.before = func(ctx context.Context, ids []thread.ID) error { return r.Snapshots(ctx, bundle, ids) }
	}
	if done, err = c.run(ctx); err == nil && r.Work != nil {
		err = readWork(r.Dir, func(f *os.File, size int64) error { return r.Work(ctx, f, size, whole) })
	}
	return about, done, err
}

// unpack checks the whole file and writes its parts into the folder. Whole is false if the record of work does not match
// its checksum.
func (r Restore) unpack(in io.Reader) (about About, parts []part, whole bool, err error) {
	t, sums := tar.NewReader(bufio.NewReader(in)), map[string]string{}
	bad := func(format string, args ...any) (About, []part, bool, error) {
		return about, nil, false, thread.Kindf(thread.ErrInvalid, format, args...)
	}
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return bad("checksums missing: the file is truncated")
		case err != nil && len(sums) == 0:
			return bad("not an orchestrator backup, or cut off")
		case err != nil:
			return bad("after %d entries: %w", len(sums), err)
		}
		order := map[string]int{nameAbout: 0, nameStore: 1, nameMark: 2, nameBundle: 3}
		at, known := order[h.Name]
		p, isPart := parsePart(h.Name)
		_, twice := sums[h.Name]
		switch {
		case h.Name == nameSums && len(sums) >= 3:
			whole, err := r.compare(t, sums)
			return about, parts, whole, err
		case h.Typeflag != tar.TypeReg || twice || sums[nameWork] != "" ||
			!(known && at == len(sums) || (isPart || h.Name == nameWork) && len(sums) >= 3):
			return bad("unexpected entry %q", h.Name)
		}
		sum := sha256.New()
		switch {
		case isPart:
			parts = append(parts, p.in(r.Dir))
			err = keep(parts[len(parts)-1].file, io.TeeReader(t, sum))
		case at > 0 || h.Name == nameWork:
			err = keep(filepath.Join(r.Dir, h.Name), io.TeeReader(t, sum))
		default:
			var b []byte
			if b, err = io.ReadAll(io.LimitReader(io.TeeReader(t, sum), maxAbout)); err == nil {
				err = json.Unmarshal(b, &about)
			}
			if err == nil && (about.Layout < plain || about.Layout > layout) {
				return bad("layout %d is not supported, this program reads %d to %d", about.Layout, plain, layout)
			}
		}
		if err != nil {
			return bad("entry %q: %w", h.Name, err)
		}
		sums[h.Name] = hex.EncodeToString(sum.Sum(nil))
	}
}

// compare compares the stored checksums with those of what was read, and reports whether the record of work matches its
// own.
func (r Restore) compare(in io.Reader, read map[string]string) (whole bool, err error) {
	var want map[string]string
	if err := json.NewDecoder(io.LimitReader(in, maxSums)).Decode(&want); err != nil {
		return false, fmt.Errorf("entry %q: %w: %w", nameSums, err, thread.ErrInvalid)
	}
	for name, sum := range read {
		if want[name] != sum && name != nameWork {
			return false, fmt.Errorf("entry %q does not match its checksum: %w", name, thread.ErrDamaged)
		}
	}
	if len(want) != len(read) {
		return false, fmt.Errorf("only %d of %d entries: %w", len(read), len(want), thread.ErrDamaged)
	}
	return want[nameWork] == read[nameWork], nil
}

func keep(path string, in io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}
