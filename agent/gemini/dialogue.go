package gemini

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// planning are the tools that change the mode. They are denied in every run. Without a terminal Gemini CLI approves the plan by itself, and then
// everything: who calls both may do anything.
func planning() []string { return []string{"enter_plan_mode", "exit_plan_mode"} }

// changing are the tools of Gemini CLI that change files, or do what nobody can tell.
func changing() []string {
	return []string{"write_file", "replace", "run_shell_command", "save_memory", "activate_skill", "invoke_agent"}
}

// mostCalls is how many calls that have not ended are known by their names.
const mostCalls = 1000

// dialogue reads what Gemini CLI prints as stream-json. The prompt is its whole input; only a signal interrupts it, and
// then it may exit with 0: that it has answered, only its "result" tells.
type dialogue struct {
	run     jsonline.Run
	session string          // that was asked for
	mode    string          // the permission mode
	reads   bool            // it may only read
	tools   map[string]call // that have not ended
	wrong   string          // what it has said of a failure
	// failed is set when it has reported its failure: its exit code tells more.
	failed bool
}

// call is a call of a tool.
type call struct{ tool, about string }

func newDialogue(session, mode string, reads bool) *dialogue {
	return &dialogue{session: session, mode: mode, reads: reads, tools: map[string]call{}}
}

// event is a line of the output, with the fields that are read.
type event struct {
	Type     string          `json:"type"`
	Session  string          `json:"session_id"`
	Model    string          `json:"model"`
	Role     string          `json:"role"`
	Content  string          `json:"content"`
	Tool     string          `json:"tool_name"`
	Call     string          `json:"tool_id"`
	Params   json.RawMessage `json:"parameters"`
	Status   string          `json:"status"`
	Output   string          `json:"output"`
	Severity string          `json:"severity"`
	Message  string          `json:"message"`
	Error    struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Models map[string]counts `json:"models"`
	} `json:"stats"`
}

// counts are the tokens of all requests to a model.
type counts struct {
	Total  int64 `json:"total_tokens"`
	Prompt int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"` // without its thoughts
	Cached int64 `json:"cached"`
	Fresh  int64 `json:"input"`
}

// Begin implements thread.Dialogue.
func (d *dialogue) Begin(prompt string) thread.Said {
	return d.run.Prompt(prompt)
}

// Interrupt implements thread.Dialogue.
func (d *dialogue) Interrupt() thread.Said {
	return d.run.Signal()
}

// Read implements thread.Dialogue.
func (d *dialogue) Read(line []byte) thread.Said {
	return jsonline.Read(&d.run, line, d.read)
}

// read says what an event means, unless its type is unknown.
func (d *dialogue) read(e event) (known bool) {
	switch e.Type {
	case "init":
		d.run.Session(e.Session, e.Model)
		if d.mayAsk() && d.mode != "auto_edit" {
			d.run.Notice("without a terminal it is not offered what would ask you, such as changing files and running commands; " +
				"the permission mode auto_edit or yolo gives it that")
		}
	case "message":
		if e.Role == "assistant" {
			d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: e.Content})
		}
	case "tool_use":
		use := thread.RunEvent{Kind: thread.RunTool, Tool: e.Tool, Call: e.Call, Text: jsonline.Input(e.Params)}
		if e.Tool == "read_file" {
			use.Reads = jsonline.Reads(e.Params)
		}
		if len(d.tools) < mostCalls {
			d.tools[e.Call] = call{e.Tool, use.Text}
		}
		d.run.Add(use)
	case "tool_result":
		d.result(e)
	case "error":
		if e.Severity == "error" {
			d.wrong = e.Message
		}
		d.run.Notice("%s", e.Message)
	case "result":
		d.end(e)
	default:
		return false
	}
	return true
}

// result says how a call ended, and what was refused that a person would have been asked.
func (d *dialogue) result(e event) {
	c := d.tools[e.Call]
	delete(d.tools, e.Call)
	r := thread.RunEvent{Kind: thread.RunResult, Call: e.Call, Tool: c.tool, Text: cmp.Or(e.Output, e.Error.Message), Failed: e.Status != "success"}
	if code, ok := strings.CutPrefix(r.Text, "Command exited with code: "); ok && code != "0" {
		r.Failed = true
	}
	if why, asked := d.denied(c.tool, e); asked {
		d.run.Add(thread.RunEvent{Kind: thread.RunRefused, Call: e.Call, Tool: c.tool, Text: strings.TrimSpace(c.tool+" "+c.about) + ": " + why})
	} else if why != "" {
		d.run.Notice("%s: %s", strings.TrimSpace(c.tool+" "+c.about), why)
	}
	d.run.Add(r)
}

// denied returns why a call was denied, "" if it was not, and whether a person would have been asked. Without one, Gemini CLI
// does not offer what its rules would always ask about, and denies other calls of which they ask; whether a rule asks or
// denies it does not tell then, but for a message of the rule.
func (d *dialogue) denied(tool string, e event) (why string, asked bool) {
	switch {
	case e.Status == "success":
		return "", false
	case slices.Contains(planning(), tool):
		return "not in a run: it would approve its plan by itself", false
	case e.Error.Type == "policy_violation" && d.mayAsk() && strings.TrimSpace(e.Error.Message) == "Tool execution denied by policy.":
		return "nobody can be asked", true
	case e.Error.Type == "policy_violation":
		return "a rule denies it", false
	case e.Error.Type == "tool_not_registered" && slices.Contains(changing(), tool) && d.reads:
		return "not offered, since it may only read", true
	case e.Error.Type == "tool_not_registered" && slices.Contains(changing(), tool) && d.mode == "plan":
		return "not offered while it plans", false
	case e.Error.Type == "tool_not_registered" && (slices.Contains(changing(), tool) || tool == "ask_user" || strings.HasPrefix(tool, "mcp_")):
		return "not offered, since nobody can be asked", true
	case strings.Contains(e.Error.Message, "requires user confirmation, which is not supported"):
		return "nobody can be asked", true
	}
	return "", false
}

// mayAsk reports whether it is in a mode in which it asks.
func (d *dialogue) mayAsk() bool {
	return !d.reads && (d.mode == "" || d.mode == "default" || d.mode == "auto_edit")
}

// end takes the report at the end of a turn.
func (d *dialogue) end(e event) {
	for _, model := range slices.Sorted(maps.Keys(e.Stats.Models)) {
		c := e.Stats.Models[model]
		d.run.Usage(thread.Usage{
			Input: c.Fresh, CacheRead: c.Cached, Output: max(c.Output, c.Total-c.Prompt), // thoughts are in the total
		}, model, "")
	}
	if e.Status == "success" {
		d.run.Complete()
		return
	}
	d.failed, d.wrong = true, cmp.Or(plainly(e.Error.Message), d.wrong)
}

// plainly takes a provider's message out of what Gemini CLI makes of it.
func plainly(message string) string {
	inner, ok := strings.CutPrefix(message, "[API Error: ")
	if !ok {
		return message
	}
	if at := strings.LastIndex(inner, "]"); at >= 0 { // advice follows
		inner = inner[:at]
	}
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(inner), &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return inner
}

// fatal are the exit codes that say why Gemini CLI has given up.
func (d *dialogue) fatal(code int) (why string, state thread.State) {
	switch code {
	case 41:
		return "it could not log in", thread.StateUnauthorised
	case 42:
		return "it does not accept its input, or there is no session " + d.session + " here", ""
	case 44:
		return "its sandbox failed", ""
	case 52:
		return "its settings are invalid", ""
	case 53:
		return "it has reached the limit of turns in its settings", ""
	case 54:
		return "a tool failed so that it could not go on", ""
	case 55:
		return "it does not trust the folder", ""
	}
	return "", ""
}

// statusOf returns the provider's status of a refused request: the exit code is its last byte.
func statusOf(code int) int {
	switch {
	case code >= 400-256 && code < 512-256:
		return code + 256
	case code >= 520-512 && code < 531-512: // overloaded, or not to be reached behind what stands before it
		return code + 512
	default:
		return 0
	}
}

// way returns what a failure on the way to the provider is by its words, "" if it is none.
func way(wrong string) thread.State {
	switch {
	case strings.Contains(wrong, "fetch failed"):
		return thread.StateUnreachable
	case wrong == "terminated", strings.HasPrefix(wrong, "Incomplete JSON segment"), strings.Contains(wrong, "stream ended"):
		return thread.StateCut
	}
	return ""
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	why, state := d.fatal(code)
	switch {
	case d.failed && d.run.Interrupted():
		d.run.Cancel()
	case d.failed:
		status := statusOf(code)
		d.run.FailAs(cmp.Or(state, thread.TroubleOf(status), way(d.wrong)), cmp.Or(d.wrong, why), status)
	case why != "":
		d.run.FailAs(state, why, 0)
	}
	d.run.Gone("Gemini CLI ended with code %d before it had answered", code)
	return d.run.Take()
}
