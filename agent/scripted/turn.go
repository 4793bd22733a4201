package scripted

import (
	"encoding/json"
	"strings"
)

// Wire is a wire format, named as in thread.Item.
type Wire string

// The wire formats.
const (
	Anthropic Wire = "anthropic"
	Responses Wire = "responses"
	Chat      Wire = "chat"
	Gemini    Wire = "gemini"
)

// Role is the sender of a Message.
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
	Role   Role
	Text   string // for calls, the arguments as JSON
	Call   string // name of the called tool, for calls of the assistant
	ID     string // of a call, and of its result
	Failed bool   // the tool failed, for results
}

// Tool is a tool that a request offers.
type Tool struct {
	Name   string
	Params json.RawMessage // JSON schema
	Free   bool            // has a text as input instead of arguments
	// Namespace is the group of tools that it belongs to, on the Responses wire.
	Namespace string
}

// Call is a tool call in an answer.
type Call struct {
	Name string
	// Args are the arguments; a string under the key "" is the whole input of a free-form tool.
	Args map[string]any
	// Namespace is that of the tool.
	Namespace string
}

// Outcome is a call and its result.
type Outcome struct {
	Call
	Output string
	Failed bool
}

// Turn is what a model request asks for.
type Turn struct {
	Wire     Wire
	Model    string
	Stream   bool
	Prompt   string    // the person's newest prompt
	Round    int       // answers of the model since that prompt
	Outcomes []Outcome // of the calls since that prompt
	Tools    []Tool
	Schema   bool // an answer by a JSON schema is wanted
	Checked  bool // a verdict on the safety of every tool call is wanted
	History  []Message
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

// add appends a message to the history.
func (t *Turn) add(m Message) { t.History = append(t.History, m) }

// settle labels the messages, leaves out blank prompts, and finds the newest prompt with what has followed it. An
// answer in pieces (text, then calls) counts once: separate answers have something between them.
func (t *Turn) settle(label func(*Message)) {
	said, newest := t.History[:0], 0
	for _, m := range t.History {
		if label != nil {
			label(&m)
		}
		if m.Role == User {
			if m.Text = strings.TrimSpace(m.Text); m.Text == "" {
				continue
			}
			newest = len(said) + 1
			t.Prompt = m.Text
		}
		said = append(said, m)
	}
	t.History = said
	if newest == 0 {
		return
	}
	calls := make(map[string]Call)
	var before Role
	for _, m := range said[newest:] {
		switch {
		case m.Role == System:
			continue
		case m.Role == Assistant && before != Assistant:
			t.Round++
		case m.Role == Result:
			t.Outcomes = append(t.Outcomes, Outcome{Call: calls[m.ID], Output: m.Text, Failed: m.Failed})
		}
		if m.Call != "" {
			calls[m.ID] = m.call()
		}
		before = m.Role
	}
}

// call decodes the call; an input that is not an object belongs to a free-form tool.
func (m Message) call() Call {
	c := Call{Name: m.Call}
	if json.Unmarshal([]byte(m.Text), &c.Args) != nil {
		c.Args = map[string]any{"": m.Text}
	}
	return c
}
