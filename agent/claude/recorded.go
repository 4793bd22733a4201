package claude

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/thread"
	"orchestrator/thread/lines"
)

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

// recordedLine is a line of a session's file with what a conversation is made of.
type recordedLine struct {
	line
	UUID     string `json:"uuid"`
	Parent   string `json:"parentUuid"`
	Subtype  string `json:"subtype"`
	Summary  bool   `json:"isCompactSummary"`
	Rendered []struct {
		Content json.RawMessage `json:"content"`
	} `json:"rendered"`
}

// recordedBlock is a block of a message's content.
type recordedBlock struct {
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

// Pieces reads a session's file. In that of a sub-agent all lines are a sidechain; in others sidechains, which old
// versions wrote there, are left out.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	return func(yield func(recorded.Piece, error) bool) {
		r := recordedReader{parents: map[string]string{}, responses: map[string]string{}}
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
		r.end()
	}
}

func parseRecorded(raw []byte) (recordedLine, error) {
	var l recordedLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, err
	}
	if m := l.Message; m != nil && m.Usage != nil {
		return l, recorded.Check(m.Usage.tokens())
	}
	return l, nil
}

// recordedReader makes pieces of lines. A response is several lines, with the results of its tools between them.
type recordedReader struct {
	out       recorded.Responses
	known     bool // whether the file is of a sub-agent
	sidechain bool
	id        string // of the response that is being read
	usage     *thread.Usage
	model     string

	parents   map[string]string // the line before each line
	responses map[string]string // of lines, the ids of the responses
	last      string            // the id of the last response
}

func (r *recordedReader) line(l recordedLine) {
	if l.Type == "user" || l.Type == "assistant" {
		if !r.known {
			r.known, r.sidechain = true, l.Sidechain
		}
	}
	if l.Sidechain != r.sidechain && l.UUID != "" {
		return
	}
	switch {
	case l.Type == "system" && l.Subtype == "compact_boundary":
		r.end()
		r.last = ""
		r.out.Add(recorded.Piece{Kind: recorded.Boundary, At: l.Timestamp})
	case l.Type == "assistant" && l.Message != nil:
		r.answer(l)
	case l.Type == "user" && l.Message != nil:
		r.user(l)
	case l.Type == "attachment":
		for _, part := range l.Rendered {
			r.out.Add(r.content(recorded.Piece{Kind: recorded.Text, At: l.Timestamp}, part.Content))
		}
	}
	if l.UUID != "" {
		r.parents[l.UUID] = l.Parent
		if l.Type == "assistant" && l.Message != nil {
			r.responses[l.UUID] = l.Message.ID
		}
	}
}

// answer adds a line of a response.
func (r *recordedReader) answer(l recordedLine) {
	m := l.Message
	if l.APIError || m.Model == "<synthetic>" {
		return // Claude Code's own words, which are not sent
	}
	if !r.out.Open() || m.ID != r.id {
		r.end()
		r.out.Begin()
		r.id, r.last = m.ID, m.ID
	}
	if m.Usage != nil {
		u := m.Usage.tokens()
		r.usage, r.model = &u, m.Model
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
		}
		r.out.Add(p)
	}
}

// user adds what the person or a tool said.
func (r *recordedReader) user(l recordedLine) {
	said := promptOf(l.Message) != "" && !l.Meta && !l.Summary
	results := false
	for _, b := range blocks(l.Message.Content) {
		results = results || b.Type == "tool_result"
	}
	if said && !results && r.wentBack(l) {
		r.end()
		r.out.Add(recorded.Piece{Kind: recorded.Rewind, At: l.Timestamp})
	}
	for _, b := range blocks(l.Message.Content) {
		p := recorded.Piece{Kind: recorded.Text, Person: said && !results, At: l.Timestamp}
		switch b.Type {
		case "tool_result":
			p.Kind, p.ID, p.Error = recorded.Result, b.Call, b.Error
			p = r.content(p, b.Content)
		case "image", "document":
			p.Images = 1
		default:
			p = p.Say(b.Text)
		}
		r.out.Add(p)
	}
}

// wentBack reports whether a prompt does not follow the last response.
func (r *recordedReader) wentBack(l recordedLine) bool {
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
func (r *recordedReader) content(p recorded.Piece, raw json.RawMessage) recorded.Piece {
	for _, b := range blocks(raw) {
		if b.Type == "image" || b.Type == "document" {
			p.Images++
			continue
		}
		p = p.Say(b.Text)
	}
	return p
}

// end ends the response that is being read.
func (r *recordedReader) end() {
	r.out.End(r.usage, r.model)
	r.usage, r.model = nil, ""
}

func blocks(raw json.RawMessage) []recordedBlock {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []recordedBlock{{Type: "text", Text: text}}
	}
	var all []recordedBlock
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}
