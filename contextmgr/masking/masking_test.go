package masking_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/private"
)

// format makes requests of a wire format.
type format struct {
	codec  wire.Scanner
	path   string
	tool   string
	body   func(model, items string) string
	person func(text string) string
	call   func(id, tool, input string) string
	result func(id, tool, text string) string
}

func formats() []format {
	q := func(s string) string { return string(wire.Quote(s)) }
	chat := format{
		codec: openai.NewChat(), path: "/v1/chat/completions", tool: "bash",
		body: func(model, items string) string {
			return `{"model":"` + model + `","stream":true,"messages":[` + items +
				`],"tools":[{"type":"function","function":{"name":"bash"}}]}`
		},
		person: func(text string) string { return `{"role":"user","content":` + q(text) + `}` },
		call: func(id, tool, input string) string {
			return fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"%s","type":"function",`+
				`"function":{"name":"%s","arguments":%s}}]}`, id, tool, q(input))
		},
		result: func(id, _, text string) string {
			return fmt.Sprintf(`{"role":"tool","tool_call_id":"%s","content":%s}`, id, q(text))
		},
	}
	return []format{{
		codec: anthropic.New(), path: "/v1/messages", tool: "Bash",
		body: func(model, items string) string {
			return `{"model":"` + model + `","system":[{"type":"text","text":"You are Claude Code"}],` +
				`"tools":[{"name":"Bash"},{"name":"Read"},{"name":"mcp__github__search"}],"messages":[` + items +
				`],"max_tokens":32000}`
		},
		person: func(text string) string {
			return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s}]}`, q(text))
		},
		call: func(id, tool, input string) string {
			return fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},`+
				`{"type":"tool_use","id":"%s","name":"%s","input":%s}]}`, id, tool, input)
		},
		result: func(id, _, text string) string {
			return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s}]}`, id, q(text))
		},
	}, {
		codec: openai.NewResponses(), path: "/v1/responses", tool: "shell",
		body: func(model, items string) string {
			return `{"model":"` + model + `","instructions":"You are Codex","input":[` + items +
				`],"tools":[{"type":"function","name":"shell"}],"stream":true}`
		},
		person: func(text string) string {
			return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, q(text))
		},
		call: func(id, tool, input string) string {
			return fmt.Sprintf(`{"type":"reasoning","id":"r%s","encrypted_content":"c2ln"},`+
				`{"type":"function_call","name":"%s","arguments":%s,"call_id":"%s"}`, id, tool, q(input), id)
		},
		result: func(id, _, text string) string {
			return fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":%s}`, id, q(text))
		},
	}, chat, {
		codec: gemini.New(), path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent", tool: "run_shell_command",
		body: func(_, items string) string {
			return `{"contents":[` + items + `],"systemInstruction":{"parts":[{"text":"You are an interactive CLI agent"}]},` +
				`"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`
		},
		person: func(text string) string { return fmt.Sprintf(`{"role":"user","parts":[{"text":%s}]}`, q(text)) },
		call: func(id, tool, input string) string {
			return fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"id":"%s","name":"%s","args":%s},`+
				`"thoughtSignature":"c2ln"}]}`, id, tool, input)
		},
		result: func(id, tool, text string) string {
			return fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"id":"%s","name":"%s","response":{"output":%s}}}]}`,
				id, tool, q(text))
		},
	}}
}

// some are some of the formats, other ones each time, and fewer in short mode.
func some(t testing.TB) []format {
	t.Helper()
	if testing.Short() {
		return sample.Of(t, 3, formats())
	}
	return sample.Of(t, 2, formats())
}

// counts counts four bytes a token, at once.
type counts struct {
	mu    sync.Mutex
	known map[[32]byte]int64
}

func (c *counts) Known(_ string, sum [32]byte) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.known[sum]
	return n, ok
}

func (c *counts) Queue(_ string, sum [32]byte, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[sum] = int64(len(text)) / 4
}

func (c *counts) Estimate(bytes int) int64 { return int64(bytes) / 4 }

// exact is a calibration that corrects nothing.
type exact struct{}

func (exact) Factor(string, string) (float64, float64, int) { return 1, 0.05, 0 }
func (exact) Observe(string, int64, map[string]int64)       {}

// learner records what a calibration could learn.
type learner struct {
	exact
	growth int64
	parts  map[string]int64
}

func (l *learner) Observe(_ string, growth int64, parts map[string]int64) {
	l.growth, l.parts = growth, parts
}

// TestLearns: what the provider counts more than after the answer before is compared with the results that were added.
func TestLearns(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeObserve)
		l := &learner{}
		w.calibration = l
		w.restart()
		w.items = []string{w.person("fix the bug")}
		for i := range 3 {
			w.step(i, 1000)
			w.send("t1")
		}
		w.step(3, 1000)
		w.growth = 1234
		w.send("t1")
		if want := int64(len(text(3, 1000))) / 4; l.growth != 1234 || l.parts[f.tool] != want {
			t.Errorf("%s: learned from %d of %v, want 1234 of %d", f.codec.Wire(), l.growth, l.parts, want)
		}
		l.growth = 0
		w.step(4, 1000)
		w.step(5, 1000)
		if w.send("t1"); l.growth != 0 {
			t.Errorf("%s: learned from a request that does not follow the one before", f.codec.Wire())
		}
	}
}

// world is a masker with a conversation in one format.
type world struct {
	*testing.T
	*masking.Masker
	format
	store    *masks.Store
	dir      string
	mode     policy.Mode
	parents  map[thread.ID]thread.ID
	now      time.Time
	window   int64
	notices  []string
	refused  string
	growth   int64 // of the next request over the answer before, if it is not 0
	answered int64

	summaries summaries.Settings

	// What the provider reports: usage is the input of the next request if it is not 0.
	status                  int
	usage, write, writeHour int64
	saved                   []float64   // by each request, in USD
	billed                  [][2]string // each request, as the agent sent it and as the provider got it

	calibration masking.Calibration
	wayOut      string
	session     string
	oauth       bool   // the agent uses a login
	keep        string // a tool
	once        bool   // files of instructions
	rules       []policy.Rule
	ends        bool // answers end turns
	items       []string
	model       string
	path        string
	events      int // decisions that changed what is sent
	lastList    string
}

func open(t *testing.T, f format, mode policy.Mode) *world {
	t.Helper()
	w := openIn(t, t.TempDir(), f, mode)
	t.Cleanup(func() {
		if w.store != nil {
			_ = w.store.Close() // it may be closed already
		}
	})
	return w
}

// openIn is open in a folder, which is made; its store is to be closed.
func openIn(t *testing.T, dir string, f format, mode policy.Mode) *world {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, format: f, dir: dir, mode: mode, parents: map[thread.ID]thread.ID{}, now: time.Unix(1e9, 0),
		window: 100_000, calibration: exact{}, status: 200,
		summaries: summaries.Settings{By: thread.ByExtract}, model: "claude-sonnet-4-6", path: f.path,
	}
	w.restart()
	return w
}

// restart opens the store and the masker anew.
func (w *world) restart() {
	w.Helper()
	if w.store != nil {
		if err := w.store.Close(); err != nil {
			w.Fatal(err)
		}
	}
	folder, err := private.Make(w.dir, "masks")
	if err != nil {
		w.Fatal(err)
	}
	table, err := models.Builtin()
	if err != nil {
		w.Fatal(err)
	}
	w.store = masks.Open(folder, masks.Config{})
	if w.Masker != nil {
		_ = w.Close()
	}
	w.Masker, err = masking.New(masking.Config{
		Masks: w.store, Counts: &counts{known: map[[32]byte]int64{}}, Calibration: w.calibration, Threads: w, Models: table,
		Keep: func(tool string) bool { return tool == w.keep }, Summaries: func() summaries.Settings { return w.summaries },
		Settings: func(_ thread.ID, login bool) policy.Settings {
			if login {
				return policy.Defaults(policy.ModeObserve)
			}
			s := policy.Defaults(w.mode)
			s.Rules = w.rules
			return s
		},
		WayOut: func(thread.ID, string) string { return w.wayOut }, Once: func() bool { return w.once },
		Now: func() time.Time { return w.now }, Pictures: w,
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) picture(id thread.ID) string { return filepath.Join(w.dir, string(id)+".picture") }

func (w *world) Keep(id thread.ID, picture []byte) error {
	return os.WriteFile(w.picture(id), picture, 0o600)
}

func (w *world) Last(id thread.ID) ([]byte, error) {
	b, err := os.ReadFile(w.picture(id))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return b, err
}

func (w *world) Drop(id thread.ID) error { return os.Remove(w.picture(id)) }

func (w *world) Lineage(id thread.ID) (thread.ID, time.Time) { return w.parents[id], time.Time{} }

// send sends a request with the items and returns what goes upstream.
func (w *world) send(id thread.ID) string {
	w.Helper()
	return w.sendBody(id, w.body(w.model, strings.Join(w.items, ",")))
}

func (w *world) sendBody(id thread.ID, body string) string {
	w.Helper()
	sent := slices.Clone([]byte(body))
	header := http.Header{}
	if w.session != "" {
		header.Set("X-Claude-Code-Session-Id", w.session)
	}
	if w.oauth {
		header.Set("Anthropic-Beta", "oauth-2025-04-20")
	}
	out := w.Rewrite(w.Context(), gateway.Outgoing{
		Thread: id, Codec: w.codec, To: &url.URL{Path: w.path},
		Call:   wire.Call{Path: w.path, Header: header, Body: sent},
		Window: func(string, bool, int64) int64 { return w.window },
		Notice: func(_ thread.Level, text string) { w.notices = append(w.notices, text) },
	})
	got := body
	if out.Body != nil {
		got = string(out.Body)
	}
	if out.Refusal != "" {
		w.refused = out.Refusal
	}
	if out.Ended != nil {
		usage := thread.Usage{CacheRead: int64(len(got)) / 4, Output: 10}
		e := thread.Exchange{Status: w.status, Usage: usage, EndsTurn: w.ends}
		if w.growth > 0 {
			e.Usage.CacheRead, w.growth = w.answered+w.growth, 0
		}
		if w.usage > 0 {
			e.Usage.CacheRead, w.usage = w.usage, 0
		}
		e.Usage.CacheWrite, e.Usage.CacheWriteHour = w.write, w.writeHour
		e.Usage.CacheRead -= w.write
		w.answered = e.Usage.Context()
		out.Ended(&e)
		w.Settle()
		w.saved, w.billed = append(w.saved, e.SavedUSD), append(w.billed, [2]string{body, got})
	}
	if string(sent) != body {
		w.Fatal("the request was changed in place")
	}
	w.now = w.now.Add(10 * time.Second)
	return got
}

// TestFull: people are warned from 90 % on; a prompt that would fill the window is refused with the way out, a turn goes
// on for as long as it fits, and the agent's own summary always passes.
func TestFull(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeSafe)
		w.wayOut = "Fork it."
		w.items = []string{w.person("fix the bug " + text(0, 20_000))} // which cannot be masked
		for i := range 4 {
			w.step(i, 10)
			w.send("t1")
		}
		ask := func() bool {
			t.Helper()
			w.items = append(w.items, w.person("and now this"))
			defer func() { w.items = w.items[:len(w.items)-1] }()
			w.refused = ""
			w.send("t1")
			return w.refused != ""
		}
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		size := r.Tokens
		for _, tc := range []struct {
			window         int64
			refuse, warned bool
		}{{0, false, false}, {size * 10 / 8, false, false}, {size * 100 / 92, false, true}, {size * 100 / 97, true, false}} {
			w.window = 0
			w.send("t1")
			w.window, w.notices = tc.window, nil
			if got := ask(); got != tc.refuse {
				t.Errorf("%s: window %d of %d: refused %v: %s", f.codec.Wire(), tc.window, size, got, w.refused)
			}
			if tc.refuse && !strings.HasSuffix(w.refused, "Fork it.") {
				t.Errorf("%s: the agent is told %q", f.codec.Wire(), w.refused)
			}
			if got := len(w.notices) == 1; got != tc.warned {
				t.Errorf("%s: window %d: people were told %q", f.codec.Wire(), tc.window, w.notices)
			}
		}
		w.window, w.refused = size*100/97, ""
		w.send("t1") // the turn goes on: it is not larger than the window
		if w.refused != "" {
			t.Errorf("%s: a turn that fits is refused: %s", f.codec.Wire(), w.refused)
		}
		w.window = size * 9 / 10
		if w.send("t1"); w.refused == "" {
			t.Errorf("%s: a turn that does not fit is sent", f.codec.Wire())
		}
		if r, err := w.Report("t1"); err != nil || len(r.Parts) == 0 || r.Reason == r.Forecast {
			t.Errorf("%s: of a request that is refused people see %+v (%v)", f.codec.Wire(), r, err)
		}
		w.wayOut, w.refused = "", ""
		if ask() {
			t.Errorf("%s: refused without a way out", f.codec.Wire())
		}
	}
}

// TestRefusedOnce: an agent repeats a refused prompt by itself, larger than it was. It is one refusal, of one size, and
// once something else may be sent it is sent.
func TestRefusedOnce(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeSafe)
		asked := 0
		w.wayOut = "Fork it."
		w.items = []string{w.person("fix the bug " + text(0, 20_000))}
		for i := range 4 {
			w.step(i, 10)
			w.send("t1")
		}
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		w.window = r.Tokens * 100 / 97
		w.items = append(w.items, w.person("and now this"))
		refuse := func(body string) (why string, size int64) {
			t.Helper()
			w.refused = ""
			w.sendBody("t1", body)
			asked++
			r, err := w.Report("t1")
			if err != nil || w.refused == "" {
				t.Fatalf("%s: request %d is not refused (%v)", f.codec.Wire(), asked, err)
			}
			return w.refused, r.Tokens
		}
		body := w.body(w.model, strings.Join(w.items, ","))
		larger := strings.Replace(body, "{", `{"x":"`+strings.Repeat("tool ", 4000)+`",`, 1)
		why, size := refuse(body)
		again, now := refuse(larger)
		if again != why || now != size {
			t.Errorf("%s: refused as %q of %d tokens, then as %q of %d", f.codec.Wire(), why, size, again, now)
		}
		w.now = w.now.Add(time.Minute) // a person sends it again
		if later, now := refuse(larger); later == why || now <= size {
			t.Errorf("%s: what a person sends later has the size of before: %q, %d", f.codec.Wire(), later, now)
		}
		w.window, w.refused = 10*size, ""
		if w.sendBody("t1", larger); w.refused != "" {
			t.Errorf("%s: refused although there is room: %s", f.codec.Wire(), w.refused)
		}
	}
}

// TestPictureAfterARestart: what filled a context is shown after a restart too, as what it is; contents can be pinned and
// masked by it, and the next request takes its place. One that is damaged shows nothing and stops nothing.
func TestPictureAfterARestart(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		w.window = 200_000
		w.items = []string{w.person("fix the bug")}
		for i := range 12 {
			w.step(i, 3000)
			w.send("t1")
		}
		if err := w.Change("t1", thread.ContextChange{Mask: []string{"all"}}); err != nil {
			t.Fatal(err)
		}
		w.ends = true
		w.send("t1")
		before, err := w.Report("t1")
		if err != nil || before.Tokens == 0 || len(before.Results) == 0 || before.Masked == 0 {
			t.Fatalf("%s: %+v (%v)", f.codec.Wire(), before, err)
		}
		w.restart()
		after, err := w.Report("t1")
		if err != nil || after.Tokens != before.Tokens || after.Masked != before.Masked || after.Window != before.Window ||
			after.Model != before.Model || len(after.Parts) != len(before.Parts) || len(after.Results) != len(before.Results) {
			t.Errorf("%s: after a restart %+v, before %+v (%v)", f.codec.Wire(), after, before, err)
		}
		if !strings.HasPrefix(after.Reason, "from before the restart, ") || after.Forecast != "" || after.Mode != before.Mode {
			t.Errorf("%s: said is %q, %q, mode %s", f.codec.Wire(), after.Reason, after.Forecast, after.Mode)
		}
		for i, res := range after.Results {
			if was := before.Results[i]; res.ID != was.ID || res.Masked != was.Masked || res.Token != was.Token || res.Kept != was.Kept {
				t.Errorf("%s: result %d is %+v, was %+v", f.codec.Wire(), i, res, was)
			}
		}
		masked := slices.IndexFunc(after.Results, func(r thread.ContextResult) bool { return r.Masked })
		if err := w.Change("t1", thread.ContextChange{Unmask: []string{after.Results[masked].ID}}); err != nil {
			t.Errorf("%s: by hand: %v", f.codec.Wire(), err)
		}
		w.send("t1")
		if now, err := w.Report("t1"); err != nil || strings.Contains(now.Reason, "restart") || now.Results[masked].Masked {
			t.Errorf("%s: after the next request: %q, %+v (%v)", f.codec.Wire(), now.Reason, now.Results[masked], err)
		}
		for _, damaged := range []string{"", "{", `{"Entries":7}`, "[]"} {
			if err := w.Keep("t1", []byte(damaged)); err != nil {
				t.Fatal(err)
			}
			w.restart()
			if r, err := w.Report("t1"); err != nil || len(r.Results) != 0 || r.Reason != masking.NotFilled {
				t.Errorf("%s: %q: %+v (%v)", f.codec.Wire(), damaged, r, err)
			}
		}
		w.send("t1")
		w.Forget("t1")
		if _, err := os.Stat(w.picture("t1")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a picture of a thread that is gone is kept: %v", f.codec.Wire(), err)
		}
	}
}

// negative returns how many requests cost more than masks saved.
func (w *world) negative() (n int) {
	for _, usd := range w.saved {
		if usd < 0 {
			n++
		}
	}
	return n
}

// text is about so many tokens of output.
func text(n, tokens int) string {
	line := fmt.Sprintf("%05d\tfmt.Println(\"<b>é\\\\\")\n", n)
	return strings.Repeat(line, tokens*4/len(line)+1)
}

// step adds a call of a tool and its result.
func (w *world) step(n, tokens int) {
	id := fmt.Sprintf("call_%d", n)
	w.items = append(w.items, w.call(id, w.tool, fmt.Sprintf(`{"command":"cat file%d"}`, n)), w.result(id, w.tool, text(n, tokens)))
}

// list returns the items of a request as sent.
func (w *world) list(body string) string {
	w.Helper()
	scan, err := w.codec.Scan(wire.Call{Path: w.format.path, Header: http.Header{}, Body: []byte(body)}, nil)
	if err != nil {
		w.Fatalf("%v in %.200q", err, body)
	}
	return string(scan.List.Of([]byte(body)))
}

// grow sends a conversation of n steps and checks that each request goes on from the one before, but for decisions.
func (w *world) grow(n int) (last string) {
	w.Helper()
	if len(w.items) == 0 {
		w.items = append(w.items, w.person("fix the bug"))
	}
	from := len(w.items) / 2
	for i := range n {
		w.step(from+i, 1500)
		last = w.send("t1")
		list := w.list(last)
		if !strings.HasPrefix(list, w.lastList) {
			w.events++
		}
		w.lastList = list
	}
	return last
}

var stub = regexp.MustCompile(`\[Masked: (\S+) returned (\d+) lines, (\d+) tokens\] (/\S+\.txt) (max:[0-9a-f]{8})`)

func TestMasks(t *testing.T) {
	for _, f := range some(t) {
		for _, mode := range []policy.Mode{policy.ModeSafe, policy.ModeLean} {
			t.Run(f.codec.Wire()+" "+string(mode), func(t *testing.T) {
				w := open(t, f, mode)
				last := w.grow(60)
				raw := w.body(w.model, strings.Join(w.items, ","))
				found := stub.FindAllStringSubmatch(last, -1)
				if len(found) < 10 || len(last)*2 > len(raw) {
					t.Fatalf("%d masks, %d of %d bytes are sent", len(found), len(last), len(raw))
				}
				if w.events < 1 || w.events > 12 {
					t.Errorf("%d decisions in 60 requests", w.events)
				}
				w.store.Settle() // the copies are written behind the requests
				for i, m := range found {
					content, err := os.ReadFile(m[4])
					want := text(i, 1500)
					if i == 0 {
						want = string(content)
					}
					if err != nil || !strings.HasPrefix(string(content), "0") || want == "" {
						t.Errorf("%s: %.40q (%v)", m[4], content, err)
					}
					if m[1] != f.tool || m[2] != fmt.Sprint(strings.Count(string(content), "\n")) {
						t.Errorf("%s stands for %d lines", m[0], strings.Count(string(content), "\n"))
					}
					if _, whole, err := w.store.Open(thread.Token(m[5])); err != nil || !bytes.Equal(whole, content) {
						t.Errorf("%s: %v", m[5], err)
					}
				}
				again := w.send("t1")
				if again != last {
					t.Error("the same request is sent in another way")
				}
				w.restart()
				before := stub.FindAllString(last, -1)
				last = w.send("t1") // more may be masked: how much the provider counted is not known any more
				for _, s := range before {
					if !strings.Contains(last, s) {
						t.Errorf("after a restart %s is not sent", s)
					}
				}
				w.restart()
				if got := w.send("t1"); got != last {
					t.Error("after a second restart the same request is sent in another way")
				}
				w.parents["fork"] = "t1"
				if got := w.send("fork"); got != last {
					t.Error("a fork sends another request")
				}
				w.items = w.items[:41] // the agent went back
				if got := w.list(w.send("t1")); !strings.HasPrefix(w.list(last), got) {
					t.Error("after a rewind another beginning is sent")
				}
				if len(w.notices) > 0 {
					t.Errorf("people were told %q", w.notices)
				}
			})
		}
	}
}

// TestObserve: with observe and off nothing is changed; observe decides all the same.
func TestObserve(t *testing.T) {
	for _, f := range some(t) {
		for _, mode := range []policy.Mode{policy.ModeObserve, policy.ModeOff} {
			w := open(t, f, mode)
			w.items = append(w.items, w.person("fix the bug"))
			for i := range 60 {
				w.step(i, 1500)
				if got := w.send("t1"); got != w.body(w.model, strings.Join(w.items, ",")) {
					t.Fatalf("%s, %s: request %d was changed", f.codec.Wire(), mode, i)
				}
			}
			r, err := w.Report("t1")
			if err != nil {
				t.Fatal(err)
			}
			if mode == policy.ModeObserve && (!strings.Contains(r.Forecast, "masking now frees") || r.Masked != 0) {
				t.Errorf("%s: %q, %d masked", f.codec.Wire(), r.Forecast, r.Masked)
			}
		}
	}
}

// TestReadAgain: what is read again after it was masked is not masked at once, although it is the same.
func TestReadAgain(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		w.grow(60)
		id := "again"
		w.items = append(w.items, w.call(id, w.tool, `{"command":"cat file3"}`), w.result(id, w.tool, text(3, 1500)))
		sent := w.send("t1")
		if n := strings.Count(w.list(sent), string(wire.Quote(text(3, 1500)))); n != 1 {
			t.Errorf("%s: what was read again is sent %d times", f.codec.Wire(), n)
		}
	}
}

func TestCannotRead(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeSafe)
		w.grow(60)
		for _, body := range []string{"", "{", "null", "[]", `{"messages":[{"role":"user"`, w.body(w.model, "1,2") + "x"} {
			if got := w.sendBody("t1", body); got != body {
				t.Errorf("%s: %q is sent as %q", f.codec.Wire(), body, got)
			}
		}
		if len(w.notices) != 1 {
			t.Errorf("%s: people were told %q", f.codec.Wire(), w.notices)
		}
		if got := w.list(w.send("t1")); got != w.lastList {
			t.Errorf("%s: after what cannot be read another request is sent", f.codec.Wire())
		}
	}
}

// TestCannotStore: what cannot be stored is not masked, and people are told once; what was masked before stays masked.
func TestCannotStore(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.grow(60)
	masked := len(stub.FindAllString(w.lastList, -1))
	if err := w.store.Close(); err != nil { // as if its disk were gone
		t.Fatal(err)
	}
	w.grow(40)
	if n := len(stub.FindAllString(w.lastList, -1)); n != masked {
		t.Errorf("%d masks, %d before the store was gone", n, masked)
	}
	if len(w.notices) != 1 || !strings.Contains(w.notices[0], "no more of this thread is masked") {
		t.Errorf("people were told %q", w.notices)
	}
	w.store = nil
	w.restart()
	last := w.send("t1")
	if n := len(stub.FindAllString(last, -1)); n <= masked {
		t.Errorf("%d masks after the store is back, %d before", n, masked)
	}
}

func TestCannotOpen(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	if err := os.WriteFile(filepath.Join(w.dir, "masks", "t1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.items = []string{w.person("hello")}
	if got := w.send("t1"); got != w.body(w.model, w.items[0]) {
		t.Errorf("sent %s", got)
	}
	if len(w.notices) == 0 {
		t.Error("people were not told")
	}
}

// TestCountsAndCompaction: the agent's token counts get what is sent, and its own summary gets everything if it fits.
func TestCountsAndCompaction(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	last := w.grow(60)
	raw := w.body(w.model, strings.Join(w.items, ","))
	w.path = "/v1/messages/count_tokens"
	if got := w.send("t1"); got != last {
		t.Error("a token count is not asked for what is sent")
	}
	w.path = "/v1/messages"
	summary := w.person("Your task is to create a detailed summary of the conversation so far")
	body := w.body(w.model, strings.Join(append(slices.Clone(w.items), summary), ","))
	w.window = 1_000_000
	if got := w.sendBody("t1", body); got != body {
		t.Error("a summary is made of what is masked although everything fits")
	}
	w.window = int64(len(raw)) / 8
	if got := w.sendBody("t1", body); len(stub.FindAllString(got, -1)) == 0 {
		t.Error("a summary of more than fits is asked for")
	}
}

func TestWishes(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	last := w.grow(60)
	report := func() thread.ContextReport {
		t.Helper()
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	change := func(c thread.ContextChange) {
		t.Helper()
		if err := w.Change("t1", c); err != nil {
			t.Fatal(err)
		}
	}
	r := report()
	if r.Masked == 0 || r.Mode != thread.MaskSafe || len(r.Results) < 60 || r.Tokens == 0 {
		t.Fatalf("%+v", r)
	}
	kinds, sum := map[string]bool{}, int64(0)
	for _, p := range r.Parts {
		kinds[p.Kind+" "+p.Name] = true
		sum += p.Tokens
	}
	if diff := sum - r.Tokens; diff < -int64(len(r.Parts)) || diff > int64(len(r.Parts)) {
		t.Errorf("the parts have %d tokens, the context %d", sum, r.Tokens)
	}
	for _, want := range []string{"system ", "tools ", "tools github", "messages ", "results Bash", "inputs Bash"} {
		if !kinds[want] {
			t.Errorf("%q is not among what fills the context: %+v", want, r.Parts)
		}
	}
	var first, unmasked thread.ContextResult
	for _, res := range r.Results {
		switch {
		case res.Masked && first.ID == "":
			first = res
		case !res.Masked && !res.Input && res.Kept == "":
			unmasked = res
		}
	}
	change(thread.ContextChange{Unmask: []string{string(first.Token)}})
	sent := w.send("t1")
	if strings.Contains(sent, string(first.Token)) || len(stub.FindAllString(sent, -1)) != len(stub.FindAllString(last, -1))-1 {
		t.Error("what was unmasked is still masked, or more is sent")
	}
	change(thread.ContextChange{Mask: []string{first.ID[:12]}})
	if got := w.send("t1"); got != last {
		t.Error("what is masked again is masked in another way")
	}
	change(thread.ContextChange{Mask: []string{unmasked.ID}})
	sent = w.send("t1")
	if len(stub.FindAllString(sent, -1)) != len(stub.FindAllString(last, -1))+1 {
		t.Error("what a person wants masked is not")
	}
	off := thread.MaskOff
	change(thread.ContextChange{Mode: &off})
	if got := w.send("t1"); got != w.body(w.model, strings.Join(w.items, ",")) {
		t.Error("a thread in mode off is masked")
	}
	none := thread.MaskDefault
	pinned := r.Results[len(r.Results)-1].ID
	change(thread.ContextChange{Pin: []string{pinned}})
	change(thread.ContextChange{Mode: &none, Mask: []string{"all"}})
	w.send("t1")
	for _, res := range report().Results {
		if res.ID == pinned && (res.Masked || !res.Pinned) {
			t.Error("what is pinned is masked with all others")
		}
	}
	sent = w.send("t1")
	if n := len(stub.FindAllString(sent, -1)); n < 55 {
		t.Errorf("of everything only %d results are masked", n)
	}
	for _, bad := range []thread.ContextChange{{Mask: []string{"zz"}}, {Pin: []string{""}}} {
		if err := w.Change("t1", bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	wrong := thread.MaskMode("more")
	if err := w.Change("t1", thread.ContextChange{Mode: &wrong}); err == nil {
		t.Error("a mode that does not exist was taken")
	}
}
