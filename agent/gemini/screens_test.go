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
		"answered": {State: thread.StateIdle},
		"approval": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Allow execution of [Shell]? (touch made.txt) · >Allow once=approve · Allow for this session=always · No, suggest changes (esc)=deny"},
		"draft":       {State: thread.StateIdle, Input: "half a draft"},
		"draft-lines": {State: thread.StateIdle, Input: "half\na draft"},
		"edit": {State: thread.StateApproval, Hidden: true,
			Asks: "permission: Apply this change? (WriteFile Writing to new.txt) · >Allow once=approve · Allow for this session=always · Modify with external editor · No, suggest changes (esc)=deny"},
		"history": {State: thread.StateIdle, Input: "tell me"},
		"idle":    {State: thread.StateIdle},
		"auth-menu": {State: thread.StateUnauthorised, Hidden: true,
			Asks: "login: How would you like to authenticate for this project? · Sign in with Google · >Use Gemini API Key · Vertex AI"},
		"resume-menu": {State: thread.StateQuestion, Hidden: true},
		"login": {State: thread.StateUnauthorised, Hidden: true,
			Asks: "login: How would you like to authenticate for this project? · >Sign in with Google · Use Gemini API Key · Vertex AI"},
		"loop":  {State: thread.StateQuestion, Hidden: true},
		"model": {State: thread.StateQuestion, Hidden: true},
		"question": {State: thread.StateQuestion, Hidden: true,
			Asks: "choice: Which colour? · >Red · Blue · Enter a custom value=words"},
		"resume":   {State: thread.StateQuestion, Hidden: true},
		"settings": {State: thread.StateQuestion, Hidden: true},
		"slash":    {State: thread.StateIdle, Input: "/mo"},
		"theme":    {State: thread.StateQuestion, Hidden: true},
		"trust": {State: thread.StateApproval, Hidden: true,
			Asks: "trust: Do you trust the files in this folder? · >Trust folder (shop)=approve · Trust parent folder (o3766370435) · Don't trust=deny"},
		"put-back": {State: thread.StateIdle},
		"working":  {State: thread.StateWorking},
	})
}
