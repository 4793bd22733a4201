package anthropic

import (
	"encoding/json"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// block is a content block of any kind, with the fields that are read.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func blockOf(raw json.RawMessage) block {
	var b block
	_ = json.Unmarshal(raw, &b) // fields of another type stay empty
	return b
}

// blocks reads a content; a string becomes one text block.
func blocks(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var raws []json.RawMessage
	if json.Unmarshal(content, &raws) != nil {
		return nil
	}
	list := make([]block, len(raws))
	for i, raw := range raws {
		list[i] = blockOf(raw)
	}
	return list
}

// Entries implements wire.Reader.
func (Codec) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	names := map[string]string{} // call id → tool
	for _, it := range items {
		role, content := envelope(it.Raw)
		switch role {
		case "":
			out = append(out, wire.Unreadable())
		case "user":
			for _, b := range blocks(content) {
				if isResult(b.Type) {
					out = append(out, resultEntry(b, names[b.ToolUseID]))
				}
			}
			if text := personText(it.Raw); text != "" {
				out = append(out, thread.Entry{Kind: thread.EntryPrompt, Text: text})
			}
		case "assistant":
			for _, b := range blocks(content) {
				if e, ok := answerEntry(b); ok {
					if e.Kind == thread.EntryCall {
						names[e.Call] = e.Tool
					}
					if e.Kind == thread.EntryResult {
						e.Tool = names[e.Call]
					}
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// isResult reports whether a block is the result of a tool call. Server tools have block types of their own.
func isResult(kind string) bool { return strings.HasSuffix(kind, "tool_result") }

// answerEntry converts a block of the assistant to an entry.
func answerEntry(b block) (thread.Entry, bool) {
	switch {
	case b.Type == "text" && strings.TrimSpace(b.Text) != "":
		return thread.Entry{Kind: thread.EntryAnswer, Text: b.Text}, true
	case b.Type == "thinking" && strings.TrimSpace(b.Thinking) != "":
		return thread.Entry{Kind: thread.EntryThinking, Text: b.Thinking}, true
	case strings.HasSuffix(b.Type, "tool_use"):
		return thread.Entry{Kind: thread.EntryCall, Text: string(b.Input), Tool: b.Name, Call: b.ID}, true
	case isResult(b.Type):
		return resultEntry(b, ""), true
	default:
		return thread.Entry{}, false
	}
}

func resultEntry(b block, tool string) thread.Entry {
	var parts []string
	for _, in := range blocks(b.Content) {
		switch in.Type {
		case "text":
			parts = append(parts, in.Text)
		case "":
		default:
			parts = append(parts, "["+in.Type+"]")
		}
	}
	return thread.Entry{
		Kind: thread.EntryResult, Text: strings.Join(parts, "\n"), Tool: tool, Call: b.ToolUseID, Error: b.IsError,
	}
}
