package model

import (
	"encoding/json"
	"strings"
)

// request is what is read of a Messages request.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	System   json.RawMessage   `json:"system"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []message         `json:"messages"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Use     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// blocks reads a content, a text or a list.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// textOf joins the texts of a content.
func textOf(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// result is a tool's answer in the running turn.
type result struct {
	tool   string
	input  map[string]any
	output string
	failed bool
}

// turn is the running turn: what the person asked, and what the tools have returned since.
type turn struct {
	prompt  string
	earlier []string // the person's prompts before
	results []result
}

// readTurn finds the running turn in a conversation.
func readTurn(messages []message) turn {
	var t turn
	uses := make(map[string]block)
	for _, m := range messages {
		for _, b := range blocks(m.Content) {
			switch {
			case m.Role == "assistant" && b.Type == "tool_use":
				uses[b.ID] = b
			case m.Role == "user" && b.Type == "tool_result":
				use := uses[b.Use]
				r := result{tool: use.Name, output: textOf(b.Content), failed: b.IsError}
				_ = json.Unmarshal(use.Input, &r.input) // an empty input is none
				t.results = append(t.results, r)
			case m.Role == "user" && b.Type == "text" && strings.TrimSpace(b.Text) != "":
				if t.prompt != "" {
					t.earlier = append(t.earlier, t.prompt)
				}
				t.prompt, t.results = strings.TrimSpace(b.Text), nil
			}
		}
	}
	return t
}

// text returns a value of a tool's input.
func (r result) text(key string) string {
	s, _ := r.input[key].(string)
	return s
}
