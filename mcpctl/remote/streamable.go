package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"orchestrator/thread/ground/rpc"
	"orchestrator/thread/ground/sse"
)

const (
	maxSession  = 1024 // bytes of a session's name
	resumptions = 3    // of a response whose connection broke
	pause       = 500 * time.Millisecond
)

// streamable is a stream over streamable HTTP. A request is written when its response has arrived, or will not: so that
// an error of Write says what became of it.
type streamable struct {
	*inbox
	c *client

	// mu guards the fields below; it is held for moments only.
	mu        sync.Mutex
	session   string           // as the server named it, if it did
	version   string           // of the protocol, since initialize
	first     string           // the id of the request initialize
	calls     map[string]*call // requests without a response, by id
	listening bool
	closed    bool
}

// call is a request that waits for its response.
type call struct {
	modern   bool // without sessions: it is cancelled by closing its response
	stop     context.CancelFunc
	answered bool
}

func newStreamable(c *client) *streamable {
	return &streamable{inbox: newInbox(), c: c, calls: map[string]*call{}}
}

func (s *streamable) header(m rpc.Message) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return headersOf(m, s.session, s.version, s.c.schema)
}

// Write implements rpc.Stream.
func (s *streamable) Write(ctx context.Context, m rpc.Message) error {
	body, err := m.Encode()
	if err != nil {
		return err
	}
	if !m.IsRequest() {
		if s.ctx.Err() != nil {
			return rpc.ErrClosed
		}
		return s.send(ctx, m, body)
	}
	within, stop := context.WithCancel(s.ctx)
	id := string(m.ID)
	c := &call{modern: modern(m), stop: stop}
	s.mu.Lock()
	s.calls[id] = c
	if m.Method == "initialize" {
		s.first = id
	}
	s.mu.Unlock()
	done := make(chan error, 1)
	forget := func() {
		stop()
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
	}
	if !s.run(func() {
		defer forget()
		done <- s.exchange(within, m, body)
	}) {
		forget()
		return rpc.ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if c.modern || m.Method == "initialize" {
		stop()
	} else {
		s.run(func() {
			defer stop()
			s.abandon(m.ID, context.Cause(ctx))
		})
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), rpc.ErrUnsure)
}

// abandon tells a server with sessions that a response is not wanted: that we close the connection does not say so.
func (s *streamable) abandon(id json.RawMessage, why error) {
	m := cancellation(id, why)
	body, err := m.Encode()
	if err != nil {
		return
	}
	ctx, stop := context.WithTimeout(s.ctx, goodbyeTime)
	defer stop()
	_ = s.send(ctx, m, body)
}

// send sends what has no response.
func (s *streamable) send(ctx context.Context, m rpc.Message, body []byte) error {
	if m.Method == "notifications/cancelled" && s.cancelled(m.Params) {
		return nil
	}
	within, stop := context.WithCancel(s.ctx)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	response, err := s.c.do(within, http.MethodPost, s.c.at, body, s.header(m))
	if err != nil {
		return err
	}
	defer drop(response)
	if response.StatusCode/100 != 2 {
		return s.failed(response)
	}
	if m.Method == "notifications/initialized" {
		s.listen()
	}
	return nil
}

// cancelled closes the response of a modern call, which is how that is cancelled.
func (s *streamable) cancelled(params json.RawMessage) bool {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[string(p.RequestID)]
	if c == nil || !c.modern {
		return false
	}
	c.stop()
	return true
}

// exchange sends a request and takes what comes until its response is there.
func (s *streamable) exchange(ctx context.Context, m rpc.Message, body []byte) error {
	response, err := s.c.do(ctx, http.MethodPost, s.c.at, body, s.header(m))
	if err != nil {
		if why := s.why(); why != nil {
			return fmt.Errorf("%w: %w", why, err)
		}
		return err
	}
	defer drop(response)
	if response.StatusCode != http.StatusOK {
		if s.takeError(response, m) {
			return nil
		}
		return s.failed(response)
	}
	if m.Method == "initialize" {
		if err := s.begin(response.Header.Get("Mcp-Session-Id")); err != nil {
			return fmt.Errorf("%w: %w", err, rpc.ErrUnsure)
		}
	}
	if err := s.take(ctx, response, m); err != nil {
		return fmt.Errorf("%w: %w", err, rpc.ErrUnsure)
	}
	return nil
}

// begin keeps the name of the session.
func (s *streamable) begin(session string) error {
	if len(session) > maxSession {
		return errors.New("the name of the session is too long")
	}
	for _, c := range []byte(session) {
		if c < 0x21 || c > 0x7e {
			return errors.New("the name of the session is not ASCII")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
	return nil
}

// take reads the content of a response to a request.
func (s *streamable) take(ctx context.Context, response *http.Response, m rpc.Message) error {
	id := string(m.ID)
	switch kind := mediaType(response); kind {
	case "application/json":
		content, err := io.ReadAll(io.LimitReader(response.Body, rpc.MaxFrame+1))
		if err == nil && len(content) > rpc.MaxFrame {
			err = rpc.ErrTooLong
		}
		if err != nil {
			return err
		}
		s.deliverAll(content)
	case "text/event-stream":
		last, err := s.follow(response.Body, "", id)
		for try := 0; !s.answered(id) && ctx.Err() == nil && last != "" && try < resumptions; try++ {
			last, err = s.resume(ctx, last, id, time.Duration(try)*pause)
		}
		if !s.answered(id) && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	default:
		return fmt.Errorf("the response is %q, not JSON", kind)
	}
	if !s.answered(id) {
		return errors.New("the connection ended before the response")
	}
	return nil
}

// follow delivers the messages of a stream of events until it ends or the call with the id is answered. It returns the
// id of the last event.
func (s *streamable) follow(in io.Reader, last, id string) (string, error) {
	for r := sse.NewReader(in, rpc.MaxFrame); ; {
		e, err := r.Next()
		if err != nil {
			return last, err
		}
		if e.ID != "" {
			last = e.ID
		}
		if message(e) && len(e.Data) > 0 {
			s.deliverAll(e.Data)
		}
		if id != "" && s.answered(id) {
			return last, nil
		}
	}
}

// resume asks for the rest of a stream of events.
func (s *streamable) resume(ctx context.Context, last, id string, after time.Duration) (string, error) {
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return last, ctx.Err()
	}
	response, err := s.get(ctx, last)
	if err != nil {
		return last, err
	}
	defer drop(response)
	if response.StatusCode != http.StatusOK || mediaType(response) != "text/event-stream" {
		return "", s.failed(response)
	}
	return s.follow(response.Body, last, id)
}

func (s *streamable) get(ctx context.Context, last string) (*http.Response, error) {
	header := s.header(rpc.Message{})
	header.Del("Content-Type")
	header.Set("Accept", "text/event-stream")
	if last != "" {
		header.Set("Last-Event-ID", last)
	}
	return s.c.do(ctx, http.MethodGet, s.c.at, nil, header)
}

// deliverAll delivers one message, or several in an array as one revision of the protocol has them.
func (s *streamable) deliverAll(content []byte) {
	parts := []json.RawMessage{content}
	if trimmed := bytes.TrimSpace(content); len(trimmed) > 0 && trimmed[0] == '[' {
		if json.Unmarshal(trimmed, &parts) != nil {
			parts = []json.RawMessage{content}
		}
	}
	for _, part := range parts {
		m, err := rpc.Decode(part)
		if err != nil {
			if s.c.stray != nil {
				s.c.stray(part)
			}
			continue
		}
		s.deliver(m)
	}
}

func (s *streamable) deliver(m rpc.Message) {
	if m.IsResponse() {
		id := string(m.ID)
		s.mu.Lock()
		c := s.calls[id]
		if id == s.first && m.Result != nil {
			s.version = versionOf(m.Result)
		}
		s.mu.Unlock()
		if c == nil || s.answered(id) {
			return // nobody waits for it
		}
		s.put(m)
		s.mu.Lock()
		c.answered = true
		s.mu.Unlock()
		return
	}
	s.put(m)
}

func (s *streamable) answered(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	return c != nil && c.answered
}

// takeError delivers an error response that comes with a status of its own.
func (s *streamable) takeError(response *http.Response, m rpc.Message) bool {
	if mediaType(response) != "application/json" {
		return false
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return false
	}
	got, err := rpc.Decode(content)
	if err != nil || got.Error == nil || got.ID != nil && string(got.ID) != string(m.ID) {
		return false
	}
	if response.StatusCode == http.StatusNotFound && s.inSession() && got.ID == nil {
		return false // the session is gone, whatever else is said
	}
	got.ID = m.ID
	s.deliver(got)
	return true
}

// failed is the error for a response that is no success. It ends the stream if the session is gone.
func (s *streamable) failed(response *http.Response) error {
	if response.StatusCode == http.StatusNotFound && s.inSession() {
		s.finish(ErrGone)
		return ErrGone
	}
	err := refused(response)
	if response.StatusCode >= 500 {
		return fmt.Errorf("%w: %w", err, rpc.ErrUnsure)
	}
	return err
}

func (s *streamable) inSession() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session != ""
}

// listen reads what a server with sessions says by itself, until it does not want to.
func (s *streamable) listen() {
	s.mu.Lock()
	again := s.listening
	s.listening = true
	s.mu.Unlock()
	if again {
		return
	}
	s.run(func() {
		last, wait := "", pause
		for s.ctx.Err() == nil {
			response, err := s.get(s.ctx, last)
			switch {
			case err != nil:
				if errors.Is(err, ErrAuth) {
					return // the next call says so
				}
			case response.StatusCode == http.StatusOK && mediaType(response) == "text/event-stream":
				before := last
				last, _ = s.follow(response.Body, last, "")
				_ = response.Body.Close()
				if last != before {
					wait = pause
				}
			default:
				_ = s.failed(response)
				drop(response)
				if response.StatusCode < 500 {
					return // 405: there is nothing to listen to
				}
			}
			select {
			case <-time.After(wait):
			case <-s.ctx.Done():
			}
			wait = min(2*wait, time.Minute)
		}
	})
}

// Close implements rpc.Stream. It ends the session.
func (s *streamable) Close() error {
	s.mu.Lock()
	again, session := s.closed, s.session
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	header := s.header(rpc.Message{})
	first := s.finish(rpc.ErrClosed)
	if first && session != "" {
		ctx, stop := context.WithTimeout(context.Background(), goodbyeTime)
		defer stop()
		header.Del("Content-Type")
		if response, err := s.c.do(ctx, http.MethodDelete, s.c.at, nil, header); err == nil {
			drop(response)
		}
	}
	s.work.Wait()
	s.c.http.CloseIdleConnections()
	return nil
}
