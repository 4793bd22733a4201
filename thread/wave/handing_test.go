package wave_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	planmemory "orchestrator/checkpoint/plantest/memory"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// hands is a server with a plan at work, whose agents say what a test has them say.
type hands struct {
	*testing.T
	*wave.Waves
	plans  plan.Store
	record *memory.Store
	staged *stager
	dir    string // of the agents
	given  map[string]string

	mu      sync.Mutex
	threads map[thread.ID]thread.Thread
	asked   []string // prompts, oldest first
	away    int      // how often the store is away when an agent is to be asked again
	unset   int      // how often a budget cannot be set
	budgets map[string]thread.Budget
	quick   string // what a run says that ends before it is accepted, "" for none that does
}

// stager keeps staged data in memory.
type stager struct {
	mu   sync.Mutex
	data map[thread.Token]string
	all  map[thread.Token]thread.Staged
}

func (s *stager) Stage(_ context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	b, err := io.ReadAll(data)
	sum := sha256.Sum256(b)
	d := thread.Staged{Token: thread.NewToken(), Labels: r.Labels, Thread: r.Thread, Bytes: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[d.Token], s.all[d.Token] = string(b), d
	return d, err
}

func (s *stager) Retrieve(t thread.Token, _ thread.Selection) (thread.StagedData, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.data[t]
	if !ok {
		return nil, thread.ErrNotFound
	}
	return opened{strings.NewReader(text)}, nil
}

func (s *stager) Find(token string, _ func(thread.Staged) bool) (thread.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.all[thread.Token(token)]
	if !ok {
		return d, thread.ErrNotFound
	}
	return d, nil
}

type opened struct{ *strings.Reader }

func (opened) Close() error { return nil }

// schemas wants objects with a field "n".
type schemas struct{}

func (schemas) Schema(json.RawMessage) error { return nil }

func (schemas) Check(_, value json.RawMessage) error {
	var o struct{ N *json.RawMessage }
	if err := json.Unmarshal(value, &o); err != nil || o.N == nil {
		return errors.New(`"n" is missing`)
	}
	return nil
}

func newHands(t *testing.T) *hands {
	t.Helper()
	h := &hands{T: t, plans: planmemory.New(time.Now), record: memory.New(time.Now), dir: t.TempDir(), threads: map[thread.ID]thread.Thread{}, given: map[string]string{}, budgets: map[string]thread.Budget{}}
	h.staged = &stager{data: map[thread.Token]string{}, all: map[thread.Token]thread.Staged{}}
	h.Waves = h.serves(false)
	return h
}

// serves starts another server.
func (h *hands) serves(alone bool) *wave.Waves {
	w := wave.New(wave.Config{
		Store: h.plans, Record: h.record, Runs: h, Schemas: schemas{}, Staged: h.staged, Server: "here", Alone: alone, Agent: "demo", Root: h.dir,
		Thread: func(_ context.Context, id thread.ID) (thread.Thread, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			t, ok := h.threads[id]
			if !ok {
				return t, thread.ErrNotFound
			}
			return t, nil
		},
		Given: func(part thread.Part, name string, data []byte) (string, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			path := fmt.Sprintf("/given/%s/%s.%d/%s", part.Task, part.Agent, part.Round, name)
			h.given[path] = string(data)
			return path, nil
		},
	})
	ctx, stop := context.WithCancel(h.Context())
	done := make(chan error, 1)
	go func() { done <- w.Work(ctx) }()
	h.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			h.Errorf("the engine: %v", err)
		}
	})
	return w
}

func (h *hands) Start(ctx context.Context, r thread.NewRequest) (work.Execution, error) {
	h.mu.Lock()
	id := thread.NewID[thread.ID]()
	h.threads[id] = thread.Thread{ID: id, Dir: h.dir, Once: r.Once}
	h.mu.Unlock()
	x, err := h.execution(ctx, id, r.Once.Part, r.Prompt)
	if h.quick != "" && err == nil {
		h.ends(x, h.quick)
		time.Sleep(20 * time.Millisecond) // that is heard before
	}
	return x, err
}

func (h *hands) execution(ctx context.Context, id thread.ID, part thread.Part, prompt string) (work.Execution, error) {
	h.mu.Lock()
	h.asked = append(h.asked, prompt)
	h.mu.Unlock()
	x := work.Execution{ID: thread.NewID[work.ID](), Agent: "demo", Thread: id, Prompt: thread.NewPromptID(), State: work.Queued, Created: time.Now(),
		Lost: work.PolicyAsk, Deadline: time.Hour, Part: part, Dir: h.dir}
	return h.record.Add(ctx, x)
}

func (h *hands) Find(ctx context.Context, part thread.Part) (work.Execution, bool, error) {
	list, err := h.record.Recorded(ctx, work.RecordQuery{Limit: 1000})
	for _, x := range list {
		if x.Part == part {
			return x, true, err
		}
	}
	return work.Execution{}, false, err
}

func (h *hands) Again(ctx context.Context, of thread.ID, text string) (work.Execution, error) {
	h.mu.Lock()
	part, away := h.threads[of].Once.Part, h.away > 0
	h.away--
	h.mu.Unlock()
	if away {
		return work.Execution{}, thread.ErrUnreachable
	}
	return h.execution(ctx, of, part, text)
}

func (h *hands) Cancel(context.Context, work.ID, string) error { return nil }

func (h *hands) Dispose(work.Execution) {}

func (h *hands) Rest(thread.ID) {}

func (h *hands) Budget(_ context.Context, group string, b thread.Budget) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unset--; h.unset >= 0 {
		return thread.ErrUnreachable
	}
	h.budgets[group] = b
	return nil
}

// begins begins a plan and returns the task's name.
func (h *hands) begins(agents ...plan.Agent) string {
	h.Helper()
	for i := range agents {
		if agents[i].Prompt == "" {
			agents[i].Prompt = "work"
		}
	}
	v, err := h.Waves.Run(h.Context(), wave.Author{}, wave.RunRequest{Plan: plan.Plan{Name: "p", Agents: agents}, Title: "t"})
	if err != nil {
		h.Fatal(err)
	}
	return v.Task.Name
}

// until waits for a node to be as it should.
func (h *hands) until(task, agent, what string, is func(plan.Node) bool) plan.Node {
	h.Helper()
	var n plan.Node
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var err error
		if n, err = h.plans.Node(h.Context(), task, agent); err == nil && is(n) {
			return n
		}
	}
	h.Fatalf("%s is not %s: %+v", agent, what, n)
	return n
}

// runs waits for an agent's newest execution that has not ended.
func (h *hands) runs(task, agent string) work.Execution {
	h.Helper()
	var open work.Execution
	h.until(task, agent, "running", func(n plan.Node) bool {
		x, ok, _ := h.Find(h.Context(), thread.Part{Task: task, Agent: agent, Round: n.Round})
		open = x
		return ok && !x.State.Final()
	})
	return open
}

// says has an agent end with a final message.
func (h *hands) says(task, agent, text string) {
	h.Helper()
	h.ends(h.runs(task, agent), text)
}

// ends has an execution end with a final message.
func (h *hands) ends(x work.Execution, text string) {
	h.Helper()
	for _, state := range []work.State{work.Deployed, work.Running, work.Completed} {
		var events []work.Event
		if state == work.Completed {
			events = []work.Event{{Kind: work.KindSaid, Text: text}}
		}
		var err error
		x, err = h.record.Supersede(h.Context(), x.ID, func(x *work.Execution) error {
			if x.State = state; state == work.Completed {
				x.Ended = time.Now()
			}
			return nil
		}, events...)
		if err != nil {
			h.Fatal(err)
		}
	}
	h.Heard(x)
}

func (h *hands) is(task, agent string, state plan.NodeState) plan.Node {
	h.Helper()
	return h.until(task, agent, string(state), func(n plan.Node) bool { return n.State == state })
}

func (h *hands) prompts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// agent is who a node's thread's agent is.
func (h *hands) agent(task, name string) wave.Author {
	h.Helper()
	return wave.Author{Agent: true, Thread: h.runs(task, name).Thread}
}

func (h *hands) file(name, text string) {
	h.Helper()
	path := filepath.Join(h.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		h.Fatal(err)
	}
}

func (h *hands) retrieve(token thread.Token) string {
	h.Helper()
	d, err := h.staged.Retrieve(token, thread.Selection{})
	if err != nil {
		h.Fatal(err)
	}
	defer d.Close()
	var b strings.Builder
	if _, err := d.WriteTo(&b); err != nil {
		h.Fatal(err)
	}
	return b.String()
}

// TestHandOverIsStoredByteForByte: what an agent says is stored as it said it, and stands in the next prompt as data.
func TestHandOverIsStoredByteForByte(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	task := h.begins(plan.Agent{Name: "vision"}, plan.Agent{Name: "echo", Reads: []string{"vision"}})
	data := `{"z":1.0,"a":12345678901234567890,"u":"<&>\u003c"}`
	h.says(task, "vision", "Here:\n```json\n{\"summary\":\"s\",\"output_data\":"+data+"}\n```")
	h.is(task, "vision", plan.NodeDelivered)
	got, err := h.Get(t.Context(), wave.Author{}, wave.GetRequest{Task: task, Agent: "vision"})
	if err != nil || got.Data != data || got.Summary != "s" || got.Version != 1 || got.Execution == "" {
		t.Errorf("%+v, %v", got, err)
	}
	h.runs(task, "echo")
	if prompts := h.prompts(); !strings.Contains(prompts[1], "\"z\": 1.0,\n  \"a\": 12345678901234567890,\n  \"u\": \"<&>\\u003c\"\n") {
		t.Errorf("%s", prompts[1])
	}
}

// TestAnAgentIsAskedOnceToMend: what cannot be used is never handed over: the agent is asked once, in the same thread, with
// what is wrong; then its node has failed, with the problem.
func TestAnAgentIsAskedOnceToMend(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object"}`)
	for _, c := range []struct {
		name, first, problem, second string
		state                        plan.NodeState
	}{
		{"prose", "I am done.", "there is no JSON object", `{"n":1}`, plan.NodeDelivered},
		{"a schema", `{"output_data":{"m":1}}`, `"n" is missing`, `{"output_data":{"n":1}}`, plan.NodeDelivered},
		{"cut off", `{"output_data":{"n":`, "the text ends within it", `{"n": 1`, plan.NodeFailed},
		{"a file that is none", `{"output_data":{"n":1},"files":["../secret"]}`, "is no file in your folder", "still prose", plan.NodeFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHands(t)
			task := h.begins(plan.Agent{Name: "vision", Schema: schema}, plan.Agent{Name: "echo", Reads: []string{"vision"}})
			h.says(task, "vision", c.first)
			h.until(task, "vision", "asked", func(n plan.Node) bool { return n.Repaired })
			first := h.runs(task, "vision").Thread
			prompts := h.prompts()
			if len(prompts) != 2 || !strings.HasPrefix(prompts[1], "What you handed over cannot be used: ") || !strings.Contains(prompts[1], c.problem) ||
				!strings.Contains(prompts[1], string(schema)) {
				t.Fatalf("%q", prompts)
			}
			h.says(task, "vision", c.second)
			n := h.is(task, "vision", c.state)
			if n.Thread != first || n.Round != 1 {
				t.Errorf("%+v", n)
			}
			if _, err := h.Get(t.Context(), wave.Author{}, wave.GetRequest{Task: task, Agent: "vision"}); (err == nil) != (c.state == plan.NodeDelivered) {
				t.Errorf("handed over: %v", err)
			}
			if c.state == plan.NodeFailed && !strings.Contains(n.Reason, "cannot be used: ") {
				t.Errorf("%q", n.Reason)
			}
			if c.state == plan.NodeFailed && len(h.prompts()) != 2 {
				t.Errorf("%q", h.prompts())
			}
		})
	}
}

// TestTheQuestionIsNotLost: a store that is away when the agent is to be asked to mend has it asked later, once.
func TestTheQuestionIsNotLost(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	h.away = 2
	task := h.begins(plan.Agent{Name: "vision"})
	h.says(task, "vision", "prose")
	h.says(task, "vision", `{"n":1}`)
	if n := h.is(task, "vision", plan.NodeDelivered); !n.Repaired || n.Round != 1 || len(h.prompts()) != 2 {
		t.Errorf("%+v %q", n, h.prompts())
	}
}

// TestFilesAreHandedOverByContent: files are what they were when they were handed over, whatever becomes of the folder.
func TestFilesAreHandedOverByContent(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	h.file("out/a.csv", "a,b\n")
	h.file("out/b.csv", "\x00\x01")
	task := h.begins(plan.Agent{Name: "vision", Output: plan.OutputSheet, Deliver: []string{"out/*.csv"}}, plan.Agent{Name: "echo", Reads: []string{"vision"}})
	h.says(task, "vision", `{"summary":"two","files":["./out/a.csv"]}`)
	h.is(task, "vision", plan.NodeDelivered)
	h.file("out/a.csv", "changed")
	got, err := h.Get(t.Context(), wave.Author{}, wave.GetRequest{Task: task, Agent: "vision"})
	if err != nil || len(got.Files) != 2 || got.Files[0].Path != "out/a.csv" || got.Files[1].Bytes != 2 || len(got.Files[0].Hash) != 64 {
		t.Fatalf("%+v, %v", got, err)
	}
	if text := h.retrieve(got.Files[0].Token); text != "a,b\n" {
		t.Errorf("%q", text)
	}
	h.runs(task, "echo")
	if p := h.prompts()[1]; !strings.Contains(p, string(got.Files[0].Token)) || !strings.Contains(p, got.Files[1].Hash) {
		t.Errorf("%s", p)
	}
}

// TestWhatIsTooLargeForAPromptIsAFile: over 2,000 tokens a prompt has the beginning, a token and a file of the round's own.
func TestWhatIsTooLargeForAPromptIsAFile(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	task := h.begins(plan.Agent{Name: "vision"}, plan.Agent{Name: "echo", Reads: []string{"vision"}}, plan.Agent{Name: "reel", Reads: []string{"vision"}})
	data := `{"words":["` + strings.Repeat(`word","`, 3000) + `end"]}`
	h.says(task, "vision", data)
	h.runs(task, "echo")
	h.runs(task, "reel")
	got, err := h.Get(t.Context(), wave.Author{}, wave.GetRequest{Task: task, Agent: "vision"})
	if err != nil || got.Data != data || got.Token == "" {
		t.Fatalf("%.80s %s, %v", got.Data, got.Token, err)
	}
	path := "/given/" + task + "/echo.1/vision.v1.json"
	whole := h.given[path]
	var words struct{ Words []string }
	if err := json.Unmarshal([]byte(whole), &words); err != nil || len(words.Words) != 3001 || strings.Count(whole, "\n") < 3000 {
		t.Errorf("%.80q, %v", whole, err)
	}
	if h.retrieve(got.Token) != whole {
		t.Error("the token has something else than the file")
	}
	prompts := strings.Join(h.prompts()[1:], "\n")
	if !strings.Contains(prompts, path) || !strings.Contains(prompts, "/reel.1/") || !strings.Contains(prompts, string(got.Token)) || len(prompts) > 20_000 {
		t.Errorf("%s", prompts)
	}
}

// TestAnAgentReadsWhatItsPlanNames: its upstreams and its own, and nothing else, whoever else may read what.
func TestAnAgentReadsWhatItsPlanNames(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	agents := []plan.Agent{{Name: "vision"}, {Name: "apex"}, {Name: "echo", Reads: []string{"vision"}}, {Name: "reel", Reads: []string{"vision", "apex"}}}
	task, other := h.begins(agents...), h.begins(agents...)
	large := `{"a":"` + strings.Repeat("word ", 4000) + `"}`
	h.says(task, "vision", large)
	h.says(task, "apex", large)
	h.says(other, "vision", large)
	echo := h.agent(task, "echo")
	h.runs(task, "reel")
	h.runs(other, "echo")
	tokens := map[string]thread.Token{}
	for _, c := range [][2]string{{task, "vision"}, {task, "apex"}, {other, "vision"}} {
		got, err := h.Get(t.Context(), wave.Author{}, wave.GetRequest{Task: c[0], Agent: c[1]})
		if err != nil || got.Token == "" {
			t.Fatal(got.Token, err)
		}
		tokens[c[0]+"/"+c[1]] = got.Token
	}
	h.mu.Lock()
	h.threads["child"] = thread.Thread{ID: "child", Once: thread.Once{Spawn: thread.Spawn{Of: thread.Part{Task: task, Agent: "echo", Round: 1}}}}
	h.threads["by"] = thread.Thread{ID: "by"}
	h.mu.Unlock()
	reads := echo
	reads.Reads = true // the grant does not widen what a plan says
	for _, c := range []struct {
		name        string
		by          wave.Author
		task, agent string
		ok          bool
	}{
		{"its upstream", echo, "", "vision", true}, {"its upstream, by name", echo, task, "vision", true},
		{"a peer's upstream", echo, task, "apex", false}, {"a peer", echo, task, "reel", false}, {"a peer, with the grant", reads, task, "apex", false},
		{"another task", echo, other, "vision", false}, {"no task", echo, "task-999", "vision", false},
		{"a run that it started", wave.Author{Agent: true, Thread: "child"}, task, "vision", false},
		{"an agent of no plan", wave.Author{Agent: true, Thread: "by"}, task, "vision", false},
		{"an agent of no plan, with the grant", wave.Author{Agent: true, Thread: "by", Reads: true}, task, "vision", true},
		{"an agent of no thread", wave.Author{Agent: true}, task, "vision", false},
	} {
		_, err := h.Get(t.Context(), c.by, wave.GetRequest{Task: c.task, Agent: c.agent})
		if (err == nil) != c.ok {
			t.Errorf("%s: get: %v", c.name, err)
		}
		token, known := tokens[c.task+"/"+c.agent]
		if !known {
			continue
		}
		if err := h.Opens(t.Context(), c.by, token); (err == nil) != c.ok {
			t.Errorf("%s: token: %v", c.name, err)
		}
	}
	if err := h.Opens(t.Context(), echo, "max:00000000"); err != nil {
		t.Errorf("a token of nothing: %v", err)
	}
	if list, err := h.Handed(t.Context(), echo, wave.HandedRequest{}); err != nil || len(list) != 1 || list[0].Agent != "vision" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := h.Handed(t.Context(), echo, wave.HandedRequest{Task: other}); err == nil {
		t.Error("lists another task")
	}
	for of, want := range map[string]string{task: "echo was refused what apex has handed over", other: "echo of " + task + " was refused what vision"} {
		events, err := h.plans.Events(t.Context(), of, 0, 0)
		if err != nil || !slices.ContainsFunc(events, func(e plan.Event) bool { return e.Kind == plan.EventNote && strings.Contains(e.Text, want) }) {
			t.Errorf("%s: no %q in %+v, %v", of, want, events, err)
		}
	}
	for range 200 {
		_, _ = h.Get(t.Context(), echo, wave.GetRequest{Task: task, Agent: "apex"})
	}
	if events, err := h.plans.Events(t.Context(), task, 0, 0); err != nil || len(events) > 100 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestAnAgentPutsItsOwn: while its round is at work, and what it puts is what is handed over at its end.
func TestAnAgentPutsItsOwn(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	h.file("x.txt", "X")
	task := h.begins(plan.Agent{Name: "vision", Schema: json.RawMessage(`{}`)}, plan.Agent{Name: "apex"}, plan.Agent{Name: "echo", Reads: []string{"vision"}})
	vision, apex := h.agent(task, "vision"), h.agent(task, "apex")
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	mine, err := h.staged.Stage(t.Context(), thread.StageRequest{Thread: vision.Thread}, strings.NewReader("mine"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := h.staged.Stage(t.Context(), thread.StageRequest{Thread: apex.Thread}, strings.NewReader("theirs"))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]wave.PutRequest{
		"another's":           {Agent: "apex", Data: `{"n":1}`},
		"another task's":      {Task: "task-999", Data: `{"n":1}`},
		"what misses":         {Data: `{"m":1}`},
		"no JSON":             {Data: `{"n":1`},
		"two values":          {Data: `{"n":1} {"n":2}`},
		"a text":              {Type: plan.OutputText, Data: "x"},
		"nothing":             {},
		"another's data":      {Data: `{"n":1}`, Files: []plan.File{{Path: "t", Token: theirs.Token}}},
		"what lies elsewhere": {Data: `{"n":1}`, Files: []plan.File{{Path: "/etc/passwd"}}},
	} {
		if got, err := h.Put(t.Context(), vision, r); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	r := wave.PutRequest{Summary: "s " + secret, Data: ` {"n":1,"k":"` + secret + `"} `, Files: []plan.File{{Path: "x.txt"}, {Path: "y.txt", Token: mine.Token}}}
	got, err := h.Put(t.Context(), vision, r)
	if err != nil || got.Version != 1 || got.Same || len(got.Files) != 2 || strings.Contains(got.Summary+got.Data, secret) || !json.Valid([]byte(got.Data)) {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, f := range got.Files {
		if text := h.retrieve(f.Token); text != "X" && text != "mine" || f.Token == mine.Token {
			t.Errorf("%+v has %q", f, text)
		}
	}
	if again, err := h.Put(t.Context(), vision, r); err != nil || !again.Same || again.Version != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	h.is(task, "vision", plan.NodeWorking)
	h.says(task, "vision", "Done, no JSON.")
	h.is(task, "vision", plan.NodeDelivered)
	if p := h.prompts(); len(p) != 3 { // vision, apex, echo
		t.Errorf("%q", p)
	}
	if _, err := h.Put(t.Context(), vision, wave.PutRequest{Data: `{"n":2}`}); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "fenced") {
		t.Errorf("late: %v", err)
	}
	events, err := h.plans.Events(t.Context(), task, 0, 0)
	if err != nil || !slices.ContainsFunc(events, func(e plan.Event) bool { return e.Kind == plan.EventFenced }) {
		t.Errorf("%+v, %v", events, err)
	}
}

// TestAPersonCorrects: another content is a new version; who was given an older one is stale, and does not begin again.
func TestAPersonCorrects(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	task := h.begins(plan.Agent{Name: "vision"}, plan.Agent{Name: "echo", Reads: []string{"vision"}})
	put := func(data string) (wave.PutAnswer, error) {
		return h.Put(t.Context(), wave.Author{}, wave.PutRequest{Task: task, Agent: "vision", Data: data})
	}
	h.runs(task, "vision")
	if _, err := put(`{"a":1}`); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("at work: %v", err)
	}
	h.says(task, "vision", `{"a":1}`)
	echo := h.agent(task, "echo")
	if again, err := put(`{"a":1}`); err != nil || !again.Same || len(again.Stale) != 0 {
		t.Errorf("the same: %+v, %v", again, err)
	}
	got, err := put(`{"a":2}`)
	if err != nil || got.Version != 2 || !slices.Equal(got.Stale, []string{"echo"}) || got.Execution != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := h.is(task, "echo", plan.NodeWorking); !n.Stale || n.Round != 1 || len(h.prompts()) != 2 {
		t.Errorf("%+v %q", n, h.prompts())
	}
	// It goes on with what it was given.
	if was, err := h.Get(t.Context(), echo, wave.GetRequest{Agent: "vision"}); err != nil || was.Version != 1 {
		t.Errorf("%+v, %v", was, err)
	}
	if now, err := h.Get(t.Context(), echo, wave.GetRequest{Agent: "vision", Version: 2}); err != nil || now.Data != `{"a":2}` {
		t.Errorf("%+v, %v", now, err)
	}
}

// TestCompareBeside: the same inputs, another agent; its result is shown beside the current one, and is handed over only when
// the person takes it.
func TestCompareBeside(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	task := h.begins(plan.Agent{Name: "vision"}, plan.Agent{Name: "echo", Reads: []string{"vision"}}, plan.Agent{Name: "reel", Reads: []string{"echo"}})
	ask := wave.CompareRequest{Task: task, Agent: "echo", With: "tier:fast"}
	if _, err := h.Compare(t.Context(), ask); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("before it has worked: %v", err)
	}
	h.says(task, "vision", `{"keywords":["x"]}`)
	h.says(task, "echo", `{"summary":"s","output_data":{"a":1,"b":2}}`)
	h.runs(task, "reel")
	for _, with := range []string{"", "model:", "tier:odd"} {
		if _, err := h.Compare(t.Context(), wave.CompareRequest{Task: task, Agent: "echo", With: with}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", with, err)
		}
	}
	c, err := h.Compare(t.Context(), ask)
	if err != nil || !c.Running || c.Other.Execution == "" || c.Is.Version != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	prompts := h.prompts()
	if last := prompts[len(prompts)-1]; last != prompts[1] {
		t.Errorf("it is asked something else: %s", last)
	}
	ask = wave.CompareRequest{Task: task, Agent: "echo", Execution: c.Other.Execution}
	if c, err = h.Compare(t.Context(), ask); err != nil || !c.Running {
		t.Fatalf("%+v, %v", c, err)
	}
	x, err := h.record.Execution(t.Context(), ask.Execution)
	if err != nil || x.Part != (thread.Part{Task: task, Agent: "echo", Round: -1}) {
		t.Fatalf("%+v, %v", x.Part, err)
	}
	h.ends(x, `{"summary":"s","output_data":{"a":1,"b":3}}`)
	c, err = h.Compare(t.Context(), ask)
	if err != nil || c.Running || c.Taken != 0 || !slices.Contains(c.Diff, `-  "b": 2`) || !slices.Contains(c.Diff, `+  "b": 3`) {
		t.Errorf("%+v, %v", c, err)
	}
	if n := h.is(task, "echo", plan.NodeDelivered); n.Version != 1 || h.is(task, "reel", plan.NodeWorking).Stale {
		t.Errorf("%+v", n)
	}
	ask.Take = true
	if c, err = h.Compare(t.Context(), ask); err != nil || c.Taken != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if n := h.is(task, "reel", plan.NodeWorking); !n.Stale || n.Round != 1 {
		t.Errorf("%+v", n)
	}
	c, err = h.Compare(t.Context(), wave.CompareRequest{Task: task, Agent: "echo", Versions: []int{1, 2}})
	if err != nil || c.Is.Version != 1 || c.Other.Version != 2 || c.Other.Execution != ask.Execution || len(c.Diff) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := h.Compare(t.Context(), wave.CompareRequest{Task: task, Agent: "vision", Execution: ask.Execution}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("another's: %v", err)
	}
}
