package sqlite

import (
	"context"
	"database/sql"
	"runtime"

	"golang.org/x/sync/errgroup"

	"orchestrator/thread"
)

// listBatch is how many threads are opened by one goroutine.
const listBatch = 128

// listRow is a thread as it is stored, and what its record has.
type listRow struct {
	n        int64
	id, name string
	sum, doc []byte
	t        thread.Thread
	damage   error
}

// list reads all threads, oldest first. While more rows are read, the records of others are opened on all processors.
func (s *Store) list(ctx context.Context) ([]listRow, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT n, id, name, sum, doc FROM thread ORDER BY n")
	if err != nil {
		return nil, db(err)
	}
	var opening errgroup.Group
	opening.SetLimit(runtime.GOMAXPROCS(0))
	var batches [][]listRow
	batch := make([]listRow, 0, listBatch)
	hand := func() {
		if len(batch) == 0 {
			return
		}
		some := batch
		batches, batch = append(batches, some), make([]listRow, 0, listBatch)
		opening.Go(func() error {
			for i := range some {
				r := &some[i]
				r.t, r.damage = s.packer.OpenListed(thread.ID(r.id), r.doc, r.sum)
				r.sum, r.doc = nil, nil
			}
			return nil
		})
	}
	err = each(rows, func(scan func(...any) error) error {
		var r listRow
		var sum, doc sql.RawBytes
		if err := scan(&r.n, &r.id, &r.name, &sum, &doc); err != nil {
			return err
		}
		both := append(append(make([]byte, 0, len(sum)+len(doc)), sum...), doc...)
		r.sum, r.doc = both[:len(sum):len(sum)], both[len(sum):]
		if batch = append(batch, r); len(batch) == listBatch {
			hand()
		}
		return nil
	})
	hand()
	_ = opening.Wait() // damage is part of the rows
	if err != nil {
		return nil, err
	}
	all := make([]listRow, 0, len(batches)*listBatch)
	for _, some := range batches {
		all = append(all, some...)
	}
	return all, nil
}
