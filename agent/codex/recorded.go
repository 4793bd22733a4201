package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/thread"
	"orchestrator/thread/lines"
)

// sessions is the folder that contains the rollouts, by day.
func sessions(env launch.Env) string { return filepath.Join(home(env), "sessions") }

// Places returns where Codex keeps its sessions.
func (a *Agent) Places(env []string) []string {
	return []string{filepath.Join(sessions(launch.Env(env)), "*", "*", "*", "rollout-*.jsonl")}
}

// Recognises reports whether a file or a line begins as those of rollouts do.
func (a *Agent) Recognises(beginning []byte) bool {
	f := lines.Fields(beginning)
	_, payload := f["payload"]
	types := []string{"session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record", "world_state"}
	return payload && slices.Contains(types, lines.Word(f["type"]))
}

// line is a line of a rollout, with the fields that are read.
type line struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Role      string          `json:"role"`
		Name      string          `json:"name"`
		Model     string          `json:"model"`
		Window    int64           `json:"model_context_window"`
		Thread    string          `json:"thread_id"`
		Call      string          `json:"call_id"`
		Arguments json.RawMessage `json:"arguments"`
		Input     json.RawMessage `json:"input"`
		Action    json.RawMessage `json:"action"`
		Output    json.RawMessage `json:"output"`
		Content   json.RawMessage `json:"content"`
		Summary   json.RawMessage `json:"summary"`
		Encrypted string          `json:"encrypted_content"`
		Usage     *usage          `json:"usage"`
		Info      struct {
			Last   *usage          `json:"last_token_usage"`
			Total  json.RawMessage `json:"total_token_usage"`
			Window int64           `json:"model_context_window"`
		} `json:"info"`
	} `json:"payload"`
}

// usage counts tokens as OpenAI does: the input includes cached tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (u usage) tokens() thread.Usage {
	return thread.Usage{
		Input: max(0, u.Input-u.Cached-u.CacheWrite), CacheRead: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output,
	}
}

// format reads a rollout, from its beginning on if it is whole.
func format(whole bool) recorded.Format {
	return func(out *recorded.Responses) recorded.Decoder {
		return &reader{out: out, part: !whole, asked: !whole, counted: !whole}
	}
}

// Pieces reads a rollout. In a fork's own, what it is based on is missing: its first request has that.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	return format(true).Pieces(ctx, f)
}

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	return format(false).Usage(chunks), nil
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return format(false).Begins(line) }

// reader reads lines. What a response said precedes its counts, and the end of the turn follows them; versions until
// 2025 wrote the counts first.
type reader struct {
	out     *recorded.Responses
	session string
	model   string
	window  int64
	last    *thread.Exchange // the last response that was counted

	part     bool   // what is before the first line is not known
	asked    bool   // anything was asked; counts before belong to what the session was forked from
	counted  bool   // any response so far
	first    bool   // counts precede responses
	next     *usage // that of the response to come, if they do
	recorded bool   // the next count repeats a record
	total    string // the last count of the whole session
}

// Line implements recorded.Decoder.
func (r *reader) Line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	for _, u := range []*usage{l.Payload.Usage, l.Payload.Info.Last} {
		if u != nil {
			if err := recorded.Check(thread.Usage{Input: u.Input, CacheRead: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output}); err != nil {
				return err
			}
		}
	}
	switch l.Type {
	case "session_meta":
		r.session = l.Payload.ID
	case "turn_context":
		r.model = l.Payload.Model
		r.out.Turn()
	case "response_item":
		r.item(l)
	case "token_usage_record":
		if l.Payload.Usage != nil {
			r.session = cmp.Or(l.Payload.Thread, r.session)
			r.recorded = true
			r.count(l, *l.Payload.Usage)
		}
	case "compacted":
		r.End()
		r.out.Add(recorded.Piece{Kind: recorded.Boundary, At: l.Timestamp})
	case "event_msg":
		r.event(l)
	}
	return nil
}

func (r *reader) event(l line) {
	switch l.Payload.Type {
	case "task_started":
		r.window = l.Payload.Window
		r.out.Turn()
	case "token_count":
		info := l.Payload.Info
		if info.Last == nil {
			return
		}
		total := string(info.Total)
		if !r.recorded && (total == "" || total != r.total) { // it is repeated when limits change
			r.window = info.Window
			r.count(l, *info.Last)
		}
		r.recorded, r.total = false, total
	case "task_complete", "turn_aborted":
		r.End()
		if r.last != nil {
			r.last.Stop, r.last.EndsTurn, r.last.Interrupted = "completed", true, l.Payload.Type == "turn_aborted"
		}
	case "thread_rolled_back":
		r.End()
		r.out.Add(recorded.Piece{Kind: recorded.Rewind, At: l.Timestamp})
	}
}

// count adds the counts of a response.
func (r *reader) count(l line, u usage) {
	if !r.asked {
		return
	}
	if !r.counted {
		r.counted, r.first = true, r.out.Now() == nil
	}
	if r.first {
		r.next = &u
		return
	}
	if r.out.Now() == nil && r.part {
		r.out.Begin(thread.Exchange{})
	}
	if r.out.Now() != nil {
		r.counts(l, u)
	}
}

// counts ends the response that is held, of which these are the counts.
func (r *reader) counts(l line, u usage) {
	e := r.out.Now()
	e.Main, e.Session, e.Model, e.Window = true, r.session, r.model, r.window
	e.Started, e.Ended = l.Timestamp, l.Timestamp
	r.last = e
	r.out.Count(u.tokens())
	r.out.End()
}

// End implements recorded.Decoder; it also ends a response whose counts do not come.
func (r *reader) End() {
	r.out.End()
	r.next = nil
}

// item adds an item of the conversation.
func (r *reader) item(l line) {
	p := recorded.Piece{Kind: recorded.Text, At: l.Timestamp, ID: l.Payload.Call}
	switch kind := l.Payload.Type; {
	case kind == "message":
		r.message(l, p)
		return
	case kind == "reasoning":
		p.Kind = recorded.Thinking
		if p = content(content(p, l.Payload.Summary), l.Payload.Content); p.Bytes == 0 {
			p.Bytes = int64(len(l.Payload.Encrypted))
		}
	case strings.HasSuffix(kind, "_call_output") || kind == "tool_search_output":
		p.Kind = recorded.Result
		r.out.Add(content(p, l.Payload.Output))
		return
	case strings.HasSuffix(kind, "_call") && l.Payload.Call != "":
		p.Kind, p.Tool, p.Input = recorded.Call, l.Payload.Name, l.input()
		if p.Tool == "" {
			p.Tool = strings.TrimSuffix(kind, "_call")
		}
		p = p.Say(string(p.Input))
	case strings.HasSuffix(kind, "_call"): // of a tool that the provider runs
		p = p.Say(string(l.Payload.Action))
		p.Text = ""
	default:
		return
	}
	r.own(l, p)
}

// input returns what a tool is called with: JSON or, of some tools, plain text.
func (l line) input() []byte {
	for _, raw := range []json.RawMessage{l.Payload.Arguments, l.Payload.Input, l.Payload.Action} {
		var text string
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &text) == nil:
			return []byte(text)
		default:
			return raw
		}
	}
	return nil
}

// message adds a message of the model, the person or Codex itself, whose messages begin with a tag.
func (r *reader) message(l line, p recorded.Piece) {
	p = content(p, l.Payload.Content)
	if l.Payload.Role == "assistant" {
		r.own(l, p)
		return
	}
	if l.Payload.Role == "user" {
		r.out.Turn()
		if p.Person = !strings.HasPrefix(p.Text, "<"); p.Person && p.Text != "" {
			r.out.Asked(p.Text)
		}
	}
	r.End()
	r.asked = true
	r.out.Add(p)
}

// own adds what the model wrote.
func (r *reader) own(l line, p recorded.Piece) {
	p.Own = true
	if r.out.Now() == nil && (!r.first || r.next != nil) {
		r.out.Begin(thread.Exchange{})
	}
	r.out.Add(p)
	if u := r.next; u != nil {
		r.next = nil
		r.counts(l, *u)
	}
}

// part is a part of a content.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// parts reads a content: a text, parts, or an object with one of them.
func parts(raw json.RawMessage) []part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []part{{Text: text}}
	}
	var all []part
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	var in struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &in) != nil || len(in.Content) == 0 {
		return nil
	}
	return parts(in.Content)
}

// content adds the size of a content.
func content(p recorded.Piece, raw json.RawMessage) recorded.Piece {
	for _, c := range parts(raw) {
		if strings.HasSuffix(c.Type, "_image") {
			p.Images++
			continue
		}
		p = p.Say(c.Text)
	}
	return p
}
