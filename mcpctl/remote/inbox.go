package remote

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"orchestrator/thread/ground/rpc"
)

// goodbyeTime is how long the last message of a call or session may take.
const goodbyeTime = 2 * time.Second

// inbox is the reading side of a stream: messages that have arrived, and why no more will.
type inbox struct {
	ctx    context.Context // ends with the stream
	cancel context.CancelFunc
	in     chan rpc.Message

	mu   sync.Mutex
	end  error
	work sync.WaitGroup // what runs until the stream ends
}

func newInbox() *inbox {
	ctx, cancel := context.WithCancel(context.Background())
	return &inbox{ctx: ctx, cancel: cancel, in: make(chan rpc.Message, 16)}
}

// Read implements rpc.Stream.
func (b *inbox) Read() (rpc.Message, error) {
	select {
	case m := <-b.in:
		return m, nil
	case <-b.ctx.Done():
	}
	select {
	case m := <-b.in: // it came before the end
		return m, nil
	default:
		return rpc.Message{}, b.why()
	}
}

// put waits until the message is read or the stream ends.
func (b *inbox) put(m rpc.Message) {
	select {
	case b.in <- m:
	case <-b.ctx.Done():
	}
}

// finish ends the stream. The first reason stays; it reports whether this is it.
func (b *inbox) finish(why error) bool {
	b.mu.Lock()
	first := b.end == nil
	if first {
		b.end = why
	}
	b.mu.Unlock()
	b.cancel()
	return first
}

func (b *inbox) why() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end
}

// run runs do beside, unless the stream has ended.
func (b *inbox) run(do func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return false
	}
	b.work.Go(do)
	return true
}

// cancellation tells the server that the response to a request is not wanted.
func cancellation(id json.RawMessage, why error) rpc.Message {
	params, err := json.Marshal(map[string]any{"requestId": id, "reason": why.Error()})
	if err != nil {
		params = nil // the id came from a message: it is JSON
	}
	return rpc.Message{Method: "notifications/cancelled", Params: params}
}
