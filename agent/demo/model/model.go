package model

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"orchestrator/agent/scripted"
	"orchestrator/thread"
	"orchestrator/thread/ground/cache"
)

const (
	// Name is the name of the model in requests.
	Name = "demo-1"

	// maxBody is the size of the largest request that is read.
	maxBody = 64 << 20
)

// Options configure the model.
type Options struct {
	// Pace is the time between two pieces of an answer; 0 sends everything at once.
	Pace time.Duration
}

// Model answers Messages requests. It is safe for concurrent use.
type Model struct {
	pace     time.Duration
	meter    meter
	attempts scripted.Attempts // counts requests that fail on purpose
}

// New returns a model that has seen nothing.
func New(o Options) *Model {
	return &Model{pace: o.Pace, meter: meter{cache.New[hash, struct{}](maxCached)}}
}

// ServeHTTP answers POST /v1/messages and /v1/messages/count_tokens.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, text string) { scripted.Refuse(w, scripted.Anthropic, status, text) }
	path := strings.TrimSuffix(r.URL.Path, "/")
	counting := path == "/v1/messages/count_tokens"
	if path != "/v1/messages" && !counting {
		refuse(http.StatusNotFound, "no such path: "+path)
		return
	}
	if r.Method != http.MethodPost {
		refuse(http.StatusMethodNotAllowed, "only POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		refuse(http.StatusBadRequest, "body is no JSON: "+err.Error())
		return
	}
	if len(q.Messages) == 0 {
		refuse(http.StatusBadRequest, "messages: at least one message is required")
		return
	}
	if counting {
		u := m.meter.usage(q.beginnings())
		scripted.WriteJSON(w, http.StatusOK, map[string]any{"input_tokens": u.Input + u.CacheRead + u.CacheWrite})
		return
	}
	t, err := scripted.Read(scripted.Anthropic, body, nil)
	if err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	m.answer(w, r, t, q)
}

// limitEnds is when a limit that is spoken of ends.
const limitEnds = 2 * time.Hour

// answer answers one request. That a prompt fails so often counts for each session.
func (m *Model) answer(w http.ResponseWriter, r *http.Request, t scripted.Turn, q request) {
	begun := q.beginnings()
	key := q.Metadata.User + "\x00" + t.Prompt
	f := faults(unquoted(t.Prompt))
	if f.used > 0 {
		w.Header().Set("Anthropic-Ratelimit-Unified-5h-Utilization", strconv.FormatFloat(float64(f.used)/100, 'f', 2, 64))
		w.Header().Set("Anthropic-Ratelimit-Unified-5h-Reset", strconv.FormatInt(time.Now().Add(limitEnds).Unix(), 10))
	}
	first := len(t.Outcomes) == f.after // only one of a turn's answers fails
	if first && f.status != 0 && m.attempts.Fail(key, f.times) {
		if f.retry > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.retry))
		}
		scripted.Refuse(w, t.Wire, f.status, cmp.Or(http.StatusText(f.status), "Overloaded")+", as you asked")
		return
	}
	if first && f.wait > 0 {
		select {
		case <-time.After(f.wait):
		case <-r.Context().Done():
			return
		}
	}
	reply := next(t)
	if f.long > 0 && len(reply.Calls) == 0 {
		reply.Text += "\n\n" + filler(f.long)
	}
	reply.Usage = m.meter.usage(begun)
	reply.Usage.Output = spoken(reply)
	if f.usage != nil {
		reply.Usage = scripted.Usage{Input: *f.usage, Output: *f.usage}
	}
	m.meter.remember(begun)
	reply.Cut = first && f.cut && m.attempts.Fail(key, f.cuts)
	reply.Piece = 1024
	if m.pace > 0 && !f.fast {
		reply.Piece, reply.Pace = 16, m.pace
	}
	id := thread.NewID[string]()
	scripted.Writer{ID: func(kind string, _ int) string {
		if kind == "msg" {
			kind = "msg_demo"
		}
		return kind + "_" + id
	}}.Write(w, r, t, reply)
}
