package claude_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestScreens reads screens that were recorded of the real program by TestRealMenus of agenttest.
func TestScreens(t *testing.T) {
	agenttest.Shots(t, claude.New(launch.Config{}), map[string]agenttest.Shot{
		"answered":    {State: thread.StateWorking},
		"api-key":     {State: thread.StateApproval, Hidden: true},
		"at":          {Input: "see @"},
		"auto-notice": {State: thread.StateQuestion, Hidden: true},
		"bash":        {Input: "!ls"},
		"bypass":      {State: thread.StateApproval, Hidden: true},
		"config":      {State: thread.StateQuestion, Hidden: true},
		"draft":       {Input: "half a draft"},
		"draft-lines": {Input: "half\na draft"},
		"first-code":  {State: thread.StateUnauthorised, Hidden: true},
		"first-login": {State: thread.StateUnauthorised, Hidden: true},
		"first-notes": {State: thread.StateQuestion, Hidden: true},
		"first-trust": {State: thread.StateApproval, Hidden: true},
		"first-theme": {State: thread.StateQuestion, Hidden: true},
		"help":        {State: thread.StateQuestion, Hidden: true},
		"history":     {Input: "tell me"},
		"idle":        {},
		"login":       {State: thread.StateUnauthorised, Hidden: true},
		"model":       {State: thread.StateQuestion, Hidden: true},
		"permissions": {State: thread.StateQuestion, Hidden: true},
		"page":        {},
		"plan":        {},
		"recovered":   {},
		"refused":     {},
		"resume":      {State: thread.StateQuestion, Hidden: true},
		"search":      {State: thread.StateQuestion, Hidden: true},
		"slash":       {Input: "/mo"},
		"theme":       {State: thread.StateQuestion, Hidden: true},
		"trust":       {State: thread.StateApproval, Hidden: true},
		"approval":    {State: thread.StateApproval, Hidden: true},
		"edit":        {State: thread.StateApproval, Hidden: true},
		"question":    {State: thread.StateQuestion, Hidden: true},
		"rewind":      {State: thread.StateQuestion, Hidden: true},
		"put-back":    {Input: "hold it #hold:plug #say:held."},
		"working":     {State: thread.StateWorking},
	})
}
