package staging

import (
	"fmt"
	"io/fs"
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

// count counts the entries that there are. Data whose document cannot be read counts as the person's.
func (s *Store) count(add func(thread.ID, room)) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		stem, data := dataOf(f.Name())
		if !data {
			continue
		}
		d, err := s.read(stem)
		if err == nil && d.Gone.IsZero() && d.dataName() == f.Name() {
			add(d.Thread, roomOf(d.Bytes))
			continue
		}
		var info fs.FileInfo
		if info, err = f.Info(); err == nil && info.Mode().IsRegular() {
			add("", roomOf(info.Size()))
		}
	}
	return nil
}

// charge takes room for an entry while its data comes, chunk by chunk.
type charge struct {
	store *Store
	id    thread.ID
	took  room
}

// grow takes room for data of so many bytes in all.
func (c *charge) grow(bytes int64) error {
	more := roomOf(bytes).without(c.took)
	if more == (room{}) {
		return nil
	}
	if err := c.store.sums.take(c.id, more, c.store.count); err != nil {
		return err
	}
	c.took = c.took.with(more)
	return nil
}

// settle gives back what data of so many bytes does not take.
func (c *charge) settle(bytes int64) {
	over := c.took.without(roomOf(bytes))
	c.store.sums.give(c.id, over)
	c.took = c.took.without(over)
}

// back gives all of it back.
func (c *charge) back() { c.store.sums.give(c.id, c.took) }
