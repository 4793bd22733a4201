package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// frame is a line of stream-json. What it has besides depends on its type.
type frame struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	Session   string          `json:"session_id"`
	Parent    string          `json:"parent_tool_use_id"`
	Message   json.RawMessage `json:"message"`    // of an answer, and of what tools returned
	Event     json.RawMessage `json:"event"`      // of a stream_event
	RequestID string          `json:"request_id"` // of a control_request
	Request   json.RawMessage `json:"request"`
	Command   string          `json:"command_uuid"` // of a command_lifecycle
	State     string          `json:"state"`
}

// body is an answer, or what tools returned.
type body struct {
	ID     string          `json:"id"`
	Model  string          `json:"model"`
	Blocks json.RawMessage `json:"content"` // a list of piece, or a text
}

// notice are the fields of system messages.
type notice struct {
	Model   string `json:"model"`
	Servers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	Attempt int    `json:"attempt"`
	Retries int    `json:"max_retries"`
	Status  int    `json:"error_status"` // null if there was no answer
	Error   string `json:"error"`
	Tool    string `json:"tool_name"`
	Call    string `json:"tool_use_id"`
	Text    string `json:"message"`
	Content string `json:"content"`
	Task    string `json:"task_id"` // that of a sub-agent is its id
	Does    string `json:"description"`
	Tasks   []struct {
		Kind string `json:"task_type"`
	} `json:"tasks"`
}

// result are the fields of a result.
type result struct {
	Failed bool                 `json:"is_error"`
	Why    string               `json:"terminal_reason"`
	Said   string               `json:"result"`
	Errors []string             `json:"errors"`
	Status int                  `json:"api_error_status"`
	Usage  counted              `json:"usage"` // without that of sub-agents
	Models map[string]modelUsed `json:"model_usage_since_last_result"`
}

// trouble is why a run failed: what it was, and for people, without the gateway's address.
func (r result) trouble() (thread.State, string) {
	reason := gateway().ReplaceAllString(cmp.Or(strings.Join(r.Errors, "\n"), r.Said, r.Why), "")
	state := thread.TroubleOf(r.Status)
	if state != "" || !strings.HasPrefix(reason, "API Error: ") {
		return state, reason
	}
	switch {
	case strings.Contains(reason, "ECONNRESET"), strings.Contains(reason, "Connection closed mid-response"):
		return thread.StateCut, reason
	case unreachable().MatchString(reason):
		return thread.StateUnreachable, reason
	}
	return "", reason
}

var (
	// gateway matches the advice to look at the gateway.
	gateway = pattern.Lazy(` If it persists, check your inference gateway \([^)]*\)\.`)
	// unreachable matches why Claude Code did not reach an address.
	unreachable = pattern.Lazy(`ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|Unable to connect`)
)

// streamed is an event of the provider's stream, which is passed on.
type streamed struct {
	Type    string `json:"type"`
	Message struct {
		ID    string  `json:"id"`
		Model string  `json:"model"`
		Usage counted `json:"usage"`
	} `json:"message"`
	Block struct {
		Type string `json:"type"`
	} `json:"content_block"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
	Usage counted `json:"usage"`
}

// request is what Claude Code asks its caller.
type request struct {
	Subtype string          `json:"subtype"`
	Tool    string          `json:"tool_name"`
	Input   json.RawMessage `json:"input"`
	Call    string          `json:"tool_use_id"`
	// Agent is the sub-agent that calls the tool, Why what decides that it is asked, Suggests what may be allowed for good.
	Agent    string       `json:"agent_id"`
	Why      string       `json:"decision_reason"`
	Suggests []permission `json:"permission_suggestions"`
}

// permission is a change of what is allowed, as Claude Code suggests it and takes it.
type permission struct {
	Type        string          `json:"type"`
	Mode        string          `json:"mode,omitempty"`
	Directories []string        `json:"directories,omitempty"`
	Rules       json.RawMessage `json:"rules,omitempty"`
	Behavior    string          `json:"behavior,omitempty"`
	Destination string          `json:"destination"`
}

// fields reads those fields of v that have the expected shape.
func fields(raw []byte, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v) // reads on after a field of another shape
	}
}

// piece is a part of a message.
type piece struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	Call     string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	Failed   bool            `json:"is_error"`
}

// reads is the file that a call only reads, "" if it does anything else.
func (p piece) reads() string {
	var in struct {
		File string `json:"file_path"`
	}
	if p.Name == "Read" {
		fields(p.Input, &in)
	}
	return in.File
}

// counted is usage as the provider's API has it.
type counted struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Writes     struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (c counted) usage() thread.Usage {
	return thread.Usage{
		Input: c.Input, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite, CacheWriteHour: c.Writes.Hour, Output: c.Output,
	}
}

// modelUsed is usage as Claude Code counts it by model.
type modelUsed struct {
	Input      int64 `json:"inputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	Hour       int64 `json:"cacheCreationEphemeral1hInputTokens"`
	Output     int64 `json:"outputTokens"`
}

func (m modelUsed) usage() thread.Usage {
	return thread.Usage{Input: m.Input, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite, CacheWriteHour: m.Hour, Output: m.Output}
}

// most returns the larger counts of two reports of one request: the first has what went in, a later one what came out.
func most(a, b thread.Usage) thread.Usage {
	return thread.Usage{
		Input: max(a.Input, b.Input), CacheRead: max(a.CacheRead, b.CacheRead), CacheWrite: max(a.CacheWrite, b.CacheWrite),
		CacheWriteHour: max(a.CacheWriteHour, b.CacheWriteHour), Output: max(a.Output, b.Output),
	}
}

// beyond returns what a has and b does not, nothing below zero.
func beyond(a, b thread.Usage) thread.Usage {
	return thread.Usage{
		Input: max(a.Input-b.Input, 0), CacheRead: max(a.CacheRead-b.CacheRead, 0), CacheWrite: max(a.CacheWrite-b.CacheWrite, 0),
		CacheWriteHour: max(a.CacheWriteHour-b.CacheWriteHour, 0), Output: max(a.Output-b.Output, 0),
	}
}
