package masking_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestManyResults: a thousand results in a request of 30 MB are masked like a few; with MEASURE ten thousand.
func TestManyResults(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it sends requests of 30 MB; `go test -run TestManyResults ./contextmgr/masking` runs it")
	}
	results, tokens := 1000, 6000
	if os.Getenv("MEASURE") != "" { // it takes a minute
		results, tokens = 10_000, 600
	}
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		w.window = 20_000_000
		w.items = []string{w.person("fix the bug")}
		for i := range results {
			w.step(i, tokens)
		}
		raw := len(w.body(w.model, strings.Join(w.items, ",")))
		sent := w.send("t1")
		if raw < 20<<20 || len(sent)*3 > raw {
			t.Errorf("%s: %d of %d bytes are sent", f.codec.Wire(), len(sent), raw)
		}
		if again := w.send("t1"); again != sent {
			t.Errorf("%s: the same request is sent in another way", f.codec.Wire())
		}
	}
}

// TestKeep: results of tools that a person wants kept are not masked.
func TestKeep(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.keep = "Bash"
	w.restart()
	if last := w.grow(60); len(stub.FindAllString(last, -1)) > 0 {
		t.Error("what is kept is masked")
	}
}

// TestOddRequests: whatever is odd about a conversation, what is not masked is sent as it came, and nothing panics.
func TestOddRequests(t *testing.T) {
	long := text(1, 2000)
	for _, f := range some(t) {
		base := []string{f.person("fix the bug")}
		for i := range 30 {
			id := fmt.Sprintf("call_%d", i)
			base = append(base, f.call(id, f.tool, `{"command":"ls"}`), f.result(id, f.tool, text(i, 2000)))
		}
		for name, odd := range map[string][]string{
			"an orphan":       {f.result("nobody", f.tool, long)},
			"the same id":     {f.call("call_1", f.tool, `{}`), f.result("call_1", f.tool, long)},
			"no result":       {f.call("open", f.tool, `{}`)},
			"results twice":   {f.result("call_2", f.tool, long), f.result("call_2", f.tool, long)},
			"null":            {"null"},
			"a number":        {"7"},
			"an empty object": {"{}"},
			"a list":          {"[[[]]]"},
			"unknown":         {`{"role":"wizard","type":"spell","content":[{"type":"spark","data":"` + strings.Repeat("A", 90_000) + `"}],"parts":[{"spark":1}]}`},
			"not UTF-8":       {f.person("\xff\xfe")},
		} {
			w := open(t, f, policy.ModeLean)
			w.items = append(append([]string{}, base...), odd...)
			first := w.send("t1")
			if second := w.send("t1"); second != first {
				t.Errorf("%s, %s: the same request is sent in another way", f.codec.Wire(), name)
			}
			for _, item := range odd {
				if !strings.Contains(first, item) && !strings.Contains(item, string(wire.Quote(long))) {
					t.Errorf("%s, %s: %.80s is not sent as it came", f.codec.Wire(), name, item)
				}
			}
		}
	}
}

// FuzzRewrite: any body is sent as it came, or masked without a change elsewhere; nothing panics.
func FuzzRewrite(f *testing.F) {
	for _, fm := range formats() {
		items := []string{fm.person("fix the bug")}
		for i := range 12 {
			id := fmt.Sprintf("call_%d", i)
			items = append(items, fm.call(id, fm.tool, `{"command":"ls"}`), fm.result(id, fm.tool, text(i, 200)))
		}
		f.Add(fm.body("claude-sonnet-4-6", strings.Join(items, ",")))
	}
	all := formats()
	worlds := make([]*world, len(all))
	n, dir := 0, f.TempDir()
	f.Cleanup(func() {
		for _, w := range worlds {
			if w != nil {
				_ = w.store.Close()
			}
		}
	})
	f.Fuzz(func(t *testing.T, body string) {
		for i, fm := range all {
			if worlds[i] == nil {
				worlds[i] = openIn(t, filepath.Join(dir, fm.codec.Wire()), fm, policy.ModeLean)
				worlds[i].window = 2000 // almost anything is an emergency
			}
			w := worlds[i]
			w.T = t
			n++
			id := thread.ID(fmt.Sprint("t", n))
			sent := w.sendBody(id, body)
			if again := w.sendBody(id, body); again != sent {
				t.Errorf("%s: sent as %q, then as %q", fm.codec.Wire(), sent, again)
			}
			if strings.Count(sent, "[Masked: ") == strings.Count(body, "[Masked: ") && sent != body {
				t.Errorf("%s: %q is sent as %q without a mask", fm.codec.Wire(), body, sent)
			}
		}
	})
}
