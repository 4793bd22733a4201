// Package openai reads the two formats of OpenAI: Responses (Codex) and Chat Completions (OpenCode, Qwen Code, Copilot
// and most local model servers).
//
// It distinguishes the conversation from titles, compaction, sub-agents and other side requests, makes the kinds of
// input tokens disjoint (OpenAI counts cached ones as input), and turns stored items into text. An answer of several
// output items is one item whose Raw is the array of them. It keeps bytes unchanged and holds no state between calls.
package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread/plaintext"
)

// usage is the provider's object in either format.
type usage struct {
	InputTokens      int64   `json:"input_tokens"`
	PromptTokens     int64   `json:"prompt_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	InputDetails     details `json:"input_tokens_details"`
	PromptDetails    details `json:"prompt_tokens_details"`
	CacheHit         int64   `json:"prompt_cache_hit_tokens"` // DeepSeek
}

type details struct {
	Cached  int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

// count makes the kinds disjoint: cached and written tokens are part of the input.
func (u *usage) count() wire.Usage {
	if u == nil {
		return wire.Usage{}
	}
	in := max(u.InputTokens, u.PromptTokens, 0)
	read := min(max(u.InputDetails.Cached, u.PromptDetails.Cached, u.CacheHit, 0), in)
	written := min(max(u.InputDetails.Written, u.PromptDetails.Written, 0), in-read)
	return wire.Usage{
		Input: in - read - written, CacheRead: read, CacheWrite: written,
		Output: max(u.OutputTokens, u.CompletionTokens, 0),
		Odd: min(u.InputTokens, u.PromptTokens, u.OutputTokens, u.CompletionTokens, u.InputDetails.Cached,
			u.PromptDetails.Cached, u.InputDetails.Written, u.PromptDetails.Written, u.CacheHit) < 0,
	}
}

// errorBody returns an error in the shape that clients of either format show.
func errorBody(status int, message string) []byte {
	kind, code := "server_error", any(nil)
	switch status {
	case http.StatusPaymentRequired:
		kind, code = "insufficient_quota", "insufficient_quota"
	case http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	}
	b, _ := json.Marshal(map[string]any{
		"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code},
	}) // strings always encode
	return b
}

// body is the content of a request's body, before it is classified.
type body struct {
	*wire.Request
	items    *wire.ItemReader
	schema   bool   // a structured answer is requested
	cacheKey string // prompt_cache_key
	session  string // of client_metadata
	kind     string // of response_format or text.format
}

// What is known of each item.
const (
	spoken wire.Flags = 1 << iota // the user's, which may contain a person's text
	system                        // the system's or developer's
)

// flagsOf returns what an item's role says about it.
func flagsOf(role wire.Value) wire.Flags {
	switch {
	case role.Is("user"):
		return spoken
	case role.Is("system"), role.Is("developer"):
		return system
	default:
		return 0
	}
}

// tools reads the names of the offered tools: flat ones, and those of Chat, which are nested in function.
func (b *body) tools(c *span.Cursor) error {
	return c.Array(func(c *span.Cursor) error {
		var kind, name string
		err := c.Object(func(key string, c *span.Cursor) (err error) {
			switch key {
			case "type":
				kind, err = c.String()
			case "name":
				name, err = c.String()
			case "function":
				err = c.Object(func(key string, c *span.Cursor) (err error) {
					if key == "name" {
						name, err = c.String()
					}
					return err
				})
			}
			return err
		})
		if name == "" {
			name = kind // built-in tools only have a kind
		}
		b.Tools = append(b.Tools, name)
		return err
	})
}

// format reads a response format and records whether it has a schema.
func (b *body) format(c *span.Cursor) error {
	return c.Object(func(key string, c *span.Cursor) (err error) {
		if key == "type" {
			b.kind, err = c.String()
			b.schema = b.schema || b.kind == "json_schema" || b.kind == "json_object"
		}
		return err
	})
}

// session finds the session id of a request.
func session(h http.Header, b *body) string {
	for _, name := range []string{"Session-Id", "Session_id", "X-Session-Id", "Thread-Id"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	if b.session != "" {
		return b.session
	}
	return b.cacheKey
}

// item is a message or another item of a conversation in either format, with the fields that are read.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`

	ToolCalls  []toolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	Reasoning  string     `json:"reasoning_content"`
	Reasoning2 string     `json:"reasoning"`
	Refusal    string     `json:"refusal"`
}

type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Custom struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

// clientCall reports whether an output item is a call for the agent to run.
func clientCall(kind string) bool {
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call",
		"computer_call", "tool_search_call", "mcp_approval_request":
		return true
	default:
		return false
	}
}

func toolName(it item) string {
	switch {
	case it.Name != "" && it.Namespace != "":
		return it.Namespace + "." + it.Name
	case it.Name != "":
		return it.Name
	default:
		return strings.TrimSuffix(it.Type, "_call")
	}
}

// part is a part of a content.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// head reads the role, kind and content of a message and ignores the rest.
func head(raw json.RawMessage) (role, kind string, content json.RawMessage) {
	_ = span.New(raw).Object(func(key string, c *span.Cursor) (err error) {
		switch key {
		case "role":
			role, err = c.String()
		case "type":
			kind, err = c.String()
		case "content":
			content, err = c.Raw()
		}
		return err
	})
	return role, kind, content
}

// parts calls fn for each text of a content: a string, or a list of parts with a type and a text.
func parts(content json.RawMessage, fn func(part)) {
	c := span.New(content)
	if c.Kind() == '"' {
		if s, err := c.String(); err == nil {
			fn(part{Type: "text", Text: s})
		}
		return
	}
	_ = c.Array(func(c *span.Cursor) error {
		var p part
		err := c.Object(func(key string, c *span.Cursor) (err error) {
			switch key {
			case "type":
				p.Type, err = c.String()
			case "text":
				p.Text, err = c.String()
			case "refusal":
				p.Refusal, err = c.String()
			}
			return err
		})
		fn(p)
		return err
	})
}

// plainText joins the texts of a content and names the other parts.
func plainText(content json.RawMessage) string {
	var out []string
	parts(content, func(p part) {
		switch {
		case p.Text != "" || p.Refusal != "":
			out = append(out, p.Text+p.Refusal)
		case p.Type != "" && p.Type != "text" && !strings.HasSuffix(p.Type, "_text"):
			out = append(out, "["+strings.TrimPrefix(p.Type, "input_")+"]")
		}
	})
	return strings.Join(out, "\n")
}

// personText returns the text that the person wrote in a message, "" if there is none.
func personText(raw json.RawMessage) string {
	role, kind, content := head(raw)
	if role != "user" || (kind != "" && kind != "message") {
		return ""
	}
	var person wire.Person
	images := false
	parts(content, func(p part) {
		if p.Text != "" {
			person.Add(p.Text)
			return
		}
		images = images || strings.Contains(p.Type, "image") || strings.Contains(p.Type, "file")
	})
	if text := person.Text(); text != "" || !images {
		return text
	}
	return "[image]"
}

// instructions returns the beginnings of the first system and developer texts.
func instructions(b *body) string {
	texts := []json.RawMessage{b.System}
	for i, it := range b.Items {
		if len(texts) == 5 {
			break
		}
		if b.items.Has(i, system) {
			texts = append(texts, it.Raw)
		}
	}
	return b.items.Digest(texts, func() string {
		var out strings.Builder
		add := func(p part) { out.WriteString(plaintext.Cut(p.Text, 4000) + "\n") }
		parts(b.System, add)
		for _, raw := range texts[1:] {
			_, _, content := head(raw)
			parts(content, add)
		}
		return out.String()
	})
}

// lastText returns the text of the newest message if it is the user's.
func lastText(b *body) string {
	n := len(b.Items) - 1
	if n < 0 || !b.items.Has(n, spoken) {
		return ""
	}
	_, _, content := head(b.Items[n].Raw)
	return strings.TrimSpace(plainText(content))
}

// classify recognises side requests by their shape, if no header names the purpose.
func classify(b *body) wire.Purpose {
	system, last := instructions(b), lastText(b)
	switch {
	case wire.IsQuoted(system, "tasked with summarizing conversations", "anchored context summarization",
		"helpful AI assistant tasked with summarizing"),
		wire.IsQuoted(plaintext.Cut(last, 400), "CONTEXT CHECKPOINT COMPACTION",
			"Provide a detailed prompt for continuing our conversation", "<state_snapshot>"):
		return wire.PurposeCompaction
	case wire.IsQuoted(plaintext.Cut(system, 300), "title generator", "generate a title", "generate a concise title"),
		strings.HasPrefix(last, "Generate a title for this conversation"):
		return wire.PurposeTitle
	case wire.IsQuoted(plaintext.Cut(system, 600), "managed memory", "memory extraction", "memory agent", "extract memories",
		"prompt suggestion", "suggest what the user", "predict what the user"),
		wire.IsQuoted(plaintext.Cut(last, 400), "managed memory", "[SUGGESTION MODE"):
		return wire.PurposeOther
	case b.schema && len(b.Tools) <= 1:
		if wire.IsQuoted(system+last, "title") {
			return wire.PurposeTitle
		}
		return wire.PurposeClassifier
	case len(b.Tools) > 0:
		return wire.PurposeMain
	case wire.IsQuoted(plaintext.Cut(system, 600), "classif", "security monitor", "approve or deny"):
		return wire.PurposeClassifier
	case wire.IsQuoted(plaintext.Cut(system, 600), "title"):
		return wire.PurposeTitle
	case wire.IsQuoted(plaintext.Cut(system+last, 800), "summarize what was done", "suggest", "summar"):
		return wire.PurposeOther
	case wire.SmallModel(b.Model) && len(b.Items) <= 3:
		return wire.PurposeOther
	default:
		return wire.PurposeMain
	}
}
