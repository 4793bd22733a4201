package thread

import (
	"encoding/json"
)

// WirePlain is the wire format of items that we made from a transcript: threads without a gateway have no requests to
// store.
const WirePlain = "plain"

// plainMessage is the content of a plain item.
type plainMessage struct {
	Role  string   `json:"role"` // "user" or "assistant"
	Text  string   `json:"text,omitempty"`
	Tools []string `json:"tools,omitempty"` // called by the answer
}

func (p plainMessage) item() Item {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	return Item{Wire: WirePlain, Raw: raw}
}

// PlainItems returns the items that an exchange read from a transcript adds to the conversation.
func PlainItems(e Exchange, newTurn bool) []Item {
	var items []Item
	if newTurn && e.Prompt != "" {
		items = append(items, plainMessage{Role: "user", Text: e.Prompt}.item())
	}
	return append(items, plainMessage{Role: "assistant", Text: e.Text, Tools: e.Tools}.item())
}

// PlainEntries reads items made by PlainItems.
func PlainEntries(items []Item) []Entry {
	var out []Entry
	for _, it := range items {
		var p plainMessage
		if err := json.Unmarshal(it.Raw, &p); err != nil {
			out = append(out, Entry{Kind: EntryAnswer, Text: "(unreadable)", Error: true})
			continue
		}
		kind := EntryAnswer
		if p.Role == "user" {
			kind = EntryPrompt
		}
		if p.Text != "" {
			out = append(out, Entry{Kind: kind, Text: p.Text})
		}
		for _, tool := range p.Tools {
			out = append(out, Entry{Kind: EntryCall, Tool: tool})
		}
	}
	return out
}
