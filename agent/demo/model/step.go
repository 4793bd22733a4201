package model

import "orchestrator/agent/scripted"

// step is one part of a plan: a tool call or a text.
type step struct {
	call *scripted.Call
	say  string
}
