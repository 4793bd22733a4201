// Package anthropic reads the Anthropic Messages format: Claude Code, OpenCode and others.
//
// It distinguishes Claude Code's conversation from its other requests (titles, classifiers, sub-agents, token counts,
// compaction), reads streamed and whole answers, and turns stored messages into text. It keeps bytes unchanged and
// holds no state between calls.
package anthropic

import (
	"encoding/json"
	"net/http"
	"orchestrator/thread"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread/plaintext"
)

// Codec implements wire.Codec.
type Codec struct{ *wire.Format }

// New returns the codec.
func New() Codec {
	return Codec{&wire.Format{
		Name: wire.Anthropic,
		Posts: func(path string) bool { // Vertex paths carry the same bodies
			return wire.PathEnds(path, "/messages") || wire.PathEnds(path, "/messages/count_tokens") ||
				strings.HasSuffix(path, ":rawPredict") || strings.HasSuffix(path, ":streamRawPredict")
		},
		Read: read, Person: personText, Spoken: spoken,
		Says: [2]string{`{"role":"user","content":`, `}`}, Text: resultParts.Text,
	}}
}

// body is the content of a request's body, before it is classified.
type body struct {
	*wire.Request
	items     *wire.ItemReader
	schema    bool  // a structured answer is requested
	maxTokens int64 // 0 if not set
	userID    string
}

// read reads a body.
func read(items *wire.ItemReader, r *wire.Request) (func(string, *span.Cursor) error, func(wire.Call) wire.Purpose) {
	b := &body{Request: r, items: items}
	return b.member, b.purpose
}

func (b *body) member(key string, c *span.Cursor) (err error) {
	switch key {
	case "model":
		b.Model, err = c.String()
	case "max_tokens":
		b.maxTokens, err = c.Int()
	case "system":
		b.System, err = c.Raw()
	case "messages":
		err = b.items.Read(c, readMessage)
	case "tools":
		err = b.items.Tools(c, &b.Tools, b.tools)
	case "output_config", "output_format":
		err = c.Object(func(key string, c *span.Cursor) error {
			b.schema = b.schema || key == "format" || key == "schema"
			return nil
		})
	case "metadata":
		err = c.Object(func(key string, c *span.Cursor) (err error) {
			if key == "user_id" {
				b.userID, err = c.String()
			}
			return err
		})
	}
	return err
}

// tools reads the names of the offered tools.
func (b *body) tools(c *span.Cursor) error {
	return c.Array(func(c *span.Cursor) error {
		return c.Object(func(key string, c *span.Cursor) error {
			if key != "name" {
				return nil
			}
			name, err := c.String()
			b.Tools = append(b.Tools, name)
			return err
		})
	})
}

// session finds the session id: in Claude Code's header or metadata, or in OpenCode's header.
func session(h http.Header, userID string) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "X-Session-Id"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	var meta struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal([]byte(userID), &meta) == nil && meta.Session != "" {
		return meta.Session
	}
	if _, id, ok := strings.Cut(userID, "_session_"); ok { // older releases
		return id
	}
	return ""
}

// purpose classifies a request by its headers and, failing that, by its shape. A conversation has tools; a request
// without any is a side request, unless nothing else indicates one.
func (b *body) purpose(call wire.Call) wire.Purpose {
	if at := strings.LastIndex(call.Path, "/models/"); b.Model == "" && at >= 0 {
		b.Model, _, _ = strings.Cut(call.Path[at+len("/models/"):], ":") // Vertex
	}
	b.Session = session(call.Header, b.userID)
	b.LongWindow = strings.Contains(strings.Join(call.Header.Values("Anthropic-Beta"), ","), "context-1m") ||
		strings.HasSuffix(b.Model, "[1m]")
	system := b.items.Digest([]json.RawMessage{b.System}, func() string { return systemText(b.System) })
	last := b.lastText()
	switch {
	case wire.PathEnds(call.Path, "/count_tokens"):
		return wire.PurposeCount
	case call.Header.Get("X-Claude-Code-Agent-Id") != "", call.Header.Get("X-Parent-Session-Id") != "",
		strings.Contains(system, "cc_is_subagent=true"):
		b.Sub = b.sub(call.Header)
		return wire.PurposeSubagent
	case wire.IsQuoted(system, "tasked with summarizing conversations", "anchored context summarization"),
		strings.HasPrefix(last, "Your task is to create a detailed summary of the conversation"),
		strings.HasPrefix(last, "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."):
		return wire.PurposeCompaction
	case strings.HasPrefix(last, "[SUGGESTION MODE"), strings.HasPrefix(last, "The user stepped away and is coming back"),
		strings.HasPrefix(last, "<system-reminder>This is a side question from the user"):
		return wire.PurposeOther // sent with the whole conversation and all tools, to use the cache
	case len(b.Tools) > 0 && !(b.schema && len(b.Tools) == 1):
		return wire.PurposeMain
	case wire.IsQuoted(system, "title"):
		return wire.PurposeTitle
	case b.schema, wire.IsQuoted(system, "classif"):
		return wire.PurposeClassifier
	case b.maxTokens > 0 && b.maxTokens <= 512, wire.SmallModel(b.Model):
		return wire.PurposeOther
	default:
		return wire.PurposeMain
	}
}

// sub returns whose request it is: Claude Code and OpenCode name their sub-agents in headers.
func (b *body) sub(h http.Header) thread.SubAgent {
	switch id := h.Get("X-Claude-Code-Agent-Id"); {
	case id != "":
		return thread.SubAgent{Key: id, Parent: h.Get("X-Claude-Code-Parent-Agent-Id"), Type: h.Get("X-Claude-Code-Agent-Type")}
	case h.Get("X-Parent-Session-Id") != "":
		return wire.ChildSession(h)
	default:
		return wire.Conversation(b.Request)
	}
}

// systemText returns the beginning of the system prompt, which is a string or a list of blocks.
func systemText(raw json.RawMessage) string {
	var out strings.Builder
	texts(raw, func(_, text string) { out.WriteString(plaintext.Cut(text, 4000) + "\n") })
	return out.String()
}

// texts calls fn for each text of a content: a string, or a list of blocks with a type and a text.
func texts(raw json.RawMessage, fn func(kind, text string)) {
	c := span.New(raw)
	if c.Kind() == '"' {
		if s, err := c.String(); err == nil {
			fn("text", s)
		}
		return
	}
	_ = c.Array(func(c *span.Cursor) error {
		var kind, text string
		err := c.Object(func(key string, c *span.Cursor) (err error) {
			switch key {
			case "type":
				kind, err = c.String()
			case "text":
				text, err = c.String()
			}
			return err
		})
		fn(kind, text)
		return err
	})
}

// envelope returns a message's role and content.
func envelope(raw json.RawMessage) (role string, content json.RawMessage) {
	_ = span.New(raw).Object(func(key string, c *span.Cursor) (err error) {
		switch key {
		case "role":
			role, err = c.String()
		case "content":
			content, err = c.Raw()
		}
		return err
	})
	return role, content
}

// personText returns the text that the person wrote in a message, "" if there is none.
func personText(raw json.RawMessage) string {
	role, content := envelope(raw)
	if role != "user" {
		return ""
	}
	var person wire.Person
	images := 0
	texts(content, func(kind, text string) {
		switch kind {
		case "text":
			person.Add(text)
		case "image", "document":
			images++
		}
	})
	if text := person.Text(); text != "" || images == 0 {
		return text
	}
	return "[image]"
}

// lastText returns the last text block of the last message, where agents put their own instructions.
func (b *body) lastText() (last string) {
	n := len(b.Items) - 1
	if n < 0 || !b.items.Has(n, spoken) {
		return ""
	}
	_, content := envelope(b.Items[n].Raw)
	texts(content, func(kind, text string) {
		if kind == "text" {
			last = strings.TrimSpace(text)
		}
	})
	return last
}

// Error implements wire.Codec.
func (Codec) Error(status int, message string) []byte {
	kind := "api_error"
	switch status {
	case http.StatusPaymentRequired:
		kind = "billing_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	}
	b, _ := json.Marshal(map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message},
	}) // strings always encode
	return b
}

var _ wire.Scanner = Codec{}
