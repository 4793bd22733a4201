package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// numbers assigns the numbers of snapshot refs.
type numbers struct {
	mu   sync.Mutex
	next map[string]int // by common folder and thread: the next one that may be free
}

// add points the next numbered ref of a thread to a commit.
func (ns *numbers) add(ctx context.Context, repo *repository.Repository, id thread.ID, commit string) (string, error) {
	key := repo.Git.Common + "\x00" + string(id)
	for range tries {
		n, err := ns.free(ctx, repo, key, id)
		if err != nil {
			return "", err
		}
		n = repo.SkipTaken(id, n)
		ref := repository.RefName(id, n)
		err = repo.UpdateRefs(ctx, "create "+ref+"\x00"+commit+"\x00")
		if err == nil {
			ns.mu.Lock()
			ns.next[key] = n + 1
			ns.mu.Unlock()
			return ref, nil
		}
		var said *git.Error
		if !errors.As(err, &said) || !strings.Contains(said.Stderr, "already exists") {
			return "", err
		}
		ns.mu.Lock() // another process was faster: count again
		delete(ns.next, key)
		ns.mu.Unlock()
	}
	return "", fmt.Errorf("number snapshot of thread %s: another process takes every number", id)
}

// free returns a number that may be free.
func (ns *numbers) free(ctx context.Context, repo *repository.Repository, key string, id thread.ID) (int, error) {
	ns.mu.Lock()
	n := ns.next[key]
	ns.mu.Unlock()
	if n > 0 {
		return n, nil
	}
	refs, err := repo.Refs(ctx, repository.Namespace+string(id)+"/")
	if err != nil {
		return 0, err
	}
	return repository.NextNumber(refs, id), nil
}
