package model

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/agent/scripted"
)

// Request is one HTTP request that came in, model request or not.
type Request struct {
	N        int // from 1
	Received time.Time
	Method   string
	Path     string // with the prefix of the base URL and the query
	Header   http.Header
	Body     []byte
	// Turn is what the request asks for; its Wire is empty if it is not a model request.
	Turn Turn
	// Reply is what was sent back.
	Reply scripted.Reply
}

// Server answers model requests by a script. Its methods are safe for concurrent use.
type Server struct {
	script Script
	http   *httptest.Server

	// mu guards the rest; it is never held while a reply is written.
	mu       sync.Mutex
	requests []*Request
	changed  chan struct{} // closed and replaced at every change
	holds    map[string]chan struct{}

	attempts scripted.Attempts // by prompt and step
}

// New starts a server. A nil script reads the markers in the prompts.
func New(script Script) *Server {
	if script == nil {
		script = Markers
	}
	s := &Server{script: script, changed: make(chan struct{}), holds: map[string]chan struct{}{}}
	s.http = httptest.NewServer(s)
	return s
}

// URL returns the server's address without a path, "http://127.0.0.1:PORT".
func (s *Server) URL() string { return s.http.URL }

// Close ends all connections and stops the server.
func (s *Server) Close() {
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.holds))
	s.mu.Unlock()
	for _, name := range names {
		s.Release(name)
	}
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Main returns the requests of main conversations: those that offer tools to work with.
func (s *Server) Main() []Request {
	var main []Request
	for _, r := range s.Requests() {
		if r.Turn.Wire != "" && !r.Turn.Side {
			main = append(main, r)
		}
	}
	return main
}

// Wait returns the first request that ok accepts, waiting for it until the context ends.
func (s *Server) Wait(ctx context.Context, ok func(Request) bool) (Request, error) {
	seen := 0
	for {
		s.mu.Lock()
		changed := s.changed
		all := s.requests[seen:]
		s.mu.Unlock()
		for _, r := range all {
			if ok(*r) {
				return *r, nil
			}
		}
		seen += len(all)
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("no such request among %d: %w", seen, ctx.Err())
		}
	}
}

// Release lets answers continue that wait at #hold:name, now and later.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.hold(name)
	select {
	case <-c: // released before
	default:
		close(c)
	}
}

// hold returns the channel of a name, closed once it was released; s.mu is held.
func (s *Server) hold(name string) chan struct{} {
	c, ok := s.holds[name]
	if !ok {
		c = make(chan struct{})
		s.holds[name] = c
	}
	return c
}

// ServeHTTP answers one request; it may be mounted behind any prefix.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent has disconnected
	}
	req := Request{
		Received: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body,
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.record(&req)
		w.WriteHeader(http.StatusUpgradeRequired) // Codex continues with plain requests
		return
	}
	wire, verb, mdl := route(r.URL.Path)
	if wire == "" || r.Method != http.MethodPost {
		s.record(&req)
		s.other(w, r)
		return
	}
	if verb == "count" {
		s.record(&req)
		scripted.WriteJSON(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4, "totalTokens": len(body) / 4})
		return
	}
	turn, err := read(wire, body)
	if err != nil {
		s.record(&req)
		scripted.Refuse(w, wire, http.StatusBadRequest, err.Error())
		return
	}
	if mdl != "" {
		turn.Model = mdl
	}
	if wire == scripted.Gemini {
		turn.Stream = verb == "stream"
	}
	req.Turn = turn
	req.Reply = s.reply(turn, len(body))
	n := s.record(&req)
	scripted.Writer{ID: ids(n), Hold: s.pause}.Write(w, r, turn.Turn, req.Reply)
}

// route returns the wire format of a path, its verb ("", "stream", "count") and the model in it.
func route(path string) (wire scripted.Wire, verb, mdl string) {
	switch {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return scripted.Anthropic, "count", ""
	case strings.HasSuffix(path, "/messages"):
		return scripted.Anthropic, "", ""
	case strings.HasSuffix(path, "/chat/completions"):
		return scripted.Chat, "", ""
	case strings.HasSuffix(path, "/responses"):
		return scripted.Responses, "", ""
	}
	name, call, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !ok || !strings.Contains(path, "/models/") {
		return "", "", ""
	}
	switch call {
	case "streamGenerateContent":
		return scripted.Gemini, "stream", name
	case "generateContent":
		return scripted.Gemini, "", name
	case "countTokens":
		return scripted.Gemini, "count", name
	default:
		return "", "", ""
	}
}

// other answers requests that are not model requests.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		scripted.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
		return
	}
	scripted.WriteJSON(w, http.StatusNotFound, map[string]any{
		"error": map[string]any{"message": "no such path", "type": "not_found_error"},
	})
}

// reply calls the script. A request that has failed often enough succeeds.
func (s *Server) reply(turn Turn, size int) scripted.Reply {
	reply := s.script(turn)
	if reply.Usage == (scripted.Usage{}) {
		reply.Usage = defaultUsage(size, reply)
	}
	if reply.Status != 0 && !s.attempts.Fail(fmt.Sprintf("%s\x00%d", turn.Prompt, turn.Round), reply.Fails) {
		reply.Status = 0
	}
	return reply
}

// record stores a request and wakes those who wait for it; it returns the request's number.
func (s *Server) record(r *Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	return r.N
}

// ids makes the ids of the answer to the n-th request.
func ids(n int) func(kind string, i int) string {
	return func(kind string, i int) string {
		if kind == "req" {
			return fmt.Sprintf("req_%06d", n)
		}
		return fmt.Sprintf("%s_m%06d_%d", kind, n, i)
	}
}

// pause waits at a hold until it is released or the agent disconnects.
func (s *Server) pause(ctx context.Context, name string) {
	s.mu.Lock()
	c := s.hold(name)
	s.mu.Unlock()
	select {
	case <-c:
	case <-ctx.Done():
	}
}
