package model

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

const (
	// Name is what the model is called in requests.
	Name = "demo-1"

	// maxBody is the largest request that is read.
	maxBody = 64 << 20
	// cacheable is the shortest prefix that is cached, in tokens, as with the real ones.
	cacheable = 1024
	// maxCached is how many prefixes are remembered.
	maxCached = 20_000
	// maxTries is how many prompts are remembered that failed on purpose.
	maxTries = 1000
	// piece is how many bytes of text one event carries.
	piece = 16
)

// Options says how the model behaves.
type Options struct {
	// Pace is the time between two pieces of an answer; 0 sends all at once.
	Pace time.Duration
}

type hash = [sha256.Size]byte

// Model answers Messages requests. It is safe for concurrent use.
type Model struct {
	pace time.Duration

	// mu guards all below; nothing else is locked or waited for under it.
	mu     sync.Mutex
	cached map[hash]bool // beginnings of requests
	order  []hash        // of cached, oldest first
	tries  map[hash]int  // requests that were refused on purpose
}

// New makes a model that has seen nothing.
func New(o Options) *Model {
	return &Model{pace: o.Pace, cached: make(map[hash]bool), tries: make(map[hash]int)}
}

// ServeHTTP answers POST /v1/messages and /v1/messages/count_tokens.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	counting := path == "/v1/messages/count_tokens"
	if path != "/v1/messages" && !counting {
		refuse(w, http.StatusNotFound, "no such path: "+path)
		return
	}
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "only POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		refuse(w, http.StatusBadRequest, "body is no JSON: "+err.Error())
		return
	}
	if len(q.Messages) == 0 {
		refuse(w, http.StatusBadRequest, "messages: at least one message is required")
		return
	}
	if counting {
		reply(w, http.StatusOK, map[string]any{"input_tokens": m.usage(&q, false).total()})
		return
	}
	m.answer(w, r, &q)
}

// answer plans and answers one request.
func (m *Model) answer(w http.ResponseWriter, r *http.Request, q *request) {
	t := readTurn(q.Messages)
	f := faults(t.prompt)
	if len(t.results) == 0 { // marks count for the first answer of a turn
		if f.status != 0 && m.fails(q, f.times) {
			w.Header().Set("Retry-After", "1")
			refuse(w, f.status, http.StatusText(f.status)+", as you asked")
			return
		}
		if !sleep(r.Context(), f.wait) {
			return
		}
		f.cut = f.cut && m.fails(q, f.cuts)
	} else {
		f.cut = false
	}
	a := next(t)
	if f.long > 0 && a.call == nil {
		a.text += "\n\n" + filler(f.long)
	}
	res := response{id: "msg_demo_" + thread.NewID[string](), model: q.Model, action: a, usage: m.usage(q, true)}
	if !q.Stream {
		reply(w, http.StatusOK, res.whole())
		return
	}
	s := stream{w: w, ctx: r.Context(), pace: m.pace, cut: f.cut}
	if f.fast {
		s.pace = 0
	}
	res.stream(&s)
}

// fails reports whether a request is to be refused once more.
func (m *Model) fails(q *request, times int) bool {
	if times == 0 {
		return true
	}
	key := prefixes(q)[len(q.Messages)]
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tries) > maxTries {
		clear(m.tries)
	}
	m.tries[key]++
	return m.tries[key] <= times
}

// usage counts a request's tokens, cached ones apart, and remembers it.
func (m *Model) usage(q *request, remember bool) usage {
	sizes := []int{len(q.System)}
	for _, t := range q.Tools {
		sizes[0] += len(t)
	}
	total := sizes[0]
	for _, msg := range q.Messages {
		total += len(msg.Content)
		sizes = append(sizes, total)
	}
	all := tokens(total)
	if all < cacheable {
		return usage{input: all}
	}
	keys := prefixes(q)
	m.mu.Lock()
	defer m.mu.Unlock()
	u := usage{write: all}
	for i := len(keys) - 1; i >= 0; i-- {
		if n := tokens(sizes[i]); m.cached[keys[i]] && n >= cacheable {
			u.read, u.write = n, all-n
			break
		}
	}
	if remember {
		for _, k := range keys {
			if !m.cached[k] {
				m.cached[k] = true
				m.order = append(m.order, k)
			}
		}
		for len(m.order) > maxCached {
			delete(m.cached, m.order[0])
			m.order = m.order[1:]
		}
	}
	return u
}

// prefixes hashes the request up to each message.
func prefixes(q *request) []hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s", q.Model, q.System)
	for _, t := range q.Tools {
		fmt.Fprintf(h, "\x00%s", t)
	}
	keys := []hash{hash(h.Sum(nil))}
	for _, msg := range q.Messages {
		fmt.Fprintf(h, "\x00%s\x00%s", msg.Role, msg.Content)
		keys = append(keys, hash(h.Sum(nil)))
	}
	return keys
}

// tokens is the estimate that everything here counts with.
func tokens(bytes int) int { return (bytes + 3) / 4 }

// refuse answers with an error as Anthropic's API does.
func refuse(w http.ResponseWriter, status int, text string) {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	reply(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone otherwise
}

// sleep waits; false when the client has gone.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
