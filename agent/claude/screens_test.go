package claude_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// logins is what Claude Code asks before anybody is logged in.
const logins = "login: Select login method: · >Claude account with subscription · Individual, Team, or Enterprise · Anthropic Console account · API usage billing · 3rd-party platform · Bedrock, Microsoft Foundry, Google Vertex AI"

// TestScreens reads screens that were recorded of the real program by TestRealMenus of agenttest.
func TestScreens(t *testing.T) {
	agenttest.Shots(t, claude.New(launch.Config{}), map[string]agenttest.Shot{
		"answered": {State: thread.StateWorking},
		"api-key": {State: thread.StateApproval, Hidden: true,
			Asks: "trust: Do you want to use this API key? · Yes=approve · >No (recommended)=deny"},
		"at":          {Input: "see @"},
		"auto-notice": {State: thread.StateQuestion, Hidden: true},
		"bash":        {Input: "!ls"},
		"bypass":      {State: thread.StateApproval, Hidden: true},
		"config":      {State: thread.StateQuestion, Hidden: true},
		"draft":       {Input: "half a draft"},
		"draft-lines": {Input: "half\na draft"},
		"first-code":  {State: thread.StateUnauthorised, Hidden: true},
		"first-login": {State: thread.StateUnauthorised, Hidden: true, Asks: logins},
		"first-notes": {State: thread.StateQuestion, Hidden: true},
		"first-trust": {State: thread.StateApproval, Hidden: true,
			Asks: "trust: Accessing workspace: (/h/mmmmmmmmmmmmm/shop) · >No, exit=deny · Yes, I trust this folder=approve"},
		"first-theme": {State: thread.StateQuestion, Hidden: true},
		"help":        {State: thread.StateQuestion, Hidden: true},
		"history":     {Input: "tell me"},
		"idle":        {},
		"login":       {State: thread.StateUnauthorised, Hidden: true, Asks: logins},
		"model":       {State: thread.StateQuestion, Hidden: true},
		"permissions": {State: thread.StateQuestion, Hidden: true},
		"page":        {},
		"plan":        {},
		"plan-approval": {State: thread.StateApproval, Hidden: true,
			Asks: "plan: Would you like to proceed? (Greet in two languages) · >Yes, and use auto mode=always · Yes, manually approve edits=approve · Tell Claude what to change=words"},
		"plan-exit": {State: thread.StateApproval, Hidden: true,
			Asks: "plan: Exit plan mode? · >Yes, and switch to default (ask each time) for this session=approve · No=deny"},
		"servers": {State: thread.StateQuestion, Hidden: true,
			Asks: "trust: New MCP server found in this project: notes (MCP server notes) · Use this MCP server=approve · Use this and all future MCP servers in this project=always · >Continue without using this MCP server=deny"},
		"recovered": {},
		"refused":   {},
		"resume":    {State: thread.StateQuestion, Hidden: true},
		"search":    {State: thread.StateQuestion, Hidden: true},
		"slash":     {Input: "/mo"},
		"theme":     {State: thread.StateQuestion, Hidden: true},
		"trust": {State: thread.StateApproval, Hidden: true,
			Asks: "trust: Accessing workspace: (/h/mmmmmmmmmmmmm/shop) · >No, exit=deny · Yes, I trust this folder=approve"},
		"approval": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Do you want to proceed? (touch made.txt) · >Yes=approve · Yes, and always allow access to /h/mmmmmmmmmmmmm/shop from this project=always · Yes, and switch to auto mode · auto mode handles these prompts for you · No=deny"},
		"edit": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Do you want to create new.txt? (Create file new.txt) · >Yes=approve · Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)=always · No=deny"},
		"question": {State: thread.StateQuestion, Hidden: true,
			Asks: "choice: Which colour? · >Red · Blue · Type something.=words · Chat about this"},
		"rewind":   {State: thread.StateQuestion, Hidden: true},
		"put-back": {Input: "hold it #hold:plug #say:held."},
		"working":  {State: thread.StateWorking},
	})
}
