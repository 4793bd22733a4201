package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/manifest"
	"orchestrator/thread"
)

// Hub runs servers.
type Hub struct {
	env  *env
	told chan struct{} // closed when everything has been told
	stop chan struct{} // closed to end telling

	mu       sync.Mutex // guards the fields below; held for moments
	backends map[key]*backend
	closed   bool
}

// New returns a hub. Close ends it.
func New(cfg Config) *Hub {
	h := &Hub{env: newEnv(cfg), backends: make(map[key]*backend), told: make(chan struct{}), stop: make(chan struct{})}
	go func() {
		defer close(h.told)
		h.env.deliver(h.stop)
	}()
	return h
}

// backend returns the server that a client uses.
func (h *Hub) backend(s Server, c Client) (*backend, error) {
	k, dir := key{hash: s.Hash, thread: c.Thread()}, c.Dir()
	if s.Definition.Options.Share == definition.ByProject {
		k.thread, dir = "", cmp.Or(s.Dir, h.env.config.Dir)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	b := h.backends[k]
	if b == nil {
		b = newBackend(h.env, k, s, dir)
		h.backends[k] = b
		return b, nil
	}
	b.mu.Lock()
	b.server = s // its name and options may have changed; its launch has not
	b.mu.Unlock()
	return b, nil
}

// Call sends a request to a server, which is started if it does not run. An error response is returned as *rpc.Error. An
// error that wraps rpc.ErrUnsure means that the request may have taken effect.
func (h *Hub) Call(ctx context.Context, s Server, c Client, method string, params json.RawMessage) (json.RawMessage, error) {
	b, err := h.backend(s, c)
	if err != nil {
		return nil, err
	}
	return b.call(ctx, c, method, params)
}

// Manifest returns what a server offers. It is started only if that is not known.
func (h *Hub) Manifest(ctx context.Context, s Server, c Client) (manifest.Manifest, error) {
	if m, ok := h.Cached(s); ok {
		return m, nil
	}
	b, err := h.backend(s, c)
	if err != nil {
		return manifest.Manifest{}, err
	}
	if _, err := b.ready(ctx); err != nil {
		return manifest.Manifest{}, fmt.Errorf("list what a server offers: %w", err)
	}
	m, ok := h.Cached(s)
	if !ok {
		return manifest.Manifest{}, fmt.Errorf("%s: its lists were removed", s.ID)
	}
	return m, nil
}

// Cached returns what a server offers if that is known. It never starts it.
func (h *Hub) Cached(s Server) (manifest.Manifest, bool) { return h.env.config.Manifests.Get(s.Hash) }

// Prewarm starts a server in the background.
func (h *Hub) Prewarm(s Server, c Client) {
	b, err := h.backend(s, c)
	if err != nil {
		return // it is told by calls
	}
	b.prewarm()
}

// of returns the backends that are meant, in a fixed order.
func (h *Hub) of(meant func(key) bool) []*backend {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*backend
	for k, b := range h.backends {
		if meant(k) {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b *backend) int {
		return cmp.Or(cmp.Compare(a.key.hash, b.key.hash), cmp.Compare(a.key.thread, b.key.thread))
	})
	return all
}

// each does something with backends at the same time and returns when all is done.
func each(all []*backend, do func(*backend) error) error {
	errs := make([]error, len(all))
	var work sync.WaitGroup
	for i, b := range all {
		work.Go(func() { errs[i] = do(b) })
	}
	work.Wait()
	return errors.Join(errs...)
}

// Restart ends the servers of a hash, forgets how often they have failed, and starts those again that ran or were to
// run.
func (h *Hub) Restart(ctx context.Context, hash string) error {
	return each(h.of(func(k key) bool { return k.hash == hash }), func(b *backend) error { return b.restart(ctx) })
}

// Stop ends the servers of a hash and returns when nothing of them is left. Calls under way may end with ErrStopped. The
// next call starts them again.
func (h *Hub) Stop(hash string) {
	_ = each(h.of(func(k key) bool { return k.hash == hash }), func(b *backend) error {
		b.stop("it was stopped", false, false)
		return nil
	})
}

// Forget ends the servers that a thread does not share and returns when nothing of them is left.
func (h *Hub) Forget(id thread.ID) {
	if id == "" {
		return
	}
	all := h.of(func(k key) bool { return k.thread == id })
	h.mu.Lock()
	for _, b := range all {
		delete(h.backends, b.key)
	}
	h.mu.Unlock()
	_ = each(all, func(b *backend) error {
		b.stop("its thread has ended", true, false)
		return nil
	})
}

// States returns the state of every server that has been used since the hub began.
func (h *Hub) States() []State {
	all := h.of(func(key) bool { return true })
	if len(all) == 0 {
		return nil
	}
	memory := h.env.config.Processes.Memory()
	states := make([]State, 0, len(all))
	for _, b := range all {
		b.mu.Lock()
		s := b.state()
		b.mu.Unlock()
		if s.PID != 0 {
			s.Bytes = memory[s.PID]
		}
		states = append(states, s)
	}
	return states
}

// Log returns the last lines that the servers of a hash printed beside messages, without anything that a terminal would
// act on.
func (h *Hub) Log(hash string) []string {
	var lines []string
	for _, b := range h.of(func(k key) bool { return k.hash == hash }) {
		lines = append(lines, b.log.Lines()...)
	}
	return lines
}

// Close ends all servers and returns when no process of them is left. When the context ends, they are killed.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		<-h.told
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.env.cancel()
	all := h.of(func(key) bool { return true })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = each(all, func(b *backend) error {
			b.stop("orchestrator has ended", true, false)
			return nil
		})
		h.env.work.Wait()
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("end the servers: %w", context.Cause(ctx))
		_ = each(all, func(b *backend) error {
			b.stop("orchestrator has ended", true, true)
			return nil
		})
		<-ended
	}
	close(h.stop)
	<-h.told
	return err
}
