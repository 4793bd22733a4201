package gemini_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestScreens reads screens that were recorded of the real program by TestRealMenus of agenttest.
func TestScreens(t *testing.T) {
	agenttest.Shots(t, gemini.New(launch.Config{}), map[string]agenttest.Shot{
		"answered":    {State: thread.StateIdle},
		"approval":    {State: thread.StateApproval, Hidden: true},
		"draft":       {State: thread.StateIdle, Input: "half a draft"},
		"draft-lines": {State: thread.StateIdle, Input: "half\na draft"},
		"edit":        {State: thread.StateApproval, Hidden: true},
		"history":     {State: thread.StateIdle, Input: "tell me"},
		"idle":        {State: thread.StateIdle},
		"auth-menu":   {State: thread.StateUnauthorised, Hidden: true},
		"resume-menu": {State: thread.StateQuestion, Hidden: true},
		"login":       {State: thread.StateUnauthorised, Hidden: true},
		"loop":        {State: thread.StateQuestion, Hidden: true},
		"model":       {State: thread.StateQuestion, Hidden: true},
		"question":    {State: thread.StateQuestion, Hidden: true},
		"resume":      {State: thread.StateQuestion, Hidden: true},
		"settings":    {State: thread.StateQuestion, Hidden: true},
		"slash":       {State: thread.StateIdle, Input: "/mo"},
		"theme":       {State: thread.StateQuestion, Hidden: true},
		"trust":       {State: thread.StateApproval, Hidden: true},
		"put-back":    {State: thread.StateIdle},
		"working":     {State: thread.StateWorking},
	})
}
