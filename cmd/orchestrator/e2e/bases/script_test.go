package bases

import (
	"slices"
	"strings"

	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
)

// main reports whether a request is of the main conversation: it offers tools, be it without a shell.
func main(t model.Turn) bool { return t.Wire != "" && len(t.Tools) > 0 && !t.Schema }

// answer is the model: it does what the markers in a prompt say, and these:
//
//	#edit:PATH=OLD=NEW   call the agent's tool for editing files
//	#ask                 ask the person a question
//	#mcp:TOOL            call a tool of the MCP server, which is looked for first
//	#plan                say that the plan is ready
func answer(t model.Turn) scripted.Reply {
	t.Side = !main(t)
	if t.Side {
		return model.Markers(t)
	}
	if reply, ok := extra(t); ok {
		return reply
	}
	return model.Markers(t)
}

// extra answers a prompt with a marker of this package, which is the only one in it.
func extra(t model.Turn) (scripted.Reply, bool) {
	at := strings.Index(t.Prompt, "#")
	if at < 0 {
		return scripted.Reply{}, false
	}
	kind, value, _ := strings.Cut(t.Prompt[at+1:], ":")
	value = strings.TrimSpace(value)
	said := func(text string) (scripted.Reply, bool) { return scripted.Reply{Text: text}, true }
	call := func(c scripted.Call) (scripted.Reply, bool) { return scripted.Reply{Calls: []scripted.Call{c}}, true }
	switch strings.TrimSpace(kind) {
	case "edit":
		if t.Round > 0 {
			return said("edited")
		}
		parts := strings.SplitN(value, "=", 3)
		c, ok := edit(t, parts[0], parts[1], parts[2])
		if !ok {
			return said("there is no tool to edit with")
		}
		return call(c)
	case "ask":
		if t.Round > 0 {
			return said("asked")
		}
		c, ok := question(t)
		if !ok {
			return said("there is no tool to ask with")
		}
		return call(c)
	case "plan":
		return plan(t), true
	case "mcp":
		if t.Round > 3 || t.Round > 0 && len(t.Outcomes) > 0 && t.Outcomes[len(t.Outcomes)-1].Name != "ToolSearch" {
			return said("called")
		}
		c, ok := t.MCP(value, map[string]any{"message": "from the model"})
		if !ok {
			return said("there is no tool " + value)
		}
		return call(c)
	}
	return scripted.Reply{}, false
}

// plan has Claude Code leave its plan mode, once it has loaded the tool for that, and ends the turn.
func plan(t model.Turn) scripted.Reply {
	call := func(name string, args map[string]any) scripted.Reply {
		return scripted.Reply{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	asked := false
	for _, o := range t.Outcomes {
		asked = asked || o.Name == "ExitPlanMode"
	}
	offered := slices.ContainsFunc(t.Tools, func(tool scripted.Tool) bool { return tool.Name == "ExitPlanMode" })
	switch {
	case asked || t.Round > 3:
		return scripted.Reply{Text: "planned"}
	case t.Round == 0 && !offered:
		return call("ToolSearch", map[string]any{"query": "select:ExitPlanMode", "max_results": 5})
	}
	return call("ExitPlanMode", map[string]any{"plan": "# Plan\n\n1. Write new.txt.\n"})
}

// edit returns a call of the agent's tool for editing files.
func edit(t model.Turn, path, old, new string) (scripted.Call, bool) {
	for _, tool := range t.Tools {
		args := map[string]any{}
		switch tool.Name {
		case "Edit":
			args = map[string]any{"file_path": path, "old_string": old, "new_string": new}
		case "replace":
			args = map[string]any{"file_path": path, "old_string": old, "new_string": new, "instruction": "replace it"}
		case "edit":
			args = map[string]any{"filePath": path, "oldString": old, "newString": new}
		case "apply_patch":
			key := "" // Codex takes any text, opencode an argument
			if !tool.Free && strings.Contains(string(tool.Params), "patchText") {
				key = "patchText"
			}
			args[key] = "*** Begin Patch\n*** Update File: " + path + "\n@@\n-" + old + "\n+" + new + "\n*** End Patch\n"
		default:
			continue
		}
		return scripted.Call{Name: tool.Name, Args: args}, true
	}
	return scripted.Call{}, false
}

// question returns a call of the agent's tool for questions.
func question(t model.Turn) (scripted.Call, bool) {
	one := map[string]any{
		"question": "Which colour?", "header": "Colour", "id": "colour", "multiSelect": false, "multiple": false, "type": "choice",
		"options": []any{
			map[string]any{"label": "Red", "description": "a warm one"},
			map[string]any{"label": "Blue", "description": "a cold one"},
		},
	}
	for _, tool := range t.Tools {
		switch tool.Name {
		case "AskUserQuestion", "ask_user", "question", "request_user_input":
			return scripted.Call{Name: tool.Name, Args: map[string]any{"questions": []any{one}}}, true
		}
	}
	return scripted.Call{}, false
}
