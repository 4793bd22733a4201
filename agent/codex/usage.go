package codex

import (
	"encoding/json"
	"time"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// line is a line of a rollout, with the fields that are read.
type line struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Role    string `json:"role"`
		Name    string `json:"name"`
		Model   string `json:"model"`
		Window  int64  `json:"model_context_window"`
		Thread  string `json:"thread_id"`
		Usage   *usage `json:"usage"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Info *struct {
			Last   *usage `json:"last_token_usage"`
			Window int64  `json:"model_context_window"`
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

func (l line) text() string {
	text := ""
	for _, c := range l.Payload.Content {
		text += c.Text
	}
	return text
}

// answerText returns the assistant's text in a line.
func answerText(raw []byte) string {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.Type != "response_item" || l.Payload.Type != "message" ||
		l.Payload.Role != "assistant" {
		return ""
	}
	return l.text()
}

// beginsTurn reports whether a line is the first of a turn.
func beginsTurn(raw []byte) bool {
	var l line
	if json.Unmarshal(raw, &l) != nil {
		return false
	}
	return l.Type == "turn_context" || l.Type == "event_msg" && l.Payload.Type == "task_started" ||
		l.Type == "response_item" && l.Payload.Type == "message" && l.Payload.Role == "user"
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return beginsTurn(line) }

// ReadUsage returns the responses in the chunks. The texts of a response precede the record of its tokens; the end of
// the turn follows it.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var r usageReader
	for _, c := range chunks {
		if c.File == mainFile {
			transcript.Lines(c.Data, r.line)
		}
	}
	return r.all, nil
}

// usageReader combines the lines of a rollout into responses.
type usageReader struct {
	all      []thread.Exchange
	next     thread.Exchange // the response that the next record belongs to
	prompt   string
	session  string
	model    string
	window   int64
	recorded bool // the response of the next token_count has already been recorded
}

func (r *usageReader) line(raw []byte) {
	var l line
	if json.Unmarshal(raw, &l) != nil {
		return
	}
	switch l.Type {
	case "session_meta":
		r.session = l.Payload.ID
	case "turn_context":
		r.model = l.Payload.Model
	case "response_item":
		r.item(l)
	case "token_usage_record":
		if l.Payload.Usage != nil {
			if l.Payload.Thread != "" {
				r.session = l.Payload.Thread
			}
			r.record(l, *l.Payload.Usage)
			r.recorded = true
		}
	case "event_msg":
		r.event(l)
	}
}

func (r *usageReader) item(l line) {
	switch {
	case l.Payload.Type == "message" && l.Payload.Role == "assistant":
		r.next.Text += l.text()
	case l.Payload.Type == "message" && l.Payload.Role == "user":
		if text := l.text(); text != "" && text[0] != '<' {
			r.prompt = text
		}
	case l.Payload.Type == "function_call" || l.Payload.Type == "custom_tool_call" || l.Payload.Type == "local_shell_call":
		r.next.Tools = append(r.next.Tools, l.Payload.Name)
	}
}

func (r *usageReader) event(l line) {
	switch l.Payload.Type {
	case "task_started":
		r.window = l.Payload.Window
	case "token_count":
		// Versions without records report the tokens only here.
		if !r.recorded && l.Payload.Info != nil && l.Payload.Info.Last != nil {
			r.window = l.Payload.Info.Window
			r.record(l, *l.Payload.Info.Last)
		}
		r.recorded = false
	case "task_complete", "turn_aborted":
		if n := len(r.all); n > 0 {
			r.all[n-1].EndsTurn = true
			r.all[n-1].Stop = "completed"
			r.all[n-1].Interrupted = l.Payload.Type == "turn_aborted"
		}
	}
}

func (r *usageReader) record(l line, u usage) {
	e := r.next
	r.next = thread.Exchange{}
	e.Main, e.Status = true, 200
	e.Session, e.Model, e.Window, e.Prompt = r.session, r.model, r.window, r.prompt
	e.Started, e.Ended = l.Timestamp, l.Timestamp
	e.Usage = u.tokens()
	r.all = append(r.all, e)
}

// mainFile is the name of a session's own rollout; those it is based on are "base/<session>".
const mainFile = "main"
