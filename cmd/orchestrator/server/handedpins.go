package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// handedPins finds the staged data that agents of plans have handed over: it is kept for as long as the task that has it. It
// remembers what it has read, and reads all again from time to time, since tasks are removed.
type handedPins struct {
	store func() plan.Store

	mu    sync.Mutex // guards below; held while the store is read
	known map[string][]thread.Token
	named map[string]string // a version's id, as people know it
	whole time.Time         // when all was read
}

// handedAgain is how long what has been read counts.
const handedAgain = 6 * time.Hour

// find adds what needs staged data to what is known of that.
func (p *handedPins) find(ctx context.Context, into map[thread.Token][]string) error {
	store := p.store()
	if store == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := time.Since(p.whole) > handedAgain
	known, named := map[string][]thread.Token{}, map[string]string{}
	q := plan.HandOverQuery{Whole: 1, Limit: 1000}
	for reading := true; reading; {
		list, err := store.HandOvers(ctx, q)
		if errors.Is(err, work.ErrNoRecord) {
			return nil // nothing is handed over either
		}
		if err != nil {
			return fmt.Errorf("read what agents of plans have handed over: %w", err)
		}
		for _, h := range list {
			if _, before := p.known[h.ID]; before && !all {
				reading = false
				break
			}
			known[h.ID], named[h.ID] = h.Tokens(), fmt.Sprintf("version %d of %s of %s", h.Version, h.Agent, h.Task)
			q.Before = h.ID
		}
		reading = reading && len(list) == q.Limit
	}
	if all {
		p.known, p.named, p.whole = known, named, time.Now()
	} else {
		for id, tokens := range known {
			p.known[id], p.named[id] = tokens, named[id]
		}
	}
	for id, tokens := range p.known {
		for _, t := range tokens {
			into[t] = append(into[t], p.named[id])
		}
	}
	return nil
}
