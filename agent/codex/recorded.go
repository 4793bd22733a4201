package codex

import (
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

// recordedLine is a line of a rollout with what a conversation is made of.
type recordedLine struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Name      string          `json:"name"`
		Model     string          `json:"model"`
		Call      string          `json:"call_id"`
		Arguments json.RawMessage `json:"arguments"`
		Input     json.RawMessage `json:"input"`
		Action    json.RawMessage `json:"action"`
		Output    json.RawMessage `json:"output"`
		Content   json.RawMessage `json:"content"`
		Summary   json.RawMessage `json:"summary"`
		Encrypted string          `json:"encrypted_content"`
		Usage     *usage          `json:"usage"`
		Info      *struct {
			Last  *usage          `json:"last_token_usage"`
			Total json.RawMessage `json:"total_token_usage"`
		} `json:"info"`
	} `json:"payload"`
}

// Pieces reads a rollout. In a fork's own, what it is based on is missing: its first request has that.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	return func(yield func(recorded.Piece, error) bool) {
		var r recordedReader
		r.out.To = func(p recorded.Piece) bool { return yield(p, nil) }
		for l, err := range lines.Parse(f, parseRecorded) {
			switch {
			case ctx.Err() != nil:
				yield(recorded.Piece{}, ctx.Err())
				return
			case err != nil:
				if !yield(recorded.Piece{}, err) {
					return
				}
			default:
				r.line(l)
			}
			if r.out.Stopped() {
				return
			}
		}
		r.out.End(nil, "")
	}
}

func parseRecorded(raw []byte) (recordedLine, error) {
	var l recordedLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, err
	}
	for _, u := range []*usage{l.Payload.Usage, l.last()} {
		if u != nil {
			if err := recorded.Check(thread.Usage{Input: u.Input, CacheRead: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output}); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

func (l recordedLine) last() *usage {
	if l.Payload.Info == nil {
		return nil
	}
	return l.Payload.Info.Last
}

// recordedReader makes pieces of lines. What a response said precedes its counts; versions until 2025 wrote the counts
// first.
type recordedReader struct {
	out   recorded.Responses
	model string

	asked   bool   // anything was asked; counts before belong to what the session was forked from
	counted bool   // any response so far
	first   bool   // counts precede responses
	next    *usage // that of the response to come, if they do
	records bool   // the file has records of usage, so that other counts repeat them
	total   string // the last count of the whole session
}

func (r *recordedReader) line(l recordedLine) {
	switch l.Type {
	case "turn_context":
		r.model = l.Payload.Model
	case "response_item":
		r.item(l)
	case "token_usage_record":
		if l.Payload.Usage != nil {
			r.records = true
			r.count(*l.Payload.Usage)
		}
	case "compacted":
		r.ends()
		r.out.Add(recorded.Piece{Kind: recorded.Boundary, At: l.Timestamp})
	case "event_msg":
		r.event(l)
	}
}

func (r *recordedReader) event(l recordedLine) {
	switch l.Payload.Type {
	case "token_count":
		if u := l.last(); u != nil && !r.records {
			total := string(l.Payload.Info.Total)
			if total == "" || total != r.total { // it is repeated when limits change
				r.count(*u)
			}
			r.total = total
		}
	case "task_complete", "turn_aborted":
		r.ends()
	case "thread_rolled_back":
		r.ends()
		r.out.Add(recorded.Piece{Kind: recorded.Rewind, At: l.Timestamp})
	}
}

// count adds the counts of a response.
func (r *recordedReader) count(u usage) {
	if !r.asked {
		return
	}
	if !r.counted {
		r.counted, r.first = true, !r.out.Open()
	}
	switch {
	case r.first:
		r.next = &u
	case r.out.Open():
		tokens := u.tokens()
		r.out.End(&tokens, r.model)
	}
}

// ends ends a response whose counts do not come.
func (r *recordedReader) ends() {
	r.out.End(nil, "")
	r.next = nil
}

// item adds an item of the conversation.
func (r *recordedReader) item(l recordedLine) {
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
	default:
		return
	}
	r.own(p)
}

// input returns what a tool is called with: JSON or, of some tools, plain text.
func (l recordedLine) input() []byte {
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
func (r *recordedReader) message(l recordedLine, p recorded.Piece) {
	p = content(p, l.Payload.Content)
	if l.Payload.Role == "assistant" {
		r.own(p)
		return
	}
	p.Person = l.Payload.Role == "user" && !strings.HasPrefix(firstText(l.Payload.Content), "<")
	r.ends()
	r.asked = true
	r.out.Add(p)
}

// own adds what the model wrote.
func (r *recordedReader) own(p recorded.Piece) {
	p.Own = true
	switch {
	case r.first && r.next != nil:
		r.out.Begin()
		r.out.Add(p)
		tokens := r.next.tokens()
		r.next = nil
		r.out.End(&tokens, r.model)
		return
	case !r.first && !r.out.Open():
		r.out.Begin()
	}
	r.out.Add(p)
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

func firstText(raw json.RawMessage) string {
	for _, c := range parts(raw) {
		return c.Text
	}
	return ""
}
