package pack

import (
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// openedFor is how long a Packer keeps the threads that it opened for a list: while a server starts, several parts ask
// for the same list, and later nobody does.
const openedFor = 15 * time.Second

// openedThreads are the threads that were opened for a list, each with its source.
type openedThreads struct {
	mu sync.Mutex
	by map[thread.ID]openedThread // nil after openedFor
}

type openedThread struct {
	doc, sum string
	t        thread.Thread
}

func (o *openedThreads) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.by = nil
}

// get returns a thread that was opened from the same document and sum.
func (o *openedThreads) get(id thread.ID, doc, sum []byte) (thread.Thread, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k, ok := o.by[id]
	if !ok || k.doc != string(doc) || k.sum != string(sum) {
		return thread.Thread{}, false
	}
	return checkpoint.Unshared(k.t), true
}

func (o *openedThreads) put(t thread.Thread, doc, sum []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by != nil {
		o.by[t.ID] = openedThread{string(doc), string(sum), checkpoint.Unshared(t)}
	}
}
