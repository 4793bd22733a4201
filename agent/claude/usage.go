package claude

import (
	"encoding/json"
	"time"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// line is a line of a transcript, with the fields that are read.
type line struct {
	Type      string    `json:"type"`
	SessionID string    `json:"sessionId"`
	Sidechain bool      `json:"isSidechain"`
	Meta      bool      `json:"isMeta"`
	Timestamp time.Time `json:"timestamp"`
	APIError  bool      `json:"isApiErrorMessage"`
	Message   *message  `json:"message"`
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

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"`
}

// content reads a message's content, which is a text or a list of blocks.
func (m *message) content() []block {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var blocks []block
	if json.Unmarshal(m.Content, &blocks) != nil {
		return nil
	}
	return blocks
}

// answerText returns the assistant's text in a line.
func answerText(raw []byte) string {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.Type != "assistant" || l.Message == nil {
		return ""
	}
	text := ""
	for _, b := range l.Message.content() {
		if b.Type == "text" {
			text += b.Text
		}
	}
	return text
}

// beginsTurn reports whether a line is a prompt of the person.
func beginsTurn(raw []byte) bool {
	var l line
	return json.Unmarshal(raw, &l) == nil && l.Type == "user" && !l.Meta && !l.Sidechain && l.Message != nil &&
		promptOf(l.Message) != ""
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return beginsTurn(line) }

// ReadUsage returns the responses in the chunks. A response is stored as several lines, one for each block of its
// content; they are combined by the message's id.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	for _, c := range chunks {
		at := map[string]int{} // index in all by message id
		prompt := ""
		transcript.Lines(c.Data, func(raw []byte) {
			var l line
			if json.Unmarshal(raw, &l) != nil || l.Message == nil || l.APIError {
				return
			}
			if l.Type == "user" && !l.Meta {
				if p := promptOf(l.Message); p != "" {
					prompt = p
				}
				return
			}
			if l.Type != "assistant" || l.Message.Usage == nil || l.Message.Model == "<synthetic>" {
				return
			}
			i, ok := at[l.Message.ID]
			if !ok {
				i = len(all)
				at[l.Message.ID] = i
				all = append(all, thread.Exchange{
					Main: c.File == mainFile && !l.Sidechain, Session: l.SessionID, Prompt: prompt,
					Started: l.Timestamp, Status: 200,
				})
				if !all[i].Main {
					all[i].Purpose = "subagent"
				}
			}
			merge(&all[i], l)
		})
	}
	return all, nil
}

func promptOf(m *message) string {
	for _, b := range m.content() {
		if b.Type != "text" {
			continue
		}
		if said := turns.Person(b.Text); said != "" {
			return said
		}
	}
	return ""
}

// merge adds the part of a response that one line contains.
func merge(e *thread.Exchange, l line) {
	m := l.Message
	e.Model, e.Ended = m.Model, l.Timestamp
	e.Usage = m.Usage.tokens()
	if m.Stop != "" {
		e.Stop = m.Stop
		e.EndsTurn = m.Stop != "tool_use" && m.Stop != "pause_turn"
	}
	for _, b := range m.content() {
		switch b.Type {
		case "text":
			e.Text += b.Text
		case "tool_use":
			e.Tools = append(e.Tools, b.Name)
		}
	}
}

// mainFile is the name of a session's own file; those of sub-agents are "subagents/agent-….jsonl".
const mainFile = "main"
