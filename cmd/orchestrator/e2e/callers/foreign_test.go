package callers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// odd writes requests that mix the fields of all operations, in all spellings, with values that are valid somewhere.
type odd struct {
	*rand.Rand
	values []string
}

func (o odd) pick(of ...string) string { return of[o.IntN(len(of))] }

// value is a JSON value.
func (o odd) value() string {
	switch o.IntN(8) {
	case 0:
		return o.pick("1", "0", "-1", "1e9", "true", "null", `""`, "[]", "{}", `"1"`, `"base"`, `"now"`)
	case 1:
		return `{` + o.field() + `}`
	case 2:
		return `[` + o.value() + `]`
	default:
		b, _ := json.Marshal(o.pick(o.values...)) // a string can be encoded
		return string(b)
	}
}

func (o odd) field() string {
	name := o.pick("thread", "thread", "thread", "token", "into", "at", "id", "op", "text", "server", "tool", "act", "hash", "from",
		"to", "page", "part", "query", "limit", "name", "on", "file", "ttl", "add", "remove", "label", "agent", "cols", "open")
	switch o.IntN(8) {
	case 0:
		name = strings.ToUpper(name)
	case 1:
		name = strings.ToUpper(name[:1]) + name[1:]
	case 2:
		name = fmt.Sprintf(`\u%04x%s`, name[0], name[1:])
	default:
	}
	return `"` + name + `":` + o.value()
}

// body is one request.
func (o odd) body() string {
	if o.IntN(3) == 0 { // as many operations have it
		return fmt.Sprintf(`{%q:%q}`, o.pick("thread", "thread", "thread", "token", "id"), o.pick(o.values...))
	}
	var fields []string
	for range 1 + o.IntN(4) {
		fields = append(fields, o.field())
	}
	if o.IntN(4) == 0 {
		fields = append(fields, fields[0])
	}
	return `{` + strings.Join(fields, ",") + `}` + o.pick("", "", "", "", "\n", ` {}`, `{"thread":"x"}`, `]`)
}

// TestForeignFields: whatever an agent without grants adds to its requests, it gets no answer about another thread; and
// the person and an agent with the grant to read get theirs, or are told which field is too much.
func TestForeignFields(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are told apart by descent on Linux only; run it there")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	bare, reader := r.AgentShell("bare"), r.AgentShell("reader")
	r.Ok("grants", reader.Name, "--add", "read")
	const canary = "canary-7f3a91"
	victim := r.Status(r.Ok("new", "-a", "demo", "victim"))
	r.Ok("send", victim.Name, "say "+canary)
	prompt := e2e.Get[[]thread.Prompt](r, "prompts", victim.Name)[0]
	token := r.Ok("stage", "--label", canary)
	own := r.Status(bare.Name)
	var ops, often []string
	for _, row := range grant.Table() {
		if row.Local {
			continue
		}
		ops, often = append(ops, row.Op), append(often, row.Op)
		if row.Own != row.Others { // here it counts whose thread it is
			often = append(often, row.Op, row.Op, row.Op, row.Op)
		}
	}

	o := odd{rand.New(rand.NewPCG(21, 4)), []string{
		string(victim.ID), victim.Name, victim.Name[:4], string(own.ID), own.Name, string(prompt.ID), token[:8], "max:0000", "x", "turn", "status",
	}}
	var list []e2e.APICall
	for range 2000 {
		list = append(list, e2e.APICall{Op: o.pick(often...), Body: o.body()})
	}
	// What is known to have worked once, and one request in full of every operation.
	for _, op := range ops {
		list = append(list, e2e.APICall{Op: op, Body: `{"thread":"` + victim.Name + `","token":"x"}`}, e2e.APICall{Op: op, Body: `{"thread":"` + own.Name + `","Thread":"` + victim.Name + `"}`})
	}
	socket := r.Socket()
	answered := 0
	for i, got := range bare.Call("env", e2e.Calls{Socket: socket, List: list}) {
		said := got.Answer + got.Message
		if got.Status < 300 {
			answered++
			if strings.Contains(said, string(victim.ID)) || strings.Contains(said, victim.Name) {
				t.Errorf("%+v: %+v", list[i], got)
			}
		}
		if strings.Contains(said, canary) || got.Status == 0 || got.Status >= 500 && got.Status != http.StatusNotImplemented {
			t.Errorf("%+v: %+v", list[i], got)
		}
	}
	if t.Logf("%d of %d odd requests were answered", answered, len(list)); answered < 10 {
		t.Error("the requests are too odd to tell anything")
	}

	reads := map[string]string{ // an operation that reads one thread, and what else it must be asked
		"status": ``, "why": ``, "grants": ``, "timeline": `,"page":{"Limit":5}`, "turn": `,"at":"1"`, "diff": `,"from":"base","to":"now"`,
		"context": ``, "prompts": `,"open":false`, "prompt": `,"id":"` + string(prompt.ID) + `"`, "mcp": ``, "mcp-why": `,"text":"x"`, "speech": ``,
	}
	list = nil
	var refused []e2e.APICall
	for _, op := range ops {
		more, ok := reads[op]
		if !ok {
			continue
		}
		whole := `{"thread":"` + victim.Name + `"` + more
		list = append(list, e2e.APICall{Op: op, Body: whole + `}`}, e2e.APICall{Op: op, Body: `{"thread":"` + string(victim.ID) + `"` + more + `}`})
		for _, extra := range []string{"token", "Thread", "into", "thread", "x"} {
			refused = append(refused, e2e.APICall{Op: op, Body: whole + `,"` + extra + `":"` + own.Name + `"}`})
		}
	}
	if len(list) != 2*len(reads) {
		t.Fatalf("%d of %d operations are in the table", len(list)/2, len(reads))
	}
	for name, call := range map[string]func(e2e.Calls) []e2e.Called{
		"the person": e2e.Calls.Make,
		"a reader":   func(c e2e.Calls) []e2e.Called { return reader.Call("env", c) },
	} {
		for i, got := range call(e2e.Calls{Socket: socket, List: list}) {
			if got.Status != http.StatusOK {
				t.Errorf("%s: %+v: %+v", name, list[i], got)
			}
			tells := []string{"timeline", "turn", "prompts", "prompt"}
			if slices.Contains(tells, list[i].Op) && !strings.Contains(got.Answer, canary) ||
				list[i].Op == "status" && !strings.Contains(got.Answer, victim.Name) {
				t.Errorf("%s is not told about the thread: %+v: %+v", name, list[i], got)
			}
		}
		for i, got := range call(e2e.Calls{Socket: socket, List: refused}) {
			extra := refused[i].Body[strings.LastIndex(refused[i].Body, `,"`)+1 : strings.LastIndex(refused[i].Body, `:`)]
			if got.Status != http.StatusBadRequest || !strings.Contains(got.Message, extra) {
				t.Errorf("%s: %+v is not refused with %s named: %+v", name, refused[i], extra, got)
			}
		}
	}
}
