package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Wire names a wire format, as thread.Item does.
type Wire string

// The wire formats.
const (
	Anthropic Wire = "anthropic"
	Responses Wire = "responses"
	Chat      Wire = "chat"
	Gemini    Wire = "gemini"
)

// String returns the name.
func (w Wire) String() string { return string(w) }

// Request is one HTTP request that came in, model request or not.
type Request struct {
	N        int // from 1
	Received time.Time
	Method   string
	Path     string // with the prefix of the base URL and the query
	Header   http.Header
	Body     []byte
	// Turn is what the request asks for; its Wire is empty for anything that is no model request.
	Turn Turn
	// Reply is what was sent back.
	Reply Reply
}

// Server answers model requests by a script. Its methods are safe for use by many goroutines.
type Server struct {
	script Script
	http   *httptest.Server

	// mu guards what follows; it is never held while a reply is written.
	mu       sync.Mutex
	requests []*Request
	changed  chan struct{} // closed and replaced at every change
	holds    map[string]chan struct{}
	attempts map[string]int // failures given per prompt and step
}

// New starts a server. A nil script reads the markers in the prompts.
func New(script Script) *Server {
	if script == nil {
		script = Markers
	}
	s := &Server{
		script: script, changed: make(chan struct{}),
		holds: map[string]chan struct{}{}, attempts: map[string]int{},
	}
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

// Release lets the answers go on that wait at #hold:name, now and later.
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
		return // the agent went away
	}
	req := Request{
		Received: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body,
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.record(&req)
		w.WriteHeader(http.StatusUpgradeRequired) // codex goes on with plain requests
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
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4, "totalTokens": len(body) / 4})
		return
	}
	turn, err := parse(wire, body)
	if err != nil {
		s.record(&req)
		writeJSON(w, http.StatusBadRequest, errorBody(wire, http.StatusBadRequest, err.Error()))
		return
	}
	if mdl != "" {
		turn.Model = mdl
	}
	if wire == Gemini {
		turn.Stream = verb == "stream"
	}
	req.Turn = turn
	req.Reply = s.reply(turn, len(body))
	n := s.record(&req)
	s.answer(w, r, turn, req.Reply, n)
}

// route tells the wire format, the verb ("", "stream", "count") and the model of a path.
func route(path string) (wire Wire, verb, mdl string) {
	switch {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return Anthropic, "count", ""
	case strings.HasSuffix(path, "/messages"):
		return Anthropic, "", ""
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat, "", ""
	case strings.HasSuffix(path, "/responses"):
		return Responses, "", ""
	}
	name, call, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !ok || !strings.Contains(path, "/models/") {
		return "", "", ""
	}
	switch call {
	case "streamGenerateContent":
		return Gemini, "stream", name
	case "generateContent":
		return Gemini, "", name
	case "countTokens":
		return Gemini, "count", name
	default:
		return "", "", ""
	}
}

// other answers what is no model request.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
		return
	}
	writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such path", "type": "not_found_error"}})
}

// reply asks the script and turns attempts that are to fail into failures.
func (s *Server) reply(turn Turn, size int) Reply {
	reply := s.script(turn)
	if reply.Usage == (Usage{}) {
		reply.Usage = defaultUsage(size, reply)
	}
	if reply.Status == 0 || reply.Fails == 0 {
		return reply
	}
	key := fmt.Sprintf("%s\x00%d", turn.Prompt, turn.Round)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempts[key] >= reply.Fails {
		reply.Status = 0
		return reply
	}
	s.attempts[key]++
	return reply
}

// record keeps a request and wakes the waiting; it returns the request's number.
func (s *Server) record(r *Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	return r.N
}

// answer writes a reply in the turn's wire format.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, turn Turn, reply Reply, n int) {
	if reply.Status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		writeJSON(w, reply.Status, errorBody(turn.Wire, reply.Status, "scripted failure"))
		return
	}
	if reply.Page {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in to the hotel</body></html>")
		return
	}
	f := frames(turn, reply, n)
	if !turn.Stream {
		s.pause(r.Context(), reply)
		writeJSON(w, http.StatusOK, f.whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Request-Id", fmt.Sprintf("req_%06d", n))
	flush, _ := w.(http.Flusher)
	for i, event := range f.events {
		if i == f.middle {
			s.pause(r.Context(), reply)
			if reply.Cut {
				panic(http.ErrAbortHandler) // breaks the connection without an end
			}
		}
		if _, err := w.Write(event); err != nil {
			return
		}
		if flush != nil {
			flush.Flush()
		}
	}
}

// pause waits at a hold until it is released or the agent goes away.
func (s *Server) pause(ctx context.Context, reply Reply) {
	if reply.Hold == "" {
		return
	}
	s.mu.Lock()
	c := s.hold(reply.Hold)
	s.mu.Unlock()
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// stream is one answer in a wire format: as events, and as one value.
type stream struct {
	events [][]byte
	middle int // index of the event before which a hold or cut takes place
	whole  any
}

// frames lays a reply out in the turn's wire format.
func frames(turn Turn, reply Reply, n int) stream {
	switch turn.Wire {
	case Anthropic:
		return anthropicFrames(turn, reply, n)
	case Responses:
		return responsesFrames(turn, reply, n)
	case Chat:
		return chatFrames(turn, reply, n)
	default:
		return geminiFrames(turn, reply, n)
	}
}

// event formats a server-sent event; name may be empty.
func event(name string, v any) []byte {
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	b.WriteString("data: ")
	b.Write(encode(v))
	b.WriteString("\n\n")
	return b.Bytes()
}

// encode returns v as JSON on one line; v is always made of plain values.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("model: " + err.Error()) // only maps, slices, strings and numbers come here
	}
	return raw
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // the agent went away: nobody to tell
}

// errorBody is an error as the wire's provider writes it.
func errorBody(wire Wire, status int, text string) any {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	switch wire {
	case Anthropic:
		return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}}
	case Gemini:
		return map[string]any{"error": map[string]any{"code": status, "message": text, "status": strings.ToUpper(kind)}}
	default:
		return map[string]any{"error": map[string]any{"message": text, "type": kind, "code": kind}}
	}
}
