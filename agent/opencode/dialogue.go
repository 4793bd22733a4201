package opencode

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// dialogue reads the parts of messages that opencode prints, each when it is whole. The prompt is its whole input; only a
// signal interrupts it. Nothing that it prints is the end: it may go on after a step.
type dialogue struct {
	run   jsonline.Run
	asked string // the session to resume
	model string
	reads bool // tools that change something are not offered
	read  bool // a line was read
	// finish is why the newest step has ended, "" while one runs.
	finish  string
	refused string // what the newest step was not allowed
	wrong   string // why the turn has failed
	status  int    // the provider's
}

// event is a line of the output, with the fields that are read.
type event struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		Call   string `json:"callID"`
		Reason string `json:"reason"`
		State  struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
			Error  string          `json:"error"`
			Meta   struct {
				Exit int `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
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
	return jsonline.Read(&d.run, line, d.take)
}

// take says what an event means, unless its type is unknown.
func (d *dialogue) take(e event) (known bool) {
	switch e.Type {
	case "step_start", "text", "reasoning", "tool_use", "step_finish", "error":
		d.read = true
		d.run.Session(e.Session, d.model)
	}
	switch e.Type {
	case "step_start":
		d.finish, d.refused = "", ""
	case "text":
		d.text(thread.RunText, e.Part.Text)
	case "reasoning":
		d.text(thread.RunThinking, e.Part.Text)
	case "tool_use":
		d.tool(e)
	case "step_finish":
		u := e.Part.Tokens
		d.finish = e.Part.Reason
		d.run.Usage(thread.Usage{
			Input: u.Input, CacheRead: u.Cache.Read, CacheWrite: u.Cache.Write, Output: u.Output + u.Reasoning,
		}, d.model, "")
	case "error":
		d.wrong, d.status = cmp.Or(e.Error.Data.Message, e.Error.Name, "it reports an error"), e.Error.Data.Status
	default:
		return false
	}
	return true
}

// asking are the tools with which opencode asks a person, and which it does not offer in a run.
func asking() []string { return []string{"question", "plan_enter", "plan_exit"} }

// text says a whole text, in pieces.
func (d *dialogue) text(kind thread.RunEventKind, text string) {
	for len(text) > jsonline.MaxText {
		at := jsonline.MaxText
		for !utf8.RuneStart(text[at]) {
			at--
		}
		d.run.Add(thread.RunEvent{Kind: kind, Text: text[:at]})
		text = text[at:]
	}
	d.run.Add(thread.RunEvent{Kind: kind, Text: text})
}

// tool says a call and how it ended.
func (d *dialogue) tool(e event) {
	p := e.Part
	about := jsonline.Input(p.State.Input)
	use := thread.RunEvent{Kind: thread.RunTool, Tool: p.Tool, Call: p.Call, Text: about}
	if p.Tool == "read" {
		use.Reads = jsonline.Reads(p.State.Input)
	}
	d.run.Add(use)
	refused, unoffered := "", strings.HasPrefix(p.State.Error, "Model tried to call unavailable tool")
	what := strings.TrimSpace(p.Tool + " " + about)
	switch {
	case strings.HasPrefix(p.State.Error, "The user rejected permission"):
		d.refused = what // and with it the turn ends
		refused = "nobody can be asked"
	case strings.HasPrefix(p.State.Error, "The user has specified a rule which prevents"):
		d.run.Notice("%s: a rule denies it", what)
	case unoffered && d.reads:
		refused = "not offered, since it may only read"
	case unoffered && slices.Contains(asking(), p.Tool):
		refused = "not offered, since nobody can be asked"
	}
	if refused != "" {
		d.run.Add(thread.RunEvent{Kind: thread.RunRefused, Tool: p.Tool, Call: p.Call, Text: what + ": " + refused})
	}
	d.run.Add(thread.RunEvent{
		Kind: thread.RunResult, Tool: p.Tool, Call: p.Call, Text: cmp.Or(p.State.Error, p.State.Output),
		Failed: p.State.Status == "error" || p.State.Meta.Exit != 0,
	})
}

// way returns what a failure on the way to the provider is by its words, "" if it is none.
func way(wrong string) thread.State {
	switch {
	case strings.HasPrefix(wrong, "Cannot connect to API"):
		return thread.StateUnreachable
	case strings.HasPrefix(wrong, "Connection reset by server"):
		return thread.StateCut
	}
	return ""
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	answered := d.finish == "stop" && code == 0
	switch {
	case d.run.Interrupted() && (!answered || d.wrong != ""):
		d.run.Cancel()
	case d.wrong != "":
		d.run.FailAs(cmp.Or(thread.TroubleOf(d.status), way(d.wrong)), d.wrong, d.status)
	case d.refused != "":
		d.run.Fail("it would have asked you, and nobody can be asked: "+d.refused, 0)
	case d.finish == "length":
		d.run.FailAs(thread.StateCut, "the answer was cut off: it is as long as it may be", 0)
	case answered:
		d.run.Complete()
	case d.finish != "" && d.finish != "stop" && d.finish != "tool-calls" && code == 0:
		d.run.Fail("the model stopped, and the reason was: "+d.finish, 0)
	case !d.read && d.asked != "" && code == 1:
		d.run.Fail("it did not begin: there may be no session "+d.asked, 0)
	}
	d.run.Gone("opencode ended with code %d before it had answered", code)
	return d.run.Take()
}
