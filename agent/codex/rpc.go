package codex

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// frame is a line of app-server: JSON-RPC without its version.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// params are the fields of notifications and requests that are read.
type params struct {
	Thread string `json:"threadId"`
	Turn   struct {
		ID     string   `json:"id"`
		Status string   `json:"status"`
		Error  *failure `json:"error"`
	} `json:"turn"`
	TurnID    string          `json:"turnId"`
	Item      item            `json:"item"`
	ItemID    string          `json:"itemId"`
	Delta     string          `json:"delta"`
	Failure   *failure        `json:"error"`
	Retries   bool            `json:"willRetry"`
	Summary   string          `json:"summary"`
	Details   string          `json:"details"`
	Message   string          `json:"message"`
	Reason    string          `json:"reason"`
	Command   string          `json:"command"`
	Server    string          `json:"serverName"`
	Name      string          `json:"name"`
	Status    string          `json:"status"`
	Questions []wanted        `json:"questions"`
	Mode      string          `json:"mode"` // of what an MCP server asks: a form with a schema, or a page
	Schema    schema          `json:"requestedSchema"`
	Request   json.RawMessage `json:"requestId"`
	Usage     struct {
		Total spent `json:"total"`
		Last  spent `json:"last"`
	} `json:"tokenUsage"`
}

// schema is that of a form.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// wanted is what the model wants to know.
type wanted struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Secret   bool   `json:"isSecret"`
	Options  []struct {
		Label string `json:"label"`
		More  string `json:"description"`
	} `json:"options"`
}

// item is something that happens in a turn.
type item struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Text    string `json:"text"`
	Status  string `json:"status"`
	Command string `json:"command"`
	Actions []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	} `json:"commandActions"`
	Output  string `json:"aggregatedOutput"`
	Exit    int    `json:"exitCode"`
	Changes []struct {
		Path string          `json:"path"`
		Kind json.RawMessage `json:"kind,omitempty"`
		Diff string          `json:"diff,omitempty"`
	} `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    *struct {
		Content json.RawMessage `json:"content"`
	} `json:"result"`
	Failure *struct {
		Message string `json:"message"`
	} `json:"error"`
	Query     string          `json:"query"`
	Content   json.RawMessage `json:"content"` // of a userMessage
	Path      string          `json:"path"`
	Prompt    string          `json:"prompt"`
	Receivers []string        `json:"receiverThreadIds"`
}

// said is the text of a userMessage.
func (i item) said() string {
	var parts []struct {
		Text string `json:"text"`
	}
	fields(i.Content, &parts)
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// fields reads those fields of v that have the expected shape.
func fields(raw []byte, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v) // reads on after a field of another shape
	}
}

// spent is usage as app-server says it: the input includes what was cached.
type spent struct {
	Input      int64 `json:"inputTokens"`
	Cached     int64 `json:"cachedInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
	Output     int64 `json:"outputTokens"`
}

func (s spent) usage() thread.Usage {
	return thread.Usage{
		Input: max(s.Input-s.Cached-s.CacheWrite, 0), CacheRead: s.Cached, CacheWrite: s.CacheWrite, Output: s.Output,
	}
}

// failure is why a turn failed.
type failure struct {
	Message string          `json:"message"`
	Details string          `json:"additionalDetails"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a word, or a word with a status
}

// text is a failure without the address that was asked: it is the gateway's.
func (f failure) text() string {
	return address().ReplaceAllString(strings.TrimSpace(f.Message+" "+f.Details), "")
}

// address matches where Codex says that it asked.
var address = pattern.Lazy(`,? ?(url: )?https?://127\.0\.0\.1:[^\s,)]*`)

// kind returns the word of a failure, and the provider's status, 0 if it is not told.
func (f failure) kind() (word string, status int) {
	if json.Unmarshal(f.Info, &word) == nil {
		return word, 0
	}
	var with map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if json.Unmarshal(f.Info, &with) != nil {
		return "", 0
	}
	for _, word := range slices.Sorted(maps.Keys(with)) {
		return word, with[word].Status
	}
	return "", 0
}

// state returns what trouble a failure is.
func (f failure) state() (thread.State, int) {
	word, status := f.kind()
	if state := thread.TroubleOf(status); state != "" {
		return state, status
	}
	switch word {
	case "unauthorized":
		return thread.StateUnauthorised, 0
	case "usageLimitExceeded", "rateLimitExceeded", "serverOverloaded", "responseTooManyFailedAttempts":
		return thread.StateLimited, 0
	case "internalServerError":
		return thread.StateUnavailable, 0
	case "httpConnectionFailed", "responseStreamConnectionFailed":
		return thread.StateUnreachable, 0
	case "responseStreamDisconnected":
		switch { // what it says while it would try again
		case strings.Contains(f.Details, "high demand"):
			return thread.StateUnavailable, 0
		case strings.Contains(f.Details, "onnection refused"), strings.Contains(f.Details, "error sending request"):
			return thread.StateUnreachable, 0
		}
		return thread.StateCut, 0
	}
	return thread.StateFailed, 0
}
