package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/thread/pattern"
)

// Script answers model requests.
type Script func(Turn) Reply

// Reply is what a script answers.
type Reply struct {
	Thinking string
	Text     string
	Calls    []Call
	Usage    Usage // zero is filled in from the sizes of request and answer

	// Status is an HTTP status to fail with, 0 for success; Fails is how many attempts fail, 0 all.
	Status     int
	Fails      int
	RetryAfter string // header of failures
	// Cut breaks the connection in the middle of the answer.
	Cut bool
	// Verdict is what the provider's safety check decides about the calls where the request asks for it, as that of Claude
	// Code's auto mode does: empty is that nothing is wrong.
	Verdict Verdict
	// Page answers every attempt with a web page, as a hotel's network does.
	Page bool
	// Hold names a Release to wait for in the middle of the answer.
	Hold string
}

// Verdict is what a provider's safety check decides about tool calls.
type Verdict string

// The verdicts. Unchecked is none at all, as behind a gateway that does not know of the check.
const (
	NotFlagged Verdict = ""
	Flagged    Verdict = "flagged"
	Unchecked  Verdict = "unchecked"
)

// Call is a tool call in an answer.
type Call struct {
	Name string
	// Args are the arguments; a string under the key "" is the whole input of a free-form tool.
	Args map[string]any
}

// Usage counts tokens; the kinds of input are disjoint.
type Usage struct {
	Input, CacheRead, CacheWrite, Output int64
}

// defaultUsage makes plausible numbers from sizes: a quarter token a byte, mostly cached.
func defaultUsage(size int, r Reply) Usage {
	total := int64(size)/4 + 1
	out := int64(len(r.Text)+len(r.Thinking))/4 + 1
	for _, c := range r.Calls {
		out += int64(len(encode(c.Args)))/4 + 1
	}
	return Usage{Input: total - total*8/10, CacheRead: total * 8 / 10, Output: out}
}

// marker finds the script's words in a prompt.
var marker = pattern.Lazy(`#(say|bash|read|write|think|big|usage|status|hold|cut|page|flagged|unchecked|escalate)\b:?`)

// Markers is the Script that reads the markers of the prompt.
func Markers(t Turn) Reply {
	if t.Side {
		return side(t)
	}
	steps := parseSteps(t)
	if len(steps) == 0 {
		return Reply{Text: "answer to: " + t.Prompt}
	}
	if t.Round < len(steps) {
		return steps[t.Round]
	}
	return Reply{Text: "done"} // every step was a tool call
}

// side answers what is no main conversation: titles, summaries, classifiers.
func side(t Turn) Reply {
	if t.Schema {
		return Reply{Text: `{"title":"Scripted title"}`}
	}
	return Reply{Text: "Scripted title"}
}

// parseSteps turns a prompt's markers into one reply a request.
func parseSteps(t Turn) []Reply {
	var steps []Reply
	var next Reply
	escalate := false
	finish := func(r Reply) { steps, next = append(steps, r), Reply{} }
	at := marker().FindAllStringSubmatchIndex(t.Prompt, -1)
	for i, m := range at {
		end := len(t.Prompt)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		value := t.Prompt[m[1]:end]
		if cut := strings.IndexByte(value, '\n'); cut >= 0 {
			value = value[:cut]
		}
		value = strings.TrimSpace(value)
		switch t.Prompt[m[2]:m[3]] {
		case "say":
			next.Text = value
			finish(next)
		case "big":
			next.Text = filler(number(value))
			finish(next)
		case "bash":
			next.Calls = []Call{t.Shell(value, escalate)}
			escalate = false
			finish(next)
		case "read":
			next.Calls = []Call{t.Read(value)}
			finish(next)
		case "write":
			path, text, _ := strings.Cut(value, "=")
			next.Calls = []Call{t.Write(path, text)}
			finish(next)
		case "think":
			next.Thinking = value
		case "usage":
			next.Usage = parseUsage(value)
		case "status":
			code, times, _ := strings.Cut(value, "x")
			next.Status, next.Fails = number(code), number(times)
		case "hold":
			next.Hold = value
		case "cut":
			next.Cut = true
		case "page":
			next.Page = true
		case "flagged":
			next.Verdict = Flagged
		case "unchecked":
			next.Verdict = Unchecked
		case "escalate":
			escalate = true
		}
	}
	if next.Status != 0 || next.Hold != "" || next.Cut || next.Page || next.Thinking != "" || next.Usage != (Usage{}) {
		next.Text = "answer to: " + t.Prompt
		finish(next)
	}
	return steps
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

func parseUsage(s string) Usage {
	var n [4]int64
	for i, part := range strings.SplitN(s, ",", 4) {
		n[i] = int64(number(part))
	}
	return Usage{Input: n[0], CacheRead: n[1], CacheWrite: n[2], Output: n[3]}
}

// filler is n bytes of words.
func filler(n int) string {
	const word = "lorem ipsum "
	return strings.Repeat(word, n/len(word)+1)[:n]
}

// Shell is a call of the agent's shell tool.
func (t Turn) Shell(command string, escalate bool) Call {
	tool, ok := t.shell()
	if !ok {
		return Call{Name: "Bash", Args: map[string]any{"command": command}}
	}
	if tool.Free {
		args := map[string]any{"cmd": command}
		if escalate {
			args["sandbox_permissions"], args["justification"] = "require_escalated", "asked for by the script"
		}
		return Call{Name: tool.Name, Args: map[string]any{"": "text(await tools.exec_command(" + string(encode(args)) + "));"}}
	}
	args := map[string]any{}
	if tool.Has("cmd") && !tool.Has("command") {
		args["cmd"] = command
	} else {
		args["command"] = command
	}
	if tool.Has("description") {
		args["description"] = "run it"
	}
	if tool.Has("is_background") {
		args["is_background"] = false
	}
	if escalate && tool.Has("sandbox_permissions") {
		args["sandbox_permissions"] = "require_escalated"
		args["justification"] = "asked for by the script"
	}
	return Call{Name: tool.Name, Args: args}
}

// Write is a call of the agent's tool for writing files, of the shell where there is none.
func (t Turn) Write(path, text string) Call {
	tool, ok := t.tool("Write", "write_file", "write")
	if !ok {
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		return t.Shell(fmt.Sprintf("printf %%s %s > %s", quote(text), quote(path)), false)
	}
	key := "file_path"
	if tool.Has("filePath") {
		key = "filePath"
	}
	if !strings.HasPrefix(path, "/") && t.Dir != "" {
		path = t.Dir + "/" + path
	}
	return Call{Name: tool.Name, Args: map[string]any{key: path, "content": text}}
}

// Read is a call of the agent's tool for reading files, of the shell where there is none.
func (t Turn) Read(path string) Call {
	tool, ok := t.tool("Read", "read_file", "read")
	if !ok {
		return t.Shell("cat '"+strings.ReplaceAll(path, "'", `'\''`)+"'", false)
	}
	for _, key := range []string{"filePath", "absolute_path"} {
		if tool.Has(key) {
			return Call{Name: tool.Name, Args: map[string]any{key: path}}
		}
	}
	return Call{Name: tool.Name, Args: map[string]any{"file_path": path}}
}

// Tool is a tool that a request offers.
type Tool struct {
	Name   string
	Params json.RawMessage // JSON schema
	Free   bool            // takes a text instead of arguments
}

// Has reports whether the tool's schema names a parameter.
func (t Tool) Has(param string) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Params, &schema) != nil {
		return false
	}
	_, ok := schema.Properties[param]
	return ok
}

// shell returns the tool that runs commands: one of its own, or Codex's free-form "exec".
func (t Turn) shell() (Tool, bool) {
	if tool, ok := t.tool("Bash", "exec_command", "run_shell_command", "bash", "shell"); ok {
		return tool, true
	}
	tool, ok := t.tool("exec")
	return tool, ok && tool.Free
}

// tool returns the first offered tool among names.
func (t Turn) tool(names ...string) (Tool, bool) {
	for _, name := range names {
		for _, tool := range t.Tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return Tool{}, false
}
