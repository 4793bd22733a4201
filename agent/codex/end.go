package codex

import (
	"bytes"
	"encoding/json"
	"time"

	"orchestrator/agent/transcript"
)

// turnLine is a line that begins or ends a turn, with the fields that are read.
type turnLine struct {
	Timestamp string      `json:"timestamp"`
	Ordinal   *int64      `json:"ordinal,omitempty"`
	Type      string      `json:"type"`
	Payload   turnPayload `json:"payload"`
}

type turnPayload struct {
	Type   string `json:"type"`
	Turn   string `json:"turn_id"`
	Answer string `json:"last_agent_message,omitempty"`
}

// endTurn adds the end of a turn to a rollout that stops between its answer and that end: Codex writes the end last,
// and shows a turn without one as interrupted. Without an answer nothing changes.
func endTurn(data []byte, answer string) []byte {
	var open string // the turn that has begun and not ended
	var last turnLine
	transcript.Lines(data, func(raw []byte) {
		var l turnLine
		if json.Unmarshal(raw, &l) != nil {
			return
		}
		last = l
		if l.Type != "event_msg" {
			return
		}
		switch l.Payload.Type {
		case "task_started":
			open = l.Payload.Turn
		case "task_complete", "turn_aborted":
			open = ""
		}
	})
	if answer == "" || open == "" {
		return data
	}
	end := turnLine{
		Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), Type: "event_msg",
		Payload: turnPayload{Type: "task_complete", Turn: open, Answer: answer},
	}
	if last.Ordinal != nil {
		next := *last.Ordinal + 1
		end.Ordinal = &next
	}
	raw, err := json.Marshal(end)
	if err != nil {
		return data // texts and numbers can always be marshalled
	}
	return append(append(bytes.Clone(data), raw...), '\n')
}
