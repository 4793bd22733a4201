package opencode

import (
	"encoding/json"
	"time"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// line is a message's line, with the fields that are read.
type line struct {
	Info struct {
		Role    string `json:"role"`
		Session string `json:"sessionID"`
		Model   string `json:"modelID"`
		Finish  string `json:"finish"`
		Cost    float64
		Error   json.RawMessage `json:"error"`
		Summary json.RawMessage `json:"summary"`
		Time    struct{ Created, Completed int64 }
		Tokens  *tokens `json:"tokens"`
	} `json:"info"`
	Parts []struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Tool      string `json:"tool"`
		Synthetic bool   `json:"synthetic"`
	} `json:"parts"`
}

// tokens are the provider's counts of a response.
type tokens struct {
	Input, Output, Reasoning int64
	Cache                    struct{ Read, Write int64 }
}

func (t *tokens) usage() thread.Usage {
	return thread.Usage{
		Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write, Output: t.Output + t.Reasoning,
	}
}

func (l line) text() string {
	text := ""
	for _, p := range l.Parts {
		if p.Type == "text" && !p.Synthetic {
			text += p.Text
		}
	}
	return text
}

// answerText returns the assistant's text in a line.
func answerText(raw []byte) string {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.Info.Role != "assistant" {
		return ""
	}
	return l.text()
}

// beginsTurn reports whether a line is the first of a turn.
func beginsTurn(raw []byte) bool {
	var l line
	return json.Unmarshal(raw, &l) == nil && l.Info.Role == "user"
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return beginsTurn(line) }

// ReadUsage returns the responses in the chunks, one for each message of the assistant.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	prompt := ""
	for _, c := range chunks {
		if c.File != mainFile {
			continue
		}
		transcript.Lines(c.Data, func(raw []byte) {
			var l line
			if json.Unmarshal(raw, &l) != nil {
				return
			}
			if l.Info.Role == "user" {
				prompt = l.text()
				return
			}
			if l.Info.Role != "assistant" || l.Info.Tokens == nil {
				return
			}
			all = append(all, l.exchange(prompt))
		})
	}
	return all, nil
}

func (l line) exchange(prompt string) thread.Exchange {
	i := l.Info
	e := thread.Exchange{
		Main: true, Status: 200, Session: i.Session, Model: i.Model, Prompt: prompt, Text: l.text(), Stop: i.Finish,
		Started: time.UnixMilli(i.Time.Created), Ended: time.UnixMilli(i.Time.Completed),
		Usage: i.Tokens.usage(), EndsTurn: i.Finish != "" && i.Finish != "tool-calls" && i.Finish != "unknown",
	}
	e.Usage.CostUSD, e.Usage.Priced = i.Cost, i.Cost > 0
	if string(i.Summary) == "true" {
		e.Main, e.Purpose = false, "compaction"
	}
	if len(i.Error) > 0 {
		e.Interrupted, e.EndsTurn = true, true
	}
	for _, p := range l.Parts {
		if p.Type == "tool" {
			e.Tools = append(e.Tools, p.Tool)
		}
	}
	return e
}
