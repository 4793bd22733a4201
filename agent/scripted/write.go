package scripted

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// Writer writes a reply as the turn's provider does.
type Writer struct {
	// ID returns the id of the i-th thing of a kind ("msg", "toolu", "req", …) in the answer, always the same one.
	ID func(kind string, i int) string
	// Hold waits for the hold of a Reply, or until ctx ends. It may be nil if no reply has one.
	Hold func(ctx context.Context, name string)
}

// Write answers a turn. It panics with http.ErrAbortHandler if the reply is cut off.
func (wr Writer) Write(w http.ResponseWriter, r *http.Request, t Turn, reply Reply) {
	switch {
	case reply.Status != 0:
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		Refuse(w, t.Wire, reply.Status, "scripted failure")
		return
	case reply.Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in to the hotel</body></html>") // fails if the client is gone
		return
	}
	hold := func() {
		if reply.Hold != "" {
			wr.Hold(r.Context(), reply.Hold)
		}
	}
	a := answer{turn: t, reply: reply, id: wr.ID}
	if !t.Stream {
		hold()
		WriteJSON(w, http.StatusOK, a.write(&stream{gone: true}))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("Request-Id", wr.ID("req", 0))
	a.write(&stream{w: w, ctx: r.Context(), pace: reply.Pace, middle: func() {
		hold()
		if reply.Cut {
			panic(http.ErrAbortHandler) // breaks the connection without an end
		}
	}})
}

// write streams an answer in its wire format, and returns it whole.
func (a answer) write(s *stream) any {
	switch a.turn.Wire {
	case Anthropic:
		return a.anthropic(s)
	case Responses:
		return a.responses(s)
	case Chat:
		return a.chat(s)
	default:
		return a.gemini(s)
	}
}

// Refuse answers with an error as the wire's provider does.
func Refuse(w http.ResponseWriter, wire Wire, status int, text string) {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	about := object{"message": text}
	body := object{"error": about}
	switch wire {
	case Anthropic:
		body["type"], about["type"] = "error", kind
	case Gemini:
		about["code"], about["status"] = status, strings.ToUpper(kind)
	default:
		about["type"], about["code"] = kind, kind
	}
	WriteJSON(w, status, body)
}

// WriteJSON answers with a value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // an error means that the client has disconnected
}
