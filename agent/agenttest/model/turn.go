package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/thread/pattern"
)

// Role says who a Message is from.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Result    Role = "result" // a tool's output
	System    Role = "system" // instructions and what the agent itself adds to the conversation
)

// Message is one piece of a request's conversation, the same for all wires.
type Message struct {
	Role Role
	Text string
	Call string // name of the called tool, for calls of the assistant
}

// Turn is what a model request asks for.
type Turn struct {
	Wire    Wire
	Model   string
	Stream  bool
	Prompt  string // the person's newest prompt
	Round   int    // answers of the model since that prompt
	Tools   []Tool
	Schema  bool   // an answer by a JSON schema is wanted
	Checked bool   // a verdict on the safety of every tool call is wanted
	Side    bool   // no main conversation: offers no shell
	Dir     string // working folder as the agent told the model, empty when it did not
	History []Message
}

// Prompts returns the person's prompts in the conversation.
func (t Turn) Prompts() []string { return t.texts(User) }

// Answers returns the assistant's texts in the conversation.
func (t Turn) Answers() []string { return t.texts(Assistant) }

// Results returns the tools' outputs in the conversation.
func (t Turn) Results() []string { return t.texts(Result) }

func (t Turn) texts(role Role) []string {
	var all []string
	for _, m := range t.History {
		if m.Role == role && m.Call == "" && m.Text != "" {
			all = append(all, m.Text)
		}
	}
	return all
}

// object is any JSON object.
type object = map[string]any

// body holds what is read of requests of all wires.
type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []object          `json:"messages"`
	Input    json.RawMessage   `json:"input"`
	Contents []object          `json:"contents"`
	Tools    []json.RawMessage `json:"tools"`

	ResponseFormat any    `json:"response_format"`
	Text           object `json:"text"`
	OutputConfig   object `json:"output_config"`
	OutputFormat   any    `json:"output_format"`
	Generation     object `json:"generationConfig"`

	Safeguards []object `json:"safeguards"`
}

// dangerous is the type of the safeguard that checks tool calls.
const dangerous = "dangerous_tool_use"

// parse reads a model request.
func parse(wire Wire, raw []byte) (Turn, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return Turn{}, fmt.Errorf("read request: %w", err)
	}
	t := Turn{Wire: wire, Model: b.Model, Stream: b.Stream}
	switch wire {
	case Anthropic, Chat:
		for _, m := range b.Messages {
			t.message(m)
		}
	case Responses:
		t.input(b.Input)
	case Gemini:
		for _, c := range b.Contents {
			t.content(c)
		}
	}
	for _, raw := range b.Tools {
		t.addTools(raw)
	}
	t.Schema = b.ResponseFormat != nil || b.Text["format"] != nil || b.OutputFormat != nil ||
		b.OutputConfig["format"] != nil || b.Generation["responseSchema"] != nil || b.Generation["responseJsonSchema"] != nil
	for _, s := range b.Safeguards {
		t.Checked = t.Checked || str(s["type"]) == dangerous
	}
	_, shell := t.shell()
	t.Side = !shell
	t.Prompt, t.Round = newest(t.History)
	if all := workingDir().FindAllSubmatch(raw, -1); len(all) > 0 { // the newest counts
		t.Dir, _, _ = strings.Cut(string(all[len(all)-1][1]), " (was ")
	}
	return t, nil
}

// workingDir finds the folder that agents tell the model about.
var workingDir = pattern.Lazy(`(?:Primary working directory: |Working directory: |<cwd>|current working directory: |working in the directory: )([^\\<"\n]+)`)

// newest returns the last prompt and how many answers of the model follow it. Answers in pieces
// (text, then calls) count once: they are told apart by what stands between them.
func newest(history []Message) (prompt string, round int) {
	last := -1
	for i, m := range history {
		if m.Role == User {
			last = i
		}
	}
	if last < 0 {
		return "", 0
	}
	var before Role
	for _, m := range history[last+1:] {
		if m.Role == System {
			continue
		}
		if m.Role == Assistant && before != Assistant {
			round++
		}
		before = m.Role
	}
	return history[last].Text, round
}

// pasted finds what Claude Code puts around a long paste.
var pasted = pattern.Lazy(`\s*</?pasted_content id="[^"]*">\n`)

// add appends a message; what the agent itself put into a user message becomes System.
func (t *Turn) add(role Role, text, call string) {
	if role == User {
		trimmed := strings.TrimSpace(pasted().ReplaceAllString(text, ""))
		if trimmed == "" {
			return
		}
		if strings.HasPrefix(trimmed, "<") || strings.HasPrefix(trimmed, "# AGENTS.md") {
			role = System
		}
		text = trimmed
	}
	t.History = append(t.History, Message{Role: role, Text: text, Call: call})
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// message reads a message of the Anthropic or Chat wire.
func (t *Turn) message(m object) {
	role := Role(str(m["role"]))
	switch role {
	case "tool":
		t.add(Result, flat(m["content"]), "")
		return
	case User, Assistant:
	default:
		role = System
	}
	switch c := m["content"].(type) {
	case string:
		if c != "" || role != Assistant {
			t.add(role, c, "")
		}
	case []any:
		for _, block := range c {
			t.block(role, block)
		}
	}
	calls, _ := m["tool_calls"].([]any)
	for _, c := range calls {
		call, _ := c.(object)
		fn, _ := call["function"].(object)
		t.add(Assistant, str(fn["arguments"]), str(fn["name"]))
	}
}

// block reads one content block of the Anthropic or Chat wire.
func (t *Turn) block(role Role, v any) {
	b, _ := v.(object)
	switch str(b["type"]) {
	case "text":
		t.add(role, str(b["text"]), "")
	case "tool_use":
		t.add(Assistant, string(encode(b["input"])), str(b["name"]))
	case "tool_result":
		t.add(Result, flat(b["content"]), "")
	}
}

// flat joins the texts of a content that is a string or a list of blocks.
func flat(v any) string {
	switch c := v.(type) {
	case string:
		return c
	case []any:
		var parts []string
		for _, p := range c {
			b, _ := p.(object)
			parts = append(parts, str(b["text"]))
		}
		return strings.Join(parts, "\n")
	default:
		return ""
	}
}

// input reads the input of the Responses wire, a string or a list of items.
func (t *Turn) input(raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		t.add(User, text, "")
		return
	}
	var items []object
	if json.Unmarshal(raw, &items) != nil {
		return
	}
	for _, it := range items {
		switch str(it["type"]) {
		case "additional_tools":
			t.extraTools(it["tools"])
		case "function_call":
			t.add(Assistant, str(it["arguments"]), str(it["name"]))
		case "custom_tool_call":
			t.add(Assistant, str(it["input"]), str(it["name"]))
		case "function_call_output", "custom_tool_call_output":
			t.add(Result, output(it["output"]), "")
		case "message", "":
			role := Role(str(it["role"]))
			if role != User && role != Assistant {
				role = System
			}
			parts, _ := it["content"].([]any)
			for _, p := range parts {
				b, _ := p.(object)
				t.add(role, str(b["text"]), "")
			}
			if s := str(it["content"]); s != "" {
				t.add(role, s, "")
			}
		}
	}
}

// extraTools reads the tools that Codex puts into the conversation: namespaces of tools, of which the
// free-form "exec" runs JavaScript that calls all others.
func (t *Turn) extraTools(v any) {
	list, _ := v.([]any)
	for _, e := range list {
		space, _ := e.(object)
		if str(space["type"]) == "namespace" {
			t.extraTools(space["tools"])
			continue
		}
		free := str(space["type"]) == "custom"
		t.Tools = append(t.Tools, Tool{Name: str(space["name"]), Free: free})
	}
}

// output is a tool's output on the Responses wire, a string or a list of parts.
func output(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return flat(v)
}

// content reads one content of the Gemini wire.
func (t *Turn) content(c object) {
	role := User
	if str(c["role"]) == "model" {
		role = Assistant
	}
	parts, _ := c["parts"].([]any)
	for _, p := range parts {
		b, _ := p.(object)
		if thought, _ := b["thought"].(bool); thought {
			continue
		}
		if text, ok := b["text"].(string); ok {
			t.add(role, text, "")
		}
		if call, ok := b["functionCall"].(object); ok {
			t.add(Assistant, string(encode(call["args"])), str(call["name"]))
		}
		if res, ok := b["functionResponse"].(object); ok {
			inner, _ := res["response"].(object)
			text := str(inner["output"])
			if text == "" {
				text = string(encode(inner))
			}
			t.add(Result, text, "")
		}
	}
}

// addTools reads one entry of a request's tools in any wire's shape.
func (t *Turn) addTools(raw json.RawMessage) {
	var e struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
		Parameters  json.RawMessage `json:"parameters"`
		Function    struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
		Declarations []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			JSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	for _, d := range e.Declarations {
		t.Tools = append(t.Tools, Tool{Name: d.Name, Params: either(d.JSONSchema, d.Parameters)})
	}
	switch {
	case e.Function.Name != "":
		t.Tools = append(t.Tools, Tool{Name: e.Function.Name, Params: e.Function.Parameters})
	case e.Name != "":
		t.Tools = append(t.Tools, Tool{Name: e.Name, Params: either(e.InputSchema, e.Parameters)})
	}
}

func either(a, b json.RawMessage) json.RawMessage {
	if len(a) > 0 {
		return a
	}
	return b
}
