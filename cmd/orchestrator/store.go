package main

import (
	"context"
	"fmt"
	"path/filepath"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// backend is what every store offers.
type backend interface {
	thread.Store
	checkpoint.Deltas
}

// openStore is the store of a server with what its start found.
type openStore struct {
	backend
	// About names it for people: "SQLite, …/state.db".
	About string
	// Problems are what people should know: damage that was put aside.
	Problems []string
	Close    func() error
}

// newStore opens the store that the configuration asks for.
func newStore(ctx context.Context, p Project, c Config) (*openStore, error) {
	s, err := sqlite.Open(ctx, filepath.Join(p.StateDir(), "state.db"), sqlite.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	o := &openStore{backend: s, About: "SQLite, " + s.Path(), Close: s.Close}
	if r := s.Report(); r != nil {
		if r.Quarantined != "" {
			o.Problems = append(o.Problems, fmt.Sprintf("the database was damaged (%s) and lies in %s; %d threads with %d checkpoints were brought over",
				r.Cause, r.Quarantined, r.Threads, r.Checkpoints))
		}
		for _, d := range r.Dropped {
			o.Problems = append(o.Problems, "not readable any more: "+d)
		}
	}
	said, err := archive.Repair(ctx, s)
	o.Problems = append(o.Problems, said...)
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
	}
	return o, nil
}
