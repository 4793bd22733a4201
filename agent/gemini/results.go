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
	type line struct {
		raw      []byte
		answered []string // ids of the calls whose results are messages of this line
	}
	var lines []line
	transcript.Lines(data, func(raw []byte) {
		lines = append(lines, line{slices.Clone(raw), answers(raw)})
	})
	later := map[string]bool{} // the calls that a message of this line or a later one answers
	for i, l := range slices.Backward(lines) {
		for _, id := range l.answered {
			later[id] = true
		}
		lines[i].raw = withoutCopies(l.raw, later)
	}
	var out bytes.Buffer
	for _, l := range lines {
		out.Write(l.raw)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// copied ends the id of a message that Gemini CLI made at a resume of the results in a call.
const copied = "_response"

// chatLine is a line of a chat file: a message, or the list of all that were there at a resume.
type chatLine struct {
	chatMessage
	Set struct {
		Messages []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

// chatMessage is the part of a message that has to do with results.
type chatMessage struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Content json.RawMessage   `json:"content"`
	Calls   []json.RawMessage `json:"toolCalls"`
}

// results returns the ids of the calls that a message answers, if it does nothing else.
func (m chatMessage) results() []string {
	var parts []struct {
		Result *struct {
			ID string `json:"id"`
		} `json:"functionResponse"`
	}
	if m.Type != "user" || json.Unmarshal(m.Content, &parts) != nil {
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

// answers returns the calls that the messages of a line answer, copies not counted.
func answers(raw []byte) (ids []string) {
	for _, m := range messages(raw) {
		if !strings.HasSuffix(m.ID, copied) {
			ids = append(ids, m.results()...)
		}
	}
	return ids
}

// messages returns the messages of a line.
func messages(raw []byte) (all []chatMessage) {
	var l chatLine
	if json.Unmarshal(raw, &l) != nil {
		return nil // Gemini CLI skips it
	}
	if l.Type != "" {
		return []chatMessage{l.chatMessage}
	}
	for _, raw := range l.Set.Messages {
		var m chatMessage
		if json.Unmarshal(raw, &m) == nil {
			all = append(all, m)
		}
	}
	return all
}

// withoutCopies returns a line without the results of answered calls that are in the calls, or in messages made of
// those. What cannot be read stays as it is.
func withoutCopies(raw []byte, answered map[string]bool) []byte {
	var l chatLine
	if json.Unmarshal(raw, &l) != nil {
		return raw
	}
	if l.Type != "" {
		return edited(raw, l.chatMessage, answered)
	}
	var kept []json.RawMessage
	changed := false
	for _, one := range l.Set.Messages {
		var m chatMessage
		if json.Unmarshal(one, &m) != nil {
			kept = append(kept, one)
			continue
		}
		isAnswered := func(id string) bool { return answered[id] }
		ids := m.results()
		if strings.HasSuffix(m.ID, copied) && len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !isAnswered(id) }) {
			changed = true
			continue
		}
		now := edited(one, m, answered)
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
func edited(raw []byte, m chatMessage, answered map[string]bool) []byte {
	changed := false
	calls := slices.Clone(m.Calls)
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
