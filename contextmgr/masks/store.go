package masks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"weak"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// keep is how many sets stay in memory that nothing uses.
const keep = 8

// Config configures a store; every field is optional.
type Config struct {
	Log *slog.Logger // by default nothing is logged
	// Notice shows people something about a thread. It must not use the store.
	Notice func(id thread.ID, text string)
	// Taken reports whether something else uses a token, such as staged data. It must not use the store.
	Taken func(thread.Token) bool
	// Seals keeps the seals of logs; nil for none: then a log that is shorter than it was is not noticed.
	Seals Seals
}

// Store stores the masks of all threads of a project. It is safe for concurrent use.
type Store struct {
	shelf *shelf

	mu     sync.Mutex // guards all below
	sets   map[thread.ID]*entry
	recent [keep]*Set
	next   int
}

// entry is the place of a thread's set, which is there while something uses it.
type entry struct {
	mu  sync.Mutex        // held while the set is read from its log
	set weak.Pointer[Set] // changed while Store.mu is held too
}

// Open returns the store in a folder, which Close closes. It reads nothing yet.
func Open(folder *private.Folder, cfg Config) *Store {
	log := cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	notice := func(id thread.ID, text string) {
		log.Warn("masks", "thread", string(id), "notice", text)
		if cfg.Notice != nil {
			cfg.Notice(id, text)
		}
	}
	c := newContents(&copies{folder: folder})
	return &Store{
		shelf: &shelf{
			contents: c, disk: realDisk(), tokens: newTokens(c.copies.tokens, cfg.Taken), writer: newWriter(c, log), log: log,
			notice: notice, seals: cfg.Seals,
		},
		sets: map[thread.ID]*entry{},
	}
}

// Has reports whether a token is in use.
func (s *Store) Has(t thread.Token) (bool, error) { return s.shelf.tokens.has(t) }

// Settle returns once all copies are written, as far as the disk allows.
func (s *Store) Settle() { s.shelf.writer.wait() }

// Close writes the copies that are not written yet, and closes the folder.
func (s *Store) Close() error {
	s.Settle()
	return s.shelf.copies.folder.Close()
}

// Thread returns the masks of a thread. One without any begins with what its parent has now, which is durable when
// Thread returns. With a parent that is gone, or "", it begins with nothing.
func (s *Store) Thread(id, parent thread.ID) (*Set, error) {
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	set, err := s.create(id)
	if err == nil && parent != "" && parent != id && !set.hasBegun() {
		var from *Set
		if from, err = s.load(parent); err == nil {
			err = set.begin(parent, from)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the masks of thread %s: %w", id, err)
	}
	return set, nil
}

// create returns the set of a thread, and makes the folder of one that is new. The caller holds sweeping.
func (s *Store) create(id thread.ID) (*Set, error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	folder, err := s.shelf.copies.folder.Make(string(id))
	if err == nil {
		folder.Close()
		var outputs *private.Folder
		if outputs, err = s.shelf.copies.makeOutputs(id); err == nil {
			outputs.Close()
			return s.load(id)
		}
	}
	return nil, explain(err, s.shelf.copies.folder.Path())
}

// load returns the set of a thread, nil if it has no folder. The caller holds sweeping.
func (s *Store) load(id thread.ID) (*Set, error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	e := s.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	if set := e.set.Value(); set != nil {
		return set, nil
	}
	folder, err := s.shelf.copies.folder.Open(string(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	folder.Close()
	set, err := openSet(s.shelf, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.set = weak.Make(set)
	s.recent[s.next%keep] = set
	s.next++
	return set, nil
}

// loaded returns the sets in memory.
func (s *Store) loaded() []*Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Set
	for _, e := range s.sets {
		if set := e.set.Value(); set != nil {
			all = append(all, set)
		}
	}
	return all
}

func (s *Store) entry(id thread.ID) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.sets[id]
	if e == nil {
		e = &entry{}
		s.sets[id] = e
	}
	return e
}
