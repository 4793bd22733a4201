package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// nobody is why a question is refused.
const nobody = "this run has nobody to ask"

// silent is why what would be asked is refused of a run that only reports.
const silent = "this run may use no tool any more"

// The ids of our requests.
const (
	initialise = iota + 1
	openSession
	startTurn
	stopTurn
	steerTurn // and all above
)

const (
	// maxNames is how many names of items and of sub-agents are remembered.
	maxNames = 1000
	// maxMore is how many further prompts may wait to be taken.
	maxMore = 16
)

var (
	_ thread.Asker   = (*dialogue)(nil)
	_ thread.Steerer = (*dialogue)(nil)
)

// dialogue speaks JSON-RPC with one app-server: it opens a session, and has one turn in it.
type dialogue struct {
	run    jsonline.Run
	asks   asks
	open   opening
	prompt string
	given  bool     // the turn has its prompt
	more   []string // further prompts that it has not taken yet
	steers int      // how many there were

	session, turn, model string
	streamed             map[string]bool   // answers and thoughts of which pieces were said
	agents               map[string]string // the calls that started sub-agents, by their sessions
	total                map[string]spent  // what was counted last, by session
	spoken               bool              // the last piece was text
}

func newDialogue(o opening) *dialogue {
	d := &dialogue{open: o, streamed: map[string]bool{}, agents: map[string]string{}, total: map[string]spent{}}
	d.asks = asks{run: &d.run, dir: o.dir, on: o.asking, reads: o.reads, open: map[string]*asked{}, files: map[string]string{}}
	return d
}

// Begin implements thread.Dialogue.
func (d *dialogue) Begin(prompt string) thread.Said {
	d.prompt = prompt
	if d.open.strange {
		d.run.Notice("Codex has not been told whether you trust this folder: it is treated as one that you do not trust, without " +
			"its configuration of Codex. Start codex there once to decide.")
	}
	d.ask(initialise, "initialize", map[string]any{
		"clientInfo": map[string]any{"name": "orchestrator", "title": "orchestrator", "version": "0"},
	})
	d.run.Write(map[string]any{"method": "initialized"})
	p := map[string]any{"cwd": d.open.dir}
	for key, value := range map[string]string{
		"model": d.open.model, "sandbox": d.open.sandbox, "approvalPolicy": d.open.approval, "approvalsReviewer": d.open.reviewer,
	} {
		if value != "" {
			p[key] = value
		}
	}
	if d.open.profile != "" { // a resumed session would keep its own otherwise
		p["config"] = map[string]any{"default_permissions": d.open.profile}
	}
	if d.open.resume != "" {
		p["threadId"], p["excludeTurns"] = d.open.resume, true
		d.ask(openSession, "thread/resume", p)
	} else {
		d.ask(openSession, "thread/start", p)
	}
	return d.run.Take()
}

// Answer implements thread.Asker.
func (d *dialogue) Answer(question string, choice int, text string) (thread.Said, error) {
	words, err := d.asks.answer(question, choice, text)
	if err != nil {
		return thread.Said{}, err
	}
	if words != "" && d.turn != "" && !d.run.Ended() {
		d.steer("The person says: " + words)
	}
	return d.run.Take(), nil
}

// Steer implements thread.Steerer. The turn takes the prompt with its next request; an answer that is being written is
// broken off for that.
func (d *dialogue) Steer(prompt string) (thread.Said, error) {
	if d.turn == "" || !d.given || d.run.Ended() || d.run.Interrupted() || len(d.more) >= maxMore {
		return thread.Said{}, thread.ErrBusy
	}
	d.more = append(d.more, prompt)
	d.steer(prompt)
	return d.run.Take(), nil
}

func (d *dialogue) steer(prompt string) {
	d.ask(steerTurn+d.steers, "turn/steer", map[string]any{
		"threadId": d.session, "expectedTurnId": d.turn, "input": []any{map[string]any{"type": "text", "text": prompt}},
	})
	d.steers++
}

// takes notes that the turn has taken a prompt: its own, and then those that came while it ran.
func (d *dialogue) takes(text string) {
	if !d.given {
		d.given = true
		return
	}
	if at := slices.Index(d.more, text); at >= 0 {
		d.more = slices.Delete(d.more, at, at+1)
		d.run.Add(thread.RunEvent{Kind: thread.RunSteered, Text: text})
	}
}

func (d *dialogue) ask(id int, method string, p map[string]any) {
	d.run.Write(map[string]any{"id": id, "method": method, "params": p})
}

// Interrupt implements thread.Dialogue. Before there is a turn, it ends as soon as there is one.
func (d *dialogue) Interrupt() thread.Said {
	first := !d.run.Interrupted()
	d.run.Interrupt()
	if first && d.turn != "" {
		d.stop()
	}
	return d.run.Take()
}

func (d *dialogue) stop() {
	if !d.run.Ended() {
		d.ask(stopTurn, "turn/interrupt", map[string]any{"threadId": d.session, "turnId": d.turn})
	}
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	d.run.Gone("Codex ended with code %d before it had answered", code)
	return d.run.Take()
}

// Read implements thread.Dialogue.
func (d *dialogue) Read(line []byte) thread.Said {
	var f frame
	switch err := json.Unmarshal(line, &f); {
	case err != nil:
		d.run.Line(line)
	case f.Method == "":
		if !d.answered(f) {
			d.run.Line(line)
		}
	default:
		var p params
		fields(f.Params, &p)
		if len(f.ID) > 0 {
			d.asked(f, p)
		} else {
			d.told(f.Method, p)
		}
	}
	return d.run.Take()
}

// answered takes the answer to a request of ours, and reports whether it is one.
func (d *dialogue) answered(f frame) bool {
	var id int
	if json.Unmarshal(f.ID, &id) != nil || id < initialise || id >= steerTurn+d.steers || f.Error == nil && len(f.Result) == 0 {
		return false
	}
	if f.Error != nil {
		if id < stopTurn { // else the turn has ended meanwhile
			d.run.Fail(cmp.Or(f.Error.Message, "Codex refused a request"), 0)
			d.run.Close()
		}
		return true
	}
	var r struct {
		Model  string `json:"model"`
		Dir    string `json:"cwd"`
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
		Sandbox struct {
			Type string `json:"type"`
		} `json:"sandbox"`
		Profile struct {
			ID string `json:"id"`
		} `json:"activePermissionProfile"`
	}
	fields(f.Result, &r)
	switch id {
	case openSession:
		if d.open.profile == readOnly && (r.Sandbox.Type != "readOnly" || r.Profile.ID != d.open.profile) {
			d.run.Fail("this version of Codex was told to only read, and does not say that it will", 0)
			d.run.Close()
			return true
		}
		d.asks.dir = cmp.Or(r.Dir, d.asks.dir)
		d.opened(r.Thread.ID, r.Model)
	case startTurn:
		d.began(r.Turn.ID)
	}
	return true
}

// opened asks the prompt in the session.
func (d *dialogue) opened(session, model string) {
	if session == "" || d.session != "" {
		return
	}
	d.session, d.model = session, model
	d.run.Session(session, model)
	if d.run.Interrupted() {
		d.run.Cancel()
		d.run.Close()
		return
	}
	d.ask(startTurn, "turn/start", map[string]any{
		"threadId": session, "input": []any{map[string]any{"type": "text", "text": d.prompt}},
	})
	d.prompt = ""
}

// began knows the turn, which may be interrupted from now on.
func (d *dialogue) began(turn string) {
	if d.turn != "" || turn == "" {
		return
	}
	d.turn = turn
	if d.run.Interrupted() {
		d.stop()
	}
}

// told takes a notification. What is not named here is about the screen of a person's.
func (d *dialogue) told(method string, p params) {
	sub := d.sub(p.Thread)
	switch method {
	case "item/agentMessage/delta":
		d.piece(thread.RunText, p.ItemID, p.Delta, sub)
	case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta":
		d.piece(thread.RunThinking, p.ItemID, p.Delta, sub)
	case "item/started":
		d.starts(p.Item, sub)
	case "item/completed":
		d.completes(p.Item, sub)
	case "thread/tokenUsage/updated":
		d.counts(p, sub)
	case "turn/started":
		if sub == "" && d.session != "" {
			d.began(p.Turn.ID)
		}
	case "turn/completed":
		if sub == "" && d.session != "" && p.Turn.ID == d.turn {
			d.ends(p)
		}
	case "serverRequest/resolved":
		d.asks.resolved(p.Request)
	case "error":
		if p.Failure != nil && p.Retries {
			d.again(*p.Failure, sub)
		}
	case "configWarning", "warning", "guardianWarning", "deprecationNotice":
		d.run.Notice("%s", strings.TrimSpace(cmp.Or(p.Summary, p.Message)+"\n"+p.Details))
	case "mcpServer/startupStatus/updated":
		if p.Status == "failed" {
			d.run.Notice("The MCP server %s is not there.", p.Name)
		}
	case "thread/compacted":
		d.run.Notice("The conversation was compacted.")
	}
}

// again says that Codex asks its provider again. If that is not its business, the run ends: it would ask up to thirty
// times, and all runs that share the provider would.
func (d *dialogue) again(f failure, sub string) {
	if d.run.Ended() {
		return
	}
	if sub != "" || d.open.patient || d.turn == "" {
		d.run.Notice("%s", f.text())
		return
	}
	state, status := f.state()
	d.stop()
	d.run.FailAs(state, strings.TrimSpace(address().ReplaceAllString(cmp.Or(f.Details, f.Message), "")), status)
	d.run.Close()
}

// sub names the sub-agent whose session it is, "" for the run's own.
func (d *dialogue) sub(session string) string {
	if session == "" || session == d.session {
		return ""
	}
	return cmp.Or(d.agents[session], session)
}

// piece says a piece of an answer or of a thought.
func (d *dialogue) piece(kind thread.RunEventKind, id, text, sub string) {
	if text == "" {
		return
	}
	if !d.streamed[id] {
		if len(d.streamed) < maxNames {
			d.streamed[id] = true
		}
		d.part(kind, sub)
	}
	d.run.Add(thread.RunEvent{Kind: kind, Text: text, Sub: sub})
}

// part parts an answer from the one before.
func (d *dialogue) part(kind thread.RunEventKind, sub string) {
	if kind != thread.RunText || sub != "" {
		return
	}
	if d.spoken {
		d.run.Add(thread.RunEvent{Kind: kind, Text: "\n\n"})
	}
	d.spoken = true
}

// starts says that a tool is called.
func (d *dialogue) starts(i item, sub string) {
	if i.Type == "userMessage" && sub == "" {
		d.takes(i.said())
	}
	if e, ok := i.call(); ok {
		if i.Type == "fileChange" {
			d.asks.changes(i.ID, i.changes(e.Text), false)
		}
		e.Kind, e.Sub = thread.RunTool, sub
		d.run.Add(e)
		d.spoken = false
	}
	for _, session := range i.Receivers {
		if len(d.agents) < maxNames && session != d.session {
			d.agents[session] = i.ID
		}
	}
}

// completes says what a tool returned, or a text that did not stream in.
func (d *dialogue) completes(i item, sub string) {
	switch i.Type {
	case "agentMessage":
		if !d.streamed[i.ID] && i.Text != "" {
			d.part(thread.RunText, sub)
			d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: i.Text, Sub: sub})
		}
		delete(d.streamed, i.ID)
		return
	case "reasoning":
		delete(d.streamed, i.ID)
		return
	case "contextCompaction":
		d.run.Notice("The conversation was compacted.")
		return
	}
	for _, session := range i.Receivers { // known only now
		if len(d.agents) < maxNames && session != d.session {
			d.agents[session] = i.ID
		}
	}
	e, ok := i.call()
	if !ok {
		return
	}
	d.asks.changes(i.ID, "", true)
	e.Kind, e.Sub, e.Text, e.Reads = thread.RunResult, sub, i.returned(), ""
	e.Failed = i.Status == "failed" || i.Status == "declined" || i.Exit != 0
	d.run.Add(e)
	d.spoken = false
}

// counts says the usage of a request of this turn. What a resumed session has counted before is said again when it is
// opened.
func (d *dialogue) counts(p params, sub string) {
	if sub == "" && p.TurnID != d.turn || p.Usage.Total == d.total[p.Thread] || len(d.total) > maxNames {
		return
	}
	d.total[p.Thread] = p.Usage.Total
	d.run.Usage(p.Usage.Last.usage(), d.model, sub)
}

// ends says how the turn ended.
func (d *dialogue) ends(p params) {
	switch f := p.Turn.Error; {
	case p.Turn.Status == "completed":
		d.run.Complete()
	case p.Turn.Status == "interrupted":
		d.run.Cancel()
	case f != nil:
		state, status := f.state()
		d.run.FailAs(state, f.text(), status)
	default:
		d.run.Fail("the turn ended as "+cmp.Or(p.Turn.Status, "nothing known"), 0)
	}
	d.run.Close()
}

// asked has a person asked what Codex asks, or refuses it.
func (d *dialogue) asked(f frame, p params) {
	if d.asks.ask(f, p, d.sub(p.Thread)) {
		return
	}
	e := thread.RunEvent{Kind: thread.RunRefused, Call: p.ItemID, Sub: d.sub(p.Thread)}
	var answer any
	switch f.Method {
	case "item/commandExecution/requestApproval":
		e.Tool, e.Text, answer = "shell", p.Command, map[string]any{"decision": "decline"}
	case "item/fileChange/requestApproval":
		e.Tool, answer = "apply_patch", map[string]any{"decision": "decline"}
	case "execCommandApproval", "applyPatchApproval":
		e.Tool, answer = f.Method, map[string]any{"decision": "denied"}
	case "mcpServer/elicitation/request":
		e.Tool, e.Text, answer = p.Server, p.Message, map[string]any{"action": "decline"}
	case "item/tool/requestUserInput":
		e.Tool = "request_user_input"
		for _, q := range p.Questions[:min(len(p.Questions), 3)] {
			e.Text += q.Question + " "
		}
	default:
		e.Tool = f.Method
	}
	why := nobody
	switch {
	case d.open.silent:
		why = silent
	case d.asks.on && e.Text == "":
		why = "it does not say what it would do"
	}
	e.Text = strings.TrimSpace("needs permission, and " + why + ": " + cmp.Or(e.Text, p.Reason))
	d.run.Add(e)
	if answer != nil {
		d.run.Write(map[string]any{"id": f.ID, "result": answer})
		return
	}
	d.run.Write(map[string]any{"id": f.ID, "error": map[string]any{"code": -32000, "message": why}})
}
