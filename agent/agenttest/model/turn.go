package model

import (
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// Turn is what a model request of a real agent asks for.
type Turn struct {
	scripted.Turn
	Side bool   // not the main conversation: offers neither a shell nor a way to read files
	Dir  string // working folder from the agent's request, empty if it is not in it
}

// shell returns the tool that runs commands: one of its own, or Codex's free-form "exec".
func (t Turn) shell() (scripted.Tool, bool) {
	if tool, ok := t.tool("Bash", "exec_command", "run_shell_command", "bash", "shell"); ok {
		return tool, true
	}
	tool, ok := t.tool("exec")
	return tool, ok && tool.Free
}

// tool returns the first offered tool among names.
func (t Turn) tool(names ...string) (scripted.Tool, bool) {
	for _, name := range names {
		for _, tool := range t.Tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return scripted.Tool{}, false
}

var (
	// pasted matches the marks that Claude Code puts around a long paste.
	pasted = pattern.Lazy(`\s*</?pasted_content id="[^"]*">\n`)
	// told matches what a run is told of its bounds.
	told = pattern.Lazy(`(?s)<run-limits>.*?</run-limits>`)
	// workingDir matches the folder that agents report to the model.
	workingDir = pattern.Lazy(`(?:Primary working directory: |Working directory: |<cwd>|current working directory: |` +
		`working in the directory: )([^\\<"\n]+)`)
)

// read reads a model request.
func read(wire scripted.Wire, body []byte) (Turn, error) {
	s, err := scripted.Read(wire, body, label)
	if err != nil {
		return Turn{}, err
	}
	t := Turn{Turn: s}
	_, shell := t.shell()
	_, reads := t.tool("Read", "read_file", "read")
	t.Side = !shell && !reads
	if all := workingDir().FindAllSubmatch(body, -1); len(all) > 0 { // the newest counts
		t.Dir, _, _ = strings.Cut(string(all[len(all)-1][1]), " (was ")
	}
	return t, nil
}

// label distinguishes the person's prompts from what agents themselves put into user messages.
func label(m *scripted.Message) {
	if m.Role != scripted.User {
		return
	}
	m.Text = strings.TrimSpace(told().ReplaceAllString(pasted().ReplaceAllString(m.Text, ""), ""))
	if strings.HasPrefix(m.Text, "<") || strings.HasPrefix(m.Text, "# AGENTS.md") || m.Text == "Tool loaded." {
		m.Role = scripted.System
	}
}
