package claude

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
	"orchestrator/thread/lines"
	"orchestrator/thread/turns"
)

// projects is the folder that contains all sessions.
func projects(env launch.Env) string { return filepath.Join(configDir(env), "projects") }

// Places returns where Claude Code keeps its sessions.
func (a *Agent) Places(env []string) []string {
	return []string{filepath.Join(projects(launch.Env(env)), "*", "*.jsonl")}
}

// Recognises reports whether a file or a line begins as those of sessions do.
func (a *Agent) Recognises(beginning []byte) bool {
	f := lines.Fields(beginning)
	if lines.Word(f["type"]) == "" {
		return false
	}
	if raw, ok := f["message"]; ok {
		inner := lines.Fields(raw)
		_, parts := inner["parts"] // a line of Qwen Code, which is similar
		_, content := inner["content"]
		if parts || raw != nil && !content {
			return false
		}
	}
	for _, field := range []string{"sessionId", "leafUuid", "parentUuid", "snapshot"} {
		if _, ok := f[field]; ok {
			return true
		}
	}
	return false
}

// line is a line of a transcript, with the fields that are read.
type line struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	SessionID string    `json:"sessionId"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Sidechain bool      `json:"isSidechain"`
	SubType   string    `json:"attributionAgent"` // the type of the sub-agent that answers
	Meta      bool      `json:"isMeta"`
	Summary   bool      `json:"isCompactSummary"`
	APIError  bool      `json:"isApiErrorMessage"`
	Timestamp time.Time `json:"timestamp"`
	Message   *message  `json:"message"`
	Rendered  []struct {
		Content json.RawMessage `json:"content"`
	} `json:"rendered"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   *usage          `json:"usage"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Creation   struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// tokens returns the counts in the domain's words. Older versions do not say how long a cache keeps what was written.
func (u *usage) tokens() thread.Usage {
	return thread.Usage{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWriteHour: min(max(u.Creation.Hour, 0), max(u.CacheWrite, 0)), Output: u.Output,
	}
}

// block is a block of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Call      string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Error     bool            `json:"is_error"`
}

// format reads a session's file. In that of a sub-agent all lines are a sidechain; in others sidechains, which old
// versions wrote there, are left out unless all is read.
func format(all bool) recorded.Format {
	return func(out *recorded.Responses) recorded.Decoder {
		return &reader{
			out: out, all: all, counted: map[string]bool{}, parents: map[string]string{}, responses: map[string]string{},
		}
	}
}

// Pieces reads a session's file.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	return format(false).Pieces(ctx, f)
}

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	for _, c := range chunks {
		for i, e := range format(true).Exchanges(c.Data) {
			if e.Main = e.Main && c.File == transcript.Main; !e.Main {
				e.Purpose = "subagent"
				e.Sub.Key, e.Sub.Told = subAgent(c.File), true
				e.Sub.First = i == 0 && c.Offset == 0
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// subagents begins the names of sub-agents' files.
const subagents = "subagents/"

// subAgent returns the id of the sub-agent whose file has a name; "" for any other file.
func subAgent(file string) string {
	id, ok := strings.CutPrefix(file, subagents+"agent-")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(id, ".jsonl")
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return format(true).Begins(line) }

// reader reads lines. A response is several lines, with the results of its tools between them.
type reader struct {
	out       *recorded.Responses
	all       bool // sidechains too
	known     bool // whether the file is of a sub-agent
	sidechain bool
	id        string // of the response that is being read

	counted   map[string]bool   // the responses before, by their ids
	parents   map[string]string // the line before each line
	responses map[string]string // of lines, the ids of the responses
	last      string            // the id of the last response
}

// Line implements recorded.Decoder.
func (r *reader) Line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if m := l.Message; m != nil && m.Usage != nil {
		if err := recorded.Check(m.Usage.tokens()); err != nil {
			return err
		}
	}
	if !r.known && (l.Type == "user" || l.Type == "assistant") {
		r.known, r.sidechain = true, l.Sidechain
	}
	if !r.all && l.Sidechain != r.sidechain && l.UUID != "" {
		return nil
	}
	switch {
	case l.Type == "system" && l.Subtype == "compact_boundary":
		r.End()
		r.last = ""
		r.out.Add(recorded.Piece{Kind: recorded.Boundary, At: l.Timestamp})
	case l.Type == "assistant" && l.Message != nil:
		r.answer(l)
	case l.Type == "user" && l.Message != nil:
		r.user(l)
	case l.Type == "attachment":
		for _, part := range l.Rendered {
			r.out.Add(content(recorded.Piece{Kind: recorded.Text, At: l.Timestamp}, part.Content))
		}
	}
	if l.UUID != "" {
		r.parents[l.UUID] = l.Parent
		if l.Type == "assistant" && l.Message != nil {
			r.responses[l.UUID] = l.Message.ID
		}
	}
	return nil
}

// End implements recorded.Decoder.
func (r *reader) End() { r.out.End() }

// answer adds a line of a response.
func (r *reader) answer(l line) {
	m := l.Message
	if l.APIError || m.Model == "<synthetic>" {
		return // Claude Code's own words, which are not sent
	}
	if r.out.Now() == nil || m.ID != r.id {
		r.out.Begin(thread.Exchange{Main: !l.Sidechain, Session: l.SessionID, Started: l.Timestamp})
		if l.Sidechain {
			r.out.Now().Sub.Type = l.SubType
		}
		r.counted[r.id] = r.id != ""
		r.id, r.last = m.ID, m.ID
	}
	e := r.out.Now()
	if m.Usage != nil && !r.counted[m.ID] {
		r.out.Count(m.Usage.tokens())
		e.Model, e.Ended = m.Model, l.Timestamp
	}
	if m.Stop != "" {
		e.Stop, e.EndsTurn = m.Stop, m.Stop != "tool_use" && m.Stop != "pause_turn"
	}
	for _, b := range blocks(m.Content) {
		p := recorded.Piece{Kind: recorded.Text, Own: true, At: l.Timestamp}
		switch b.Type {
		case "text":
			p = p.Say(b.Text)
		case "thinking", "redacted_thinking":
			p.Kind = recorded.Thinking
			if p = p.Say(b.Thinking); b.Thinking == "" {
				p.Bytes = int64(len(b.Signature) + len(b.Data))
			}
		case "tool_use":
			p.Kind, p.Tool, p.ID, p.Input = recorded.Call, b.Name, b.ID, b.Input
			p = p.Say(string(b.Input))
		default: // of a tool that the provider runs
			p = p.Say(string(b.Input) + string(b.Content))
			p.Text = ""
		}
		r.out.Add(p)
	}
}

// user adds what the person or a tool said.
func (r *reader) user(l line) {
	all, prompt, results := blocks(l.Message.Content), "", false
	for _, b := range all {
		results = results || b.Type == "tool_result"
		if b.Type == "text" && prompt == "" && !l.Meta && !l.Summary {
			prompt = turns.Person(b.Text)
		}
	}
	said := prompt != "" && !results
	if prompt != "" {
		r.out.Asked(prompt)
		if !l.Sidechain {
			r.out.Turn()
		}
	}
	if said && r.wentBack(l) {
		r.End()
		r.out.Add(recorded.Piece{Kind: recorded.Rewind, At: l.Timestamp})
	}
	for _, b := range all {
		p := recorded.Piece{Kind: recorded.Text, Person: said, At: l.Timestamp}
		switch b.Type {
		case "tool_result":
			p.Kind, p.ID, p.Error = recorded.Result, b.Call, b.Error
			p = content(p, b.Content)
		case "image", "document":
			p.Images = 1
		default:
			p = p.Say(b.Text)
		}
		r.out.Add(p)
	}
}

// wentBack reports whether a prompt does not follow the last response.
func (r *reader) wentBack(l line) bool {
	if r.last == "" || l.UUID == "" {
		return false
	}
	for id, steps := l.Parent, 0; id != "" && steps <= len(r.parents); steps++ {
		if r.responses[id] == r.last {
			return false
		}
		parent, known := r.parents[id]
		if !known {
			return false // nothing is known of what is before
		}
		id = parent
	}
	return true
}

// content adds the size of a content: a text, or blocks.
func content(p recorded.Piece, raw json.RawMessage) recorded.Piece {
	for _, b := range blocks(raw) {
		if b.Type == "image" || b.Type == "document" {
			p.Images++
			continue
		}
		p = p.Say(b.Text)
	}
	return p
}

func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}
