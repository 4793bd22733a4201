package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"orchestrator/thread/ground/rpc"
	"orchestrator/thread/ground/sse"
)

// events is a stream over a response of server-sent events, and requests to the address that its first event names.
type events struct {
	*inbox
	c  *client
	to *url.URL
}

// newEvents connects and waits for the address.
func newEvents(ctx context.Context, c *client) (*events, error) {
	s := &events{inbox: newInbox(), c: c}
	unlink := context.AfterFunc(ctx, s.cancel)
	fail := func(err error) (*events, error) {
		s.cancel()
		c.http.CloseIdleConnections()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	response, err := c.do(s.ctx, http.MethodGet, c.at, nil, http.Header{"Accept": {"text/event-stream"}})
	if err != nil {
		return fail(err)
	}
	if response.StatusCode != http.StatusOK || mediaType(response) != "text/event-stream" {
		drop(response)
		if response.StatusCode == http.StatusOK {
			return fail(errors.New("the server sends no events"))
		}
		return fail(refused(response))
	}
	r := sse.NewReader(response.Body, rpc.MaxFrame)
	for s.to == nil {
		e, err := r.Next()
		if err == nil && e.Name == "endpoint" {
			s.to, err = endpoint(c.at, string(e.Data))
		}
		if err != nil {
			_ = response.Body.Close()
			return fail(err)
		}
	}
	if !unlink() {
		_ = response.Body.Close()
		return fail(ctx.Err())
	}
	s.run(func() {
		defer func() { _ = response.Body.Close() }()
		s.finish(s.follow(r))
	})
	return s, nil
}

// endpoint reads the address that a server names, which must be on its own host.
func endpoint(at *url.URL, named string) (*url.URL, error) {
	to, err := at.Parse(named)
	if err != nil {
		return nil, errors.New("the server's address for messages cannot be read")
	}
	if to.Scheme != at.Scheme || to.Host != at.Host {
		return nil, fmt.Errorf("the server's address for messages is on another host, %s", to.Host)
	}
	to.User = at.User
	return to, nil
}

func (s *events) follow(r *sse.Reader) error {
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if !message(e) || len(e.Data) == 0 {
			continue
		}
		m, err := rpc.Decode(e.Data)
		if err != nil {
			if s.c.stray != nil {
				s.c.stray(e.Data)
			}
			continue
		}
		s.put(m)
	}
}

// message reports whether an event is a message: one without a name is, too.
func message(e sse.Event) bool { return e.Name == "" || e.Name == "message" }

// Write implements rpc.Stream. When the context of a request ends before the server has taken it, the server is told
// afterwards that its response is not wanted.
func (s *events) Write(ctx context.Context, m rpc.Message) error {
	body, err := m.Encode()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	if !s.run(func() { done <- s.post(s.ctx, body) }) {
		return rpc.ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if m.IsRequest() {
		s.run(func() {
			if <-done == nil {
				s.abandon(m.ID, context.Cause(ctx))
			}
		})
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), rpc.ErrUnsure)
}

func (s *events) abandon(id json.RawMessage, why error) {
	body, err := cancellation(id, why).Encode()
	if err != nil {
		return
	}
	ctx, stop := context.WithTimeout(s.ctx, goodbyeTime)
	defer stop()
	_ = s.post(ctx, body)
}

func (s *events) post(ctx context.Context, body []byte) error {
	response, err := s.c.do(ctx, http.MethodPost, s.to, body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	defer drop(response)
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode >= 500:
		return fmt.Errorf("%w: %w", refused(response), rpc.ErrUnsure)
	default:
		return refused(response)
	}
}

// Close implements rpc.Stream.
func (s *events) Close() error {
	s.finish(rpc.ErrClosed)
	s.work.Wait()
	s.c.http.CloseIdleConnections()
	return nil
}
