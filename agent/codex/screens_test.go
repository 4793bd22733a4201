package codex_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestScreens reads screens that were recorded of the real program by TestRealMenus of agenttest.
func TestScreens(t *testing.T) {
	agenttest.Shots(t, codex.New(launch.Config{}), map[string]agenttest.Shot{
		"answered": {State: thread.StateIdle},
		"approval": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Would you like to run the following command? (touch made.txt) · >Yes, proceed (y)=approve · Yes, and don't ask again for commands that start with `touch made.txt` (p)=always · No, and tell Codex what to do differently (esc)=deny"},
		"at":                {State: thread.StateIdle, Input: "see @"},
		"draft":             {State: thread.StateIdle, Input: "half a draft"},
		"draft-lines":       {State: thread.StateIdle, Input: "half\na draft"},
		"history":           {State: thread.StateIdle, Input: "tell me"},
		"idle":              {State: thread.StateIdle},
		"agent-menu":        {Hidden: true},
		"experimental-menu": {Hidden: true},
		"hooks-menu":        {Hidden: true},
		"statusline-menu":   {Hidden: true},
		"title-menu":        {Hidden: true},
		"login": {State: thread.StateUnauthorised, Hidden: true,
			Asks: "login: Choose how you want to use Codex. · >Sign in with ChatGPT · Sign in with Device Code · Sign in another way"},
		"model":       {State: thread.StateQuestion, Hidden: true},
		"new":         {State: thread.StateQuestion, Hidden: true},
		"permissions": {State: thread.StateQuestion, Hidden: true},
		"resume":      {State: thread.StateQuestion, Hidden: true},
		"slash":       {State: thread.StateIdle, Input: "/mo"},
		"trust": {State: thread.StateApproval, Hidden: true,
			Asks: "trust: Trust this folder? (/h/mmmmmmmmmmmmm/shop) · >Trust and continue=approve · Back to Agent Command Center=deny"},
		"upsell":  {State: thread.StateQuestion, Hidden: true},
		"working": {State: thread.StateWorking},
	})
}
