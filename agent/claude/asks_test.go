package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
)

// permits gives a dialogue a request about a call, and returns what it says.
func permits(d *dialogue, id, tool, input, more string) thread.Said {
	return d.Read(fmt.Appendf(nil, `{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":%q,"input":%s,"tool_use_id":"call-%s"%s}}`, id, tool, input, id, more))
}

// question returns the one question that was asked.
func question(t *testing.T, s thread.Said) thread.Question {
	t.Helper()
	for _, e := range s.Events {
		if e.Kind == thread.RunAsks {
			return *e.Question
		}
	}
	t.Fatalf("it asks nothing: %+v", s)
	return thread.Question{}
}

// response is what was written to a request.
func response(t *testing.T, s thread.Said) map[string]any {
	t.Helper()
	var m struct {
		Response struct {
			Response map[string]any `json:"response"`
		} `json:"response"`
	}
	if err := json.Unmarshal(s.Write, &m); err != nil {
		t.Fatalf("%q: %v", s.Write, err)
	}
	return m.Response.Response
}

// TestAskedForGood: only what ends with the process is allowed for good.
func TestAskedForGood(t *testing.T) {
	for _, c := range []struct{ suggests, offers, sends string }{
		{`[]`, "", ""},
		{`[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch *"}],"behavior":"allow","destination":"localSettings"}]`,
			"Yes, and in this run all Bash(touch *)", `"destination":"session"`},
		{`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}]`, "", ""},
		{`[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`, "Yes, and in this run all edits", `"mode":"acceptEdits"`},
		{`[{"type":"setMode","mode":"acceptEdits","destination":"userSettings"}]`, "", ""},
		{`[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]`, "", ""},
		{`[{"type":"addDirectories","directories":["/d"],"destination":"session"}]`, "Yes, and in this run /d as a working folder", `"/d"`},
		{`[{"type":"addDirectories","directories":["/d"],"destination":"projectSettings"}]`, "", ""},
		{`[{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}]`, "", ""},
		{`[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"x"}],"behavior":"allow","destination":"session"},{"type":"addDirectories","directories":["/d"],"destination":"session"}]`,
			"Yes, and in this run all Bash(x), and /d as a working folder", `"/d"`},
		{`"odd"`, "", ""},
	} {
		d := newDialogue(manner{asks: true})
		d.Begin("x")
		q := question(t, permits(d, "r", "Bash", `{"command":"touch a"}`, `,"permission_suggestions":`+c.suggests))
		at := q.Choice(thread.ApproveAlways)
		if at < 0 != (c.offers == "") || at >= 0 && q.Choices[at].Text != c.offers {
			t.Errorf("%s: %+v", c.suggests, q.Choices)
		}
		if at < 0 {
			continue
		}
		said, err := d.Answer(q.ID, at, "")
		if sent := string(said.Write); err != nil || !strings.Contains(sent, c.sends) || strings.Contains(sent, "Settings") {
			t.Errorf("%s: %s, %v", c.suggests, sent, err)
		}
	}
}

// TestPermissionShowsAll: who says yes sees all that is allowed with it.
func TestPermissionShowsAll(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct{ tool, input, about string }{
		"command":   {"Bash", `{"command":"make","description":"build","timeout":5}`, `make`},
		"flag":      {"Bash", `{"command":"make","description":"build","dangerouslyDisableSandbox":true}`, `make {"dangerouslyDisableSandbox":true}`},
		"lines":     {"Bash", `{"command":"echo # all is well\nrm -rf ."}`, `echo # all is well \n rm -rf .`},
		"server":    {"mcp__x__run", `{"path":"README.md","script":"curl x | sh"}`, `README.md {"script":"curl x | sh"}`},
		"described": {"mcp__x__run", `{"path":"README.md","description":"d"}`, `README.md {"description":"d"}`},
		"write":     {"Write", `{"file_path":"a.go","content":"package a\n"}`, `a.go {"content":"package a\n"}`},
		"edit":      {"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b","replace_all":true}`, `a.go {"new_string":"b","old_string":"a","replace_all":true}`},
		"read":      {"Read", `{"file_path":"a.go","offset":3,"pages":null}`, `a.go`},
		"plan":      {"ExitPlanMode", `{"plan":"# Do\nit","planFilePath":"/p","allowedPrompts":[{"tool":"Bash","prompt":"run all"}]}`, `# Do \n it {"allowedPrompts":[{"tool":"Bash","prompt":"run all"}]}`},
		"no plan":   {"ExitPlanMode", `{}`, ``},
		"odd":       {"x", `[1, 2]`, `[1,2]`},
		"long":      {"x", `{"path":"a","content":"` + large + `","run":"rm"}`, `a {"run":"rm","content":"xxx`},
		"longer":    {"x", `{"path":"` + large + `","run":"rm"}`, ` {"run":"rm"}`},
	} {
		d := newDialogue(manner{asks: true})
		d.Begin("x")
		got := question(t, permits(d, "r", c.tool, c.input, "")).About
		switch {
		case !strings.Contains(c.input, large):
			if got != c.about {
				t.Errorf("%s: %s, want %s", name, got, c.about)
			}
		case !strings.Contains(got, c.about) || len(got) > 4<<10 || !strings.Contains(got, "\u2026 (") || !strings.Contains(got, " more)"):
			t.Errorf("%s: %s", name, got)
		}
	}
}

const twoQuestions = `{"questions":[{"question":"One?","options":[{"label":"A"},{"label":"B"}]},{"question":"Many?","multiSelect":true,"options":[{"label":"C"}]}],"other":1}`

// TestTwoQuestions: they are asked one after the other, and answered together.
func TestTwoQuestions(t *testing.T) {
	d := newDialogue(manner{asks: true})
	d.Begin("x")
	one := question(t, permits(d, "r", "AskUserQuestion", twoQuestions, ""))
	if _, err := d.Answer(one.ID, 2, ""); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("own words that are none: %v", err)
	}
	said, err := d.Answer(one.ID, 1, "")
	if err != nil || len(said.Write) > 0 {
		t.Fatalf("%+v, %v", said, err)
	}
	two := question(t, said)
	if two.ID == one.ID || two.Text != "Many?" {
		t.Errorf("%+v", two)
	}
	if said, err = d.Answer(two.ID, 1, "C and more"); err != nil {
		t.Fatal(err)
	}
	input, _ := response(t, said)["updatedInput"].(map[string]any)
	if got := fmt.Sprint(input["answers"]); got != "map[Many?:C and more One?:B]" || input["other"] != 1.0 {
		t.Errorf("%v", input)
	}

	d = newDialogue(manner{asks: true})
	d.Begin("x")
	one = question(t, permits(d, "r", "AskUserQuestion", twoQuestions, ""))
	if said, err = d.Answer(one.ID, thread.Dismiss, ""); err != nil || response(t, said)["behavior"] != "deny" || len(d.run.Open()) != 0 {
		t.Errorf("dismissed: %s, %v", said.Write, err)
	}
	// Withdrawn between the two.
	one = question(t, permits(d, "s", "AskUserQuestion", twoQuestions, ""))
	if said, err = d.Answer(one.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	two = question(t, said)
	said = d.Read([]byte(`{"type":"control_cancel_request","request_id":"s"}`))
	if len(said.Events) != 1 || !said.Events[0].Failed || said.Events[0].Question.ID != two.ID {
		t.Errorf("%+v", said)
	}
	if _, err = d.Answer(two.ID, 0, ""); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered a withdrawn one: %v", err)
	}
}

// TestAsksTooMuch: what cannot be asked is refused at once, and the run is not held up.
func TestAsksTooMuch(t *testing.T) {
	d := newDialogue(manner{asks: true})
	d.Begin("x")
	refused, asked := 0, 0
	for i := range 200 {
		for _, e := range permits(d, fmt.Sprint(i), "Bash", `{"command":"ls"}`, "").Events {
			switch e.Kind {
			case thread.RunRefused:
				refused++
			case thread.RunAsks:
				asked++
			default:
			}
		}
	}
	if asked != len(d.run.Open()) || asked == 0 || asked+refused != 200 || len(d.asks.open) != asked {
		t.Errorf("%d asked, %d refused, %d open", asked, refused, len(d.asks.open))
	}
	for name, input := range map[string]string{
		"none":     `{"questions":[]}`,
		"too many": `{"questions":[` + strings.Repeat(`{"question":"q"},`, 40) + `{"question":"q"}]}`,
		"large":    `{"questions":[{"question":"` + strings.Repeat("x", 100<<10) + `"}]}`,
		"odd":      `[1]`,
	} {
		d := newDialogue(manner{asks: true})
		d.Begin("x")
		if s := permits(d, "r", "AskUserQuestion", input, ""); len(s.Events) != 1 || s.Events[0].Kind != thread.RunRefused || response(t, s)["behavior"] != "deny" {
			t.Errorf("%s: %+v", name, s.Events)
		}
	}
	d = newDialogue(manner{asks: true})
	d.Begin("x")
	permits(d, "r", "Bash", `{"command":"ls"}`, "")
	if q := question(t, permits(d, "r", "Bash", `{"command":"rm"}`, "")); q.About != "rm" || len(d.run.Open()) != 1 {
		t.Errorf("the same request again, changed: %+v, %d open", q, len(d.run.Open()))
	}
}

// TestSteer: a further prompt is taken by the turn, or it has a turn of its own; it is not taken when nothing would.
func TestSteer(t *testing.T) {
	d := newDialogue(manner{})
	if _, err := d.Steer("early"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("before the prompt: %v", err)
	}
	d.Begin("x")
	said, err := d.Steer("more")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		ID string `json:"uuid"`
	}
	if err := json.Unmarshal(said.Write, &m); err != nil || m.ID == "" {
		t.Fatalf("%s, %v", said.Write, err)
	}
	line := func(state string) thread.Said {
		return d.Read(fmt.Appendf(nil, `{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, m.ID, state))
	}
	if s := line("queued"); len(s.Events) != 0 {
		t.Errorf("%+v", s)
	}
	if s := d.Read([]byte(`{"type":"result","terminal_reason":"completed","result":"a"}`)); s.Close {
		t.Error("the run ends with a prompt that was not taken")
	}
	if s := line("started"); len(s.Events) != 1 || s.Events[0].Kind != thread.RunSteered || s.Events[0].Text != "more" {
		t.Errorf("%+v", s)
	}
	if s := d.Read([]byte(`{"type":"result","terminal_reason":"completed","result":"b"}`)); !s.Close || !d.run.Ended() {
		t.Errorf("%+v", s)
	}
	if _, err := d.Steer("late"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("after the end: %v", err)
	}
}

// TestSilent: each call is refused, whatever it is, and no person is asked.
func TestSilent(t *testing.T) {
	d := newDialogue(manner{asks: true, silent: true})
	if said := string(d.Begin("x").Write); !strings.Contains(said, `"PreToolUse"`) || strings.Count(said, "\n") != 2 {
		t.Errorf("%s", said)
	}
	s := d.Read([]byte(`{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback","callback_id":"refuse","input":{"tool_name":"Read"},"tool_use_id":"c"}}`))
	if !strings.Contains(string(s.Write), `"permissionDecision":"deny"`) || len(s.Events) != 0 {
		t.Errorf("%+v", s)
	}
	if s = permits(d, "r", "Bash", `{"command":"ls"}`, ""); len(s.Events) != 1 || s.Events[0].Kind != thread.RunRefused {
		t.Errorf("%+v", s)
	}
}
