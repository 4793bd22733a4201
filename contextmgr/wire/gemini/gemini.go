// Package gemini reads Google's generateContent format: Gemini CLI, OpenCode and others, plain or in the envelope of
// Code Assist.
//
// It distinguishes the conversation from the requests for routing, summaries and compaction, makes the kinds of input
// tokens disjoint (Gemini counts cached ones as prompt), and turns stored contents into text. It keeps bytes unchanged
// and holds no state between calls.
package gemini

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
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
		Name: wire.Gemini,
		Posts: func(path string) bool {
			return slices.Contains([]string{"streamGenerateContent", "generateContent", "countTokens"}, verb(path))
		},
		Read: read, Person: personText, Spoken: spoken,
		Says: [2]string{`{"role":"user","parts":[{"text":`, `}]}`}, Text: "text",
	}}
}

// verb returns the method of a path, after the last colon: "streamGenerateContent".
func verb(path string) string {
	return path[strings.LastIndexByte(path, ':')+1:]
}

// body is the content of a request's body, before it is classified.
type body struct {
	*wire.Request
	items  *wire.ItemReader
	schema bool
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
		b.Model = strings.TrimPrefix(b.Model, "models/")
	case "request": // Code Assist
		err = c.Object(b.member)
	case "session_id":
		b.Session, err = c.String()
	case "systemInstruction", "system_instruction":
		b.System, err = c.Raw()
	case "contents":
		err = b.items.Read(c, readContent)
	case "tools":
		err = b.items.Tools(c, &b.Tools, func(c *span.Cursor) error {
			return c.Array(func(c *span.Cursor) error { return c.Object(b.tool) })
		})
	case "generationConfig", "generation_config":
		err = c.Object(func(key string, _ *span.Cursor) error {
			switch key {
			case "responseSchema", "responseJsonSchema", "response_schema":
				b.schema = true
			}
			return nil
		})
	}
	return err
}

// tool reads an entry of tools: function declarations, or a built-in tool by its key.
func (b *body) tool(key string, c *span.Cursor) error {
	if key != "functionDeclarations" && key != "function_declarations" {
		b.Tools = append(b.Tools, key)
		return nil
	}
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

// purpose classifies a request: Gemini CLI streams its conversation, with tools; all other requests are not streamed or
// have no tools.
func (b *body) purpose(call wire.Call) wire.Purpose {
	if at := strings.LastIndex(call.Path, "/models/"); at >= 0 {
		b.Model, _, _ = strings.Cut(call.Path[at+len("/models/"):], ":")
	}
	b.Session = cmp.Or(b.Session, call.Header.Get("X-Session-Id"), call.Header.Get("X-Gemini-Session-Id"))
	system := b.items.Digest([]json.RawMessage{b.System}, func() string { return systemText(b.System) })
	last := ""
	if n := len(b.Items); n > 0 && b.items.Has(n-1, spoken) {
		last = plaintext.Cut(joined(parts(b.Items[n-1].Raw)), 2000)
	}
	switch {
	case verb(call.Path) == "countTokens":
		return wire.PurposeCount
	case call.Header.Get("X-Parent-Session-Id") != "":
		b.Sub = wire.ChildSession(call.Header)
		return wire.PurposeSubagent
	case wire.IsQuoted(system, "<state_snapshot>", "summarizing internal chat history", "distilling chat history"):
		return wire.PurposeCompaction
	case slices.Contains(b.Tools, "complete_task"):
		b.Sub = wire.Conversation(b.Request)
		return wire.PurposeSubagent
	case len(b.Tools) > 0 && !b.schema:
		return wire.PurposeMain
	case wire.IsQuoted(plaintext.Cut(system+last, 600), "title", "session summary", "summarize the user's primary intent",
		"summary of this conversation"):
		return wire.PurposeTitle
	case b.schema:
		return wire.PurposeClassifier
	case verb(call.Path) == "generateContent", wire.SmallModel(b.Model):
		return wire.PurposeOther
	default:
		return wire.PurposeMain
	}
}

func systemText(raw json.RawMessage) string {
	var out strings.Builder
	for _, p := range parts(raw) {
		out.WriteString(plaintext.Cut(p.Text, 4000) + "\n")
	}
	return out.String()
}

// part is a part of a content, with the fields that are read.
type part struct {
	Text     string          `json:"text"`
	Thought  bool            `json:"thought"`
	Call     *functionCall   `json:"functionCall"`
	Response *functionResult `json:"functionResponse"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResult struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// role returns a content's role; a missing one is the user's.
func role(raw json.RawMessage) (r string) {
	_ = span.New(raw).Object(func(key string, c *span.Cursor) (err error) {
		if key == "role" {
			r, err = c.String()
		}
		return err
	})
	return r
}

// parts reads the parts of a content.
func parts(raw json.RawMessage) []part {
	var m struct {
		Parts []json.RawMessage `json:"parts"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	list := make([]part, len(m.Parts))
	for i, p := range m.Parts {
		_ = json.Unmarshal(p, &list[i]) // fields of another type stay empty
	}
	return list
}

func joined(ps []part) string {
	var out []string
	for _, p := range ps {
		if p.Text != "" && !p.Thought {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

// personText returns the text that the person wrote in a content, "" if there is none.
func personText(raw json.RawMessage) string {
	if r := role(raw); r != "user" && r != "" {
		return ""
	}
	var person wire.Person
	media := false
	_ = span.New(raw).Object(func(key string, c *span.Cursor) error {
		if key != "parts" {
			return nil
		}
		return c.Array(func(c *span.Cursor) error {
			return c.Object(func(key string, c *span.Cursor) error {
				switch key {
				case "text":
					text, err := c.String()
					person.Add(text)
					return err
				case "inlineData", "fileData":
					media = true
				}
				return nil
			})
		})
	})
	if text := person.Text(); text != "" || !media {
		return text
	}
	return "[image]"
}

// Error implements wire.Codec.
func (Codec) Error(status int, message string) []byte {
	kind := "UNAVAILABLE"
	if status == http.StatusPaymentRequired || status == http.StatusTooManyRequests {
		kind = "RESOURCE_EXHAUSTED"
	}
	b, _ := json.Marshal(map[string]any{
		"error": map[string]any{"code": status, "message": message, "status": kind},
	}) // strings always encode
	return b
}

var _ wire.Scanner = Codec{}
