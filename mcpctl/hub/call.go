package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrator/thread/ground/rpc"
)

// maxTries is how often a call is tried altogether.
const maxTries = 4

// call sends a request, to a server that is started for it if need be.
func (b *backend) call(ctx context.Context, c Client, method string, params json.RawMessage) (json.RawMessage, error) {
	b.mu.Lock()
	timeout, trusted := b.callTimeout(), b.server.Trusted
	b.mu.Unlock()
	for try := 1; ; try++ {
		s, err := b.ready(ctx)
		if err != nil {
			return nil, err
		}
		k, err := s.begin(ctx, c)
		if err != nil {
			if errors.Is(err, rpc.ErrClosed) && try < maxTries {
				continue
			}
			return nil, err
		}
		b.refresh()
		began := b.config.Clock.Now()
		result, err := s.send(ctx, k, method, params, timeout)
		var refused *rpc.Error
		answered := err == nil || errors.As(err, &refused)
		s.finish(k, answered)
		if answered {
			b.answered(b.config.Clock.Now().Sub(began))
		}
		b.refresh()
		switch {
		case answered, ctx.Err() != nil:
			return result, err
		case errors.Is(err, ErrNeedsAuth):
			b.signIn(s, err)
			return nil, err
		case s.stopped():
			return nil, fmt.Errorf("%s: %w: %w", b.id, ErrStopped, err)
		}
		unsure := errors.Is(err, rpc.ErrUnsure)
		switch {
		case !s.alive():
			<-s.ended
			unsure = unsure && !s.unread(k)
		case s.program != nil || !unsure:
			s.end("it takes no requests: "+err.Error(), false, true)
		}
		if try < maxTries && (!unsure || trusted && b.repeatable(method, params)) {
			continue
		}
		return nil, b.unsure(s, err)
	}
}

// stopped reports whether the session's end is ours.
func (s *session) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted
}

// unsure is the error of a call whose server has ended.
func (b *backend) unsure(s *session, err error) error {
	select {
	case <-s.ended:
		err = fmt.Errorf("%w: %s", err, s.why)
	default:
	}
	if !errors.Is(err, rpc.ErrUnsure) {
		return fmt.Errorf("%s: %w", b.id, err)
	}
	return fmt.Errorf("%s ended during the call, which may or may not have taken effect and was not repeated: %w", b.id, err)
}

// signIn ends a session that the server does not accept any more.
func (b *backend) signIn(s *session, err error) {
	b.mu.Lock()
	if b.session == s {
		b.session = nil
		b.refuse(err)
	}
	b.mu.Unlock()
	s.end(err.Error(), true, false)
}

// repeatable reports whether the server says that a call can be repeated. What is no call of a tool only reads.
func (b *backend) repeatable(method string, params json.RawMessage) bool {
	if method != "tools/call" {
		return true
	}
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	m, _ := b.config.Manifests.Get(b.key.hash)
	t, ok := m.Tool(p.Name)
	if !ok {
		return false
	}
	var hints struct {
		Annotations struct {
			ReadOnly   bool `json:"readOnlyHint"`
			Idempotent bool `json:"idempotentHint"`
		} `json:"annotations"`
	}
	return json.Unmarshal(t.Raw, &hints) == nil && (hints.Annotations.ReadOnly || hints.Annotations.Idempotent)
}
