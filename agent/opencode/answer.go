package opencode

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// message is an assistant's message, with the fields that are needed.
type message struct {
	ID         string          `json:"id"`
	Session    string          `json:"sessionID"`
	Parent     string          `json:"parentID"`
	Role       string          `json:"role"`
	Agent      string          `json:"agent"`
	Mode       string          `json:"mode"`
	ModelID    string          `json:"modelID"`
	ProviderID string          `json:"providerID"`
	Model      *model          `json:"model,omitempty"` // in a person's message
	Path       json.RawMessage `json:"path,omitempty"`
	Cost       float64         `json:"cost"`
	Tokens     any             `json:"tokens,omitempty"`
	Time       any             `json:"time,omitempty"`
	Finish     string          `json:"finish"`
}

// model is the model in a person's message.
type model struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

// complete adds the last answer of a conversation if its messages end before it: opencode marks an answer as unfinished
// for a while after it has shown it. Otherwise nothing changes.
func complete(main []byte, dir, answer string) ([]byte, error) {
	trimmed := bytes.TrimRight(main, "\n")
	var last struct {
		Info message `json:"info"`
	}
	if err := json.Unmarshal(trimmed[bytes.LastIndexByte(trimmed, '\n')+1:], &last); err != nil {
		return nil, fmt.Errorf("the last message stored: %w: %w", thread.ErrDamaged, err)
	}
	m := last.Info
	if answer == "" || m.Role != "user" && m.Finish != "tool-calls" {
		return main, nil
	}
	if m.Role == "user" {
		m.Parent, m.Mode = m.ID, m.Agent
		if m.Model != nil {
			m.ProviderID, m.ModelID, m.Model = m.Model.ProviderID, m.Model.ModelID, nil
		}
		place, err := json.Marshal(map[string]string{"cwd": dir, "root": dir})
		if err != nil {
			return nil, err
		}
		m.Path = place
	}
	id, err := after(m.ID)
	if err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	m.ID, m.Role, m.Finish, m.Cost = "msg_"+id, "assistant", "stop", 0 // its gateway request has been counted
	m.Tokens = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
	m.Time = map[string]int64{"created": now, "completed": now}
	text := map[string]string{"type": "text", "text": answer, "id": "prt_" + id, "sessionID": m.Session, "messageID": m.ID}
	line, err := json.Marshal(map[string]any{"info": m, "parts": []any{text}})
	if err != nil {
		return nil, err
	}
	return append(append(bytes.Clone(main), line...), '\n'), nil
}

// after returns an id, without its prefix, that sorts right after a message's.
func after(id string) (string, error) {
	m := idPattern().FindStringSubmatch(strconv.Quote(id))
	if m == nil {
		return "", fmt.Errorf("message id %.50q: %w", id, thread.ErrDamaged)
	}
	n, err := strconv.ParseUint(m[2], 16, 64)
	if err != nil {
		return "", fmt.Errorf("message id %.50q: %w", id, err)
	}
	return fmt.Sprintf("%012x%s", n+1, randomText(14)), nil
}

// idPattern matches the ids of messages and parts: the time, which orders them, and a random rest.
var idPattern = pattern.Lazy(`"(msg|prt)_([0-9a-f]{12})([0-9A-Za-z]{4,30})"`)

// randomText returns n random letters and digits.
func randomText(n int) string {
	const all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	b := make([]byte, n)
	rand.Read(b)
	for i := range b {
		b[i] = all[int(b[i])%len(all)]
	}
	return string(b)
}
