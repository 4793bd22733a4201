package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/ground/rpc"
)

func raws(all ...string) (out []json.RawMessage) {
	for _, s := range all {
		out = append(out, json.RawMessage(s))
	}
	return out
}

func TestListsOfSeveralServers(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := Server{
		ID:        "a",
		Prompts:   raws(`{"name":"p.q","x":9007199254740993123}`, `{"name":"p_q"}`, `{"name":""}`, `7`, `null`),
		Resources: raws(`{"uri":"file:///x","name":"ax"}`, `{"name":"no uri"}`, `[]`),
		Templates: raws(`{"uriTemplate":"db://{t}","name":"at"}`),
	}
	b := Server{
		ID:        "b.c",
		Prompts:   raws(`{"name":"p_q"}`),
		Resources: raws(`{"uri":"file:///x","name":"bx","size":1.50}`, `{"uri":"file:///y"}`),
		Templates: raws(`{"uriTemplate":"db://{t}","name":"bt"}`),
	}
	shelf.set(own, a, b)
	agent := connect(t, g, own, `{}`)
	if got, want := names(t, agent.must("prompts/list", `{}`)), exposed("a", []string{"p.q", "p_q"})[0]; !strings.Contains(got, "a__p_q "+want+" b_c__p_q_") {
		t.Errorf("prompts: %s", got)
	}
	if got := names(t, agent.must("resources/list", `{}`)); got != "file:///x file:///y sb.c+file:///x" {
		t.Errorf("resources: %s", got)
	}
	if got := agent.must("resources/templates/list", `{}`); !strings.Contains(got, `"db://{t}"`) || !strings.Contains(got, `"sb.c+db://{t}"`) {
		t.Errorf("templates: %s", got)
	}
	for _, c := range []struct{ method, params, want string }{
		{"prompts/get", `{"name":"` + exposed("a", []string{"p.q", "p_q"})[0] + `","arguments":{"n":9007199254740993123}}`, `a prompts/get {"arguments":{"n":9007199254740993123},"name":"p.q"}`},
		{"resources/read", `{"uri":"file:///x"}`, `a resources/read {"uri":"file:///x"}`},
		{"resources/read", `{"uri":"sb.c+file:///x"}`, `b.c resources/read {"uri":"file:///x"}`},
		{"resources/read", `{"uri":"file:///y"}`, `b.c resources/read {"uri":"file:///y"}`},
		{"resources/read", `{"uri":"db://users"}`, `a resources/read {"uri":"db://users"}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a__p_q"},"argument":{"name":"x","value":"y"}}`, `a completion/complete {"argument":{"name":"x","value":"y"},"ref":{"name":"p_q","type":"ref/prompt"}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"sb.c+db://{t}"}}`, `b.c completion/complete {"ref":{"type":"ref/resource","uri":"db://{t}"}}`},
	} {
		agent.must(c.method, c.params)
		if seen := shelf.seen(); seen[len(seen)-1] != c.want {
			t.Errorf("%s %s arrived as %s", c.method, c.params, seen[len(seen)-1])
		}
	}
	n := len(shelf.seen())
	for _, c := range []struct{ method, params string }{
		{"prompts/get", `{"name":"nobody__has_it"}`}, {"completion/complete", `{"ref":{"name":"x"}}`}, {"completion/complete", `{"ref":7}`},
		{"tools/call", `[]`}, {"tools/call", `{"_meta":7}`}, {"no/method", `{}`}, {"resources/subscribe", `{"uri":"file:///x"}`},
	} {
		var e *rpc.Error
		if _, err := agent.Call(t.Context(), c.method, json.RawMessage(c.params)); !errors.As(err, &e) || e.Code == rpc.CodeInternal {
			t.Errorf("%s %s: %v", c.method, c.params, err)
		}
	}
	if len(shelf.seen()) != n {
		t.Errorf("servers were asked: %s", shelf.seen()[n:])
	}
}

func TestShownTool(t *testing.T) {
	in := `{"name":"x","description":"` + strings.Repeat("é", 2000) + `","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"n":9007199254740993123}}},"outputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`
	raw, ok := Definition(json.RawMessage(in), "s__x")
	if !ok {
		t.Fatal("not shown")
	}
	got := string(raw)
	for _, want := range []string{`"name":"s__x"`, strings.Repeat("é", 1024) + ` …"`, `"b":{"n":9007199254740993123}`, `"execution":{"taskSupport":"optional"}`, `"a":{"type":"string"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%.60s is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "outputSchema") || strings.Contains(got, "x-mcp-header") {
		t.Errorf("shown: %s", got)
	}
}

func TestChangedTellsOfRealChangesOnly(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	other := connect(t, g, "t2", `{}`)
	change := func(more ...Server) {
		shelf.set(own, append([]Server{echoServer()}, more...)...)
		g.Changed(own)
	}
	change(serverOf("b", "x"))
	change()
	change(serverOf("b", "x"))
	a.quiet("before a list was asked for")
	a.must("tools/list", `{}`)
	g.Changed(own)
	a.quiet("nothing has changed")
	change()
	if m := a.note(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("told %s", m.Method)
	}
	g.Changed(own)
	change()
	a.quiet("told already")
	change(serverOf("b", "x"))
	if m := a.note(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("told %s", m.Method)
	}
	s := echoServer()
	s.Templates = nil
	a.must("resources/list", `{}`)
	shelf.set(own, s, serverOf("b", "x"))
	g.Changed(own)
	if m := a.note(); m.Method != "notifications/resources/list_changed" {
		t.Errorf("told %s", m.Method)
	}
	a.quiet("the prompts were not asked for")
	other.quiet("another thread's servers changed")
	told, read := g.Followed(own)
	if told.IsZero() || read.IsZero() || time.Since(told) > wait || told.Before(read) {
		t.Errorf("told %v, read %v", told, read)
	}
	if told, read := g.Followed("t2"); !told.IsZero() || !read.IsZero() {
		t.Errorf("the other thread: told %v, read %v", told, read)
	}
}

// TestCurrent: an agent is behind from a change until it reads its tools, and is reminded as often as is asked for.
func TestCurrent(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	step := func(when string, current bool) {
		t.Helper()
		if g.Current(own) != current {
			t.Errorf("%s: current is %v", when, !current)
		}
	}
	step("before it has asked", true)
	a.must("tools/list", `{}`)
	step("as given", true)
	g.Remind(own)
	a.quiet("it is not behind")
	shelf.set(own, serverOf("b", "x"))
	step("before it is told", false)
	g.Changed(own)
	a.note()
	step("told", false)
	for range 2 {
		g.Remind(own)
		if m := a.note(); m.Method != "notifications/tools/list_changed" {
			t.Errorf("reminded of %s", m.Method)
		}
	}
	a.must("prompts/list", `{}`)
	step("it has read another list", false)
	a.must("tools/list", `{}`)
	step("it has read its tools", true)
	shelf.set(own)
	shelf.set(own, serverOf("b", "x"))
	step("switched to and fro", true)
	second := connect(t, g, own, `{}`)
	second.must("tools/list", `{}`)
	shelf.set(own)
	a.must("tools/list", `{}`)
	step("another connection of it is behind", false)
	_ = second.Close()
	for end := time.Now().Add(wait); !g.Current(own); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a connection that has ended is waited for")
		}
	}
}

// TestGiven: what an agent was given once counts as given, whatever becomes of it, for its connection.
func TestGiven(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	step := func(when, server, tool string, want bool) {
		t.Helper()
		if g.Given(own, server, tool) != want {
			t.Errorf("%s: %s of %s was given: %v", when, tool, server, !want)
		}
	}
	shelf.set(own, serverOf("b", "x"))
	step("before it has asked", "b", "", false)
	a.must("prompts/list", `{}`)
	step("it has read another list", "b", "", false)
	a.must("tools/list", `{}`)
	step("as given", "b", "x", true)
	step("as given", "b", "y", false)
	step("as given", "x", "", false)
	shelf.set(own)
	a.must("tools/list", `{}`)
	step("switched off", "b", "", true)
	step("switched off", "b", "x", true)
	if g.Given("t2", "b", "") {
		t.Error("another thread was given it")
	}
	_ = a.Close()
	for end := time.Now().Add(wait); g.Given(own, "b", "x"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a connection that has ended counts")
		}
	}
}

// TestNotToldBeforeTheHandshake: an agent that has not finished its handshake takes no notifications.
func TestNotToldBeforeTheHandshake(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, "")
	a.must("initialize", `{"protocolVersion":"1999-01-01","capabilities":{}}`)
	a.must("tools/list", `{}`)
	shelf.set(own)
	g.Changed(own)
	a.quiet("before initialized")
	if told, _ := g.Followed(own); !told.IsZero() {
		t.Error("it counts as told")
	}
}

// TestChangeWhileAListIsMade: an agent that is given an old list hears that it is old.
func TestChangeWhileAListIsMade(t *testing.T) {
	_, shelf, _ := newRig(t)
	slow := &slowShelf{shelf: shelf, made: make(chan struct{}), release: make(chan struct{})}
	g := New(Config{Servers: slow})
	t.Cleanup(func() { _ = g.Close() })
	a := connect(t, g, own, `{}`)
	slow.hold.Store(true)
	list := make(chan string, 1)
	go func() { list <- a.must("tools/list", `{}`) }()
	receive(t, slow.made, "the list")
	shelf.set(own)
	g.Changed(own)
	close(slow.release)
	if got := names(t, receive(t, list, "the list")); !strings.Contains(got, "fake__echo") {
		t.Fatalf("the list is new: %s", got)
	}
	if m := a.note(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("told %s", m.Method)
	}
}

// TestListenersHearWhatTheyMissed: a stream that is opened after a change begins with it.
func TestListenersHearWhatTheyMissed(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, "")
	a.must("tools/list", stateless(`{}`, ""))
	shelf.set(own, echoServer(), serverOf("b", "x"))
	g.Changed(own)
	a.quiet("nobody listens")
	if told, _ := g.Followed(own); !told.IsZero() {
		t.Error("it counts as told")
	}
	for range 2 { // two streams at once
		go func() {
			_, _ = a.Call(t.Context(), "subscriptions/listen", json.RawMessage(stateless(`{}`, `"notifications":{"toolsListChanged":true,"promptsListChanged":false,"x":true}`)))
		}()
		m := a.note()
		if m.Method != "notifications/subscriptions/acknowledged" || !strings.Contains(string(m.Params), `"notifications":{"toolsListChanged":true}`) {
			t.Fatalf("first %s %s", m.Method, m.Params)
		}
		subscription := string(m.Params)[:strings.Index(string(m.Params), `},"notif`)]
		if m := a.note(); m.Method != "notifications/tools/list_changed" || !strings.HasPrefix(string(m.Params), subscription) {
			t.Errorf("then %s %s, not of %s", m.Method, m.Params, subscription)
		}
	}
	a.must("prompts/list", stateless(`{}`, ""))
	shelf.set(own)
	g.Changed(own)
	one, two := a.note(), a.note()
	if one.Method != "notifications/tools/list_changed" || two.Method != one.Method || string(one.Params) == string(two.Params) {
		t.Errorf("told %s %s and %s %s", one.Method, one.Params, two.Method, two.Params)
	}
	a.quiet("each stream is told once, and of what it wants")
}

func TestHundredThousandTools(t *testing.T) {
	g, shelf, _ := newRig(t)
	s := Server{ID: "many"}
	for i := range 100_000 {
		name := fmt.Sprintf("tool_%06d", i)
		s.Tools = append(s.Tools, Tool{Name: name, Raw: json.RawMessage(`{"name":"` + name + `","inputSchema":{}}`)})
	}
	shelf.set(own, s)
	a := connect(t, g, own, `{}`)
	list := a.must("tools/list", `{}`)
	if n := strings.Count(list, `"many__tool_`); n != 100_000 {
		t.Errorf("%d tools", n)
	}
	if text, isError := a.tool("many__tool_099999", `{}`); isError {
		t.Error(text)
	}
	g.Changed(own)
	a.quiet("nothing has changed")
}
