package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/agent/transcript"
)

// once returns a chat file in which each tool's result is there once. Gemini CLI writes a result into the call that the
// model made and into a message of its own, and sends both when it resumes a session: after each resume the context has
// all results once more. The message stays, since it is what was sent.
func once(data []byte) []byte {
	var all [][]byte
	transcript.Lines(data, func(raw []byte) { all = append(all, raw) })
	answered := map[string]bool{} // the calls that a message of this line or a later one answers
	for i, raw := range slices.Backward(all) {
		for _, one := range append(chatOf(raw).Set.Messages, raw) {
			if m := chatOf(one); !strings.HasSuffix(m.ID, copied) {
				for _, id := range m.results() {
					answered[id] = true
				}
			}
		}
		all[i] = withoutCopies(raw, answered)
	}
	return append(bytes.Join(all, []byte("\n")), '\n')
}

// copied ends the id of a message that Gemini CLI made at a resume of the results in a call.
const copied = "_response"

// chat is a line of a chat file as far as it has to do with results: a message, or the list of all that were there at a
// resume.
type chat struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Content json.RawMessage   `json:"content"`
	Calls   []json.RawMessage `json:"toolCalls"`
	Set     struct {
		Messages []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

// chatOf reads a line or a message; what cannot be read, Gemini CLI skips.
func chatOf(raw []byte) (c chat) {
	if json.Unmarshal(raw, &c) != nil {
		return chat{}
	}
	return c
}

// results returns the ids of the calls that a message answers, if it does nothing else.
func (c chat) results() []string {
	var parts []part
	if c.Type != "user" || json.Unmarshal(c.Content, &parts) != nil {
		return nil
	}
	var ids []string
	for _, p := range parts {
		if p.Result == nil || p.Result.ID == "" {
			return nil
		}
		ids = append(ids, p.Result.ID)
	}
	return ids
}

// withoutCopies returns a line without the results of answered calls that are in the calls, or in messages made of
// those. What cannot be read stays as it is.
func withoutCopies(raw []byte, answered map[string]bool) []byte {
	l := chatOf(raw)
	if l.Type != "" {
		return l.edited(raw, answered)
	}
	var kept []json.RawMessage
	changed := false
	for _, one := range l.Set.Messages {
		m := chatOf(one)
		isOpen := func(id string) bool { return !answered[id] }
		ids := m.results()
		if strings.HasSuffix(m.ID, copied) && len(ids) > 0 && !slices.ContainsFunc(ids, isOpen) {
			changed = true
			continue
		}
		now := m.edited(one, answered)
		changed = changed || !bytes.Equal(now, one)
		kept = append(kept, now)
	}
	if !changed {
		return raw
	}
	return replaced(raw, "$set", func(set json.RawMessage) json.RawMessage {
		return replaced(set, "messages", func(json.RawMessage) json.RawMessage { return encoded(kept) })
	})
}

// edited returns a message without the results in its calls that are answered by a message of their own.
func (c chat) edited(raw []byte, answered map[string]bool) []byte {
	changed := false
	calls := slices.Clone(c.Calls)
	for i, call := range calls {
		var fields map[string]json.RawMessage
		var id string
		if json.Unmarshal(call, &fields) != nil || json.Unmarshal(fields["id"], &id) != nil || !answered[id] || fields["result"] == nil {
			continue
		}
		delete(fields, "result")
		calls[i], changed = encoded(fields), true
	}
	if !changed {
		return raw
	}
	return replaced(raw, "toolCalls", func(json.RawMessage) json.RawMessage { return encoded(calls) })
}

// replaced returns an object with another value for one of its members.
func replaced(raw []byte, member string, by func(json.RawMessage) json.RawMessage) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields[member] = by(fields[member])
	return encoded(fields)
}

// encoded encodes values that were decoded from JSON.
func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("gemini: " + err.Error()) // raw messages that were decoded are valid
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
