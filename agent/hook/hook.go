// Package hook interprets the reports that coding agents send from their hooks. A Table maps the events of one CLI to
// states; each CLI's package has its own. Events that are not in a Table are ignored.
package hook

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
)

// Table contains the events of one CLI by name.
type Table map[string]Event

// Event is the meaning of one event.
type Event struct {
	// State is the agent's state.
	State thread.State
	// Tools are the states for calls of certain tools, by the tool's name.
	Tools map[string]thread.State
	// Kinds are the states for certain notifications, by their kind.
	Kinds map[string]thread.State
	// Session is set if the report contains the id of the running session.
	Session bool
	// Prompt is set if the report contains a prompt that the agent has just accepted.
	Prompt bool
	// Sub is set if the report is about a sub-agent: that it begins, or that it has ended.
	Sub Sub
}

// Sub is what a report tells of a sub-agent.
type Sub int

// What it tells.
const (
	SubNone Sub = iota
	SubBegins
	SubEnded
)

// payload is a report, with the fields that are read; the CLIs share these names.
type payload struct {
	Session string `json:"session_id"`
	Tool    string `json:"tool_name"`
	Kind    string `json:"notification_type"`
	Prompt  string `json:"prompt"`
	Agent   string `json:"agent_id"`
	Type    string `json:"agent_type"`
	Said    string `json:"last_assistant_message"`
}

// Read interprets a report; ok is false if it has no meaning. Of a payload that cannot be parsed, only the event's name
// is used.
func (t Table) Read(event string, raw []byte) (r thread.HookReport, ok bool) {
	e, known := t[event]
	if !known {
		return r, false
	}
	var p payload
	_ = json.Unmarshal(raw, &p) // if the payload cannot be parsed, only the event's name is used
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
	if e.Sub != SubNone && p.Agent != "" {
		r.Sub = &thread.SubReport{Key: p.Agent, Type: p.Type, Ended: e.Sub == SubEnded}
		if r.Sub.Ended {
			r.Sub.Said = p.Said
		}
	}
	r.Detail = "hook " + event
	if about = word(about); about != "" {
		r.Detail += ": " + about
	}
	return r, r.State != "" || r.Session != "" || r.Sub != nil
}

// maxWord is the size limit in bytes of a name that is shown.
const maxWord = 60

// word sanitizes a name for display: it comes from an agent.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), maxWord)]
}
