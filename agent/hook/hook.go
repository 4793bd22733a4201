// Package hook reads the reports that coding agents send by their hooks. A Table says what the events of one CLI
// mean; each CLI's package has its own. What a Table does not name says nothing.
package hook

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
)

// Table holds the events of one CLI by name.
type Table map[string]Event

// Event is what one event of a CLI says.
type Event struct {
	// State is what the agent is doing.
	State thread.State
	// Tools are the calls that mean something else than State, by the tool.
	Tools map[string]thread.State
	// Kinds are the notifications that mean something, by their kind.
	Kinds map[string]thread.State
	// Session is set where the report names the session that runs.
	Session bool
	// Prompt is set where the report holds a prompt that the agent has just taken.
	Prompt bool
}

// payload is what is read of a report; the CLIs share these names.
type payload struct {
	Session string `json:"session_id"`
	Tool    string `json:"tool_name"`
	Kind    string `json:"notification_type"`
	Prompt  string `json:"prompt"`
}

// Read returns what a report says; ok is false when it says nothing. A payload that cannot be read leaves what the
// event's name says.
func (t Table) Read(event string, raw []byte) (r thread.HookReport, ok bool) {
	e, known := t[event]
	if !known {
		return r, false
	}
	var p payload
	_ = json.Unmarshal(raw, &p) // a payload we cannot read leaves the event's name
	about := p.Tool
	r.State = e.State
	if s, other := e.Tools[p.Tool]; other {
		r.State = s
	}
	if e.Kinds != nil {
		r.State, about = e.Kinds[p.Kind], p.Kind
	}
	if e.Session {
		r.Session = p.Session
	}
	if e.Prompt {
		r.Prompt = p.Prompt
	}
	r.Detail = "hook " + event
	if about = word(about); about != "" {
		r.Detail += ": " + about
	}
	return r, r.State != "" || r.Session != ""
}

// maxWord is the most bytes that are shown of a name.
const maxWord = 60

// word makes a name fit to be shown: it comes from an agent.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), maxWord)]
}
