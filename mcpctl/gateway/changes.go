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
	l := &listener{id: c.id, out: c.out, wanted: map[string]bool{}}
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
	c.session.mu.Lock()
	c.session.listening[l] = true
	c.session.mu.Unlock()
	defer func() {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		delete(c.session.listening, l)
	}()
	c.session.catchUp(l.tell)
	<-ctx.Done()
	return encoded(map[string]any{"_meta": map[string]any{metaSubscription: c.id, metaServer: c.session.gateway.info()}}), nil
}

// tell sends a notification if the listener wants it.
func (l *listener) tell(notification string) bool {
	return l.wanted[notification] && l.out.Notify(context.Background(), notification,
		encoded(map[string]any{"_meta": map[string]any{metaSubscription: l.id}})) == nil
}

// Changed tells a thread's agent which of its lists have changed. One that has not asked for a list is not told of it,
// and neither is one whose list is still the same: each change costs the agent its prompt cache. It does not wait for
// the agent.
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
	now, given, told := s.state(list)
	if given == nil || *told == now {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[list] = now
	return true
}

// catchUp tells of the lists that have changed since the agent was given them: it had no way of being told before.
func (s *session) catchUp(tell func(notification string) bool) {
	for _, ch := range changes() {
		if now, given, _ := s.state(ch.list); given != nil && *given != now && tell(ch.notification) {
			s.noted(ch.notification)
		}
	}
}

// state returns the digests of a list: as it is now, as the agent was given it, and as it was last told of. The latter
// are nil if it has not asked for the list.
func (s *session) state(list string) (now string, given, told *string) {
	s.mu.Lock()
	g, asked := s.given[list]
	t := s.told[list]
	s.mu.Unlock()
	if !asked {
		return "", nil, nil
	}
	_, all := s.listOf(list)
	return s.digestOf(list, all), &g, &t
}

// tell sends a notification of a change in the agent's era.
func (s *session) tell(notification string) {
	s.mu.Lock()
	ready, out := s.ready, s.out
	listening := maps.Clone(s.listening)
	s.mu.Unlock()
	told := ready && out != nil && out.Notify(s.ctx, notification, nil) == nil
	for l := range listening {
		told = l.tell(notification) || told
	}
	if told {
		s.noted(notification)
	}
}

// noted notes that the agent was told of a change of its tools.
func (s *session) noted(notification string) {
	if notification == changes()[0].notification {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notified = time.Now()
	}
}
