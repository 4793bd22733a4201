package tokens

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"sync"

	"orchestrator/thread/private"
)

const (
	countsFile = "counts"
	// mostCounts is how many counts are kept: about 10 MB in memory and 4 MB in the file.
	mostCounts = 200_000
	// mostQueued bounds the bytes of the texts that wait to be counted, and jobSize is what each takes besides.
	mostQueued = 32 << 20
	jobSize    = 128
	// partSize is the length in bytes of the parts in which a long text is counted: so one without spaces takes little
	// memory, and Close need not wait for all of it.
	partSize = 64 << 10
)

// Counts knows the number of tokens of texts by an encoding and the SHA-256 of their content. Asking it never counts: a text that is
// not known is queued, and counted by one goroutine in the background, so that it is known at the next request.
//
// It is bounded: of 200,000 counts, those that were not used for longest are given up, and texts that do not fit into
// the queue are left out. The counts are in a file of the folder, written some minutes after a change and by Close.
// Only time is lost without it: one that is missing, damaged or not ours is as good as empty.
//
// It is safe for concurrent use. A count of a text of more than 64 KB may differ from Counter's by a token or two for
// each.
type Counts struct {
	counter *Counter
	folder  *private.Folder
	log     *slog.Logger
	keeper  *keeper
	room    int64 // of the queue, in bytes

	wake  chan struct{} // the queue is no longer empty
	stop  chan struct{}
	ended chan struct{}
	close func() error // once

	mu     sync.Mutex // guards all below; held for moments
	recent recent
	ratio  ratio
	queue  []job
	queued map[key]struct{} // in the queue, or being counted
	held   int64            // bytes of those
	closed bool
}

// job is a text to count.
type job struct {
	key      key
	encoding string
	text     string
}

func (j job) size() int64 { return int64(len(j.text)) + jobSize }

// OpenCounts returns the counts in a folder, which stays the caller's and must outlive them. They are read in the
// background. Stop it with Close.
func OpenCounts(folder *private.Folder, counter *Counter, log *slog.Logger) *Counts {
	return openCounts(folder, counter, log, mostCounts, mostQueued)
}

func openCounts(folder *private.Folder, counter *Counter, log *slog.Logger, limit int, room int64) *Counts {
	c := &Counts{
		counter: counter, folder: folder, log: log, room: room,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
		recent: newRecent(limit), ratio: newRatio(), queued: map[key]struct{}{},
	}
	c.keeper = newKeeper("token counts", log, c.write)
	c.close = sync.OnceValue(c.end)
	go c.run()
	return c
}

// Close stops counting, without what is still queued, and stores the counts. Known and Estimate answer even then.
func (c *Counts) Close() error { return c.close() }

func (c *Counts) end() error {
	c.mu.Lock()
	c.closed, c.queue = true, nil
	c.mu.Unlock()
	close(c.stop)
	<-c.ended
	return c.keeper.close()
}

// Known returns the number of tokens of the text with this hash, if it has been counted.
func (c *Counts) Known(encoding string, sum [32]byte) (n int64, ok bool) {
	c.mu.Lock()
	count, ok, moved := c.recent.get(keyOf(encoding, sum))
	c.mu.Unlock()
	if moved {
		c.keeper.changed()
	}
	return int64(count), ok
}

// Queue has a text counted that is not known; sum is its hash. It does not wait. A text for which there is no room, or
// that is already queued, is left out.
func (c *Counts) Queue(encoding string, sum [32]byte, text string) {
	j := job{keyOf(encoding, sum), encoding, text}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.held+j.size() > c.room {
		return
	}
	if _, ok := c.queued[j.key]; ok {
		return
	}
	if _, ok, _ := c.recent.get(j.key); ok {
		return
	}
	j.text = strings.Clone(text) // it may be part of something larger, which would be held too
	c.queue = append(c.queue, j)
	c.queued[j.key] = struct{}{}
	c.held += j.size()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Estimate returns how many tokens a text of that many bytes probably has, by what has been counted so far.
func (c *Counts) Estimate(bytes int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ratio.estimate(bytes)
}

// run reads the file and counts what is queued until Close.
func (c *Counts) run() {
	defer close(c.ended)
	c.read()
	for {
		j, ok := c.next()
		if ok {
			n, whole := c.count(j.encoding, j.text)
			c.done(j, n, whole)
			continue
		}
		select {
		case <-c.wake:
		case <-c.stop:
			return
		}
	}
}

// next takes the first text from the queue.
func (c *Counts) next() (job, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue = nil
		return job{}, false
	}
	j := c.queue[0]
	c.queue[0] = job{} // its text is not held by what remains of the array
	c.queue = c.queue[1:]
	return j, true
}

// count counts a text in parts. whole is not set if Close came in between.
func (c *Counts) count(encoding, text string) (n int64, whole bool) {
	for {
		select {
		case <-c.stop:
			return 0, false
		default:
		}
		part := text[:cut(text, partSize)]
		n += int64(c.counter.CountBy(encoding, part))
		if text = text[len(part):]; text == "" {
			return n, true
		}
	}
}

// done stores the count of a text that was taken from the queue.
func (c *Counts) done(j job, n int64, whole bool) {
	c.mu.Lock()
	delete(c.queued, j.key)
	c.held -= j.size()
	if whole {
		c.recent.put(entry{j.key, uint32(min(n, math.MaxUint32))})
		c.ratio.add(int64(len(j.text)), n)
	}
	c.mu.Unlock()
	if whole {
		c.keeper.changed()
	}
}

// read adds the counts of the file. Nothing else adds any before it returns.
func (c *Counts) read() {
	b, err := c.folder.Read(countsFile, int64(countsHead+2*mostCounts*entrySize))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	recent, r := newRecent(2*c.recent.half), ratio{}
	if err == nil {
		r, err = decodeCounts(b, recent.put)
	}
	if err != nil {
		c.log.Warn("read token counts: they will be counted again", "err", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent, c.ratio = recent, r
}

// write replaces the file.
func (c *Counts) write() error {
	c.mu.Lock()
	lists, r := c.recent.lists(), c.ratio
	c.mu.Unlock()
	if err := c.folder.Write(countsFile, encodeCounts(lists, r)); err != nil {
		return fmt.Errorf("store token counts: %w", err)
	}
	return nil
}
