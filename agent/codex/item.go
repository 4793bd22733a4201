package codex

import (
	"cmp"
	"fmt"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// mostFiles is how many files of one change are told.
const mostFiles = 1000

// call is a call of a tool, with what it is given; false for an item that is none.
func (i item) call() (thread.RunEvent, bool) {
	e := thread.RunEvent{Call: i.ID}
	switch i.Type {
	case "commandExecution":
		e.Tool, e.Text = "shell", i.Command
		if len(i.Actions) == 1 && i.Actions[0].Type == "read" {
			e.Reads = i.Actions[0].Path
		}
	case "fileChange":
		var paths []string
		for _, c := range i.Changes[:min(len(i.Changes), mostFiles)] {
			paths = append(paths, c.Path)
		}
		e.Tool, e.Text = "apply_patch", strings.Join(paths, "\n")
	case "mcpToolCall":
		e.Tool, e.Text = i.Server+"."+i.Tool, jsonline.Input(i.Arguments)
	case "dynamicToolCall":
		e.Tool, e.Text = i.Tool, jsonline.Input(i.Arguments)
	case "collabAgentToolCall":
		e.Tool, e.Text = i.Tool, i.Prompt
	case "webSearch":
		e.Tool, e.Text = "web_search", i.Query
	case "imageView":
		e.Tool, e.Text = "view_image", i.Path
	default:
		return e, false
	}
	return e, true
}

// returned is what a call returned, for people.
func (i item) returned() string {
	switch {
	case i.Failure != nil:
		return i.Failure.Message
	case i.Result != nil:
		return jsonline.Text(i.Result.Content)
	case i.Status == "declined":
		return cmp.Or(i.Output, "declined")
	case i.Exit != 0:
		return strings.TrimSpace(fmt.Sprintf("%s\nexit code %d", strings.TrimSuffix(i.Output, "\n"), i.Exit))
	}
	return i.Output
}
