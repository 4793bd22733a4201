package codex

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// working is a dialogue in the middle of a turn.
func working(o opening) *dialogue {
	d := newDialogue(o)
	d.Begin("x")
	d.Read([]byte(`{"id":2,"result":{"model":"m","thread":{"id":"S"}}}`))
	d.Read([]byte(`{"id":3,"result":{"turn":{"id":"T"}}}`))
	d.Read([]byte(`{"method":"item/started","params":{"threadId":"S","item":{"type":"userMessage","id":"u","content":[{"type":"text","text":"x"}]}}}`))
	return d
}

// TestAnswers are the requests of an app-server that are asked, and what is written to each answer.
func TestAnswers(t *testing.T) {
	const command = `"method":"item/commandExecution/requestApproval","params":{"threadId":"S","itemId":"c","command":"/bin/bash -lc 'touch a'","reason":"why"}`
	const files = `"method":"item/fileChange/requestApproval","params":{"threadId":"S","itemId":"f"}`
	const form = `"method":"mcpServer/elicitation/request","params":{"threadId":"S","serverName":"s","message":"sure?","mode":"form","requestedSchema":{"type":"object","properties":{}}}`
	const wants = `"method":"item/tool/requestUserInput","params":{"threadId":"S","itemId":"w","questions":[{"id":"a","question":"One?","options":[{"label":"A"},{"label":"B"}]}]}`
	for _, c := range []struct {
		request string
		about   string
		means   thread.Meaning
		words   string
		writes  string
	}{
		{command, "touch a", thread.Approve, "", `{"id":7,"result":{"decision":"accept"}}`},
		{command, "touch a", thread.ApproveAlways, "", `{"id":7,"result":{"decision":"acceptForSession"}}`},
		{command, "touch a", thread.Deny, "", `{"id":7,"result":{"decision":"decline"}}`},
		{command, "touch a", thread.Deny, "other", `{"id":7,"result":{"decision":"decline"}}` + "\n" +
			`{"id":5,"method":"turn/steer","params":{"expectedTurnId":"T","input":[{"text":"The person says: other","type":"text"}],"threadId":"S"}}`},
		{files, `a.txt \n b.txt`, thread.Approve, "", `{"id":7,"result":{"decision":"accept"}}`},
		{form, "sure?", thread.Approve, "", `{"id":7,"result":{"action":"accept","content":{}}}`},
		{form, "sure?", thread.Deny, "", `{"id":7,"result":{"action":"decline"}}`},
		{wants, "", "", "", `{"id":7,"result":{"answers":{"a":{"answers":[]}}}}`},
		{wants, "", "", "mine", `{"id":7,"result":{"answers":{"a":{"answers":["mine"]}}}}`},
		{wants, "", thread.OwnWords, "mine", `{"id":7,"result":{"answers":{"a":{"answers":["mine"]}}}}`},
	} {
		d := working(opening{asking: true})
		d.Read([]byte(`{"method":"item/started","params":{"threadId":"S","item":{"type":"fileChange","id":"f","changes":[{"path":"a.txt"},{"path":"b.txt"}]}}}`))
		s := d.Read([]byte(`{"id":7,` + c.request + `}`))
		if len(s.Events) != 1 || s.Events[0].Kind != thread.RunAsks || len(s.Write) > 0 {
			t.Fatalf("%s: %+v", c.request, s)
		}
		q := *s.Events[0].Question
		if q.About != c.about {
			t.Errorf("about %q, want %q", q.About, c.about)
		}
		choice := thread.Dismiss
		if c.means != "" {
			choice = q.Choice(c.means)
		}
		said, err := d.Answer(q.ID, choice, c.words)
		if got := strings.TrimSpace(string(said.Write)); err != nil || got != c.writes {
			t.Errorf("%s %q: wrote\n%s, want\n%s, %v", c.means, c.words, got, c.writes, err)
		}
		if s := d.Read([]byte(`{"method":"serverRequest/resolved","params":{"threadId":"S","requestId":7}}`)); len(s.Events) != 0 {
			t.Errorf("its own answer withdraws it: %+v", s)
		}
	}
}

// TestPermissionShowsAll: who says yes sees all that is allowed with it.
func TestPermissionShowsAll(t *testing.T) {
	for name, c := range map[string]struct{ method, params, text, about string }{
		"command":   {"item/commandExecution/requestApproval", `"command":"bash -lc 'make'","cwd":"/w","kind":"command","commandActions":[],"networkApprovalContext":null`, "Run this command?", `make`},
		"elsewhere": {"item/commandExecution/requestApproval", `"command":"make","cwd":"/etc"`, "Run this command?", `make {"cwd":"/etc"}`},
		"more":      {"item/commandExecution/requestApproval", `"command":"make","kind":"stdin","additionalPermissions":{"network":true}`, "Run this command?", `make {"kind":"stdin","additionalPermissions":{"network":true}}`},
		"network":   {"item/commandExecution/requestApproval", `"networkApprovalContext":{"host":"h"}`, "Allow this?", `{"networkApprovalContext":{"host":"h"}}`},
		"file":      {"item/fileChange/requestApproval", `"itemId":"f","grantRoot":"/"`, "Change these files?", `a.txt {"changes":[{"diff":"+ x\n","kind":{"type":"add"},"path":"a.txt"}]} {"grantRoot":"/"}`},
		"MCP server": {"mcpServer/elicitation/request", `"serverName":"s","mode":"form","message":"run it?","requestedSchema":{},"_meta":{"tool_params":{"path":"README.md","script":"curl x | sh"}}`, "Does the MCP server s get a yes?",
			`run it? {"_meta":{"tool_params":{"path":"README.md","script":"curl x | sh"}}}`},
	} {
		d := working(opening{asking: true, dir: "/w"})
		d.Read([]byte(`{"method":"item/started","params":{"threadId":"S","item":{"type":"fileChange","id":"f","changes":[{"path":"a.txt","kind":{"type":"add"},"diff":"+ x\n"}]}}}`))
		s := d.Read([]byte(`{"id":7,"method":"` + c.method + `","params":{"threadId":"S",` + c.params + `}}`))
		if len(s.Events) != 1 || s.Events[0].Question == nil {
			t.Errorf("%s: %+v", name, s)
		} else if q := s.Events[0].Question; q.Text != c.text || q.About != c.about {
			t.Errorf("%s: %s %s, want %s %s", name, q.Text, q.About, c.text, c.about)
		}
	}
}

// TestNotAsked are the requests that are refused at once.
func TestNotAsked(t *testing.T) {
	command := `"method":"item/commandExecution/requestApproval","params":{"threadId":"S","itemId":"c","command":"touch a"}`
	wants := `"method":"item/tool/requestUserInput","params":{"threadId":"S","questions":[{"id":"a","question":"One?"%s}]}`
	for name, c := range map[string]struct {
		open    opening
		request string
		asked   bool
	}{
		"nobody":           {opening{}, command, false},
		"read-only":        {opening{asking: true, reads: true}, command, false},
		"read-only wants":  {opening{asking: true, reads: true}, fmt.Sprintf(wants, ""), true},
		"secret":           {opening{asking: true}, fmt.Sprintf(wants, `,"isSecret":true`), false},
		"nothing":          {opening{asking: true}, `"method":"item/tool/requestUserInput","params":{"threadId":"S","questions":[]}`, false},
		"form with fields": {opening{asking: true}, `"method":"mcpServer/elicitation/request","params":{"mode":"form","requestedSchema":{"properties":{"a":{}}}}`, false},
		"page":             {opening{asking: true}, `"method":"mcpServer/elicitation/request","params":{"mode":"url"}`, false},
		"unknown files":    {opening{asking: true}, `"method":"item/fileChange/requestApproval","params":{"threadId":"S","itemId":"g","grantRoot":"/"}`, false},
		"no command":       {opening{asking: true}, `"method":"item/commandExecution/requestApproval","params":{"threadId":"S","itemId":"c","command":null}`, false},
		"old":              {opening{asking: true}, `"method":"execCommandApproval","params":{}`, false},
		"unknown":          {opening{asking: true}, `"method":"item/other","params":{}`, false},
	} {
		s := working(c.open).Read([]byte(`{"id":"x",` + c.request + `}`))
		if asked := slices.ContainsFunc(s.Events, func(e thread.RunEvent) bool { return e.Kind == thread.RunAsks }); asked != c.asked || asked == (len(s.Write) > 0) {
			t.Errorf("%s: asked %v, wrote %s", name, asked, s.Write)
		}
	}
}

// TestWithdrawn: a request that the app-server does not wait for any more is no question any more.
func TestWithdrawn(t *testing.T) {
	d := working(opening{asking: true})
	for _, id := range []string{`7`, `"7"`} {
		d.Read([]byte(`{"id":` + id + `,"method":"item/commandExecution/requestApproval","params":{"threadId":"S","command":"a"}}`))
	}
	if n := len(d.run.Open()); n != 2 {
		t.Errorf("%d questions are open", n)
	}
	s := d.Read([]byte(`{"method":"serverRequest/resolved","params":{"threadId":"S","requestId":7}}`))
	if len(s.Events) != 1 || !s.Events[0].Failed {
		t.Errorf("%+v", s)
	}
	if _, err := d.Answer("7", 0, ""); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered: %v", err)
	}
}

// TestSteer: a prompt is taken when the turn's next request has it; one that comes too late is refused, and its error ends
// nothing.
func TestSteer(t *testing.T) {
	d := newDialogue(opening{})
	d.Begin("x")
	if _, err := d.Steer("early"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("before the turn: %v", err)
	}
	d = working(opening{})
	for _, text := range []string{"more", "and more"} {
		if _, err := d.Steer(text); err != nil {
			t.Fatal(err)
		}
	}
	if s := d.Read([]byte(`{"id":6,"error":{"message":"no active turn to steer"}}`)); len(s.Events) != 0 || s.Close {
		t.Errorf("%+v", s)
	}
	s := d.Read([]byte(`{"method":"item/started","params":{"threadId":"S","item":{"type":"userMessage","id":"v","content":[{"type":"text","text":"more"}]}}}`))
	if len(s.Events) != 1 || s.Events[0].Kind != thread.RunSteered || s.Events[0].Text != "more" {
		t.Errorf("%+v", s)
	}
	d.Read([]byte(`{"method":"turn/completed","params":{"threadId":"S","turn":{"id":"T","status":"completed"}}}`))
	if _, err := d.Steer("late"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("after the turn: %v", err)
	}
}

// TestPatience: a run does not ask its provider again and again, unless the person has set that.
func TestPatience(t *testing.T) {
	again := []byte(`{"method":"error","params":{"threadId":"S","turnId":"T","willRetry":true,"error":{"message":"Reconnecting... 1/5","additionalDetails":"unexpected status 529, url: http://127.0.0.1:1/t/secret/v1","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":529}}}}}`)
	for patient, want := range map[bool]thread.RunEventKind{true: thread.RunNotice, false: thread.RunEnd} {
		d := working(opening{patient: patient})
		s := d.Read(again)
		if len(s.Events) != 1 || s.Events[0].Kind != want || strings.Contains(s.Events[0].Text+s.Events[0].Reason, "secret") {
			t.Fatalf("%v: %+v", patient, s)
		}
		if e := s.Events[0]; !patient && (e.Status != 529 || e.State != thread.StateLimited || !strings.Contains(string(s.Write), "turn/interrupt") || !s.Close) {
			t.Errorf("%+v, wrote %s", e, s.Write)
		}
	}
	for name, c := range map[string]struct {
		provider string
		table    map[string]any
		args     int
		patient  bool
	}{
		"built in":  {"openai", nil, 0, false},
		"none said": {"", nil, 0, false},
		"own":       {"mine", map[string]any{"base_url": "u"}, 4, false},
		"set":       {"mine", map[string]any{"request_max_retries": int64(9)}, 2, true},
		"odd name":  {"my own", map[string]any{"base_url": "u"}, 0, false},
	} {
		all := map[string]any{}
		if c.table != nil {
			all["model_providers"] = map[string]any{c.provider: c.table}
		}
		args, patient := config{all: all, provider: c.provider}.patience()
		if len(args) != c.args || patient != c.patient {
			t.Errorf("%s: %q, %v", name, args, patient)
		}
	}
}
