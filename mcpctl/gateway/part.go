package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
)

// The tools of agents that take part in a plan's task.
const (
	stageTool  = Name + separator + "stage"
	getTool    = Name + separator + "deliverable_get"
	putTool    = Name + separator + "deliverable_put"
	spawnTool  = Name + separator + "spawn"
	statusTool = Name + separator + "status"
)

// partTools describes them. They stand in each request of such an agent, so they are short.
func partTools() []entry {
	text := map[string]any{"type": "string"}
	of := func(kind, description string) map[string]any {
		return map[string]any{"type": kind, "description": description}
	}
	tool := func(name, description string, reads bool, required []string, properties map[string]any) entry {
		schema := map[string]any{"type": "object", "properties": properties}
		if len(required) > 0 {
			schema["required"] = required
		}
		return entry{name: name, raw: encoded(map[string]any{
			"name": name, "description": description, "inputSchema": schema,
			"annotations": map[string]any{"readOnlyHint": reads, "destructiveHint": false, "openWorldHint": false},
		})}
	}
	return []entry{
		tool(getTool, "Read what an agent that you read from has handed over.", true, []string{"agent"}, map[string]any{
			"agent": of("string", "its name in the plan"), "version": of("integer", "not the current one"),
			"offset": of("integer", "bytes to skip"),
		}),
		tool(putTool, "Hand over your result. Then your final message can be anything; the last call counts.", false, []string{"output_data"},
			map[string]any{
				"summary": of("string", "a few sentences"), "output_data": of("string", "the JSON text, or plain text if no JSON is asked for"),
				"files": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "paths in your folder"},
			}),
		tool(stageTool, "Keep a long text; returns a token that "+retrieveTool+" reads.", false, []string{"text"},
			map[string]any{"text": text}),
		tool(spawnTool, "Have another agent work on a prompt, and get its answer. It knows nothing but the prompt, and ends with you.",
			false, []string{"prompt"}, map[string]any{
				"prompt": text, "agent": of("string", "not the same program as you"),
				"tier":   map[string]any{"type": "string", "enum": thread.Tiers()},
				"writes": of("boolean", "it changes files, in a worktree of its own"),
				"wait":   of("boolean", "false: return its name at once, for "+statusTool),
			}),
		tool(statusTool, "How your part of the task stands: what you read from, what you handed over, your runs.", true, nil,
			map[string]any{"run": of("string", "one of your runs: its whole answer")}),
	}
}

// stage keeps a text.
func (c *call) stage(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct{ Text string }
	if no := arguments.into(&a, "text"); no != nil {
		return no, nil
	}
	d, err := c.session.gateway.stager.Stage(ctx, thread.StageRequest{
		Source: stageTool, Thread: c.session.id, Labels: []string{"agent"},
	}, strings.NewReader(a.Text))
	if err != nil {
		return failure(err.Error()), nil
	}
	return said(fmt.Sprintf("%s (%s)", d.Token, thread.Bytes(d.Bytes))), nil
}

// getDeliverable reads what another agent has handed over: what is to be said of it, and its data as it was given.
func (c *call) getDeliverable(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct {
		Agent   string
		Version int
		Offset  int64
	}
	if no := arguments.into(&a, "agent, version and offset"); no != nil {
		return no, nil
	}
	if a.Offset < 0 || a.Version < 0 {
		return failure("offset and version cannot be negative"), nil
	}
	about, data, err := c.session.gateway.tasks.Deliverable(ctx, c.session.id, a.Agent, a.Version)
	if err != nil {
		return failure(err.Error()), nil
	}
	out := newWindow(a.Offset)
	switch _, err := io.Copy(out, data); {
	case errors.Is(err, errFull):
		out.cut("go on with offset %d")
	case err != nil:
		return failure(err.Error()), nil
	}
	text := bytes.ToValidUTF8(out.text.Bytes(), []byte("\uFFFD"))
	return encoded(map[string]any{"content": []json.RawMessage{textBlock(about), textBlock(string(text))}}), nil
}

// putDeliverable hands over. Data that is no string is taken as the JSON that it is, byte for byte.
func (c *call) putDeliverable(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct {
		Summary string
		Data    json.RawMessage `json:"output_data"`
		Files   []string
	}
	if no := arguments.into(&a, "summary, output_data and files"); no != nil {
		return no, nil
	}
	h := HandOver{Summary: a.Summary, Data: string(arguments["output_data"]), Files: a.Files}
	if text := ""; json.Unmarshal(a.Data, &text) == nil {
		h.Data = text
	}
	return told(c.session.gateway.tasks.HandOver(ctx, c.session.id, h))
}

// spawn starts a run.
func (c *call) spawn(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct {
		Prompt, Agent, Tier string
		Writes              bool
		Wait                *bool
	}
	if no := arguments.into(&a, "prompt, agent, tier, writes and wait"); no != nil {
		return no, nil
	}
	return told(c.session.gateway.tasks.Spawn(ctx, c.session.id, Spawn{
		Prompt: a.Prompt, Agent: a.Agent, Tier: a.Tier, Writes: a.Writes, Wait: a.Wait == nil || *a.Wait,
	}))
}

// taskStatus tells how the agent's part stands.
func (c *call) taskStatus(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct{ Run string }
	if no := arguments.into(&a, "run"); no != nil {
		return no, nil
	}
	return told(c.session.gateway.tasks.Status(ctx, c.session.id, a.Run))
}

// told is a tool's result of one text, or of what was refused.
func told(text string, err error) (json.RawMessage, error) {
	if err != nil {
		return failure(err.Error()), nil
	}
	return said(text), nil
}
