package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"orchestrator/mcpctl/rpc"
	"orchestrator/thread"
)

const (
	// maxBody is the size limit of a request over HTTP.
	maxBody = 4 << 20
	// maxWeb is how many sessions with a handshake a thread's agent may have over HTTP.
	maxWeb = 100

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
)

// Web serves agents over HTTP on loopback. A bearer token tells the threads apart.
type Web struct {
	gateway *Gateway
	// allowed returns the thread and folder of a token, in constant time.
	allowed func(token string) (id thread.ID, dir string, ok bool)

	// mu guards the fields below.
	mu       sync.Mutex
	sessions map[string]*webSession // with a handshake, by their id
	modern   map[thread.ID]*session // of the stateless era
}

// NewWeb returns a handler. allowed finds the thread of a token.
func (g *Gateway) NewWeb(allowed func(token string) (id thread.ID, dir string, ok bool)) *Web {
	return &Web{gateway: g, allowed: allowed, sessions: map[string]*webSession{}, modern: map[thread.ID]*session{}}
}

// webSession is a session with a handshake over HTTP.
type webSession struct {
	*session

	// mu guards the fields below.
	mu      sync.Mutex
	next    int64
	asked   map[string]chan rpc.Message // our requests without a response
	running map[string]context.CancelFunc
	stream  *outbox // the open GET, nil if there is none
}

// ServeHTTP implements http.Handler.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		http.Error(rw, "the host is not this machine", http.StatusForbidden)
		return
	}
	if r.Header.Get("Origin") != "" {
		http.Error(rw, "pages of a browser are not served", http.StatusForbidden)
		return
	}
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	id, dir, ok := w.allowed(token)
	if !found || !ok {
		http.Error(rw, "a token of a running thread is needed", http.StatusUnauthorized)
		return
	}
	switch r.Method {
	case http.MethodPost:
		w.post(rw, r, id, dir)
	case http.MethodGet:
		w.get(rw, r, id)
	case http.MethodDelete:
		w.delete(rw, r, id)
	default:
		rw.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(rw, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (w *Web) post(rw http.ResponseWriter, r *http.Request, id thread.ID, dir string) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(rw, "the request is larger than 4 MiB", http.StatusRequestEntityTooLarge)
		return
	}
	m, bad := rpc.Decode(body)
	if err != nil || bad != nil {
		reply(rw, http.StatusBadRequest, rpc.Message{ID: json.RawMessage("null"),
			Error: rpc.Errorf(rpc.CodeParse, "the body is no JSON-RPC message")})
		return
	}
	if r.Header.Get(versionHeader) >= modern || versionOf(m) != "" {
		w.stateless(rw, r, m, id, dir)
		return
	}
	s := w.find(r, id)
	switch {
	case m.Method == "initialize" && m.IsRequest():
		key, fresh, err := w.open(id, dir)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		rw.Header().Set(sessionHeader, key)
		s = fresh
	case s == nil:
		http.Error(rw, "there is no such session", http.StatusNotFound) // the client then begins again
		return
	case m.IsResponse():
		s.take(m)
		rw.WriteHeader(http.StatusAccepted)
		return
	case !m.IsRequest():
		s.heard(m)
		rw.WriteHeader(http.StatusAccepted)
		return
	}
	// A connection that is lost cancels nothing in this era.
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if !s.begin(string(m.ID), cancel) {
		reply(rw, http.StatusOK, rpc.Message{ID: m.ID,
			Error: rpc.Errorf(rpc.CodeInvalidRequest, "request %s is already being answered", m.ID)})
		return
	}
	defer s.end(string(m.ID))
	e := &events{w: rw}
	box := s.newOutbox(&webOutlet{events: e, session: s})
	result, err := s.request(ctx, m, box)
	box.flush(ctx)
	e.finish(rpc.Response(m.ID, result, err))
}

// stateless serves a request of the stateless era.
func (w *Web) stateless(rw http.ResponseWriter, r *http.Request, m rpc.Message, id thread.ID, dir string) {
	if !m.IsRequest() {
		rw.WriteHeader(http.StatusAccepted)
		return
	}
	header := r.Header.Get(methodHeader)
	if v := r.Header.Get(versionHeader); v != versionOf(m) || header != "" && header != m.Method {
		reply(rw, http.StatusBadRequest, rpc.Message{ID: m.ID,
			Error: rpc.Errorf(rpc.CodeHeader, "the headers %s and %s do not agree with the body", versionHeader, methodHeader)})
		return
	}
	w.mu.Lock()
	s := w.modern[id]
	w.mu.Unlock()
	if s == nil {
		s = w.gateway.newSession(id, dir)
		if err := w.gateway.add(s, func() error { w.forget(s); return nil }); err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.mu.Lock()
		if w.modern[id] == nil {
			w.modern[id] = s
		} else {
			w.gateway.remove(s)
			s = w.modern[id]
		}
		w.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	e := &events{w: rw}
	box := s.newOutbox(e)
	result, err := s.request(ctx, m, box)
	box.flush(ctx)
	if r.Context().Err() != nil {
		return // closing the stream cancels in this era
	}
	e.finish(rpc.Response(m.ID, result, err))
}

// versionOf returns the revision that a request of the stateless era names.
func versionOf(m rpc.Message) string {
	params, err := asObject(m.Params)
	if err != nil {
		return ""
	}
	meta, err := asObject(params["_meta"])
	if err != nil {
		return ""
	}
	return meta.text(metaVersion)
}

// get opens the stream for what belongs to no request.
func (w *Web) get(rw http.ResponseWriter, r *http.Request, id thread.ID) {
	s := w.find(r, id)
	if s == nil {
		http.Error(rw, "there is no such session", http.StatusNotFound)
		return
	}
	e := &events{w: rw}
	s.mu.Lock()
	taken := s.stream != nil
	box := s.newOutbox(e)
	if !taken {
		s.stream = box
	}
	s.mu.Unlock()
	if taken {
		http.Error(rw, "the session has a stream already", http.StatusConflict)
		return
	}
	e.begin()
	s.catchUp(func(notification string) bool { return box.Notify(r.Context(), notification, nil) == nil })
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	s.stream = nil
	s.mu.Unlock()
	e.close()
}

func (w *Web) delete(rw http.ResponseWriter, r *http.Request, id thread.ID) {
	s := w.find(r, id)
	if s == nil {
		http.Error(rw, "there is no such session", http.StatusNotFound)
		return
	}
	w.drop(r.Header.Get(sessionHeader), s)
	rw.WriteHeader(http.StatusNoContent)
}

// find returns the session of a request, only if it is the thread's.
func (w *Web) find(r *http.Request, id thread.ID) *webSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessions[r.Header.Get(sessionHeader)]
	if s == nil || s.id != id {
		return nil
	}
	return s
}

// open begins a session.
func (w *Web) open(id thread.ID, dir string) (key string, s *webSession, err error) {
	key = rand.Text()
	s = &webSession{
		session: w.gateway.newSession(id, dir), asked: map[string]chan rpc.Message{}, running: map[string]context.CancelFunc{},
	}
	s.out = (*standing)(s)
	w.mu.Lock()
	n := 0
	for _, other := range w.sessions {
		if other.id == id {
			n++
		}
	}
	if n < maxWeb {
		w.sessions[key] = s
	}
	w.mu.Unlock()
	if n >= maxWeb {
		s.stop()
		return "", nil, errors.New("the thread has too many sessions")
	}
	if err := w.gateway.add(s.session, func() error { w.drop(key, s); return nil }); err != nil {
		w.drop(key, s)
		return "", nil, err
	}
	return key, s, nil
}

// drop ends a session.
func (w *Web) drop(key string, s *webSession) {
	w.mu.Lock()
	delete(w.sessions, key)
	w.mu.Unlock()
	w.gateway.remove(s.session)
}

// forget ends what is known of a thread's agent of the stateless era.
func (w *Web) forget(s *session) {
	w.mu.Lock()
	if w.modern[s.id] == s {
		delete(w.modern, s.id)
	}
	w.mu.Unlock()
	w.gateway.remove(s)
}

// begin notes a request that can be cancelled; false if its id is taken.
func (s *webSession) begin(id string, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] != nil {
		return false
	}
	s.running[id] = cancel
	return true
}

func (s *webSession) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
}

// take takes the response to one of our requests.
func (s *webSession) take(m rpc.Message) {
	s.mu.Lock()
	c := s.asked[string(m.ID)]
	delete(s.asked, string(m.ID))
	s.mu.Unlock()
	if c != nil {
		c <- m
	}
}

// heard takes a notification.
func (s *webSession) heard(m rpc.Message) {
	if m.Method == "notifications/cancelled" {
		params, err := asObject(m.Params)
		if err != nil {
			return
		}
		s.mu.Lock()
		cancel := s.running[string(params["requestId"])]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return
	}
	s.notification(m)
}

// webOutlet sends to the agent on the stream of its request.
type webOutlet struct {
	*events
	session *webSession
}

// Call implements outlet.
func (o *webOutlet) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	s := o.session
	c := make(chan rpc.Message, 1)
	s.mu.Lock()
	s.next++
	id := strconv.FormatInt(s.next, 10)
	s.asked[id] = c
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, id)
	}()
	if err := o.send(rpc.Message{ID: json.RawMessage(id), Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case m := <-c:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// standing sends to the agent on the stream that belongs to no request.
type standing webSession

// Notify implements outlet.
func (s *standing) Notify(ctx context.Context, method string, params json.RawMessage) error {
	s.mu.Lock()
	e := s.stream
	s.mu.Unlock()
	if e == nil {
		return errNoStream
	}
	return e.Notify(ctx, method, params)
}

// Call implements outlet: nothing is asked outside of a request.
func (s *standing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoStream
}

var errNoStream = errors.New("the agent has no stream open")

// events writes server-sent events. The answer to a request is plain JSON if nothing came before it.
type events struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	begun bool
	ended bool
}

// begin sends the header of the stream.
func (e *events) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.start()
	_ = http.NewResponseController(e.w).Flush() // a client that is gone is noticed by its context
}

func (e *events) start() {
	if e.begun {
		return
	}
	e.begun = true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-store")
	e.w.WriteHeader(http.StatusOK)
}

// send writes a message as an event.
func (e *events) send(m rpc.Message) error {
	b, err := m.Encode()
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return errNoStream
	}
	e.start()
	if _, err := fmt.Fprintf(e.w, "event: message\ndata: %s\n\n", b); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// Notify implements outlet.
func (e *events) Notify(_ context.Context, method string, params json.RawMessage) error {
	return e.send(rpc.Message{Method: method, Params: params})
}

// Call implements outlet: in the stateless era nothing is asked this way.
func (e *events) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoStream
}

// finish writes the response and ends the stream.
func (e *events) finish(m rpc.Message) {
	e.mu.Lock()
	plain := !e.begun
	e.ended = plain
	e.mu.Unlock()
	if plain {
		reply(e.w, http.StatusOK, m)
		return
	}
	_ = e.send(m) // a client that is gone needs no response
	e.close()
}

// close makes later events fail: the handler is about to return.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
}

// reply writes a message as the body of a response.
func reply(w http.ResponseWriter, status int, m rpc.Message) {
	b, err := m.Encode()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that is gone needs no response
}
