package base_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/base"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/thread"
)

// formats are the codecs with a path that is theirs.
var formats = map[string]struct {
	codec wire.Codec
	path  string
}{
	"anthropic": {anthropic.New(), "/v1/messages"}, "responses": {openai.NewResponses(), "/v1/responses"},
	"chat": {openai.NewChat(), "/v1/chat/completions"}, "gemini": {gemini.New(), "/v1beta/models/g:streamGenerateContent"},
}

// asItCame is a rewriter that changes nothing. It tells what it is told.
type asItCame struct {
	told  []string
	reads bool
}

func (a *asItCame) Rewrite(_ context.Context, o gateway.Outgoing) gateway.Rewritten {
	if !a.reads {
		return gateway.Rewritten{}
	}
	q, err := o.Codec.Request(o.Call)
	if err != nil {
		return gateway.Rewritten{}
	}
	return gateway.Rewritten{Request: &q, Ended: func(e *thread.Exchange) { e.Masked++ }}
}
func (a *asItCame) Rest(id thread.ID)   { a.told = append(a.told, "rest "+string(id)) }
func (a *asItCame) Forget(id thread.ID) { a.told = append(a.told, "forget "+string(id)) }

// inMemory is a store.
type inMemory struct {
	mu   sync.Mutex
	kept map[thread.ID][]byte
}

func (m *inMemory) Keep(id thread.ID, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[id] = b
	return nil
}

func (m *inMemory) Last(id thread.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[id], nil
}

func (m *inMemory) Drop(id thread.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, id)
	return nil
}

// rig is a watcher whose counts are words.
type rig struct {
	*base.Watcher
	store *inMemory
	inner *asItCame
	cfg   base.Config
}

func words(_, text string) int { return len(strings.Fields(text)) }

func newRig(change func(*base.Config)) *rig {
	r := &rig{store: &inMemory{kept: map[thread.ID][]byte{}}, inner: &asItCame{}}
	r.cfg = base.Config{
		Rewriter: r.inner, Count: words, Encoding: func(string) string { return "" }, Estimate: func(n int) int64 { return int64(n) / 4 },
		Factor: func(string) float64 { return 1 }, Parts: func(_ thread.ID, texts []thread.BaseText) []thread.BaseText { return texts },
		Store: r.store, Now: func() time.Time { return time.Unix(1, 0) }, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&r.cfg)
	}
	r.Watcher = base.New(r.cfg)
	return r
}

// send has a body sent, and answered so. It returns what is known of it then.
func (r *rig) send(t testing.TB, id thread.ID, format, body string, status int, input int64) thread.Exchange {
	t.Helper()
	f := formats[format]
	out := r.Rewrite(t.Context(), gateway.Outgoing{
		Thread: id, Codec: f.codec, Call: wire.Call{Path: f.path, Header: http.Header{}, Body: []byte(body)},
	})
	if out.Body != nil || out.Refusal != "" {
		t.Errorf("a request is changed: %+v", out)
	}
	e := thread.Exchange{Status: status, Usage: thread.Usage{Input: input}}
	if out.Ended != nil {
		out.Ended(&e)
	}
	return e
}

// told are parts in a line each.
func told(parts []thread.BasePart) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, fmt.Sprintf("%s %s %d×%d", p.Kind, p.Name, p.Tokens, p.Count))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestFormats: of each format the maker's texts, the tools and those of servers, what is said in the person's place and
// the prompt are told apart; of a resumed conversation nothing between the first answer and the last counts.
func TestFormats(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic": "mcp notes 4×1\nother  12×2\nsystem  7×2\ntool Bash 2×1\ntool Edit 3×1",
		"responses": "mcp notes 4×1\nother  8×2\nsystem  9×3\ntool apply_patch 4×1\ntool web_search 1×1",
		"chat":      "system  5×2\ntool bash 4×1",
		"gemini":    "mcp notes 2×1\nother  5×1\nsystem  4×1\ntool read_file 2×1",
	} {
		body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(nil)
		r.send(t, "t1", name, string(body), 200, 0)
		f, err := r.First("t1")
		if err != nil || f == nil {
			t.Fatalf("%s: %v, %v", name, f, err)
		}
		if got := told(f.Parts); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		prompt := map[string]int64{"anthropic": 5}[name] // of a resumed one, also the newest
		if f.Prompt != max(3, prompt) || len(f.ToolsSum) != 64 || f.Model == "" && name != "gemini" {
			t.Errorf("%s: prompt %d, tools %s, model %q", name, f.Prompt, f.ToolsSum, f.Model)
		}
		if kept, _ := r.store.Last("t1"); strings.Contains(string(kept), "secretly") {
			t.Errorf("%s: a text is kept: %s", name, kept)
		}
	}
}

const (
	first = `{"model":"m","tools":[{"name":"Bash"},{"name":"Read"}],"system":"be good","messages":[{"role":"user","content":"hello"}]}`
	other = `{"model":"m","tools":[{"name":"Bash"}],"system":"be very good","messages":[{"role":"user","content":"hello"}]}`
	title = `{"model":"m","system":"write a title","messages":[{"role":"user","content":"hello"}]}`
)

// TestOnlyTheFirst: the first main request of a process that is answered counts, and no other; the next process has its own.
func TestOnlyTheFirst(t *testing.T) {
	for name, reads := range map[string]bool{"read before": true, "not read before": false} {
		t.Run(name, func(t *testing.T) { onlyTheFirst(t, reads) })
	}
}

func onlyTheFirst(t *testing.T, reads bool) {
	looked := 0
	r := newRig(func(c *base.Config) {
		c.Seen = func(id thread.ID, r thread.FirstRequest) {
			looked++
			if len(r.Texts) < 3 || r.Texts[0].Kind != thread.BaseTool || r.Texts[0].Name != "Bash" || r.Model != "m" {
				t.Errorf("of %s is told: %+v", id, r)
			}
		}
	})
	r.inner.reads = reads
	tools := func(want string) {
		t.Helper()
		f, err := r.First("t1")
		if err != nil {
			t.Fatal(err)
		}
		if got := ""; f != nil {
			got = strings.Join(f.Offered, " ")
			if got != want {
				t.Errorf("offered: %s, want %s", got, want)
			}
		} else if want != "" {
			t.Errorf("nothing is known, want %s", want)
		}
	}
	r.send(t, "t1", "anthropic", title, 200, 9)
	tools("")
	r.send(t, "t1", "anthropic", other, 529, 0)
	tools("Bash")
	r.send(t, "t1", "anthropic", first, 200, 9)
	tools("Bash Read")
	for range 5 {
		if e := r.send(t, "t1", "anthropic", other, 200, 9); e.Base <= 0 || reads != (e.Masked == 1) {
			t.Errorf("a later request: %+v", e)
		}
	}
	tools("Bash Read")
	if looked != 2 {
		t.Errorf("%d requests were looked at", looked)
	}
	r.send(t, "t2", "anthropic", other, 200, 9)
	tools("Bash Read")
	r.Rest("t1")
	tools("Bash Read")
	if e := r.send(t, "t1", "anthropic", other, 200, 0); e.Base != 4 {
		t.Errorf("a process's first request has a base of %d", e.Base)
	}
	tools("Bash")
	for range 9 {
		r.send(t, "t3", "anthropic", first, 500, 0)
	}
	if looked != 4+3 {
		t.Errorf("%d requests were looked at; of those that fail only some are", looked)
	}
	r.Forget("t1")
	tools("")
	if got := strings.Join(r.inner.told, ", "); got != "rest t1, forget t1" {
		t.Errorf("the rewriter was told: %s", got)
	}
}

// TestGone: what ends after its thread was removed is not kept; what ends after its process is.
func TestGone(t *testing.T) {
	for gone, want := range map[bool]bool{true: false, false: true} {
		r := newRig(nil)
		f := formats["anthropic"]
		out := r.Rewrite(t.Context(), gateway.Outgoing{Thread: "t1", Codec: f.codec, Call: wire.Call{Path: f.path, Body: []byte(first)}})
		r.Rest("t1")
		if gone {
			r.Forget("t1")
		}
		out.Ended(&thread.Exchange{Status: 200, Usage: thread.Usage{Input: 9}})
		if kept, _ := r.store.Last("t1"); (kept != nil) != want {
			t.Errorf("removed %v: %s is kept", gone, kept)
		}
	}
}

// TestToolsSum: the same bytes have the same sum, others another one.
func TestToolsSum(t *testing.T) {
	sum := func(body string) string {
		r := newRig(nil)
		r.send(t, "t1", "anthropic", body, 200, 9)
		f, err := r.First("t1")
		if err != nil || f == nil {
			t.Fatalf("%v, %v", f, err)
		}
		return f.ToolsSum
	}
	a := sum(first)
	if b := sum(strings.Replace(first, "hello", "bye", 1)); a != b {
		t.Error("another prompt changes the sum of the tools")
	}
	if b := sum(strings.Replace(first, `{"name":"Bash"}`, `{"name": "Bash"}`, 1)); a == b {
		t.Error("other bytes have the same sum")
	}
}

// TestCorrected: parts are counted as the provider counts, if that is believable; together they have the tokens.
func TestCorrected(t *testing.T) {
	for _, c := range []struct {
		input int64
		want  int64 // of 4 words: 2 tools of 1, 2 of system; 1 of the prompt besides
	}{{5, 4}, {10, 8}, {0, 12}, {500, 12}, {1, 12}} {
		r := newRig(func(c *base.Config) { c.Factor = func(string) float64 { return 3 } })
		r.send(t, "t1", "anthropic", first, 200, c.input)
		f, err := r.First("t1")
		if err != nil {
			t.Fatal(err)
		}
		var report thread.BaseReport
		f.Fill(&report)
		var sum int64
		for _, p := range report.Parts {
			sum += p.Tokens
		}
		if report.Tokens != c.want || sum != c.want || report.Counted != 4 {
			t.Errorf("the provider counts %d: %d tokens, parts have %d, counted %d; want %d", c.input, report.Tokens, sum, report.Counted, c.want)
		}
	}
}

// TestTellsApart: texts are told apart by the agent's package; what loses a text, or panics, tells nothing.
func TestTellsApart(t *testing.T) {
	for name, c := range map[string]struct {
		parts func([]thread.BaseText) []thread.BaseText
		want  string
	}{
		"split": {func(texts []thread.BaseText) (out []thread.BaseText) {
			for _, t := range texts {
				if rest, ok := strings.CutPrefix(t.Text, "be "); ok {
					out = append(out, thread.BaseText{Kind: thread.BaseEnvironment, Name: "e", Text: "be "})
					t.Text = rest
				}
				out = append(out, t)
			}
			return out
		}, "environment e 1×1\nsystem  1×1\ntool Bash 1×1\ntool Read 1×1"},
		"lost":   {func([]thread.BaseText) []thread.BaseText { return nil }, "system  2×1\ntool Bash 1×1\ntool Read 1×1"},
		"panics": {func([]thread.BaseText) []thread.BaseText { panic("no") }, "system  2×1\ntool Bash 1×1\ntool Read 1×1"},
		"writes into it": {func(texts []thread.BaseText) []thread.BaseText {
			clear(texts)
			return nil
		}, "system  2×1\ntool Bash 1×1\ntool Read 1×1"},
	} {
		r := newRig(func(cfg *base.Config) {
			cfg.Parts = func(_ thread.ID, texts []thread.BaseText) []thread.BaseText { return c.parts(texts) }
		})
		r.send(t, "t1", "anthropic", first, 200, 9)
		f, err := r.First("t1")
		if err != nil || f == nil {
			t.Fatalf("%s: %v, %v", name, f, err)
		}
		if got := told(f.Parts); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestBounds: what is kept of a request with a great many tools and endless names is bounded.
func TestBounds(t *testing.T) {
	var tools []string
	for i := range 3000 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d%s"}`, i, strings.Repeat("n", 900)))
	}
	r := newRig(nil)
	r.send(t, "t1", "anthropic", `{"model":"m","tools":[`+strings.Join(tools, ",")+`],"system":"x","messages":[{"role":"user","content":"hello"}]}`, 200, 0)
	f, err := r.First("t1")
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	kept, _ := r.store.Last("t1")
	n := 0
	for _, p := range f.Parts {
		n += p.Count
	}
	if len(f.Parts) > 410 || len(f.Offered) != 1000 || len(kept) > 600<<10 || n != 3001 || f.Tokens != 3001 {
		t.Errorf("%d parts of %d, %d names, %d bytes, %d tokens", len(f.Parts), n, len(f.Offered), len(kept), f.Tokens)
	}
}

// FuzzFirst: any body goes on, and its parts have all of its tokens.
func FuzzFirst(f *testing.F) {
	for name := range formats {
		body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, string(body))
	}
	f.Add("anthropic", first)
	f.Add("gemini", `{"request":{"tools":[{"functionDeclarations":[{}]}],"contents":[{"parts":[[["x"]]]}]}}`)
	f.Fuzz(func(t *testing.T, format, body string) {
		if _, ok := formats[format]; !ok {
			t.Skip()
		}
		r := newRig(nil)
		r.send(t, "t1", format, body, 200, int64(len(body)))
		first, err := r.First("t1")
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			return
		}
		var sum int64
		for _, p := range first.Parts {
			if p.Kind == thread.BasePrompt || p.Tokens < 0 || p.Count < 1 {
				t.Errorf("part %+v", p)
			}
			sum += p.Tokens
		}
		if sum != first.Tokens || first.Factor <= 0 {
			t.Errorf("%d tokens of %d, factor %v", sum, first.Tokens, first.Factor)
		}
	})
}

// BenchmarkRewrite is what a request waits for: the first one of a process, and each later one.
func BenchmarkRewrite(b *testing.B) {
	body := `{"model":"m","system":"` + strings.Repeat("be good ", 8000) + `","tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hello"}]}`
	f := formats["anthropic"]
	o := gateway.Outgoing{Thread: "t1", Codec: f.codec, Call: wire.Call{Path: f.path, Body: []byte(body)}}
	b.Run("first", func(b *testing.B) {
		r := newRig(nil)
		for b.Loop() {
			out := r.Rewrite(b.Context(), o)
			b.StopTimer()
			out.Ended(&thread.Exchange{Status: 200, Usage: thread.Usage{Input: 9}})
			r.Rest("t1")
			b.StartTimer()
		}
	})
	b.Run("later", func(b *testing.B) {
		r := newRig(nil)
		r.send(b, "t1", "anthropic", body, 200, 9)
		for b.Loop() {
			r.Rewrite(b.Context(), o)
		}
	})
	b.Run("looking", func(b *testing.B) {
		r := newRig(nil)
		for b.Loop() {
			r.send(b, "t1", "anthropic", body, 200, 9)
			r.Rest("t1")
		}
	})
}
