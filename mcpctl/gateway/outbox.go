package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
)

// maxQueued is how many bytes of notifications may wait for an agent; more are dropped.
const maxQueued = 1 << 20

// errBusy is why a notification is dropped.
var errBusy = errors.New("the agent does not read")

// outbox is an outlet that sends notifications in their order and does not wait for it: neither a server that reports
// progress to several agents nor a person who switches waits for an agent that does not read.
type outbox struct {
	outlet
	session *session

	// mu guards the fields below; it is held for moments only.
	mu    sync.Mutex
	queue []notice
	size  int           // of the queue
	sent  chan struct{} // closed when the queue is empty; nil while nothing is being sent
}

type notice struct {
	method string
	params json.RawMessage
}

// newOutbox returns an outlet of a session.
func (s *session) newOutbox(o outlet) *outbox { return &outbox{outlet: o, session: s} }

// Notify implements outlet. That a list has changed is never dropped, but told once if it waits already.
func (o *outbox) Notify(_ context.Context, method string, params json.RawMessage) error {
	n := notice{method, params}
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.HasSuffix(method, "/list_changed") {
		same := func(other notice) bool { return other.method == method && bytes.Equal(other.params, params) }
		if slices.ContainsFunc(o.queue, same) {
			return nil
		}
	} else if o.size+len(params) > maxQueued {
		return errBusy
	}
	if o.sent == nil && !o.session.gateway.start(o.send) {
		return errEnded
	} else if o.sent == nil {
		o.sent = make(chan struct{})
	}
	o.queue = append(o.queue, n)
	o.size += len(params)
	return nil
}

// send sends until the queue is empty.
func (o *outbox) send() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			close(o.sent)
			o.sent, o.queue = nil, nil
			o.mu.Unlock()
			return
		}
		n := o.queue[0]
		o.queue = o.queue[1:]
		o.size -= len(n.params)
		o.mu.Unlock()
		_ = o.outlet.Notify(o.session.ctx, n.method, n.params) // an agent that is gone needs none
	}
}

// flush waits until what was put in is sent.
func (o *outbox) flush(ctx context.Context) {
	o.mu.Lock()
	sent := o.sent
	o.mu.Unlock()
	if sent == nil {
		return
	}
	select {
	case <-sent:
	case <-ctx.Done():
	}
}
