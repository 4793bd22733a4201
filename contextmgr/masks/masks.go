// Package masks stores which contents of conversations are masked, and those contents.
//
// Each thread has a folder with a log and a folder of outputs. The log is the truth: it has every decision with the
// contents that it masks. A batch is one record: after a crash it is there whole, or not at all, and it is durable, also
// across a power cut, when Add returns. What is masked stays so, with the same text, and nothing is removed from a log.
//
// The outputs are copies for the thread's agent, which may read that folder: one file for each content, readable by its
// owner only, as plain text. Whatever an agent does to them, the log still has the contents: files that are missing or
// different are written again when a thread's masks are opened or a content is read.
//
// A fork begins with the masks that its parent has at that moment. They name the parent's outputs, so these stay for as
// long as any thread's masks name them.
package masks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Config configures a store.
type Config struct {
	Log *slog.Logger // nil discards
}

// Store stores the masks of all threads of a project. Only one process may use a folder at a time.
type Store struct {
	folder *private.Folder
	log    *slog.Logger

	mu   sync.Mutex // guards sets; a set's lock is taken while it is held, never the other way round
	sets map[thread.ID]*Set
}

// Open returns the store in a folder, which Close closes.
func Open(folder *private.Folder, cfg Config) *Store {
	return &Store{
		folder: folder, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)), sets: map[thread.ID]*Set{},
	}
}

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folder.Close()
}

// Thread returns the masks of a thread. One without any begins with those that its parent has now; a parent that is
// gone, or "", has none.
func (s *Store) Thread(id, parent thread.ID) (*Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thread(id, parent)
}

// thread is Thread. The caller holds mu.
func (s *Store) thread(id, parent thread.ID) (*Set, error) {
	if set := s.sets[id]; set != nil {
		return set, nil
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	set, err := openSet(s.folder, id, s.log)
	if err != nil {
		return nil, fmt.Errorf("open the masks of %s: %w", id, err)
	}
	if set.fresh && parent != "" && parent != id && s.exists(parent) {
		from, err := s.thread(parent, "")
		if err == nil {
			err = set.inherit(from)
		}
		if err != nil {
			return nil, fmt.Errorf("take over the masks of %s: %w", parent, err)
		}
	}
	s.sets[id] = set
	return set, nil
}

// exists reports whether a thread has masks.
func (s *Store) exists(id thread.ID) bool {
	folder, err := s.folder.Open(string(id))
	if err != nil {
		return false
	}
	defer folder.Close()
	return folder.Check(logName) == nil
}

// checkID refuses what is no name of a folder.
func checkID(id thread.ID) error {
	if id == "" || string(id) != filepath.Base(string(id)) || strings.HasPrefix(string(id), ".") {
		return fmt.Errorf("%q is not the id of a thread: %w", id, thread.ErrInvalid)
	}
	return nil
}

// Open returns a content by its token. It is what was masked, whatever has become of the file.
func (s *Store) Open(token thread.Token) (Mask, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.threads()
	if err != nil {
		return Mask{}, nil, err
	}
	// Those that have the copy come first: the others need not be read.
	slices.SortStableFunc(ids, func(a, b thread.ID) int { return cmp.Compare(s.copies(b, token), s.copies(a, token)) })
	for _, id := range ids {
		set, err := s.thread(id, "")
		if err != nil {
			return Mask{}, nil, err
		}
		if mask, ok := set.named(token); ok {
			content, err := set.content(mask)
			return mask, content, err
		}
	}
	return Mask{}, nil, fmt.Errorf("nothing is masked as %s: %w", token, thread.ErrNotFound)
}

// copies returns 1 if a thread has the copy of a content, otherwise 0.
func (s *Store) copies(id thread.ID, token thread.Token) int {
	folder, err := s.folder.Open(string(id))
	if err != nil {
		return 0
	}
	defer folder.Close()
	outputs, err := folder.Open(outputsName)
	if err != nil {
		return 0
	}
	defer outputs.Close()
	file, err := outputs.File(fileName(token), os.O_RDONLY)
	if err != nil {
		return 0
	}
	_ = file.Close() // nothing was written
	return 1
}

// threads returns the threads that have masks.
func (s *Store) threads() ([]thread.ID, error) {
	entries, err := s.folder.List()
	if err != nil {
		return nil, fmt.Errorf("list the masks: %w", err)
	}
	var ids []thread.ID
	for _, e := range entries {
		if e.IsDir() && checkID(thread.ID(e.Name())) == nil {
			ids = append(ids, thread.ID(e.Name()))
		}
	}
	return ids, nil
}

// Sweep removes the masks of threads that do not exist any more, unless those of another thread name their outputs. It
// returns of how many, and how many bytes they had.
func (s *Store) Sweep(exists func(thread.ID) bool) (removed int, bytes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.threads()
	if err != nil {
		return 0, 0, err
	}
	named := map[string]bool{}
	var gone []thread.ID
	for _, id := range ids {
		if !exists(id) {
			gone = append(gone, id)
			continue
		}
		set, err := s.thread(id, "")
		if err != nil {
			return 0, 0, err // what it names is not known
		}
		for _, dir := range set.Dirs() {
			named[dir] = true
		}
	}
	for _, id := range gone {
		if named[s.folder.Path(string(id), outputsName)] {
			continue
		}
		n, err := s.size(id)
		if err == nil {
			err = s.folder.RemoveAll(string(id))
		}
		delete(s.sets, id)
		if err != nil {
			return removed, bytes, fmt.Errorf("remove the masks of %s: %w", id, err)
		}
		removed, bytes = removed+1, bytes+n
	}
	return removed, bytes, nil
}

// Size returns how many threads have masks, and how many bytes these take.
func (s *Store) Size() (threads int, bytes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, err := s.threads()
	for _, id := range ids {
		n, sizeErr := s.size(id)
		err = errors.Join(err, sizeErr)
		bytes += n
	}
	return len(ids), bytes, err
}

// size returns the bytes in a thread's folder.
func (s *Store) size(id thread.ID) (bytes int64, err error) {
	folder, err := s.folder.Open(string(id))
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	folders := []*private.Folder{folder}
	if outputs, err := folder.Open(outputsName); err == nil {
		defer outputs.Close()
		folders = append(folders, outputs)
	}
	for _, f := range folders {
		entries, err := f.List()
		if err != nil {
			return bytes, err
		}
		for _, e := range slices.DeleteFunc(entries, fs.DirEntry.IsDir) {
			if info, err := e.Info(); err == nil { // else it has just been removed
				bytes += info.Size()
			}
		}
	}
	return bytes, nil
}
