package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"orchestrator/thread"
)

// listen serves a stream of changes until the agent ends it.
func (c *call) listen(ctx context.Context) (json.RawMessage, error) {
	asked, err := asObject(c.params["notifications"])
	if err != nil {
		return nil, err
	}
	l := listener{id: c.id, out: c.out, wanted: map[string]bool{}}
	granted := object{}
	for _, ch := range changes() {
		if string(asked[ch.wanted]) == "true" {
			l.wanted[ch.notification] = true
			granted.set(ch.wanted, true)
		}
	}
	meta := encoded(map[string]any{metaSubscription: c.id})
	if err := c.out.Notify(ctx, "notifications/subscriptions/acknowledged",
		encoded(map[string]any{"_meta": meta, "notifications": granted})); err != nil {
		return nil, err
	}
	key := string(c.id)
	c.mu.Lock()
	c.listening[key] = l
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listening, key)
	}()
	select {
	case <-ctx.Done():
	case <-c.gateway.ctx.Done():
	}
	return encoded(map[string]any{"_meta": map[string]any{metaSubscription: c.id, metaServer: c.gateway.info()}}), nil
}

// Changed tells a thread's agent which of its lists have changed. One that has not asked for a list is not told of it,
// and neither is one whose list is still the same: each change costs the agent its prompt cache.
func (g *Gateway) Changed(id thread.ID) {
	for _, s := range g.of(id) {
		for _, ch := range changes() {
			if s.changed(ch.list) {
				s.tell(ch.notification)
			}
		}
	}
}

// changed reports whether a list differs from the one that the agent was last given or told of.
func (s *session) changed(list string) bool {
	_, all := s.listOf(list)
	now := s.digestOf(list, all)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, asked := s.known[list]
	s.known[list] = now
	return asked && before != now
}

// tell sends a notification of a change in the agent's era.
func (s *session) tell(notification string) {
	s.mu.Lock()
	if notification == changes()[0].notification {
		s.notified = time.Now()
	}
	ready, out := s.ready, s.out
	listening := maps.Clone(s.listening)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.gateway.ctx, 5*time.Second)
	defer cancel()
	if ready && out != nil {
		_ = out.Notify(ctx, notification, nil) // an agent that is gone needs none
	}
	for _, l := range listening {
		if l.wanted[notification] {
			_ = l.out.Notify(ctx, notification, encoded(map[string]any{"_meta": map[string]any{metaSubscription: l.id}}))
		}
	}
}

// of returns the sessions of a thread.
func (g *Gateway) of(id thread.ID) []*session {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*session
	for s := range g.sessions {
		if s.id == id {
			all = append(all, s)
		}
	}
	return all
}
