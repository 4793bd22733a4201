package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// exclusive lets one use case at a time work on the repository. Who waits can give up, and is told for what it waits.
type exclusive struct {
	slot chan struct{}
	// programs names the person's programs that git waits for now, such as a signer.
	programs func() []string
	// freed hears that nobody has it any more. Set once, before it is used; it must not block.
	freed func()

	mu      sync.Mutex
	what    string // the use case that has it
	threads []thread.ID
}

// explainAfter is how long one waits for another use case before it is looked whether that waits for a program.
const explainAfter = 5 * time.Second

func newExclusive(programs func() []string) *exclusive {
	return &exclusive{slot: make(chan struct{}, 1), programs: programs}
}

// take waits for the others. It refuses where the one that has it waits for a program of the person's itself.
func (e *exclusive) take(ctx context.Context, what string, threads ...thread.ID) (release func(), err error) {
	look := time.NewTicker(explainAfter)
	defer look.Stop()
	for {
		select {
		case e.slot <- struct{}{}:
			e.mu.Lock()
			e.what, e.threads = what, threads
			e.mu.Unlock()
			return e.release, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", e.holder(), context.Cause(ctx))
		case <-look.C:
			if waits := e.waits(); waits != "" {
				return nil, thread.Hint(fmt.Errorf("%s has not finished: it is waiting for %s: %w", e.holder(), waits, thread.ErrBusy),
					"answer that program, or end that verb with ctrl+c")
			}
		}
	}
}

func (e *exclusive) release() {
	e.mu.Lock()
	e.what, e.threads = "", nil
	e.mu.Unlock()
	<-e.slot
	if e.freed != nil {
		e.freed()
	}
}

// busy returns what works on a thread's files, "" if nothing does.
func (e *exclusive) busy(id thread.ID) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Contains(e.threads, id) {
		return e.what
	}
	return ""
}

func (e *exclusive) holder() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.what
}

func (e *exclusive) waits() string {
	if e.programs == nil {
		return ""
	}
	return strings.Join(e.programs(), ", ")
}

// free refuses to change a thread while a use case works on its files.
func (e *exclusive) free(id thread.ID) error {
	if what := e.busy(id); what != "" {
		return thread.Hint(fmt.Errorf("%s has not finished: %w", what, thread.ErrBusy), "wait for it, or end that verb with ctrl+c")
	}
	return nil
}
