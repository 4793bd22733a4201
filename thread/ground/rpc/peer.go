package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// Stream carries messages. Read is called by one goroutine; Write and Close by any.
type Stream interface {
	// Read returns the next message, or an error when there will be none any more.
	Read() (Message, error)
	// Write sends a message. An error means that it was not sent, and ErrUnsure that it may have been.
	Write(ctx context.Context, m Message) error
	Close() error
}

// ErrClosed is why calls fail whose connection has ended.
var ErrClosed = errors.New("connection closed")

// ErrUnsure is wrapped by an error of a call that was written, or may have been, and whose response is not known.
var ErrUnsure = errors.New("may or may not have taken effect")

// Handler answers the other side. Its methods are called in goroutines of their own for requests, and in the order of
// arrival, by the goroutine that reads, for notifications, which must return soon.
type Handler interface {
	// Request answers a request. An error that is no *Error becomes an internal error. The context ends when the other
	// side cancels the request or the connection ends.
	Request(ctx context.Context, m Message) (json.RawMessage, error)
	Notification(m Message)
}

// cancelled is the method of the notification that ends a request.
const cancelled = "notifications/cancelled"

// Peer is one side of a connection.
type Peer struct {
	stream  Stream
	handler Handler
	ctx     context.Context
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup

	// mu guards the fields below; it is held for moments only.
	mu      sync.Mutex
	next    int64
	waiting map[string]chan Message            // calls of ours, by id
	serving map[string]context.CancelCauseFunc // requests of the other side, by id
	answers int                                // to the other side that are not written yet
	ended   bool
}

// maxServed is how many requests of the other side are answered at once; more are refused. A connection ends whose other
// side asks for as many again without reading what it is answered.
const maxServed = 1000

// errFlood is why such a connection ends.
var errFlood = errors.New("the other side sends requests and does not read the responses")

// NewPeer returns a side of the stream's connection. Run must be called.
func NewPeer(s Stream, h Handler) *Peer {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Peer{
		stream: s, handler: h, ctx: ctx, cancel: cancel,
		next:    rand.Int64N(1 << 40), // a late response to an earlier connection is not taken for one of this
		waiting: map[string]chan Message{}, serving: map[string]context.CancelCauseFunc{},
	}
}

// Run reads until the connection ends and returns why. By then every call has ended and every request of the other side
// is answered or cancelled.
func (p *Peer) Run() error {
	var why error
	for {
		m, err := p.stream.Read()
		if err != nil {
			why = err
			break
		}
		if !p.take(m) {
			why = errFlood
			break
		}
	}
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.cancel(fmt.Errorf("%w: %w", ErrClosed, why))
	_ = p.stream.Close()
	p.work.Wait()
	return why
}

// Close ends the connection. It does not wait for Run to return.
func (p *Peer) Close() error {
	p.cancel(ErrClosed)
	return p.stream.Close()
}

// Done is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.ctx.Done() }

// take takes a message; false if the other side has to be stopped.
func (p *Peer) take(m Message) bool {
	switch {
	case m.IsResponse():
		id := numberOf(m.ID)
		p.mu.Lock()
		c := p.waiting[id]
		delete(p.waiting, id) // a second response is dropped
		p.mu.Unlock()
		if c != nil {
			c <- m
		}
	case m.IsRequest():
		return p.serve(m)
	case m.Method == cancelled:
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &params) != nil {
			return true
		}
		p.mu.Lock()
		stop := p.serving[string(params.RequestID)]
		p.mu.Unlock()
		if stop != nil {
			stop(context.Canceled)
		}
	default:
		p.handler.Notification(m)
	}
	return true
}

// numberOf returns the number of a call of ours in the id of a response, in whatever way the other side writes it: as 7,
// "7", 7.0 or 7e0. It is empty if there is none.
func numberOf(id json.RawMessage) string {
	text := string(id)
	if len(id) > 0 && id[0] == '"' && json.Unmarshal(id, &text) != nil {
		return ""
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// serve answers a request; false if too many are not answered yet.
func (p *Peer) serve(m Message) bool {
	id := string(m.ID)
	ctx, stop := context.WithCancelCause(p.ctx)
	p.mu.Lock()
	_, twice := p.serving[id]
	busy := p.answers >= maxServed
	flood := p.answers >= 2*maxServed
	if !twice && !busy {
		p.serving[id] = stop
	}
	p.answers++
	p.mu.Unlock()
	if flood {
		stop(nil)
		return false
	}
	if twice || busy {
		stop(nil)
		why := Errorf(CodeInvalidRequest, "request %s is already being answered", id)
		if busy {
			why = Errorf(CodeInternal, "too many requests at once")
		}
		p.work.Go(func() {
			defer p.answered()
			_ = p.stream.Write(p.ctx, Message{ID: m.ID, Error: why})
		})
		return true
	}
	p.work.Go(func() {
		defer p.answered()
		result, err := p.handler.Request(ctx, m)
		gone := ctx.Err() != nil
		p.mu.Lock()
		delete(p.serving, id)
		p.mu.Unlock()
		stop(nil)
		if gone {
			return // a cancelled request gets no response
		}
		_ = p.stream.Write(p.ctx, Response(m.ID, result, err))
	})
	return true
}

// answered notes that an answer is written, or not wanted any more.
func (p *Peer) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers--
}

// Response returns the response to a request.
func Response(id, result json.RawMessage, err error) Message {
	var e *Error
	switch {
	case err == nil && result == nil:
		result = json.RawMessage("{}")
	case err == nil:
	case !errors.As(err, &e):
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	if e != nil {
		result = nil
	}
	return Message{ID: id, Result: result, Error: e}
}

// Call sends a request and waits for its response. An error response is returned as *Error. If the context ends first,
// the other side is told. An error that wraps ErrUnsure means that the request may have been acted on.
func (p *Peer) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	c := make(chan Message, 1)
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.next++
	id := strconv.FormatInt(p.next, 10)
	p.waiting[id] = c
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
	}()
	if err := p.stream.Write(ctx, Message{ID: json.RawMessage(id), Method: method, Params: params}); err != nil {
		return nil, fmt.Errorf("send %s: %w", method, err)
	}
	select {
	case m := <-c:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		p.abandon(id, context.Cause(ctx))
		return nil, fmt.Errorf("%s: %w: %w", method, context.Cause(ctx), ErrUnsure)
	case <-p.ctx.Done():
		select {
		case m := <-c: // it came just before the end
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		default:
		}
		return nil, fmt.Errorf("%s: %w: %w", method, context.Cause(p.ctx), ErrUnsure)
	}
}

// abandon tells the other side that a response is not wanted any more.
func (p *Peer) abandon(id string, why error) {
	params, err := json.Marshal(map[string]any{"requestId": json.RawMessage(id), "reason": why.Error()})
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.work.Go(func() { _ = p.stream.Write(p.ctx, Message{Method: cancelled, Params: params}) })
	}
}

// Notify sends a notification.
func (p *Peer) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return p.stream.Write(ctx, Message{Method: method, Params: params})
}
