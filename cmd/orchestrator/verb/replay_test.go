package verb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/contextmgr/replay"
)

// storyOf returns a recorded session of an agent that reads and changes files, with so many requests.
func storyOf(requests int) string {
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	line(`{"role":"user","type":"text","content":"do it","t":0}`)
	for i := range requests {
		line(`{"role":"assistant","type":"text","content":"on","t":%d,"req":%d,"model":"claude-opus-4-6","usage":{"in":2,"read":%d,"write":1400,"out":1}}`,
			i*10, i, 40_000+i*1_400)
		line(`{"role":"assistant","type":"tool_use","tool":"Read","id":"r%d","content":"{\"file_path\":\"/f%d\"}","req":%[1]d}`, i, i/3)
		line(`{"role":"user","type":"tool_result","tool":"Read","id":"r%d","content":"%s"}`, i, strings.Repeat("a line\\n", 500))
		line(`{"role":"assistant","type":"tool_use","tool":"Edit","id":"e%d","content":"{\"file_path\":\"/f%d\"}","req":%[1]d}`, i, i/3)
	}
	return s.String()
}

// contextReplay runs the verb, and returns its exit code and what it prints.
func contextReplay(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(append([]string{"context", "replay"}, args...), strings.NewReader(""), &stdout, &stderr, []string{"HOME=" + os.Getenv("HOME")})
	return code, stdout.String(), stderr.String()
}

// TestContextReplay replays files, folders and patterns without a project and a server.
func TestContextReplay(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := put("one.jsonl", "broken\n"+storyOf(80)+"broken too\n")
	put("below/shop__pi__two.jsonl", storyOf(80))
	put("below/note.txt", "no session")
	note := put("below/settings.json", "{\n\"type\": \"user\"}")
	lines := put("below/shell.log", "one\ntwo\n")
	bare := put("bare.jsonl", `{"role":"user","type":"text","content":"no counts"}`)

	code, out, problems := contextReplay(t, dir)
	if code != exitcode.OK {
		t.Fatalf("exit %d: %s", code, problems)
	}
	for _, want := range []string{
		"claude, all, clean start, over 100k: 80 requests in 1 segment, mean context 97k (history 55k)", "pi, all, clean start, over 100k: ", "sliding  5m ", "raw      5m, 1h",
		"3 files, of which 1 without the provider's token counts left out; 2 broken lines skipped; 1 other file is no session",
		"With lean, the input of your 2 sessions would have cost about $2.70 less (-28.4%) with a prompt cache of 5 minutes.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if want := one + ": line 1: invalid character"; !strings.Contains(problems, want) || !strings.Contains(problems, "(and 1 broken line more)") {
		t.Errorf("of the broken lines it says %q", problems)
	}

	code, out, _ = contextReplay(t, filepath.Join(dir, "*", "*.jsonl"), one, one, "--policy", "lean,safe", "--json")
	var got replayed
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitcode.OK {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if got.Files != 2 || len(got.Groups) != 6 || len(got.Problems) != 1 || got.Problems[0].Broken != 2 || got.Problems[0].File != one {
		t.Errorf("%+v", got)
	}
	if r := got.Groups[0].Results; len(r) != 4 || r[0].Policy != "safe" || r[2].Policy != "lean" || r[0].HistoryCut < 20 || r[0].Cost >= 0 {
		t.Errorf("%+v", r)
	}
	onlyNote := filepath.Dir(put("notes/settings.json", "{}"))
	put(".claude/projects/p/s.jsonl", "{}")
	t.Setenv("HOME", dir)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitcode.Error, "no requests with the provider's token counts in 1 file", []string{bare}},
		{exitcode.NotFound, "matches", []string{filepath.Join(dir, "nothing*")}},
		{exitcode.NotFound, "ends in .jsonl", []string{t.TempDir()}},
		{exitcode.Error, "settings.json: not a recorded session: the formats that are read are claude, codex, gemini, opencode, ", []string{note}},
		{exitcode.NotFound, "none of 1 file is a recorded session", []string{onlyNote}},
		{exitcode.OK, "shell.log: not a recorded session: ", []string{one, lines}},
		{exitcode.Usage, "codex     ~/.codex/sessions/*/*/*/rollout-*.jsonl               none here", nil},
		{exitcode.Usage, "claude    ~/.claude/projects/*/*.jsonl                          1 file\n", nil},
		{exitcode.Usage, "syntax error in pattern", []string{"["}},
		{exitcode.Usage, "must be among raw", []string{one, "--policy", "naive"}},
	} {
		if code, _, problems := contextReplay(t, c.args...); code != c.code || !strings.Contains(problems, c.says) {
			t.Errorf("%v: exit %d, %s; want %d, %s", c.args, code, problems, c.code, c.says)
		}
	}
}

// TestContextReplayYours: what is configured is replayed as one policy more, and the sentence is about it.
func TestContextReplayYours(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	file := filepath.Join(home, "one.jsonl")
	e2e.Put(t, file, storyOf(80))
	config := filepath.Join(home, ".config", "orchestrator", "config.toml")
	results := func(args ...string) []replay.Outcome {
		t.Helper()
		code, out, problems := contextReplay(t, append([]string{file, "--json"}, args...)...)
		var r replayed
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitcode.OK {
			t.Fatalf("exit %d, %v: %s", code, err, problems)
		}
		return r.Groups[0].Results
	}
	if code, _, problems := contextReplay(t, file, "--policy", "yours"); code != exitcode.Usage || !strings.Contains(problems, "must be among raw") {
		t.Errorf("without rules: exit %d, %s", code, problems)
	}
	e2e.Put(t, config, "masking = \"lean\"\n[masking_tools.Read]\nkeep_last = 40\n")
	lean, mine := results("--policy", "lean")[0], results("--policy", "yours")[0]
	if mine.Policy != "yours" || mine.Masks == 0 || mine.ContextCut >= lean.ContextCut || mine.USD <= lean.USD || mine.RawUSD != lean.RawUSD {
		t.Errorf("with a rule %+v, without %+v", mine, lean)
	}
	if _, out, _ := contextReplay(t, file); !strings.Contains(out, "  yours    5m ") || !strings.Contains(out, "With your configuration, the input of your 1 session would") {
		t.Errorf("does not show what is configured:\n%s", out)
	}
	e2e.Put(t, config, "masking_keep = \"*\"\n")
	if kept := results("--policy", "yours")[0]; kept.Masks > 0 {
		t.Errorf("masks what is kept: %+v", kept)
	}
	e2e.Put(t, config, "masking_tools = 1\n")
	if code, out, problems := contextReplay(t, file); code != exitcode.OK || strings.Contains(out, "yours") || !strings.Contains(problems, "your configuration is not applied: read the configuration: "+config+":1:1: ") {
		t.Errorf("with a broken configuration: exit %d, %s", code, problems)
	}
	e2e.Put(t, config, "[models.\"claude-opus-4-6\"]\ninput = 0\noutput = 0\nwindow = 1000000\n")
	if r := results("--policy", "safe")[0]; r.RawUSD != 0 {
		t.Errorf("a free model costs %v", r.RawUSD)
	}
}

// TestContextReplayBase: bases and definitions are replayed with each policy, beside what was recorded.
func TestContextReplayBase(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "one.jsonl")
	e2e.Put(t, file, storyOf(80))
	replayed := func(args ...string) (r e2e.Replayed) {
		t.Helper()
		code, out, problems := contextReplay(t, append([]string{file, "--json", "--policy", "raw,lean"}, args...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitcode.OK {
			t.Fatalf("exit %d, %v: %s", code, err, problems)
		}
		return r
	}
	plain, based := replayed().Groups[0], replayed("--base", "full,mine=10000,half=50%", "--mcp-tokens", "20000,1000").Groups[0]
	const factor = 1.17 // of Claude's tokens to ours
	if got, want := based.Context-plain.Context, 20_000*factor; math.Abs(got-want) > 1 {
		t.Errorf("all definitions are %.0f tokens, want %.0f", got, want)
	}
	for i, want := range []float64{1_000 * factor, 1_000*factor - 10_000*factor, 1_000*factor - 0.5*(41_402-2)} { // the prompt has 2
		o := based.Results[2*i]
		if got := o.Context - plain.Context; o.Policy != "raw" || o.Cache != "5m" || math.Abs(got-want) > 2 {
			t.Errorf("%s, %s: %.0f tokens more than recorded, want %.0f", o.Policy, o.Base, got, want)
		}
		if lean := based.Results[6+2*i]; lean.Base != o.Base || lean.Context >= o.Context || lean.USD >= o.USD {
			t.Errorf("lean: %+v", lean)
		}
	}
	code, out, _ := contextReplay(t, file, "--policy", "raw,lean", "--base", "read-only")
	for _, want := range []string{"  POLICY  BASE ", "  raw     full  ", "  lean    read-only ", "With lean and base read-only, the input of your 1 session"} {
		if code != exitcode.OK || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q is missing:\n%s", code, want, out)
		}
	}
	for _, args := range [][]string{{"--base", "naked"}, {"--base", "slim="}, {"--base", "slim=-1"}, {"--base", "slim=101%"}, {"--base", "=9"},
		{"--base", "slim=1,slim=2"}, {"--base", "full=1"}, {"--base", "slim=99999999999999999999"}, {"--mcp-tokens", "1"},
		{"--mcp-tokens", "1,2"}, {"--mcp-tokens", "2,-1"}, {"--mcp-tokens", "99999999999,1"}} {
		if code, _, problems := contextReplay(t, append(args, file)...); code != exitcode.Usage || !strings.Contains(problems, args[0]) {
			t.Errorf("%v: exit %d, %s", args, code, problems)
		}
	}
}

// TestContextReplayLevers: what a profile saves of an agent is the sum of what its levers save, those of the person's own
// profiles too; where that is not known, nothing is, and it says why.
func TestContextReplayLevers(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", t.TempDir()) // no CLI is installed
	e2e.Put(t, filepath.Join(home, ".config", "orchestrator", "config.toml"),
		"[context.base.profiles.mine]\nfrom = \"slim\"\nkeep = [\"tips\"]\nleave_out = [\"shell\"]\n")
	for _, agent := range []string{"demo", "pi", "claude"} {
		e2e.Put(t, filepath.Join(home, "all", "shop__"+agent+"__one.jsonl"), strings.ReplaceAll(storyOf(20), "claude-opus-4-6", "a-model"))
	}
	code, out, problems := contextReplay(t, filepath.Join(home, "all"), "--json", "--policy", "raw", "--base", "slim,minimal,mine")
	var r e2e.Replayed
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitcode.OK {
		t.Fatalf("exit %d, %v: %s", code, err, problems)
	}
	want := map[string][]float64{"demo": {0, 110, 170, 95}, "pi": {0, 0, 0, 0}, "claude": {0, 0, 0, 0}} // tokens of the built-in levers
	for _, g := range r.Groups {
		for i, less := range want[g.Agent] {
			if o := g.Results[2*i]; g.Context-o.Context != less {
				t.Errorf("%s, base %s: %.0f tokens less, want %.0f", g.Agent, o.Base, g.Context-o.Context, less)
			}
		}
	}
	_, out, _ = contextReplay(t, filepath.Join(home, "all"), "--policy", "raw", "--base", "slim,mine")
	for _, want := range []string{"  base slim: 110 tokens less in each request, as measured with ", "  base mine: 95 tokens less in each request, as measured with ",
		"  base slim: what it saves is not known: nothing can be left out of it"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// TestContextReplayHostile: nothing of a file or its name acts on a terminal.
func TestContextReplayHostile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x__evil\x1b]52;c;eA==\a__"+"\u202etxt.jsonl")
	if err := os.WriteFile(path, []byte("\x1b[6n\n"+storyOf(30)), 0o600); err != nil {
		t.Skip("SKIPPED: a name that acts on terminals; this file system allows none, others run it:", err)
	}
	code, out, problems := contextReplay(t, path)
	if bad := e2e.Harms([]byte(out + problems)); bad != "" || code != exitcode.OK || !strings.Contains(out, "evil") {
		t.Errorf("exit %d, prints %s: %q %q", code, bad, out, problems)
	}
}
