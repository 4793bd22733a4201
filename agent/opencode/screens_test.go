package opencode_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestScreens reads screens that were recorded of the real program by TestRealMenus of agenttest.
func TestScreens(t *testing.T) {
	agenttest.Shots(t, opencode.New(launch.Config{}), map[string]agenttest.Shot{
		"answered": {State: thread.StateIdle},
		"approval": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Permission required (touch made.txt) · >Allow once=approve · Allow always=always · Reject=deny"},
		"draft":       {State: thread.StateIdle, Input: "half a draft"},
		"draft-lines": {State: thread.StateIdle, Input: "half\na draft"},
		"history":     {State: thread.StateIdle, Input: "say it #say:answered."},
		"idle":        {State: thread.StateIdle},
		"models":      {State: thread.StateQuestion, Hidden: true},
		"palette":     {State: thread.StateQuestion, Hidden: true},
		"question": {State: thread.StateQuestion, Hidden: true,
			Asks: "choice: Which colour? · >Red · Blue · Type your own answer=words"},
		"sessions": {State: thread.StateQuestion, Hidden: true},
		"slash":    {State: thread.StateIdle, Input: "/mo"},
		"themes":   {State: thread.StateQuestion, Hidden: true},
		"working":  {State: thread.StateWorking},
	})
}
