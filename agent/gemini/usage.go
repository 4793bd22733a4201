package gemini

import (
	"encoding/json"
	"time"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// line is a line of a chat file, with the fields that are read.
type line struct {
	ID        string          `json:"id"`
	Session   string          `json:"sessionId"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Model     string          `json:"model"`
	Content   json.RawMessage `json:"content"`
	Tokens    *struct {
		Input    int64 `json:"input"`
		Output   int64 `json:"output"`
		Cached   int64 `json:"cached"`
		Thoughts int64 `json:"thoughts"`
		Tool     int64 `json:"tool"`
	} `json:"tokens"`
	ToolCalls []struct {
		Name string `json:"name"`
	} `json:"toolCalls"`
}

// text reads a content, which is a text or a list of parts.
func (l line) text() string {
	var text string
	if json.Unmarshal(l.Content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(l.Content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// answerText returns the assistant's text in a line.
func answerText(raw []byte) string {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.Type != "gemini" {
		return ""
	}
	return l.text()
}

// beginsTurn reports whether a line is the first of a turn: tool results are lines of the person's, too, but have no
// text.
func beginsTurn(raw []byte) bool {
	var l line
	return json.Unmarshal(raw, &l) == nil && l.Type == "user" && l.text() != ""
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return beginsTurn(line) }

// ReadUsage returns the responses in the chunks. A response is written again, under the same id, after its tools have
// run.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	at := map[string]int{} // index in all by message id
	session, prompt := "", ""
	for _, c := range chunks {
		transcript.Lines(c.Data, func(raw []byte) {
			var l line
			if json.Unmarshal(raw, &l) != nil {
				return
			}
			if l.Session != "" {
				session = l.Session
			}
			if l.Type == "user" {
				if text := l.text(); text != "" && text[0] != '<' {
					prompt = text
				}
			}
			if l.Type != "gemini" || l.Tokens == nil {
				return
			}
			i, ok := at[l.ID]
			if !ok {
				i = len(all)
				at[l.ID] = i
				all = append(all, thread.Exchange{Main: true, Status: 200, Session: session, Prompt: prompt, Started: l.Timestamp})
			}
			fill(&all[i], l)
		})
	}
	return all, nil
}

func fill(e *thread.Exchange, l line) {
	e.Model, e.Ended, e.Text = l.Model, l.Timestamp, l.text()
	e.Usage = thread.Usage{
		Input: max(0, l.Tokens.Input-l.Tokens.Cached) + l.Tokens.Tool, CacheRead: l.Tokens.Cached,
		Output: l.Tokens.Output + l.Tokens.Thoughts,
	}
	e.Tools = nil
	for _, c := range l.ToolCalls {
		e.Tools = append(e.Tools, c.Name)
	}
	e.Stop, e.EndsTurn = "", e.Text != "" && len(e.Tools) == 0
	if e.EndsTurn {
		e.Stop = "STOP"
	}
}
