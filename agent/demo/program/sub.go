package program

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/agent/demo/record"
)

// SubAgent is the tool that hands a task to a sub-agent. It is not offered: the model knows of it.
const SubAgent = "sub_agent"

// Handed is what a call of it hands over.
type Handed struct {
	Type string `json:"type"`
	Task string `json:"task"`
}

// mostRounds is how many answers a sub-agent may take.
const mostRounds = 50

// delegate has a sub-agent do a task, and returns what it said last. It has a session of its own, which is not kept, and
// nobody to ask.
func (t *talk) delegate(ctx context.Context, b record.Block) (string, error) {
	var in Handed
	if err := json.Unmarshal(b.Input, &in); err != nil || in.Task == "" {
		return "", fmt.Errorf("a sub-agent needs a task: %s", plain(string(b.Input)))
	}
	t.tell(calling{call: b.ID, name: b.Name, summary: plain(in.Type + ": " + in.Task)})
	client := *t.client
	client.parent, client.session = t.client.session, t.client.session+"/"+b.ID
	sub := &talk{client: &client, folder: t.folder, base: t.base, alone: true, idle: t.idle, tell: func(e any) {
		if c, ok := e.(counted); ok {
			t.tell(c)
		}
	}}
	sub.allow.Store(t.allow.Load())
	sub.say(record.Message{Role: "user", Content: []record.Block{{Type: "text", Text: in.Task}}})
	for range mostRounds {
		a, err := client.ask(ctx, sub.messages, sub.base.tools(), func(string) {})
		if ctx.Err() != nil {
			return "", errInterrupted
		}
		if err != nil {
			return "", err
		}
		sub.tell(counted{a.usage})
		sub.say(a.message)
		results := sub.tools(ctx, a.message.Content)
		if len(results) == 0 {
			return textOf(a.message), nil
		}
		sub.say(record.Message{Role: "user", Content: results})
	}
	return "", fmt.Errorf("the sub-agent took more than %d answers", mostRounds)
}

// say adds a message to a conversation that is not kept.
func (t *talk) say(m record.Message) {
	if raw, err := json.Marshal(m); err == nil { // it is made of plain values
		t.messages = append(t.messages, raw)
	}
}

// textOf returns the text of a message.
func textOf(m record.Message) string {
	var all []string
	for _, b := range m.Content {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}
