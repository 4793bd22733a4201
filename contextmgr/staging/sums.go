package staging

import (
	"fmt"
	"sync"

	"orchestrator/thread"
)

const (
	// block is what a file takes on a disk at least, and documentRoom what a document does.
	block        = 4 << 10
	documentRoom = block
	// entriesOfThread and entriesOfAll are how many entries there may be: lists read each of them.
	entriesOfThread = 20_000
	entriesOfAll    = 100_000
)

// room is a number of entries, and what they take on a disk.
type room struct {
	entries int
	bytes   int64
}

// roomOf returns what an entry takes, with its document. Data with holes takes as much as it reads.
func roomOf(bytes int64) room {
	return room{entries: 1, bytes: documentRoom + (bytes+block-1)/block*block}
}

func (r room) with(more room) room { return room{r.entries + more.entries, r.bytes + more.bytes} }

func (r room) without(less room) room { return room{r.entries - less.entries, r.bytes - less.bytes} }

// sums is the room that entries take, so that neither a thread nor all of them together have more than their share. A
// quarter of all of it is the person's: no number of threads can use it up.
type sums struct {
	ofThread, ofAll int64 // the most bytes; 0 is no limit

	mu     sync.Mutex
	known  bool // what was there before the first entry is counted
	all    room
	thread map[thread.ID]room
}

// take takes room for an entry of a thread, or of the person if it has none. before counts what is there already.
func (s *sums) take(id thread.ID, more room, before func(func(thread.ID, room)) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.thread, s.all = map[thread.ID]room{}, room{}
		if err := before(s.add); err != nil {
			return err
		}
		s.known = true
	}
	if err := s.fits(id, more); err != nil {
		return err
	}
	s.add(id, more)
	return nil
}

// add counts room. The caller holds mu.
func (s *sums) add(id thread.ID, more room) {
	s.all, s.thread[id] = s.all.with(more), s.thread[id].with(more)
}

// fits returns an error if there is no such room. The caller holds mu.
func (s *sums) fits(id thread.ID, more room) error {
	all, entries, bytes := s.all.with(more), entriesOfAll, s.ofAll
	if id != "" {
		all, entries, bytes = all.without(s.thread[""]), entries-entries/4, bytes-bytes/4
		mine := s.thread[id].with(more)
		if s.ofThread > 0 && mine.bytes > s.ofThread {
			return full("the thread may have %s of staged data, and would have %s", "limits.stage_thread_mb", s.ofThread,
				mine.bytes)
		}
		if mine.entries > entriesOfThread {
			return many("the thread", entriesOfThread)
		}
	}
	if bytes > 0 && all.bytes > bytes {
		what := "this project may have %s of staged data, and would have %s"
		if id != "" {
			what = "the threads of this project may have %s of staged data, and would have %s"
		}
		return full(what, "limits.stage_total_mb", bytes, all.bytes)
	}
	if all.entries > entries {
		return many("the project", entries)
	}
	return nil
}

func full(what, setting string, may, would int64) error {
	return thread.Hint(fmt.Errorf(what+" with this: %w", thread.Bytes(may), thread.Bytes(would), thread.ErrLimit),
		"`orchestrator unstage` removes staged data; "+setting+" sets how much there may be")
}

func many(who string, most int) error {
	return thread.Hint(fmt.Errorf("%s has %d entries of staged data already: %w", who, most, thread.ErrLimit),
		"`orchestrator unstage` removes staged data; stage what belongs together as one entry")
}

// give gives room back.
func (s *sums) give(id thread.ID, less room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		return // it will not be counted
	}
	s.all, s.thread[id] = s.all.without(less), s.thread[id].without(less)
	if s.thread[id] == (room{}) {
		delete(s.thread, id)
	}
}
