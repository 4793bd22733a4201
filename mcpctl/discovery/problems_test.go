package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/mcpctl/discovery"
)

// TestProblems names file, line and server of what is wrong, and quotes no value.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		want          []string // "line server: text", in order
		usable        int      // servers without a problem
	}{
		"syntax":     {".mcp.json", "{\n\"mcpServers\": {\n\"a\" {}\n}}", []string{"3 : expected a colon"}, 0},
		"cut off":    {".mcp.json", "{\n\"mcpServers\": {\n", []string{"3 : unexpected end"}, 0},
		"empty":      {".mcp.json", "", []string{"1 : unexpected end"}, 0},
		"a list":     {".mcp.json", "[]", []string{"1 : expected an object, found a list"}, 0},
		"binary":     {".mcp.json", "\x00\xff", []string{"1 : unexpected"}, 0},
		"servers":    {".mcp.json", "{\n\"mcpServers\": [1]}", []string{"2 : mcpServers must be an object"}, 0},
		"none":       {".mcp.json", `{"mcpServers": null}`, nil, 0},
		"a server":   {".mcp.json", "{\"mcpServers\": {\n\"a\": 1, \"b\": {\"command\": \"x\"}}}", []string{"2 a: must be an object, not a number"}, 1},
		"neither":    {".mcp.json", "{\"mcpServers\": {\n\"a\": {}}}", []string{"2 a: has neither a command nor a URL"}, 0},
		"no command": {".mcp.json", `{"mcpServers": {"a": {"type": "stdio", "url": "http://a"}}}`, []string{"1 a: has no command"}, 0},
		"no URL":     {".mcp.json", `{"mcpServers": {"a": {"type": "http", "command": "x"}}}`, []string{"1 a: has no URL"}, 0},
		"transport":  {".mcp.json", `{"mcpServers": {"a": {"type": "ws", "url": "ws://a"}}}`, []string{`1 a: transport "ws" is not supported`}, 0},
		"scheme":     {".mcp.json", `{"mcpServers": {"a": {"url": "file:///CANARY"}}}`, []string{"1 a: its URL must begin with"}, 0},
		"wrong types": {".mcp.json", `{"mcpServers": {"a": {
"command": ["CANARY"],
"args": "CANARY",
"env": {"A": {}},
"headers": [],
"cwd": 1,
"timeout": -1,
"taskPatterns": [{}],
"oauth": [],
"enabled": "no"}}}`, []string{"2 a: command must be a text", "3 a: args must be a list of texts",
			"4 a: env must be", "5 a: headers must be", "6 a: cwd must be", "7 a: timeout must be", "8 a: taskPatterns must be",
			"9 a: oauth must be", "10 a: enabled must be true or false"}, 0},
		"options": {".mcp.json", `{"mcpServers": {"a": {"command": "x", "x-orchestrator": {
"share": "all", "idleStop": 5,
"tools": [], "stageChars": "many"}}}}`, []string{"2 a: x-orchestrator: share must be", "2 a: x-orchestrator: idleStop must be",
			"3 a: x-orchestrator: tools must be", "3 a: x-orchestrator: stageChars must be"}, 1},
		"twice": {".mcp.json", "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"b\": {\"command\": \"x\"},\n\"a\": {\"command\": \"CANARY\"}}}",
			[]string{"4 a: configured twice, also in line 2"}, 1},
		"key twice":      {".mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"command\": \"CANARY\"}}}", []string{"2 a: command is there twice"}, 0},
		"variable twice": {".mcp.json", `{"mcpServers": {"a": {"command": "x", "env": {"A": "1", "A": "2"}}}}`, []string{"1 a: env must be"}, 0},
		"TOML":           {".codex/config.toml", "[mcp_servers.a]\ncommand = \"x\"\nargs = [\n", []string{"3 : "}, 0},
		"TOML, twice":    {".codex/config.toml", "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a]\ncommand = \"y\"\n", []string{"3 : "}, 0},
		"TOML, type":     {".codex/config.toml", "mcp_servers = 1\n", []string{"1 : "}, 0},
		"TOML, servers": {".codex/config.toml", "\n[mcp_servers.a]\ncommand = 1\n\n[mcp_servers.b]\nbearer_token = \"CANARY\"\nurl = \"http://a\"\n",
			[]string{"2 a: command must be a text", "5 b: bearer_token must be given by bearer_token_env_var"}, 0},
		"TOML, nan":    {".codex/config.toml", "[mcp_servers.a]\ntool_timeout_sec = nan\n", []string{"0 : mcp_servers"}, 0},
		"TOML, nested": {".codex/config.toml", "a = " + strings.Repeat("[", 200_000), []string{"0 : more than"}, 0},
		"inputs":       {".vscode/mcp.json", `{"servers": {"a": {"command": "x"}}, "inputs": [{}]}`, []string{"1 : an input has no id"}, 1},
		"too large":    {".mcp.json", `{"a": "` + strings.Repeat("x", 1<<20) + `"}`, []string{"0 : file too large"}, 0},
		"overlay":      {"home/.config/orchestrator/mcp.json", "{\"mcpServers\": {\n\"a\": {\"taskPatterns\": [\"x\"]}}}", []string{"2 a: no such server is configured"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			file := filepath.Join(project, c.file)
			write(t, file, c.content)
			found := discovery.Places{Project: project, Home: filepath.Join(project, "home")}.Definitions()
			var got []string
			for _, p := range found.Problems {
				if p.File != file || !strings.HasPrefix(p.String(), file) || strings.Contains(p.String(), "CANARY") {
					t.Errorf("problem %s", p)
				}
				got = append(got, fmt.Sprintf("%d %s: %s", p.Line, p.Server, p.Text))
			}
			if len(got) != len(c.want) {
				t.Fatalf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for i, want := range c.want {
				if at, text, _ := strings.Cut(want, ": "); !strings.HasPrefix(got[i], at+": ") || !strings.Contains(got[i], text) {
					t.Errorf("problem %q, want %q", got[i], want)
				}
			}
			usable := 0
			for _, d := range found.Definitions {
				if d.Problem == "" {
					usable++
				} else if _, ok := found.Hashes[d.ID]; ok {
					t.Errorf("%s has a problem and a hash", d.ID)
				}
			}
			if usable != c.usable {
				t.Errorf("%d usable servers, want %d", usable, c.usable)
			}
		})
	}
}

// TestIrregularFiles: only regular files are read, and of a repository only those that are no links.
func TestIrregularFiles(t *testing.T) {
	const content = `{"mcpServers": {"a": {"command": "x"}}}`
	for name, c := range map[string]struct {
		make         func(t *testing.T, file string) error
		own, project bool // whether the server is found
	}{
		"regular": {func(_ *testing.T, file string) error { return os.WriteFile(file, []byte(content), 0o600) }, true, true},
		"link": {func(t *testing.T, file string) error {
			target := filepath.Join(t.TempDir(), "x")
			write(t, target, content)
			return os.Symlink(target, file)
		}, true, false},
		"pipe":      {func(_ *testing.T, file string) error { return syscall.Mkfifo(file, 0o600) }, false, false},
		"folder":    {func(_ *testing.T, file string) error { return os.Mkdir(file, 0o700) }, false, false},
		"device":    {func(_ *testing.T, file string) error { return os.Symlink("/dev/zero", file) }, false, false},
		"own link":  {func(_ *testing.T, file string) error { return os.Symlink(file, file) }, false, false},
		"no access": {func(_ *testing.T, file string) error { return os.Symlink("/proc/self/mem", file) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, own := range []bool{true, false} {
				home, project := t.TempDir(), t.TempDir()
				file, want := filepath.Join(project, ".mcp.json"), c.project
				if own {
					file, want = filepath.Join(home, ".claude.json"), c.own
				}
				if err := c.make(t, file); err != nil {
					t.Fatal(err)
				}
				found := discovery.Places{Project: project, Home: home}.Definitions()
				if got := len(found.Definitions) == 1; got != want || (len(found.Problems) == 1) == want {
					t.Errorf("own %v: %+v", own, found)
				}
				irregular := name == "pipe" || name == "folder" || name == "device"
				if irregular && !strings.Contains(found.Problems[0].Text, "not a regular file") {
					t.Errorf("own %v: %s", own, found.Problems[0])
				}
			}
		})
	}
}

// TestManyServers: a file of 10,000 servers is bounded.
func TestManyServers(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "%q: {\"command\": 1, \"args\": [\"./s.js\"]},\n", fmt.Sprint("server", i))
	}
	wrong := "{\"mcpServers\": {\n" + b.String() + "}}"
	right := strings.ReplaceAll(wrong, "1,", `"x",`)
	p := places(t, map[string]string{".mcp.json": wrong, ".cursor/mcp.json": right, "~/.cursor/mcp.json": right})
	found := p.Definitions()
	// The repository's right ones are the same as the person's.
	if len(found.Definitions) != 1100 || len(found.Hashes) != 1000 {
		t.Errorf("%d servers, %d hashes", len(found.Definitions), len(found.Hashes))
	}
	last := make(map[string]discovery.Problem)
	for _, problem := range found.Problems {
		last[strings.TrimPrefix(problem.File, p.Project)] = problem
	}
	if len(found.Problems) != 100+1+1 || last["/.mcp.json"].Line != 100 ||
		last["/.cursor/mcp.json"].Line != 102 || last[p.Home+"/.cursor/mcp.json"].Line != 1002 {
		t.Errorf("%d problems, the last ones %v", len(found.Problems), last)
	}
}

// TestManyWords: a file of the repository that names very many files is bounded.
func TestManyWords(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "\"s%d\": {\"command\": \"node\", \"args\": [\"", i)
		for k := range 180 {
			fmt.Fprintf(&b, "%d.%d ", i, k)
		}
		b.WriteString("\"]},")
	}
	p := places(t, map[string]string{".cursor/mcp.json": `{"mcpServers": {` + b.String() + `"x": {"command": "node", "args": ["` + strings.Repeat("x ", 200) + `"]}}}`})
	found := p.Definitions()
	if len(found.Hashes) != 20 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, "more than 200 words") {
		t.Errorf("%d hashes, problems: %v", len(found.Hashes), found.Problems)
	}
}

func TestWarnings(t *testing.T) {
	project := t.TempDir()
	write(t, filepath.Join(project, ".mcp.json"), `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "@a/b"], "odd": 1},
"b": {"command": "uvx", "args": ["tool@latest"]}, "c": {"command": "npx", "args": ["@a/b@1.2"]},
"d": {"command": "uvx", "args": ["tool==1.0"]}, "e": {"command": "npx", "args": ["./local"]}, "f": {"command": "npx"}}}`)
	found := discovery.Places{Project: project, Home: t.TempDir()}.Definitions()
	for _, d := range found.Definitions {
		text := strings.Join(d.Warnings, "; ")
		want := map[string]string{"a": "@a/b has no fixed version", "b": "tool@latest has no fixed version"}[d.ID]
		if want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", d.ID, text, want)
		}
		if d.ID == "a" && !strings.Contains(text, `"odd" is not known here`) {
			t.Errorf("an unknown setting: %q", text)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, s := range []string{`{"mcpServers":{"a":{"command":"x","args":["y"],"x-orchestrator":{"tools":{}}}}}`,
		"[mcp_servers.a]\ncommand='x'\n[mcp_servers.\"b\"]\nenv_vars=[{name='x'}]", `{"mcp":{"servers":{"a":{"command":["x"]}}}}`,
		`{"servers":{"a":{"url":"http://x"}},"inputs":[{"id":"a"}]}`, `{"projects":{"/p":{"mcpServers":{"a":{}}}}}`} {
		f.Add([]byte(s))
	}
	project, home := f.TempDir(), f.TempDir()
	files := []string{project + "/.mcp.json", project + "/.codex/config.toml", project + "/.gemini/settings.json",
		project + "/opencode.json", project + "/.cursor/mcp.json", project + "/.vscode/mcp.json", home + "/.claude.json",
		home + "/.config/orchestrator/mcp.json"}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, file := range files {
			write(t, file, string(content))
		}
		found := discovery.Places{Project: project, Home: home}.Definitions()
		seen := map[string]bool{}
		for _, d := range found.Definitions {
			if d.ID == "" || len(d.ID) > 64 || strings.EqualFold(d.ID, "orch") || strings.Contains(d.ID, "__") || seen[d.ID] {
				t.Errorf("ID %q of %q", d.ID, d.Name)
			}
			seen[d.ID] = true
			d.Shown(discovery.Places{Project: project}.Hasher(""))
		}
		if len(found.Problems) > 101*len(files) {
			t.Errorf("%d problems", len(found.Problems))
		}
	})
}
