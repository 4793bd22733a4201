package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orchestrator/thread"
)

// Sizes is the exact size of a store's content, in bytes unless stated otherwise.
type Sizes struct {
	Threads     int // archived and deleted ones included
	Checkpoints int
	Content     int64 // plain records
	Packed      int64 // the same as stored
	Used        int64 // pages in use
	Free        int64 // free pages, which will be reused
	File        int64 // the database file
	Log         int64 // its -wal, which grows to a few megabytes and is reused
}

// Sizes returns the size of the store's content.
func (s *Store) Sizes(ctx context.Context) (Sizes, error) {
	var z Sizes
	var page, pages, free int64
	for query, to := range map[string][]any{
		"PRAGMA page_size": {&page}, "PRAGMA page_count": {&pages}, "PRAGMA freelist_count": {&free},
		"SELECT count(*) FROM thread": {&z.Threads},
		"SELECT count(*), coalesce(sum(raw), 0), coalesce(sum(length(data)), 0) FROM checkpoint": {
			&z.Checkpoints, &z.Content, &z.Packed,
		},
	} {
		if err := s.read.QueryRowContext(ctx, query).Scan(to...); err != nil {
			return z, s.health.translate(0, db(err))
		}
	}
	z.Used, z.Free = (pages-free)*page, free*page
	for path, to := range map[string]*int64{s.path: &z.File, s.path + "-wal": &z.Log} {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return z, fmt.Errorf("store sizes: %w", err)
		}
		if err == nil {
			*to = info.Size()
		}
	}
	return z, nil
}

// ThreadSizes returns the packed size of each thread's own checkpoints.
func (s *Store) ThreadSizes(ctx context.Context) (map[thread.ID]int64, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT t.id, coalesce(sum(length(c.data)), 0) + length(t.doc)
		FROM thread t LEFT JOIN checkpoint c ON c.thread = t.n GROUP BY t.n`)
	if err != nil {
		return nil, s.health.translate(0, db(err))
	}
	out := map[thread.ID]int64{}
	err = each(rows, func(scan func(...any) error) error {
		var id thread.ID
		var n int64
		err := scan(&id, &n)
		out[id] = n
		return err
	})
	return out, s.health.translate(0, err)
}

// Compact returns free pages to the file system, a few at a time so that writes continue in between.
func (s *Store) Compact(ctx context.Context) error {
	for {
		z, err := s.Sizes(ctx)
		if err != nil || z.Free == 0 {
			return err
		}
		err = s.do(ctx, 0, func(x *tx) error {
			return x.each("PRAGMA incremental_vacuum(256)", nil, func(func(...any) error) error { return nil })
		})
		if err != nil {
			return err
		}
		left, err := s.Sizes(ctx)
		if err != nil || left.Free >= z.Free {
			return err
		}
	}
}
