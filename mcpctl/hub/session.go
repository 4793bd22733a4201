package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/mcpctl/process"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// session is one connection to a server, from its start to its end.
type session struct {
	peer    *rpc.Peer
	program *process.Process // nil if it is remote
	stream  *tap
	clock   Clock
	root    string // the folder that the server may know of
	log     *process.Log
	began   time.Time

	// about is what the server has said of itself. It is set before the session is used by calls.
	about about
	// meta is what every request carries; nil with the legacy protocol.
	meta object

	changed chan struct{} // has an entry if the server's lists have changed
	ended   chan struct{} // closed when nothing of it is left
	why     string        // it has ended, valid then

	mu       sync.Mutex    // guards the fields below; held for moments
	last     int           // number of the last call
	calls    []*call       // under way, in the order of their beginning
	free     chan struct{} // closed when a call ends; nil if nobody waits
	serial   bool          // one call at a time
	answered int
	used     time.Time // when the last call began or ended
	wanted   bool      // its end is ours
	reason   string    // of its end, if it is known before
}

// about is what a server says of itself.
type about struct {
	protocol     string
	server       json.RawMessage
	instructions string
	capabilities json.RawMessage
}

// call is a request of a client that is under way.
type call struct {
	ctx    context.Context
	client Client
	token  string          // of its progress, toward the server
	theirs json.RawMessage // the client's token; nil if it has none
	place  atomic.Int64    // where its request begins in what was written to the program
}

// tap counts what a server sends, and notes where in what is written to it a request begins.
type tap struct {
	rpc.Stream
	program *process.Process
	read    atomic.Int64
	writing sync.Mutex // held while a message is written to a program
}

// placeKey is the key of a context's *atomic.Int64 for the place of a request.
type placeKey struct{}

// Write implements rpc.Stream.
func (t *tap) Write(ctx context.Context, m rpc.Message) error {
	if t.program == nil {
		return t.Stream.Write(ctx, m)
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if at, ok := ctx.Value(placeKey{}).(*atomic.Int64); ok {
		at.Store(t.program.Wrote())
	}
	return t.Stream.Write(ctx, m)
}

func (t *tap) Read() (rpc.Message, error) {
	m, err := t.Stream.Read()
	t.read.Add(1)
	return m, err
}

// newSession runs a connection. program is nil for a remote server.
func newSession(program *process.Process, stream rpc.Stream, clock Clock, root string, log *process.Log) *session {
	s := &session{
		program: program, stream: &tap{Stream: stream, program: program}, clock: clock, root: root, log: log,
		began: clock.Now(), used: clock.Now(),
		changed: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.peer = rpc.NewPeer(s.stream, s)
	go s.run()
	return s
}

// closingWait is how long a program may go on after the end of its output.
const closingWait = 500 * time.Millisecond

// run runs until nothing of the session is left.
func (s *session) run() {
	err := s.peer.Run()
	why := err.Error()
	if s.program != nil {
		if errors.Is(err, rpc.ErrTooLong) {
			s.program.Kill()
		} else {
			select {
			case <-s.program.Done():
			case <-time.After(closingWait): // it has closed its output only
				s.program.Stop()
			}
			why = s.program.Exit()
		}
	}
	s.mu.Lock()
	if s.reason != "" {
		why = s.reason
	}
	s.why = why
	s.mu.Unlock()
	close(s.ended)
}

// end ends the session for a reason and returns when nothing of it is left. Wanted means that the server is not to
// blame.
func (s *session) end(reason string, wanted, kill bool) {
	s.mu.Lock()
	if s.reason == "" {
		s.reason, s.wanted = reason, wanted
	}
	s.mu.Unlock()
	switch {
	case s.program == nil:
		_ = s.peer.Close()
	case kill:
		s.program.Kill()
	default:
		s.program.Stop()
	}
	<-s.ended
}

// alive reports whether the connection has not ended.
func (s *session) alive() bool {
	select {
	case <-s.peer.Done():
		return false
	default:
		return true
	}
}

// heard returns a number that grows whenever the server sends something.
func (s *session) heard() int64 {
	if s.program != nil {
		return s.program.Read()
	}
	return s.stream.read.Load()
}

// unread reports whether a program has ended without having read a call's request.
func (s *session) unread(k *call) bool {
	select {
	case <-s.ended:
		return s.program != nil && k.place.Load() >= s.program.Took()
	default:
		return false
	}
}

// pid is 0 if the server is remote.
func (s *session) pid() int {
	if s.program == nil {
		return 0
	}
	return s.program.PID()
}

// begin registers a call. If calls are carried out one at a time, it waits for its turn.
func (s *session) begin(ctx context.Context, c Client) (*call, error) {
	for {
		s.mu.Lock()
		if !s.serial || len(s.calls) == 0 {
			s.last++
			k := &call{ctx: ctx, client: c, token: "orchestrator-" + strconv.Itoa(s.last)}
			s.calls = append(s.calls, k)
			s.used = s.clock.Now()
			s.mu.Unlock()
			return k, nil
		}
		if s.free == nil {
			s.free = make(chan struct{})
		}
		free := s.free
		s.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another call: %w", context.Cause(ctx))
		case <-s.peer.Done():
			return nil, rpc.ErrClosed
		}
	}
}

// finish takes a call from the register.
func (s *session) finish(k *call, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.calls {
		if other == k {
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
			break
		}
	}
	if s.free != nil {
		close(s.free)
		s.free = nil
	}
	if answered {
		s.answered++
	}
	s.used = s.clock.Now()
}

// inFlight returns how many calls are under way.
func (s *session) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// idle returns for how long there has been no call; false during one.
func (s *session) idle() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Now().Sub(s.used), len(s.calls) == 0
}

// hears sets the client's token of a call, from when on it gets progress.
func (s *session) hears(k *call, theirs json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.theirs = theirs
}

// Notification implements rpc.Handler.
func (s *session) Notification(m rpc.Message) {
	switch m.Method {
	case "notifications/progress":
		s.progress(m.Params)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		select {
		case s.changed <- struct{}{}:
		default: // it is already known
		}
	case "notifications/message":
		s.log.Add(m.Params)
	}
}

// progress passes progress on to the client of a call that is under way.
func (s *session) progress(params json.RawMessage) {
	token, ok := progressOf(params)
	if !ok {
		return
	}
	s.mu.Lock()
	var to *call
	for _, k := range s.calls {
		if k.token == token && k.theirs != nil {
			to = k
		}
	}
	s.mu.Unlock()
	if to == nil {
		return // too late, or made up
	}
	if p, err := withToken(params, to.theirs); err == nil {
		to.client.Progress(p)
	}
}

// Request implements rpc.Handler.
func (s *session) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	switch m.Method {
	case "ping":
		return nil, nil
	case "roots/list":
		return s.roots()
	case "elicitation/create":
		k, err := s.attribute()
		if err != nil {
			return nil, err
		}
		return k.ask(ctx, m.Method, m.Params)
	}
	return nil, rpc.Errorf(rpc.CodeNoMethod, "%s is not supported", m.Method)
}

// roots returns the folder that the server is there for.
func (s *session) roots() (json.RawMessage, error) {
	at := url.URL{Scheme: "file", Path: s.root}
	return object{}.with("roots", []map[string]string{{"uri": at.String(), "name": filepath.Base(s.root)}}).raw()
}

// attribute returns the call that a request of the server belongs to. The protocol does not say which one that is: if
// calls of several threads are under way, the request is refused, and from then on there is one call at a time.
func (s *session) attribute() (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return nil, rpc.Errorf(rpc.CodeInvalidRequest, "there is nobody to ask: no call is under way")
	}
	threads := make(map[thread.ID]bool)
	for _, k := range s.calls {
		threads[k.client.Thread()] = true
	}
	if len(threads) > 1 {
		s.serial = true
		return nil, rpc.Errorf(rpc.CodeInvalidRequest, "several calls are under way: it is not known whom to ask")
	}
	return s.calls[len(s.calls)-1], nil
}

// ask asks the client of a call as long as the call lasts.
func (k *call) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(k.ctx, cancel)()
	return k.client.Ask(ctx, method, params)
}
