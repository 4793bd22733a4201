package masks

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrator/thread"
)

// leftAfter is how long a copy without a record stays: its batch may be in the making, or a person is looking into it.
const leftAfter = time.Hour

// Sweep removes the folders of threads that do not exist any more, unless another thread needs their outputs, and
// copies that a crash has left without a record. It returns how many folders and copies these were, and their size.
// exists must know a thread before its masks are opened. If a log of a thread that exists cannot be read, nothing is
// removed.
func (s *Store) Sweep(exists func(thread.ID) bool) (removed int, bytes int64, err error) {
	ids, err := s.shelf.copies.threads()
	if err != nil {
		return 0, 0, err
	}
	gone := map[thread.ID]bool{}
	for _, id := range ids { // asked without a lock
		if !exists(id) {
			gone[id] = true
		}
	}
	s.shelf.writer.sweeping.Lock()
	defer s.shelf.writer.sweeping.Unlock()
	need, err := s.needs(gone)
	if err != nil {
		return 0, 0, fmt.Errorf("clean up the masks: %w", err)
	}
	var errs []error
	for _, id := range ids {
		var n int
		var size int64
		var err error
		if !gone[id] {
			n, size, err = s.dropLeft(id, need)
		} else if need.threads[id] == nil {
			n, size, err = s.dropThread(id)
		}
		removed, bytes = removed+n, bytes+size
		if err != nil {
			errs = append(errs, fmt.Errorf("clean up the masks of thread %s: %w", id, err))
		}
	}
	return removed, bytes, errors.Join(errs...)
}

// needs are what the logs of the threads that exist name.
type needs struct {
	threads map[thread.ID]map[thread.Token]bool // with their outputs
	damaged bool                                // not all is known
}

// needs reads the logs of the threads that exist. The caller holds sweeping exclusively.
func (s *Store) needs(gone map[thread.ID]bool) (needs, error) {
	n := needs{threads: map[thread.ID]map[thread.Token]bool{}}
	ids, err := s.shelf.copies.threads() // one may have come
	if err != nil {
		return n, err
	}
	need := func(id thread.ID) map[thread.Token]bool {
		if n.threads[id] == nil {
			n.threads[id] = map[thread.Token]bool{}
		}
		return n.threads[id]
	}
	for _, id := range ids {
		if gone[id] {
			continue
		}
		found, err := s.shelf.copies.scanLog(id, func(r record) {
			for _, home := range r.Needs {
				need(home)
			}
			if r.Kind == kindMask {
				home := r.Mask.Home
				if home == "" {
					home = id
				}
				need(home)[r.Mask.Token] = true
			}
		}, &sealing{})
		if err != nil {
			return n, fmt.Errorf("read what thread %s needs: %w", id, err)
		}
		n.damaged = n.damaged || found.damaged > 0
	}
	return n, nil
}

// dropLeft removes the copies of a thread that nothing names, unless they are new.
func (s *Store) dropLeft(id thread.ID, need needs) (removed int, bytes int64, err error) {
	if need.damaged {
		return 0, 0, nil // a damaged record may name it
	}
	files, err := s.shelf.copies.files(id)
	if err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, f := range files {
		if need.threads[id][f.token] || time.Since(f.at) < leftAfter {
			continue
		}
		if err := s.dropCopy(id, f.token); err != nil {
			errs = append(errs, err)
			continue
		}
		removed, bytes = removed+1, bytes+f.size
	}
	return removed, bytes, errors.Join(errs...)
}

func (s *Store) dropCopy(id thread.ID, t thread.Token) error {
	outputs, err := s.shelf.copies.outputs(id)
	if err != nil {
		return err
	}
	defer outputs.Close()
	return outputs.Remove(outputName(t))
}

// dropThread removes the folder of a thread. A set of it that is still in use stores nothing any more.
func (s *Store) dropThread(id thread.ID) (removed int, bytes int64, err error) {
	_, bytes, err = s.sizeOf(id)
	if err != nil {
		return 0, 0, err
	}
	s.forget(id)
	if err := s.shelf.copies.folder.RemoveAll(string(id)); err != nil {
		return 0, 0, err
	}
	return 1, bytes, nil
}

// forget marks the set of a thread as gone.
func (s *Store) forget(id thread.ID) {
	s.mu.Lock()
	e := s.sets[id]
	delete(s.sets, id)
	s.mu.Unlock()
	if e == nil {
		return
	}
	if set := e.set.Value(); set != nil {
		set.remove()
	}
}

// Size returns how many threads have masks of their own, and how many bytes the store has.
func (s *Store) Size() (threads int, bytes int64, err error) {
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	ids, err := s.shelf.copies.threads()
	if err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, id := range ids {
		n, size, err := s.sizeOf(id)
		if err != nil {
			errs = append(errs, fmt.Errorf("measure the masks of thread %s: %w", id, err))
		}
		if n > 0 {
			threads++
		}
		bytes += size
	}
	return threads, bytes, errors.Join(errs...)
}

// sizeOf returns how many copies a thread has, and the size of them and of its log.
func (s *Store) sizeOf(id thread.ID) (n int, bytes int64, err error) {
	files, err := s.shelf.copies.files(id)
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		bytes += f.size
	}
	log, err := s.shelf.copies.openLog(id)
	if errors.Is(err, fs.ErrNotExist) {
		return len(files), bytes, nil
	}
	if err != nil {
		return len(files), bytes, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return len(files), bytes, err
	}
	return len(files), bytes + info.Size(), nil
}
