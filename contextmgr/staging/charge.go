package staging

import (
	"io/fs"

	"orchestrator/thread"
)

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
