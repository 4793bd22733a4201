package claude_test

import (
	"encoding/json"
	"testing"

	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestReadAsk: a hook answers the dialog of its own call, and no other; what is read otherwise on a screen is typed.
func TestReadAsk(t *testing.T) {
	a := claude.New(launch.Config{})
	for _, c := range []struct {
		name, event, tool string
		input             map[string]string
		kind              thread.QuestionKind
		about             string
		asks, is          bool
	}{
		{"a command", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "touch x", true, true},
		{"several lines", "PermissionRequest", "Bash", map[string]string{"command": "cd /\nrm -rf x"}, thread.QuestionPermission, `cd / \n rm -rf x`, true, true},
		{"wrapped", "PermissionRequest", "Bash", map[string]string{"command": "echo aaaabbbb"}, thread.QuestionPermission, `echo aaaa \n bbbb`, true, true},
		{"another command", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "touch y", true, false},
		{"a part of it", "PermissionRequest", "Bash", map[string]string{"command": "touch x; rm y"}, thread.QuestionPermission, "touch x", true, false},
		{"what is hidden in it", "PermissionRequest", "Bash", map[string]string{"command": "touch x # \u202e"}, thread.QuestionPermission, "touch x # <202E>", true, false},
		{"a plan with its text", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPlan, "touch x", true, false},
		{"a file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/notes/new.txt"}, thread.QuestionPermission, "Create file notes/new.txt", true, true},
		{"an edit", "PermissionRequest", "Edit", map[string]string{"file_path": "/p/new.txt"}, thread.QuestionPermission, "Edit file new.txt", true, true},
		{"another file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/anew.txt"}, thread.QuestionPermission, "Create file new.txt", true, false},
		{"a command for a file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/x"}, thread.QuestionPermission, "x", true, false},
		{"a plan", "PermissionRequest", "ExitPlanMode", nil, thread.QuestionPlan, "", false, false},
		{"a question", "PermissionRequest", "AskUserQuestion", nil, thread.QuestionChoice, "", false, false},
		{"another event", "PreToolUse", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "touch x", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload, err := json.Marshal(map[string]any{"tool_name": c.tool, "tool_input": c.input})
			if err != nil {
				t.Fatal(err)
			}
			ask, asks := a.ReadAsk(c.event, payload)
			if asks != c.asks {
				t.Fatalf("it asks: %t", asks)
			}
			if !asks {
				return
			}
			if is := ask.About(thread.Question{Kind: c.kind, About: c.about}); is != c.is {
				t.Errorf("it is the dialog's: %t", is)
			}
			for means, want := range map[thread.Meaning]string{
				thread.Approve:       `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`,
				thread.Deny:          `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"The person said no.","interrupt":true},"hookEventName":"PermissionRequest"}}`,
				thread.ApproveAlways: "", thread.OwnWords: "", "": "",
			} {
				if got := string(ask.Says[means]); got != want {
					t.Errorf("%s: %s", means, got)
				}
			}
		})
	}
	if _, asks := a.ReadAsk("PermissionRequest", []byte("no JSON")); asks {
		t.Error("it reads what is no JSON")
	}
}
