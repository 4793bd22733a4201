package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// nobody is what the model is told instead of the answer to a question.
const nobody = "This run has nobody to ask, so what needs a person's permission or answer is refused. Go on without it, and say " +
	"at the end what could not be done."

// silent is what it is told instead of the result of a call.
const silent = "This run may use no tool any more. Only report."

const (
	// maxCalls is how many calls of tools are remembered that have not returned, and how many sub-agents.
	maxCalls = 1000
	// maxMore is how many further prompts may wait to be taken.
	maxMore = 16
)

var (
	_ thread.Asker   = (*dialogue)(nil)
	_ thread.Steerer = (*dialogue)(nil)
)

// dialogue speaks stream-json with one process of Claude Code. It does not end with the first result while sub-agents are
// at work: Claude Code goes on by itself when they are done.
type dialogue struct {
	run     jsonline.Run
	asks    asks
	calls   map[string]string // tools of the calls that have not returned, by id
	refused map[string]bool   // calls of which it was said
	names   map[string]string // what sub-agents do, by their ids
	agents  int               // sub-agents at work
	held    *result           // the last result, while they are, or while there are prompts that are not taken
	silent  bool              // each call is refused
	begun   bool              // it has its prompt
	more    map[string]string // further prompts that it has not taken yet, by our ids

	// the answer that streams in
	model  string
	id     string
	usage  thread.Usage
	spoken bool // the last piece was text
	heard  bool // there was text

	// said is the usage that was said since the last result, by model.
	said map[string]thread.Usage
}

// manner is how a dialogue goes on.
type manner struct {
	asks   bool // a person is asked, or else what would be asked is refused
	silent bool // each call of a tool is refused, also one that nobody would be asked about
}

func newDialogue(how manner) *dialogue {
	d := &dialogue{
		calls: map[string]string{}, refused: map[string]bool{}, said: map[string]thread.Usage{}, names: map[string]string{},
		more: map[string]string{}, silent: how.silent,
	}
	d.asks = asks{run: &d.run, on: how.asks && !how.silent, open: map[string]*asked{}}
	return d
}

// Begin implements thread.Dialogue.
func (d *dialogue) Begin(prompt string) thread.Said {
	d.begun = true
	if d.silent { // it asks before each call, and a refusal holds whatever the person's rules and hooks say
		d.run.Write(map[string]any{"type": "control_request", "request_id": "initialize", "request": map[string]any{
			"subtype": "initialize", "hooks": map[string]any{"PreToolUse": []any{
				map[string]any{"matcher": "", "hookCallbackIds": []string{"refuse"}},
			}},
		}})
	}
	d.run.Write(personSays(prompt))
	return d.run.Take()
}

// personSays is a message of the person's.
func personSays(prompt string) map[string]any {
	return map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": prompt}, "parent_tool_use_id": nil, "session_id": "",
	}
}

// Answer implements thread.Asker.
func (d *dialogue) Answer(question string, choice int, text string) (thread.Said, error) {
	if err := d.asks.answer(question, choice, text); err != nil {
		return thread.Said{}, err
	}
	return d.run.Take(), nil
}

// Steer implements thread.Steerer. Claude Code adds the prompt to what the next tool returns; if no tool is called any
// more, it has a turn of its own in the same process, and the run ends with that one.
func (d *dialogue) Steer(prompt string) (thread.Said, error) {
	if !d.begun || d.run.Ended() || d.run.Interrupted() || d.held != nil || len(d.more) >= maxMore {
		return thread.Said{}, thread.ErrBusy
	}
	id := launch.UUID()
	d.more[id] = prompt
	m := personSays(prompt)
	m["uuid"] = id
	d.run.Write(m)
	return d.run.Take(), nil
}

// Interrupt implements thread.Dialogue.
func (d *dialogue) Interrupt() thread.Said {
	if !d.run.Interrupted() && !d.run.Ended() {
		d.run.Write(map[string]any{"type": "control_request", "request_id": "interrupt", "request": map[string]any{
			"subtype": "interrupt", "cancel_queued": true, // prompts that it has not taken
		}})
	}
	d.run.Interrupt()
	return d.run.Take()
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	d.counted(d.model)
	if d.held != nil {
		d.ends(*d.held)
	}
	d.run.Gone("Claude Code ended with code %d before it had answered", code)
	return d.run.Take()
}

// Read implements thread.Dialogue.
func (d *dialogue) Read(line []byte) thread.Said {
	var m frame
	if err := json.Unmarshal(line, &m); err != nil || !d.read(m, line) {
		d.run.Line(line)
	}
	return d.run.Take()
}

// read says what a message says, unless its type is unknown. Fields of another shape than expected count as not there.
func (d *dialogue) read(m frame, line []byte) (known bool) {
	switch m.Type {
	case "system":
		var n notice
		fields(line, &n)
		d.system(m, n)
	case "stream_event":
		var e streamed
		fields(m.Event, &e)
		d.stream(e, m.Parent)
	case "assistant":
		d.answer(m)
	case "user":
		d.returned(m)
	case "result":
		var r result
		fields(line, &r)
		if !r.Failed {
			d.run.Session(m.Session, d.model) // /clear begins another one
		}
		d.ended(r)
	case "control_request":
		var r request
		fields(m.Request, &r)
		d.asked(m.RequestID, r)
	case "control_cancel_request":
		d.asks.withdraw(m.RequestID, "", "withdrawn")
	case "command_lifecycle":
		if prompt, ok := d.more[m.Command]; ok && m.State != "queued" {
			delete(d.more, m.Command)
			if m.State == "started" {
				d.run.Add(thread.RunEvent{Kind: thread.RunSteered, Text: prompt})
			}
		}
	case "rate_limit_event", "auth_status", "control_response", "keep_alive", "conversation_reset",
		"tool_progress", "tool_use_summary", "prompt_suggestion":
	default:
		return false
	}
	return true
}

// system says what a system message says; most are about the screen of a person's.
func (d *dialogue) system(m frame, n notice) {
	switch m.Subtype {
	case "init":
		d.run.Session(m.Session, n.Model)
		for _, s := range n.Servers {
			if s.Status == "failed" || s.Status == "needs-auth" {
				d.run.Notice("The MCP server %s is not there: %s.", s.Name, s.Status)
			}
		}
	case "api_retry":
		why := cmp.Or(n.Error, "no answer")
		if n.Status != 0 {
			why = fmt.Sprintf("status %d, %s", n.Status, why)
		}
		d.run.Notice("The provider did not answer (%s); it tries again, %d of %d.", why, n.Attempt, n.Retries)
	case "permission_denied":
		d.refuse(n.Call, n.Tool, n.Text, m.Parent)
	case "compact_boundary":
		d.run.Notice("The conversation was compacted.")
	case "informational", "notification", "local_command":
		if n.Content != "" {
			d.run.Notice("%s", n.Content)
		}
	case "task_started":
		if n.Does != "" && len(d.names) < maxCalls {
			d.names[n.Task] = n.Does
		}
	case "background_tasks_changed":
		d.agents = 0
		for _, t := range n.Tasks {
			if strings.HasSuffix(t.Kind, "_agent") || strings.HasSuffix(t.Kind, "workflow") {
				d.agents++
			}
		}
		if d.agents == 0 && d.held != nil && len(d.more) == 0 {
			d.run.Close() // if it goes on, another result follows; if not, its end
		}
	}
}

// stream says what streams in of an answer.
func (d *dialogue) stream(e streamed, parent string) {
	if parent != "" {
		return // comes whole, later
	}
	switch e.Type {
	case "message_start":
		d.counted(d.model)
		d.id, d.model, d.usage = e.Message.ID, e.Message.Model, e.Message.Usage.usage()
	case "message_delta":
		d.usage = most(d.usage, e.Usage.usage())
	case "message_stop":
		d.counted(d.model)
	case "content_block_start":
		if e.Block.Type == "text" && d.spoken {
			d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: "\n\n"})
		}
	case "content_block_delta":
		switch {
		case e.Delta.Text != "":
			d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: e.Delta.Text})
			d.spoken, d.heard = true, true
		case e.Delta.Thinking != "":
			d.run.Add(thread.RunEvent{Kind: thread.RunThinking, Text: e.Delta.Thinking})
		}
	}
}

// counted says the usage of the answer that has streamed in.
func (d *dialogue) counted(model string) {
	u := d.usage
	if d.usage = (thread.Usage{}); u != (thread.Usage{}) {
		d.run.Usage(u, model, "")
		d.said[model] = d.said[model].Add(u)
	}
}

// answer says the calls in an answer, and its texts if they did not stream in.
func (d *dialogue) answer(m frame) {
	var c body
	fields(m.Message, &c)
	if c.Model == "<synthetic>" {
		return // by Claude Code itself; the result has it too
	}
	whole := m.Parent != "" || c.ID == "" || c.ID != d.id
	var blocks []piece
	fields(c.Blocks, &blocks)
	for _, b := range blocks {
		e := thread.RunEvent{Sub: m.Parent}
		switch {
		case b.Type == "tool_use":
			e.Kind, e.Tool, e.Call, e.Text, e.Reads = thread.RunTool, b.Name, b.ID, jsonline.Input(b.Input), b.reads()
			if len(d.calls) < maxCalls {
				d.calls[b.ID] = b.Name
			}
			d.spoken = false
		case b.Type == "text" && whole:
			e.Kind, e.Text = thread.RunText, b.Text
			d.heard = true
		case b.Type == "thinking" && whole:
			e.Kind, e.Text = thread.RunThinking, b.Thinking
		default:
			continue
		}
		d.run.Add(e)
	}
}

// returned says what tools returned.
func (d *dialogue) returned(m frame) {
	var c body
	fields(m.Message, &c)
	var blocks []piece
	fields(c.Blocks, &blocks)
	for _, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		d.run.Add(thread.RunEvent{
			Kind: thread.RunResult, Sub: m.Parent, Call: b.Call, Tool: d.calls[b.Call], Text: jsonline.Text(b.Content), Failed: b.Failed,
		})
		d.asks.withdraw("", b.Call, "not asked any more")
		delete(d.calls, b.Call)
		delete(d.refused, b.Call)
		d.spoken = false
	}
}

// asked has a person asked what Claude Code asks, or refuses it.
func (d *dialogue) asked(id string, r request) {
	if r.Subtype == "can_use_tool" && d.asks.ask(id, r, d.names[r.Agent]) {
		return
	}
	answer := map[string]any{"subtype": "error", "request_id": id, "error": nobody}
	if d.silent && r.Subtype == "hook_callback" {
		answer = map[string]any{"subtype": "success", "request_id": id, "response": map[string]any{
			"hookSpecificOutput": map[string]any{
				"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": silent,
			},
		}}
	} else if r.Subtype == "can_use_tool" {
		text := r.about()
		d.refuse(r.Call, r.Tool, strings.TrimSpace("needs permission, and this run has nobody to ask: "+text), "")
		answer = map[string]any{
			"subtype": "success", "request_id": id, "response": map[string]any{"behavior": "deny", "message": nobody},
		}
	} else {
		d.refuse("", r.Subtype, "this run has nobody to ask", "")
	}
	d.run.Write(map[string]any{"type": "control_response", "response": answer})
}

// refuse says that a call was refused, once.
func (d *dialogue) refuse(call, tool, why, sub string) {
	if call != "" && d.refused[call] {
		return
	}
	if call != "" && len(d.refused) < maxCalls {
		d.refused[call] = true
	}
	d.run.Add(thread.RunEvent{Kind: thread.RunRefused, Tool: tool, Call: call, Text: why, Sub: sub})
}

// ended takes a result: the run's end, unless sub-agents are at work or a further prompt waits.
func (d *dialogue) ended(r result) {
	d.counted(d.model)
	d.rest(r)
	if !d.heard && !r.Failed && r.Said != "" { // a hook of the person's stopped the prompt, or it was a command
		d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: r.Said})
	}
	if (d.agents > 0 || len(d.more) > 0) && !d.run.Interrupted() {
		d.held = &r
		return
	}
	d.ends(r)
	d.run.Close()
}

// rest says the usage that a result has beyond what was said: that of sub-agents and of cancelled requests.
func (d *dialogue) rest(r result) {
	if len(r.Models) == 0 {
		var all thread.Usage
		for _, u := range d.said {
			all = all.Add(u)
		}
		d.run.Usage(beyond(r.Usage.usage(), all), d.model, "")
	}
	for _, model := range slices.Sorted(maps.Keys(r.Models)) {
		d.run.Usage(beyond(r.Models[model].usage(), d.said[model]), model, "")
	}
	clear(d.said)
}

// ends says how a result ends the run.
func (d *dialogue) ends(r result) {
	switch {
	case strings.HasPrefix(r.Why, "aborted"):
		d.run.Cancel()
	case d.run.Interrupted() && r.Why != "completed":
		d.run.Cancel()
	case r.Failed:
		state, reason := r.trouble()
		d.run.FailAs(state, reason, r.Status)
	case r.Why != "" && r.Why != "completed":
		d.run.Fail(strings.TrimSpace("it ended early ("+r.Why+") "+r.Said), r.Status)
	default:
		d.run.Complete()
	}
}
