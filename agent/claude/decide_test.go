package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/dialog"
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
		title, about      string
		decides, is       bool
	}{
		{"a command", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "Bash command", "touch x", true, true},
		{"several lines", "PermissionRequest", "Bash", map[string]string{"command": "cd /\nrm -rf x"}, thread.QuestionPermission, "Bash command", `cd / \n rm -rf x`, true, true},
		{"wrapped in a word", "PermissionRequest", "Bash", map[string]string{"command": "echo aaaabbbb"}, thread.QuestionPermission, "Bash command", `echo aaaa \n bbbb`, true, false},
		{"wrapped at a blank", "PermissionRequest", "Bash", map[string]string{"command": "echo  aaaa bbbb"}, thread.QuestionPermission, "Bash command", `echo aaaa \n bbbb`, true, true},
		{"blanks that another command has not", "PermissionRequest", "Bash", map[string]string{"command": "rm -rf a b"}, thread.QuestionPermission, "Bash command", "rm -rf ab", true, false},
		{"one line of what is two", "PermissionRequest", "Bash", map[string]string{"command": "echo\nrm x"}, thread.QuestionPermission, "Bash command", "echo rm x", true, false},
		{"a dialog of another tool", "PermissionRequest", "Bash", map[string]string{"command": "Fetch touch x"}, thread.QuestionPermission, "Fetch", "Fetch touch x", true, false},
		{"a dialog without a title", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "", "touch x", true, false},
		{"a command as long as no screen shows", "PermissionRequest", "Bash", map[string]string{"command": strings.Repeat("x", 9<<10)}, thread.QuestionPermission, "Bash command", "touch x", false, true},
		{"a tool that is not known", "PermissionRequest", "WebFetch", map[string]string{"url": "x"}, thread.QuestionPermission, "Fetch", "Fetch x", false, true},
		{"a command for an edit", "PermissionRequest", "Edit", map[string]string{"file_path": "/p/x"}, thread.QuestionPermission, "Bash command", "Edit file x", true, false},
		{"a new file for an edit", "PermissionRequest", "Edit", map[string]string{"file_path": "/p/x"}, thread.QuestionPermission, "Create file", "Create file x", true, false},
		{"another command", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "Bash command", "touch y", true, false},
		{"a part of it", "PermissionRequest", "Bash", map[string]string{"command": "touch x; rm y"}, thread.QuestionPermission, "Bash command", "touch x", true, false},
		{"what is hidden in it", "PermissionRequest", "Bash", map[string]string{"command": "touch x # \u202e"}, thread.QuestionPermission, "Bash command", "touch x # <202E>", true, false},
		{"a plan with its text", "PermissionRequest", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPlan, "Bash command", "touch x", true, false},
		{"a file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/notes/new.txt"}, thread.QuestionPermission, "Create file", "Create file notes/new.txt", true, true},
		{"an edit", "PermissionRequest", "Edit", map[string]string{"file_path": "/p/new.txt"}, thread.QuestionPermission, "Edit file", "Edit file new.txt", true, true},
		{"another file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/anew.txt"}, thread.QuestionPermission, "Create file", "Create file new.txt", true, false},
		{"a file of the same name in a folder", "PermissionRequest", "Write", map[string]string{"file_path": "/p/a/new.txt"}, thread.QuestionPermission, "Create file", "Create file new.txt", true, false},
		{"a file elsewhere", "PermissionRequest", "Write", map[string]string{"file_path": "/q/new.txt"}, thread.QuestionPermission, "Create file", "Create file /q/new.txt", true, true},
		{"a command for a file", "PermissionRequest", "Write", map[string]string{"file_path": "/p/x"}, thread.QuestionPermission, "Create file", "x", true, false},
		{"a plan", "PermissionRequest", "ExitPlanMode", nil, thread.QuestionPlan, "", "", false, true},
		{"a question", "PermissionRequest", "AskUserQuestion", nil, thread.QuestionChoice, "", "", false, true},
		{"another event", "PreToolUse", "Bash", map[string]string{"command": "touch x"}, thread.QuestionPermission, "Bash command", "touch x", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload, err := json.Marshal(map[string]any{"tool_name": c.tool, "tool_input": c.input, "cwd": "/p"})
			if err != nil {
				t.Fatal(err)
			}
			ask, asks := a.ReadAsk(c.event, payload)
			if asks != (c.event == "PermissionRequest") || len(ask.Says) > 0 != c.decides {
				t.Fatalf("it asks: %t; it says %s", asks, ask.Says)
			}
			if !asks {
				return
			}
			if is := ask.About(thread.Question{Kind: c.kind, Title: c.title, About: c.about}); is != c.is {
				t.Errorf("it is the dialog's: %t", is)
			}
			if !c.decides {
				return
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
	if ask, asks := a.ReadAsk("PermissionRequest", []byte("no JSON")); !asks || len(ask.Says) > 0 {
		t.Error("what is no JSON does not wait, or decides")
	}
}

// TestReadAskOfRecordedDialogs: a hook is told from the dialogs that the real program showed.
func TestReadAskOfRecordedDialogs(t *testing.T) {
	a := claude.New(launch.Config{})
	read := func(screen string) thread.Question {
		d, ok := dialog.Read(agenttest.Play(t, "testdata/screens/"+screen+".ansi"), a.Dialogs())
		if !ok {
			t.Fatalf("%s shows no dialog", screen)
		}
		return d.Question
	}
	command, file := read("approval"), read("edit")
	for _, c := range []struct {
		payload       string
		command, file bool
	}{
		{`{"tool_name":"Bash","tool_input":{"command":"touch made.txt"}}`, true, false},
		{`{"tool_name":"Bash","tool_input":{"command":"Create file new.txt"}}`, false, false},
		{`{"tool_name":"Write","cwd":"/p","tool_input":{"file_path":"/p/new.txt"}}`, false, true},
		{`{"tool_name":"Edit","cwd":"/p","tool_input":{"file_path":"/p/new.txt"}}`, false, false},
	} {
		ask, _ := a.ReadAsk("PermissionRequest", []byte(c.payload))
		if ask.About(command) != c.command || ask.About(file) != c.file {
			t.Errorf("%s: the command's %t, the file's %t", c.payload, ask.About(command), ask.About(file))
		}
	}
}
