package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// asks are the requests of an app-server that wait for a person. It asks whether a command may run and whether files may
// be changed, what the model wants to know (request_user_input), and whether what an MCP server wants is right. Questions
// of one request are asked one after the other. A form of an MCP server's with fields, a page that it has opened and a
// secret are not asked for: they are refused, as is what does not say what it would do. A refusal takes no words, so what
// a person says to it is a further prompt.
type asks struct {
	run   *jsonline.Run
	on    bool
	dir   string // where it works, as it says
	reads bool   // it is asked only what the model wants to know
	// open are the requests that wait, by the ids of the questions that are asked.
	open map[string]*asked
	// files are what calls change that have not ended, by their ids: a request about them does not name the files.
	files map[string]string
}

// asked is a request that waits for a person.
type asked struct {
	id      json.RawMessage // of the request
	name    string          // of its first question
	call    string
	sub     string
	server  bool // an MCP server asks
	choices []wanted
	answers map[string]any // so far
}

const (
	// maxQuestions is how many questions a request may have, and how many options a question.
	maxQuestions = 16
	// maxFiles is how many changes are remembered.
	maxFiles = 200
)

// ask asks a person what a request asks. False: it cannot be asked.
func (a *asks) ask(f frame, p params, sub string) bool {
	one := &asked{id: slices.Clone(f.ID), name: string(f.ID), call: p.ItemID, sub: sub}
	q := thread.Question{ID: one.name, Kind: thread.QuestionPermission}
	always := "Yes, and do not ask about this again in this run"
	switch f.Method {
	case "item/commandExecution/requestApproval":
		q.Text, q.About = "Run this command?", a.about(f.Params, bare(p.Command))
		if p.Command == "" {
			q.Text = "Allow this?"
		}
	case "item/fileChange/requestApproval":
		q.Text, q.About = "Change these files?", a.about(f.Params, a.files[p.ItemID])
		if a.files[p.ItemID] == "" {
			return false
		}
		always = "Yes, and do not ask about these files again in this run"
	case "mcpServer/elicitation/request":
		if len(p.Schema.Properties) > 0 || p.Mode == "url" {
			return false
		}
		one.server, always = true, ""
		q.Text, q.About = "Does the MCP server "+p.Server+" get a yes?", a.about(f.Params, p.Message)
	case "item/tool/requestUserInput":
		secret := slices.ContainsFunc(p.Questions, func(w wanted) bool { return w.Secret || w.ID == "" })
		if !a.on || secret || len(p.Questions) == 0 || len(p.Questions) > maxQuestions {
			return false
		}
		one.choices, one.answers = p.Questions, map[string]any{}
		return a.next(one)
	default:
		return false
	}
	if q.About == "" {
		return false
	}
	if p.Reason != "" {
		q.Text += " (" + p.Reason + ")"
	}
	q.Text = forSub(q.Text, sub)
	q.Choices = []thread.Choice{{Text: "Yes", Means: thread.Approve}}
	if always != "" {
		q.Choices = append(q.Choices, thread.Choice{Text: always, Means: thread.ApproveAlways})
	}
	q.Choices = append(q.Choices, thread.Choice{Text: "No", Means: thread.Deny})
	return a.put(one, q)
}

// about is what is asked for, with all else that a request has, but what only names or repeats something.
func (a *asks) about(params json.RawMessage, what string) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(params, &given) != nil {
		return what
	}
	for _, key := range []string{
		"threadId", "turnId", "itemId", "approvalId", "startedAtMs", "environmentId", "reason", "commandActions", "command", "message",
		"serverName", "mode", "requestedSchema", "proposedExecpolicyAmendment", "proposedNetworkPolicyAmendments", "availableDecisions",
	} {
		delete(given, key)
	}
	for key, usual := range map[string]string{"kind": "command", "cwd": a.dir} {
		var is string
		if json.Unmarshal(given[key], &is) == nil && is == usual {
			delete(given, key)
		}
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return jsonline.Asked(what, given)
}

// bare is a command without the shell that Codex wraps it into.
func bare(command string) string {
	for _, shell := range []string{"/bin/bash -lc '", "/bin/bash -c '", "/bin/zsh -lc '", "/bin/sh -c '", "bash -lc '"} {
		rest, ok := strings.CutPrefix(command, shell)
		if inner, closed := strings.CutSuffix(rest, "'"); ok && closed && !strings.Contains(inner, "'") {
			return inner
		}
	}
	return command
}

func forSub(text, sub string) string {
	if sub == "" {
		return text
	}
	return text + " Its sub-agent " + sub + " asks."
}

// next asks the next question of a request.
func (a *asks) next(one *asked) bool {
	n := len(one.answers)
	w := one.choices[n]
	q := thread.Question{ID: one.name, Kind: thread.QuestionChoice, Text: forSub(w.Question, one.sub)}
	if n > 0 {
		q.ID = fmt.Sprintf("%s/%d", one.name, n+1)
	}
	for _, o := range w.Options[:min(len(w.Options), maxQuestions)] {
		q.Choices = append(q.Choices, thread.Choice{Text: jsonline.Option(o.Label, o.More)})
	}
	if more := len(w.Options) - maxQuestions; more > 0 {
		q.Text += fmt.Sprintf(" (%d more options are not shown)", more)
	}
	q.Choices = append(q.Choices, thread.Choice{Text: "Something else, in your own words", Means: thread.OwnWords})
	return a.put(one, q)
}

// put asks a question of a request.
func (a *asks) put(one *asked, q thread.Question) bool {
	if !a.on || a.reads && q.Kind != thread.QuestionChoice || !a.run.Ask(one.call, q) {
		return false
	}
	a.open[q.ID] = one
	return true
}

// answer takes a person's answer, and returns the words that they say to a refusal. The result is written as soon as the
// request has all of its answers.
func (a *asks) answer(id string, choice int, text string) (words string, err error) {
	one := a.open[id]
	open := a.run.Open()
	at := slices.IndexFunc(open, func(q thread.Question) bool { return q.ID == id })
	if one == nil || at < 0 || a.run.Interrupted() {
		return "", thread.Kindf(thread.ErrRefused, "the question is not open any more")
	}
	means := thread.Deny
	if choice >= 0 && choice < len(open[at].Choices) {
		means = open[at].Choices[choice].Means
	}
	if means == thread.OwnWords && text == "" {
		return "", thread.Kindf(thread.ErrInvalid, "this answer needs your words")
	}
	if err := a.run.Answer(id, choice, text); err != nil {
		return "", err
	}
	delete(a.open, id)
	if len(one.choices) > 0 {
		a.tell(one, choice, text)
		return "", nil
	}
	says := map[thread.Meaning]string{thread.Approve: "accept", thread.ApproveAlways: "acceptForSession"}
	decision := cmp.Or(says[means], "decline")
	switch {
	case one.server && decision == "accept":
		a.respond(one, map[string]any{"action": decision, "content": map[string]any{}})
	case one.server:
		a.respond(one, map[string]any{"action": decision})
	default:
		a.respond(one, map[string]any{"decision": decision})
	}
	if decision != "decline" {
		return "", nil
	}
	return text, nil
}

// tell notes the answer to one of the questions of the model's, and asks the next one or responds.
func (a *asks) tell(one *asked, choice int, text string) {
	w := one.choices[len(one.answers)]
	said := []string{}
	switch {
	case text != "":
		said = append(said, text)
	case choice >= 0:
		said = append(said, w.Options[choice].Label)
	}
	if _, twice := one.answers[w.ID]; twice {
		w.ID = fmt.Sprintf("%s (%d)", w.ID, len(one.answers)+1)
	}
	one.answers[w.ID] = map[string]any{"answers": said}
	if len(one.answers) < len(one.choices) && a.next(one) {
		return
	}
	a.respond(one, map[string]any{"answers": one.answers})
}

func (a *asks) respond(one *asked, result map[string]any) {
	a.run.Write(map[string]any{"id": one.id, "result": result})
}

// resolved forgets a request that the app-server does not wait for any more.
func (a *asks) resolved(request json.RawMessage) {
	for _, id := range slices.Sorted(maps.Keys(a.open)) {
		if string(a.open[id].id) == string(request) {
			delete(a.open, id)
			a.run.Withdraw(id, "withdrawn")
		}
	}
}

// changes notes what a call changes, which is forgotten when it has ended.
func (a *asks) changes(call, files string, ended bool) {
	if ended {
		delete(a.files, call)
	} else if len(a.files) < maxFiles {
		a.files[call] = files
	}
}

// changes are the files that a call changes, and how, for a person who is asked.
func (i item) changes(files string) string {
	var how []map[string]any
	for _, c := range i.Changes {
		if c.Diff != "" || len(c.Kind) > 0 {
			how = append(how, map[string]any{"path": c.Path, "kind": c.Kind, "diff": c.Diff})
		}
	}
	if len(how) == 0 {
		return jsonline.Asked(files, nil)
	}
	return jsonline.Asked(files, map[string]json.RawMessage{"changes": jsonline.Encode(how)})
}
