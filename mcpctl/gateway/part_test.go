package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/thread"
)

// tasks is a plan's task in which some threads take part.
type tasks struct {
	mu    sync.Mutex
	once  map[thread.ID]thread.Once
	data  string
	calls []string
}

func (w *tasks) Runs(id thread.ID) thread.Once {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.once[id]
}

func (w *tasks) said(format string, args ...any) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	w.calls = append(w.calls, text)
	return text
}

func (w *tasks) Deliverable(_ context.Context, id thread.ID, agent string, version int) (string, io.Reader, error) {
	if agent == "peer" {
		return "", nil, errors.New("peer is none of those that you read from")
	}
	return w.said("%s of %s, version %d", agent, id, version), strings.NewReader(w.data), nil
}

func (w *tasks) HandOver(_ context.Context, id thread.ID, h HandOver) (string, error) {
	return w.said("%s puts %s %q %q", id, h.Data, h.Summary, h.Files), nil
}

func (w *tasks) Spawn(_ context.Context, id thread.ID, s Spawn) (string, error) {
	return w.said("%s spawns %+v", id, s), nil
}

func (w *tasks) Status(_ context.Context, id thread.ID, run string) (string, error) {
	return w.said("%s asks %q", id, run), nil
}

const planned, spawning, plain2 = thread.ID("t2"), thread.ID("t3"), thread.ID("t4")

func newTasks() *tasks {
	part := thread.Part{Task: "task-001", Agent: "dev", Round: 1}
	return &tasks{once: map[thread.ID]thread.Once{
		planned:  {On: true, Part: part},
		spawning: {On: true, Part: part, Spawn: thread.Spawn{Of: part, Runs: 2, Depth: 1}},
		plain2:   {On: true},
	}}
}

// TestListsOfOthersStay: the lists of a thread that takes part in no task are byte for byte those of a program without plans,
// and those of one that does are the same at each request, whatever becomes of its task.
func TestListsOfOthersStay(t *testing.T) {
	without, shelf, _ := newRig(t)
	for _, id := range []thread.ID{planned, spawning, plain2} {
		shelf.set(id, echoServer())
	}
	w := newTasks()
	with := New(Config{Servers: shelf, Stager: &box{all: map[string]string{}}, Work: w, Version: "v1"})
	t.Cleanup(func() { _ = with.Close() })
	const method = "tools/list"
	for _, id := range []thread.ID{own, plain2} {
		was, now := connect(t, without, id, `{}`).must(method, `{}`), connect(t, with, id, `{}`).must(method, `{}`)
		if was != now {
			t.Errorf("the list of %s was\n%s\nand is\n%s", id, was, now)
		}
	}
	for id, want := range map[thread.ID]string{
		planned:  "fake__echo orch__deliverable_get orch__deliverable_put orch__find_tool orch__retrieve orch__stage orch__status",
		spawning: "fake__echo orch__deliverable_get orch__deliverable_put orch__find_tool orch__retrieve orch__spawn orch__stage orch__status",
	} {
		a := connect(t, with, id, `{}`)
		list := a.must(method, `{}`)
		if got := names(t, list); got != want {
			t.Errorf("%s has %s, want %s", id, got, want)
		}
		w.mu.Lock()
		was := w.once[id]
		w.once[id] = thread.Once{}
		w.mu.Unlock()
		if again := a.must(method, `{}`); again != list {
			t.Errorf("the list of %s changes", id)
		}
		w.mu.Lock()
		w.once[id] = was
		w.mu.Unlock()
		if again := connect(t, with, id, `{}`).must(method, `{}`); again != list {
			t.Errorf("the list of %s is another one in its next process", id)
		}
	}
}

// TestPartTools calls each tool with what the agent gave, and none of an agent that does not have it.
func TestPartTools(t *testing.T) {
	g, _, b := newRig(t)
	w := newTasks()
	g.tasks = w
	w.data = "{\"b\": 1.0,\n \"a\": \"<&>\"}"
	a := connect(t, g, spawning, `{}`)
	for _, c := range []struct{ name, arguments, want string }{
		{"status", `{}`, `t3 asks ""`},
		{"status", `{"run": "task-001.dev.1.1"}`, `t3 asks "task-001.dev.1.1"`},
		{"deliverable_get", `{"agent": "planner", "version": 2}`, "planner of t3, version 2"},
		{"deliverable_put", `{"output_data": {"z":1.50,"a":"<&>","n":9007199254740993}}`, `t3 puts {"z":1.50,"a":"<&>","n":9007199254740993} "" []`},
		{"deliverable_put", `{"output_data": "{\"z\": 1.50}", "summary": "s", "files": ["a", "b"]}`, `t3 puts {"z": 1.50} "s" ["a" "b"]`},
		{"spawn", `{"prompt": "p"}`, "t3 spawns {Prompt:p Agent: Tier: Writes:false Wait:true}"},
		{"spawn", `{"prompt": "p", "agent": "demo", "tier": "fast", "writes": true, "wait": false}`, "t3 spawns {Prompt:p Agent:demo Tier:fast Writes:true Wait:false}"},
	} {
		if got, failed := a.tool("orch__"+c.name, c.arguments); got != c.want || failed {
			t.Errorf("%s %s: %s, failed %v", c.name, c.arguments, got, failed)
		}
	}
	if text, failed := a.tool("orch__stage", `{"text": "long"}`); failed || b.all[strings.Fields(text)[0]] != "long" || b.req[len(b.req)-1].Thread != spawning {
		t.Errorf("staged %s: %v", text, b.all)
	}
	if result := a.must("tools/call", `{"name":"orch__deliverable_get","arguments":{"agent":"planner"}}`); !strings.Contains(result, `{\"b\": 1.0,\n \"a\": \"<&>\"}`) {
		t.Errorf("the data has changed: %s", result)
	}
	n := len(w.calls)
	for _, c := range [][2]string{
		{"deliverable_get", `{"agent": "peer"}`}, {"deliverable_get", `{"agent": "planner", "offset": -1}`},
		{"spawn", `{"prompt": "p", "model": "best"}`}, {"deliverable_put", `{"task": "task-002", "output_data": "{}"}`},
		{"status", `{"thread": "t1"}`}, {"stage", `{"text": 5}`},
	} {
		if text, failed := a.tool("orch__"+c[0], c[1]); !failed {
			t.Errorf("%s %s: %s", c[0], c[1], text)
		}
	}
	for id, list := range map[thread.ID][]string{planned: {"spawn"}, plain2: {"spawn", "stage", "status", "deliverable_get", "deliverable_put"}} {
		other := connect(t, g, id, `{}`)
		for _, name := range list {
			if result, err := other.Call(t.Context(), "tools/call", []byte(`{"name":"orch__`+name+`","arguments":{}}`)); err == nil {
				t.Errorf("%s calls %s: %s", id, name, result)
			}
		}
	}
	if len(w.calls) != n {
		t.Errorf("what was refused was done: %q", w.calls[n:])
	}
}

// TestLongDeliverable is read in parts that join to what was handed over.
func TestLongDeliverable(t *testing.T) {
	g, _, _ := newRig(t)
	w := newTasks()
	g.tasks = w
	w.data = strings.Repeat("\u00e4bc", 9000)
	a := connect(t, g, planned, `{}`)
	read := ""
	for range 10 {
		result := a.must("tools/call", fmt.Sprintf(`{"name":"orch__deliverable_get","arguments":{"agent":"planner","offset":%d}}`, len(read)))
		var r struct{ Content []struct{ Text string } }
		if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.Content) != 2 {
			t.Fatalf("%v: %s", err, result)
		}
		part, note, cut := strings.Cut(r.Content[1].Text, "\n[cut after ")
		read += part
		if !cut {
			break
		}
		if want := fmt.Sprintf("go on with offset %d]", len(read)); !strings.HasSuffix(note, want) {
			t.Fatalf("%s, want %s", note, want)
		}
	}
	if read != w.data {
		t.Errorf("read %d bytes, want %d", len(read), len(w.data))
	}
}

// TestPartToolsAreSmall: they stand in each request of such an agent.
func TestPartToolsAreSmall(t *testing.T) {
	all := 0
	for _, e := range partTools() {
		all += len(e.raw)
	}
	if all > 2600 { // about 520 tokens
		t.Errorf("the tools of a plan have %d bytes", all)
	}
	every := thread.MCPOwnTools(thread.Once{Part: thread.Part{Task: "t", Agent: "a", Round: 1}, Spawn: thread.Spawn{Depth: 1}})
	var named []string
	for _, e := range ownTools(every) {
		named = append(named, e.name)
	}
	slices.Sort(every)
	slices.Sort(named)
	if !slices.Equal(every, named) {
		t.Errorf("%q, and agents are told of %q", named, every)
	}
}
