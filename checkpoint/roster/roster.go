// Package roster keeps a list of a project's threads beside its store.
//
// It is for the day when the store is lost or unreachable: which threads there were, with which agent, session and
// folder, up to which turn. It is a journal: one line per change, written after the store has acknowledged it and not
// synced, so it may lag and never leads. A truncated or damaged line is skipped; only that change is lost.
//
// The last line of a list that was ended says at which commit of the store: while both are as they were left, nobody has
// to read the list.
package roster

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	// mostLine is the maximum length of a line; a longer one is skipped.
	mostLine = 1 << 20
	// dead is how many bytes of superseded lines are kept before the file is rewritten.
	dead = 4 << 20
	// superseded is how many superseded lines are left in a small list at the start.
	superseded = 100
)

// entry is one line: a thread as it is now, or the id of one that is gone.
type entry struct {
	At     time.Time      `json:"at"`
	Thread *thread.Thread `json:"thread,omitempty"`
	Gone   thread.ID      `json:"gone,omitempty"`
	// Size is in the first line of a file that was written as a whole: how many bytes it then had.
	Size int64 `json:"size,omitempty"`
	// End is in the last line of a list that was ended: the store's commit that it has all of.
	End string `json:"end,omitempty"`
}

// Roster is the list. It is safe for concurrent use.
type Roster struct {
	dir  *private.Folder // the caller's
	name string

	mu      sync.Mutex // guards all below
	file    *os.File
	written int64                        // to file, since it was written as a whole
	lines   int                          // in the file as it was opened, 0 if it has to be rewritten at the next Set
	threads map[thread.ID]*thread.Thread // each is replaced, never changed
	partial bool                         // threads has only those that were put since; the file has all
	failed  bool                         // something is missing in the file
	ended   string                       // the commit at which the file ends, "" if something follows
	at      time.Time                    // of the newest line
}

// Open reads the list, which may be missing. It uses dir until Close.
func Open(dir *private.Folder, name string) (*Roster, error) {
	r := &Roster{dir: dir, name: name, threads: map[thread.ID]*thread.Thread{}}
	f, err := dir.File(name, os.O_RDONLY)
	if err == nil {
		r.lines = r.read(f)
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the list of threads: %w", err)
	}
	return r, nil
}

// read applies all lines and returns how many there are that are not empty.
func (r *Roster) read(f *os.File) (lines int) {
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, long, err := readLine(in)
		if len(line) > 0 || long {
			lines++
		}
		if !long {
			r.take(line)
		}
		if err != nil {
			return lines // the end, or the last readable line
		}
	}
}

// readLine returns a line without its end; long if it is not one of ours.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostLine; !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), long, err
		}
	}
}

// take applies a line; one that does not match its checksum is ignored.
func (r *Roster) take(line []byte) {
	e, ok := decode(line)
	if !ok {
		return
	}
	if e.Thread != nil && checkpoint.CheckThread(*e.Thread) == nil {
		r.threads[e.Thread.ID] = e.Thread
	}
	delete(r.threads, e.Gone)
	r.at = e.At
}

// decode reads a line, false if it is not one.
func decode(line []byte) (e entry, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte(" "))
	ok = ok && string(sum) == checksum(text) && json.Unmarshal(text, &e) == nil
	return e, ok
}

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

func encode(e entry) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("list a thread: %w", err)
	}
	return append(append([]byte(checksum(text)+" "), text...), '\n'), nil
}

// complete reads the file if it was not read. The caller holds mu.
func (r *Roster) complete() {
	if !r.partial {
		return
	}
	put, at := r.threads, r.at
	r.threads, r.partial = map[thread.ID]*thread.Thread{}, false
	if f, err := r.dir.File(r.name, os.O_RDONLY); err == nil {
		r.read(f)
		f.Close() // only read
	}
	maps.Copy(r.threads, put)
	if at.After(r.at) {
		r.at = at
	}
}

// Forget keeps the listed threads in the file only, until somebody asks for them.
func (r *Roster) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads, r.partial = map[thread.ID]*thread.Thread{}, true
}

// Threads returns the listed threads, oldest first, and the time of the last change.
func (r *Roster) Threads() ([]thread.Thread, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete()
	return r.selected(every), r.at
}

// Select returns the listed threads that match, oldest first.
func (r *Roster) Select(match func(*thread.Thread) bool) []thread.Thread {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete()
	return r.selected(match)
}

// Len returns the number of listed threads.
func (r *Roster) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete()
	return len(r.threads)
}

// Thread returns a listed thread.
func (r *Roster) Thread(id thread.ID) (t thread.Thread, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := r.threads[id]
	if listed == nil && r.partial {
		r.complete()
		listed = r.threads[id]
	}
	if listed == nil {
		return t, false
	}
	return *listed, true
}

// all returns the listed threads, oldest first. They must not be changed.
func (r *Roster) all() []*thread.Thread {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete()
	return r.matching(every)
}

func every(*thread.Thread) bool { return true }

// matching returns the threads that match, oldest first. The caller holds mu.
func (r *Roster) matching(match func(*thread.Thread) bool) (list []*thread.Thread) {
	for _, t := range r.threads {
		if match(t) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *thread.Thread) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// selected is Select. The caller holds mu.
func (r *Roster) selected(match func(*thread.Thread) bool) (list []thread.Thread) {
	for _, t := range r.matching(match) {
		list = append(list, *t)
	}
	return list
}

// Set replaces the list by the store's threads, durably. A file that lists just these, with few lines that are
// superseded, is not written again.
func (r *Roster) Set(list []thread.Thread, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete()
	r.failed = false
	if r.lists(list) {
		return r.sync()
	}
	r.threads, r.at = make(map[thread.ID]*thread.Thread, len(list)), now
	for _, t := range list {
		t = checkpoint.Unshared(t)
		r.threads[t.ID] = &t
	}
	return r.rewrite()
}

// lists reports whether the file lists just these threads. The caller holds mu.
func (r *Roster) lists(list []thread.Thread) bool {
	if r.file != nil || r.lines == 0 || r.lines > 2*len(list)+superseded || len(list) != len(r.threads) {
		return false
	}
	for i := range list {
		if listed := r.threads[list[i].ID]; listed == nil || !same(listed, &list[i]) {
			return false
		}
	}
	return true
}

// sync makes the file durable as it is: the server that appended to it may have been killed. The caller holds mu.
func (r *Roster) sync() error {
	f, err := r.dir.File(r.name, os.O_RDONLY)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the list of threads: %w", err)
	}
	return nil
}

// same reports whether a thread is written as another one is.
func same(a, b *thread.Thread) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	one, err1 := json.Marshal(a) // which does not tell an empty list from none
	two, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// rewrite replaces the file by one line per thread. The caller holds mu.
func (r *Roster) rewrite() error {
	var b bytes.Buffer
	r.ended = ""
	for _, t := range r.matching(every) {
		line, err := encode(entry{At: r.at, Thread: t})
		if err != nil {
			return err
		}
		b.Write(line)
	}
	if r.file != nil {
		r.file.Close() // it is replaced
		r.file = nil
	}
	first, err := encode(entry{At: r.at, Size: int64(b.Len())})
	if err == nil {
		err = r.dir.Write(r.name, append(first, b.Bytes()...))
	}
	if err != nil {
		r.failed = true
		return fmt.Errorf("write the list of threads: %w", err)
	}
	r.written, r.lines = 0, len(r.threads)+1
	return nil
}

// Put lists a thread as it is now.
func (r *Roster) Put(t thread.Thread, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads[t.ID] = &t
	return r.append(entry{At: now, Thread: &t})
}

// Advance moves a listed thread to a checkpoint that was put for it. known is false if the thread must be put instead,
// because it is in the file only.
func (r *Roster) Advance(c thread.Checkpoint, now time.Time) (known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.threads[c.Thread]
	if was == nil || was.Head == c.ID {
		return was != nil || !r.partial, nil
	}
	t := *was
	checkpoint.Advance(&t, c)
	r.threads[t.ID] = &t
	return true, r.append(entry{At: now, Thread: &t})
}

// Drop records that a thread is gone permanently, and is durable when it returns. Call it before the store drops the
// thread: one that is listed and not stored counts as lost.
func (r *Roster) Drop(id thread.ID, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.threads, id)
	if err := r.append(entry{At: now, Gone: id}); err != nil || r.file == nil { // rewritten as a whole, and synced
		return err
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("drop a thread from the list: %w", err)
	}
	return nil
}

// append writes one line. The caller holds mu.
func (r *Roster) append(e entry) error {
	r.at, r.ended = e.At, ""
	if r.written > dead {
		return r.compact(e)
	}
	line, err := encode(e)
	if err != nil {
		return err
	}
	if r.file == nil {
		if r.file, err = r.dir.File(r.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND); err != nil {
			r.failed = true
			return fmt.Errorf("list a thread: %w", err)
		}
		line = append([]byte("\n"), line...) // the last line may be incomplete
	}
	n, err := r.file.Write(line)
	if r.written += int64(n); err != nil {
		r.failed = true
		return fmt.Errorf("list a thread: %w", err)
	}
	return nil
}

// compact writes the file as a whole, with a change. The caller holds mu.
func (r *Roster) compact(e entry) error {
	was := r.partial
	r.complete()
	if e.Gone != "" {
		delete(r.threads, e.Gone)
	}
	err := r.rewrite()
	if was {
		r.threads, r.partial = map[thread.ID]*thread.Thread{}, true
	}
	return err
}

// Close syncs the list. The folder stays open.
func (r *Roster) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.file.Sync(), r.file.Close())
	r.file = nil
	if err != nil {
		return fmt.Errorf("close the list of threads: %w", err)
	}
	return nil
}
