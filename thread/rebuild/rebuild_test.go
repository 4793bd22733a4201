package rebuild_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/rebuild"
)

var begin = time.Unix(1_800_000_000, 0).UTC()

// line is a line of the transcript of an agent that exists in these tests alone.
type line struct {
	Prompt string `json:"prompt,omitempty"`
	Answer string `json:"answer,omitempty"`
	Ends   bool   `json:"ends,omitempty"`
	N      int64  `json:"n"` // tokens so far: every response has others
}

// agent keeps its sessions in memory.
type agent struct {
	thread.Agent
	sessions map[string]string
	broken   error
}

func (a *agent) Name() string { return "fake" }

func (a *agent) BeginsTurn(raw []byte) bool {
	var l line
	return json.Unmarshal(raw, &l) == nil && l.Prompt != ""
}

func (a *agent) ReadTranscript(_ context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	data := []byte(a.sessions[s.Session])
	if len(data) == 0 || a.broken != nil {
		return nil, a.broken
	}
	c := thread.Chunk{File: "main", Data: data}
	for _, m := range s.Marks {
		if m.File == "main" && int64(len(data)) >= m.Size && sum(data[:m.Size]) == m.SHA256 {
			c.Offset, c.Data = m.Size, data[m.Size:]
		}
	}
	if len(c.Data) == 0 {
		return nil, nil
	}
	return []thread.Chunk{c}, nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func (a *agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	for _, c := range chunks {
		prompt := ""
		for raw := range bytes.Lines(c.Data) {
			var l line
			if json.Unmarshal(raw, &l) != nil {
				continue
			}
			if l.Prompt != "" {
				prompt = l.Prompt
				continue
			}
			all = append(all, thread.Exchange{
				Main: true, Prompt: prompt, Text: l.Answer, EndsTurn: l.Ends, Ended: begin.Add(time.Duration(l.N) * time.Minute),
				Usage: thread.Usage{Input: l.N, Output: 1, CostUSD: 0.5, Priced: true},
			})
		}
	}
	return all, nil
}

// agents has the one.
type agents struct{ a *agent }

func (s agents) Agent(name string) (thread.Agent, error) {
	if name != "fake" {
		return nil, fmt.Errorf("agent %q: %w", name, thread.ErrNotFound)
	}
	return s.a, nil
}
func (s agents) Names() []string { return []string{"fake"} }

// session writes turns such as "a: x y." as lines: a prompt, answers, and a dot where the turn ended.
func session(turns ...string) string {
	var b strings.Builder
	n := int64(0)
	put := func(l line) {
		raw, _ := json.Marshal(l)
		b.Write(append(raw, '\n'))
	}
	for _, t := range turns {
		prompt, answers, _ := strings.Cut(t, ":")
		n++
		put(line{Prompt: prompt, N: n})
		for _, a := range strings.Fields(answers) {
			n++
			text, ends := strings.CutSuffix(a, ".")
			put(line{Answer: text, Ends: ends, N: n})
		}
	}
	return b.String()
}

// world is a store with one thread, "t", of the fake agent.
type world struct {
	t     *testing.T
	store *memory.Store
	agent *agent
	spool spool
	kept  []rebuild.Snapshot
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.New(), agent: &agent{sessions: map[string]string{}}}
	w.create(thread.Thread{ID: "t", Session: "s"})
	return w
}

func (w *world) create(t thread.Thread) {
	w.t.Helper()
	t.Name, t.Agent = string(t.ID)+"-0001", "fake"
	if t.Created.IsZero() {
		t.Created = begin
	}
	if err := w.store.CreateThread(w.t.Context(), t); err != nil {
		w.t.Fatal(err)
	}
}

// stored has the thread's turns stored as the gateway does it: with messages as they were sent, of which each turn has
// more than its transcript tells, and the last transcript lines of late responses not there yet.
func (w *world) stored(id thread.ID, session string, late int, turns ...string) thread.CheckpointID {
	w.t.Helper()
	th, err := w.store.Thread(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	head, items, at := th.Head, 0, int64(0)
	if head != "" {
		c, err := w.store.Checkpoint(w.t.Context(), head)
		if err != nil {
			w.t.Fatal(err)
		}
		items = c.Items
	}
	all := strings.SplitAfter(w.agent.sessions[session], "\n")
	n := int64(0)
	left := 0
	for _, t := range turns {
		_, answers, _ := strings.Cut(t, ":")
		left += len(strings.Fields(answers))
	}
	put := func(c thread.Checkpoint, d thread.Delta) {
		c.ID, c.Thread, c.Parent, c.Session, c.Created = thread.NewID[thread.CheckpointID](), id, head, session, begin
		d.Keep = items
		if left >= late {
			if to := int64(len(strings.Join(all[:n], ""))); to > at {
				d.Transcript = []thread.Chunk{{File: "main", Offset: at, Data: []byte(w.agent.sessions[session][at:to])}}
				at = to
			}
		}
		c, err := w.store.PutCheckpoint(w.t.Context(), c, d)
		if err != nil {
			w.t.Fatal(err)
		}
		head, items = c.ID, c.Items
	}
	wire := func(text string) []thread.Item {
		raw, _ := json.Marshal(text)
		return []thread.Item{{Wire: "anthropic", Raw: raw}, {Wire: "anthropic", Raw: raw}}
	}
	for i, t := range turns {
		prompt, answers, _ := strings.Cut(t, ":")
		n++
		for _, a := range strings.Fields(answers) {
			n++
			left--
			text, ends := strings.CutSuffix(a, ".")
			c := thread.Checkpoint{Turn: th.Turn + i + 1, Prompt: prompt, Answer: text, Usage: thread.Usage{Input: n, Output: 1}}
			c.Kind = thread.KindResponse
			put(c, thread.Delta{Items: wire(text)})
			if ends {
				c.Kind, c.Usage = thread.KindTurn, thread.Usage{}
				put(c, thread.Delta{})
			}
		}
	}
	return head
}

func (w *world) mark(id thread.ID, was *thread.Thread) {
	w.t.Helper()
	if err := rebuild.Mark(w.t.Context(), w.store, id, was, begin); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run() []rebuild.Outcome {
	w.t.Helper()
	out, err := rebuild.Run(w.t.Context(), w.config())
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) config() rebuild.Config {
	return rebuild.Config{
		Store: w.store, Agents: agents{w.agent}, Spool: w.spool,
		Snapshots: func(context.Context, thread.ID) ([]rebuild.Snapshot, error) { return w.kept, nil },
	}
}

// told is what is stored of a thread, a word a checkpoint: turn, prompt and answer, "!" where it was rebuilt, "." where
// the turn ended, "x" where it did so without an answer.
func (w *world) told(id thread.ID) string {
	w.t.Helper()
	t, err := w.store.Thread(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	if t.Head == "" {
		return ""
	}
	list, err := w.store.Lineage(w.t.Context(), t.Head, thread.Page{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	var words []string
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		word := fmt.Sprintf("%d%s:%s", c.Turn, c.Prompt, c.Answer)
		if c.Kind == thread.KindTurn {
			word = "."
			if c.Interrupted {
				word = "x"
			}
		}
		if c.Note == thread.NoteRebuilt {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// transcript is what is stored of a thread's transcript.
func (w *world) transcript(id thread.ID) string {
	w.t.Helper()
	t, err := w.store.Thread(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	files, err := w.store.Transcript(w.t.Context(), t.Head)
	if err != nil || len(files) != 1 {
		w.t.Fatalf("%d files: %v", len(files), err)
	}
	return string(files[0].Data)
}

// spool has what it is given.
type spool []thread.Checkpoint

func (s spool) Kept() (map[thread.ID]thread.Spooled, error) {
	k := thread.Spooled{}
	for i := range s {
		k.Places = append(k.Places, int64(i))
	}
	return map[thread.ID]thread.Spooled{"t": k}, nil
}

func (s spool) Read(_ thread.ID, at int64) (thread.Checkpoint, thread.Delta, error) {
	return s[at], thread.Delta{}, nil
}

// TestMatch compares what is stored with a transcript that goes on, ends before, was set back, was changed, or is
// another session's.
func TestMatch(t *testing.T) {
	whole := []string{"a: one.", "b: two three.", "c: four."}
	for name, tc := range map[string]struct {
		has  []string // of the session when turns were stored
		put  int      // turns that were stored
		late int      // responses that were stored before they stood in the transcript
		now  []string // the session as it is
		want string   // what is stored in the end
		why  string   // of what is said to be missing
		was  int      // the turn that the thread had reached
	}{
		"the same":   {whole, 3, 0, whole, "1a:one . 2b:two 2b:three . 3c:four .", "", 3},
		"longer":     {whole, 1, 0, whole, "1a:one . 2b:two! 2b:three! .! 3c:four! .!", "", 3},
		"nothing":    {whole, 0, 0, whole, "1a:one! .! 2b:two! 2b:three! .! 3c:four! .!", "", 3},
		"late":       {whole, 1, 1, whole, "1a:one . 2b:two! 2b:three! .! 3c:four! .!", "", 3},
		"late twice": {whole, 2, 2, whole, "1a:one . 2b:two 2b:three . 3c:four! .!", "", 3},
		"the same answer again": {[]string{"a: ok.", "a: ok.", "a: ok."}, 1, 0, []string{"a: ok.", "a: ok.", "a: ok."},
			"1a:ok . 2a:ok! .! 3a:ok! .!", "", 3},
		"the same answer again, late": {[]string{"a: ok.", "a: ok.", "a: ok."}, 2, 1, []string{"a: ok.", "a: ok.", "a: ok."},
			"1a:ok . 2a:ok . 3a:ok! .!", "", 3},
		"in the middle of a turn": {[]string{"a: one.", "b: two"}, 2, 0, whole, "1a:one . 2b:two 2b:three! .! 3c:four! .!", "", 3},
		"still open":              {whole, 1, 0, []string{"a: one.", "b: two"}, "1a:one . 2b:two!", "turns 2 to 3 are not", 3},
		"broken off":              {whole, 1, 0, []string{"a: one.", "b: two", "c: four."}, "1a:one . 2b:two! x! 3c:four! .!", "", 3},
		"not answered":            {whole, 1, 0, []string{"a: one.", "b:"}, "1a:one .", "turns 2 to 2 are not", 2},
		"shorter":                 {whole, 2, 0, whole[:1], "1a:one . 2b:two 2b:three .", "shorter", 3},
		"gone":                    {whole, 2, 0, nil, "1a:one . 2b:two 2b:three .", "turns 3 to 3 are not", 3},
		"changed":                 {whole, 1, 0, []string{"z: one.", "b: two three.", "c: four."}, "1a:one .", "differs from the stored", 3},
		"never there":             {nil, 0, 0, nil, "", "is missing", 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.sessions["s"] = session(tc.has...)
			w.stored("t", "s", tc.late, tc.has[:tc.put]...)
			w.agent.sessions["s"] = session(tc.now...)
			was, err := w.store.Thread(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			was.Turn, was.Session = tc.was, "s"
			for run := range 2 {
				w.mark("t", &was)
				out := w.run()
				if got := w.told("t"); got != tc.want {
					t.Errorf("run %d: stored is\n%s, want\n%s", run, got, tc.want)
				}
				if len(out) != 1 || !strings.Contains(out[0].Why, tc.why) || (tc.why == "") != (out[0].Why == "") {
					t.Errorf("run %d: %+v", run, out)
				}
				if run == 1 && out[0].Rebuilt() != 0 {
					t.Errorf("a second run rebuilt %d turns", out[0].Rebuilt())
				}
			}
			if strings.Contains(tc.want, "!") {
				if got, want := w.transcript("t"), session(tc.now...); got != want {
					t.Errorf("the stored transcript is %s, want %s", got, want)
				}
			}
		})
	}
}

// TestEveryTurnCanBeForked compares the transcript that is stored with each turn.
func TestEveryTurnCanBeForked(t *testing.T) {
	w := newWorld(t)
	turns := []string{"a: one.", "b: two three.", "c: four."}
	w.agent.sessions["s"] = session(turns...)
	w.mark("t", nil)
	w.run()
	list, err := w.store.Checkpoints(t.Context(), "t", thread.Page{Turns: true})
	if err != nil || len(list) != len(turns) {
		t.Fatalf("%d turns: %v", len(list), err)
	}
	for _, c := range list {
		files, err := w.store.Transcript(t.Context(), c.ID)
		if err != nil || len(files) != 1 || string(files[0].Data) != session(turns[:c.Turn]...) {
			t.Errorf("turn %d: %v, %q", c.Turn, err, files)
		}
		items, err := w.store.Conversation(t.Context(), c.ID)
		if err != nil || len(items) != []int{2, 5, 7}[c.Turn-1] {
			t.Errorf("turn %d: %d items: %v", c.Turn, len(items), err)
		}
	}
	th, err := w.store.Thread(t.Context(), "t")
	if err != nil || th.Usage.CostUSD != 2 || th.Usage.Output != 4 || th.Turn != 3 {
		t.Errorf("%+v, %v", th, err)
	}
}

// TestUsageIsCountedOnce loses a thread that the list brought back with what it had cost.
func TestUsageIsCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.agent.sessions["s"] = session("a: one.")
	if _, err := w.store.UpdateThread(t.Context(), "t", func(t *thread.Thread) error {
		t.Turn, t.Usage, t.Gauge.CostUSD = 1, thread.Usage{Input: 2, Output: 1, CostUSD: 0.5, Priced: true}, 0.75
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	was, err := w.store.Thread(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	w.mark("t", &was)
	w.run()
	if now, err := w.store.Thread(t.Context(), "t"); err != nil || now.Usage != was.Usage || now.Gauge.CostUSD != 0.75 {
		t.Errorf("%+v, was %+v, %v", now.Usage, was.Usage, err)
	}
}

// TestForks loses forks: what they said follows the turn that they began at.
func TestForks(t *testing.T) {
	w := newWorld(t)
	w.agent.sessions["s"] = session("a: one.", "b: two.")
	w.agent.sessions["f"] = session("a: one.", "z: nine.")
	w.agent.sessions["g"] = session("a summary: ten.")
	w.create(thread.Thread{ID: "f", Session: "f", Parent: "t", Turn: 2, Created: begin.Add(time.Hour)})
	w.create(thread.Thread{ID: "g", Session: "g", Parent: "t", Turn: 1, Created: begin.Add(time.Hour)})
	w.create(thread.Thread{ID: "h", Parent: "t", Turn: 1, Created: begin.Add(time.Hour)})
	for _, id := range []thread.ID{"g", "f", "t", "h"} {
		was, err := w.store.Thread(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		was.ForkPoint = "gone"
		w.mark(id, &was)
	}
	w.run()
	for id, want := range map[thread.ID]string{
		"t": "1a:one! .! 2b:two! .!", "f": "1a:one! .! 2z:nine! .!", "g": "1a summary:ten! .!", "h": "1a:one! .!",
	} {
		if got := w.told(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	list, err := w.store.Checkpoints(t.Context(), "t", thread.Page{Turns: true})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := w.store.Thread(t.Context(), "f"); err != nil || f.ForkPoint != list[1].ID {
		t.Errorf("the fork begins at %q, %v", f.ForkPoint, err)
	}
}

// TestRing has threads that are each other's parents, as a damaged store may say: they are looked at all the same.
func TestRing(t *testing.T) {
	w := newWorld(t)
	for _, id := range []thread.ID{"a", "b", "c"} {
		w.agent.sessions[string(id)] = session("x: " + string(id) + ".")
		w.create(thread.Thread{ID: id, Session: string(id), Parent: map[thread.ID]thread.ID{"a": "b", "b": "a", "c": "c"}[id]})
		w.mark(id, nil)
	}
	if out := w.run(); len(out) != 3 {
		t.Errorf("%+v", out)
	}
	for _, id := range []thread.ID{"a", "b", "c"} {
		if got, want := w.told(id), "1x:"+string(id)+"! .!"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestForkPointIsKept has a fork whose fork point is stored stand on it, whatever it was told.
func TestForkPointIsKept(t *testing.T) {
	w := newWorld(t)
	w.agent.sessions["s"] = session("a: one.", "b: two.")
	point := w.stored("t", "s", 0, "a: one.", "b: two.")
	w.agent.sessions["f"] = session("a summary: ten.")
	w.create(thread.Thread{ID: "f", Session: "f", Parent: "t", Turn: 3, Created: begin.Add(time.Hour)})
	was, err := w.store.Thread(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	was.ForkPoint = point
	w.mark("f", &was)
	w.run()
	if got, want := w.told("f"), "1a:one . 2b:two . 3a summary:ten! .!"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRewound loses what was said after a rewind, in a session of its own.
func TestRewound(t *testing.T) {
	w := newWorld(t)
	w.agent.sessions["s"] = session("a: one.", "b: two.", "c: three.")
	w.stored("t", "s", 0, "a: one.", "b: two.", "c: three.")
	w.agent.sessions["r"] = session("a: one.", "d: four.")
	if _, err := w.store.UpdateThread(t.Context(), "t", func(t *thread.Thread) error { t.Session = "r"; return nil }); err != nil {
		t.Fatal(err)
	}
	w.mark("t", nil)
	w.run()
	if got, want := w.told("t"), "1a:one . 2d:four! .!"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := w.transcript("t"); got != w.agent.sessions["r"] {
		t.Errorf("the transcript is %s", got)
	}
}

// TestSpooled leaves to the spool what it has.
func TestSpooled(t *testing.T) {
	whole := []string{"a: one.", "b: two three.", "c: four."}
	for name, tc := range map[string]struct {
		spool spool
		want  string
	}{
		"a turn": {spool{{Kind: thread.KindResponse, Prompt: "b", Answer: "two", Usage: thread.Usage{Input: 4, Output: 1}}}, "1a:one! .!"},
		"the rest of a turn": {spool{{Kind: thread.KindResponse, Prompt: "b", Answer: "three", Usage: thread.Usage{Input: 5, Output: 1}}, {Kind: thread.KindTurn}},
			"1a:one! .! 2b:two!"},
		"something else": {spool{{Kind: thread.KindResponse, Prompt: "b", Answer: "five"}}, "1a:one! .! 2b:two! 2b:three! .! 3c:four! .!"},
		"no answer":      {spool{{Kind: thread.KindSafety}}, "1a:one! .! 2b:two! 2b:three! .! 3c:four! .!"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.sessions["s"], w.spool = session(whole...), tc.spool
			w.mark("t", nil)
			w.run()
			if got := w.told("t"); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestSnapshots gives a turn the snapshot that was taken between its answer and the next one, and no other.
func TestSnapshots(t *testing.T) {
	w := newWorld(t)
	w.agent.sessions["s"] = session("a: one.", "b: two.", "c: three.") // answered in the minutes 2, 4 and 6
	at := func(minute float64) time.Time { return begin.Add(time.Duration(minute * float64(time.Minute))) }
	for _, k := range []struct {
		name        string
		from, until float64
	}{{"before", 1, 1}, {"first", 2.5, 2.5}, {"second of it", 3, 3}, {"either", 3.5, 4.5}, {"last", 7, 7.1}} {
		w.kept = append(w.kept, rebuild.Snapshot{Snapshot: thread.Snapshot{Commit: k.name}, From: at(k.from), Until: at(k.until)})
	}
	w.mark("t", nil)
	w.run()
	list, err := w.store.Checkpoints(t.Context(), "t", thread.Page{Turns: true})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d turns: %v", len(list), err)
	}
	for i, want := range []string{"last", "", "first"} {
		got := ""
		if s := list[i].Snapshot; s != nil {
			got = s.Commit
		}
		if got != want {
			t.Errorf("turn %d has snapshot %q, want %q", list[i].Turn, got, want)
		}
	}
}

// TestNotReady names why a thread cannot be looked at.
func TestNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(w *world, t *thread.Thread)
		why    string
	}{
		"no agent":     {func(_ *world, t *thread.Thread) { t.Agent = "" }, "its agent is unknown"},
		"an odd agent": {func(_ *world, t *thread.Thread) { t.Agent = "odd" }, "odd"},
		"no session":   {func(_ *world, t *thread.Thread) { t.Session = "" }, "session is unknown"},
		"another's": {func(w *world, t *thread.Thread) {
			w.create(thread.Thread{ID: "o", Session: "s", Created: begin.Add(-1)})
		}, "o-0001"},
		"cannot be read":  {func(w *world, t *thread.Thread) { w.agent.broken = errors.New("no permission") }, "no permission"},
		"is of no thread": {func(w *world, t *thread.Thread) { t.Session = "other" }, "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.sessions["s"] = session("a: one.")
			was, err := w.store.Thread(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			was.Turn = 1
			tc.change(w, &was)
			if was, err = w.store.UpdateThread(t.Context(), "t", func(t *thread.Thread) error { *t = was; return nil }); err != nil {
				t.Fatal(err)
			}
			w.mark("t", &was)
			out := w.run()
			if len(out) != 1 || out[0].Rebuilt() != 0 || !strings.Contains(out[0].Why, tc.why) {
				t.Errorf("%+v", out)
			}
			if left, err := w.store.Intents(t.Context()); err != nil || len(left) != 0 {
				t.Errorf("%d are marked still: %v", len(left), err)
			}
		})
	}
}

// failing is a store that refuses everything after so many puts.
type failing struct {
	*memory.Store
	left int
}

func (f *failing) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	if f.left--; f.left < 0 {
		return c, errors.New("killed")
	}
	return f.Store.PutCheckpoint(ctx, c, d)
}

// TestCutOff kills a run after each checkpoint that it stores: the next one ends it, and stores nothing twice.
func TestCutOff(t *testing.T) {
	want := "1a:one! .! 2b:two! 2b:three! .! 3c:four! x! 4d:five! .!"
	for n := range 8 {
		w := newWorld(t)
		w.agent.sessions["s"] = session("a: one.", "b: two three.", "c: four", "d: five.")
		w.mark("t", nil)
		cfg := w.config()
		cfg.Store = &failing{w.store, n}
		if _, err := rebuild.Run(t.Context(), cfg); err == nil {
			t.Errorf("after %d: no error", n)
		}
		if th, err := w.store.Thread(t.Context(), "t"); n == 0 && (err != nil || th.Head != "") {
			t.Errorf("%+v, %v", th, err)
		}
		w.run()
		if got := w.told("t"); got != want {
			t.Errorf("after %d: %s, want %s", n, got, want)
		}
		if got := w.transcript("t"); got != w.agent.sessions["s"] {
			t.Errorf("after %d: the transcript is %s", n, got)
		}
	}
}
