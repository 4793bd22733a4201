package mcpctl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/mcpctl"
	"orchestrator/thread"
)

// pythonServer answers what MCP asks with what is in word, and says where it runs.
const pythonServer = `
import json, os, sys
def serve(word):
    for line in sys.stdin:
        m = json.loads(line)
        if "id" not in m:
            continue
        r = {}
        if m["method"] == "initialize":
            r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
        elif m["method"] == "tools/list":
            r = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
        elif m["method"] == "tools/call":
            r = {"content": [{"type": "text", "text": word + " " + os.getcwd()}]}
        elif m["method"] != "ping":
            print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// nodeServer is the same for Node.js.
const nodeServer = `
exports.serve = word => {
  require("readline").createInterface({input: process.stdin}).on("line", line => {
    const m = JSON.parse(line)
    if (m.id === undefined) return
    let r = {}
    if (m.method === "initialize") r = {protocolVersion: m.params.protocolVersion, capabilities: {tools: {}}, serverInfo: {name: "x", version: "1"}}
    else if (m.method === "tools/list") r = {tools: [{name: "say", inputSchema: {type: "object"}}]}
    else if (m.method === "tools/call") r = {content: [{type: "text", text: word + " " + process.cwd()}]}
    else if (m.method !== "ping") return console.log(JSON.stringify({jsonrpc: "2.0", id: m.id, error: {code: -32601, message: "no"}}))
    console.log(JSON.stringify({jsonrpc: "2.0", id: m.id, result: r}))
  })
}
`

// loading is a server that loads what it says from a file that its command line may not name.
type loading struct {
	name    string
	needs   string // a program without which it is not tried
	server  map[string]any
	files   map[string]string
	changed string // the file that is changed, which must not be run without a question
	to      string // its other content; by default "good" is replaced by "EVIL"
	inside  bool   // it starts in the copy
}

func args(words ...string) []string { return words }

// searchPath is PATH with the folder of the interpreter itself first: a version manager in between takes its time.
var searchPath = sync.OnceValue(func() string {
	path := os.Getenv("PATH")
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		path = filepath.Dir(strings.TrimSpace(string(out))) + ":" + path
	}
	return path
})

// loadings are ways to load code that is not a word of the command line.
func loadings() []loading {
	py := func(word string) string { return "import mcp\nmcp.serve(" + word + ")\n" }
	js := func(word string) string { return `require("./mcp.js").serve(` + word + ")\n" }
	return []loading{
		{name: "import beside", needs: "python3", server: map[string]any{"command": "python3", "args": args("tools/srv.py")},
			files:   map[string]string{"tools/srv.py": "import word\n" + py("word.w"), "tools/word.py": "w = 'good'\n", "tools/mcp.py": pythonServer},
			changed: "tools/word.py"},
		{name: "import beside in the root", needs: "python3", server: map[string]any{"command": "python3", "args": args("srv.py")},
			files: map[string]string{"srv.py": "from lib.deep import word\n" + py("word.w"), "lib/__init__.py": "", "lib/deep/__init__.py": "",
				"lib/deep/word.py": "w = 'good'\n", "mcp.py": pythonServer, "other.py": "w = 1\n"},
			changed: "lib/deep/word.py"},
		{name: "shadowed module", needs: "python3", server: map[string]any{"command": "python3", "args": args("srv.py")},
			files:   map[string]string{"srv.py": "import colorsys\n" + py("getattr(colorsys, 'w', 'good')"), "mcp.py": pythonServer},
			changed: "colorsys.py", to: "w = 'EVIL'\n"},
		{name: "__file__", needs: "python3", server: map[string]any{"command": "python3", "args": args("tools/a/srv.py")},
			files: map[string]string{"tools/a/srv.py": "import os\n" + py("open(os.path.join(os.path.dirname(__file__), 'data.txt')).read().strip()"),
				"tools/a/mcp.py": pythonServer, "tools/a/data.txt": "good\n"}, changed: "tools/a/data.txt"},
		{name: "python -m", needs: "python3", inside: true, server: map[string]any{"command": "python3", "args": args("-m", "pkg.server")},
			files: map[string]string{"pkg/__init__.py": "w = 'good'\n", "pkg/server.py": "from pkg import w\nfrom pkg import mcp\nmcp.serve(w)\n",
				"pkg/mcp.py": pythonServer}, changed: "pkg/__init__.py"},
		{name: "python -m, shadowed", needs: "python3", inside: true, server: map[string]any{"command": "python3", "args": args("-m", "pkg")},
			files:   map[string]string{"pkg/__main__.py": "import colorsys\nfrom pkg import mcp\nmcp.serve(getattr(colorsys, 'w', 'good'))\n", "pkg/mcp.py": pythonServer},
			changed: "colorsys.py", to: "w = 'EVIL'\n"},
		{name: "PYTHONPATH", needs: "python3", inside: true,
			server:  map[string]any{"command": "python3", "args": args("tools/srv.py"), "env": map[string]any{"PYTHONPATH": "./lib"}},
			files:   map[string]string{"tools/srv.py": "import os\n" + py("os.environ.get('W', 'good')"), "tools/mcp.py": pythonServer, "lib/keep.txt": ""},
			changed: "lib/sitecustomize.py", to: "import os\nos.environ['W'] = 'EVIL'\n"},
		{name: "BASH_ENV", needs: "python3", inside: true,
			server: map[string]any{"command": "bash", "args": args("tools/run.sh"), "env": map[string]any{"BASH_ENV": "./rc.sh"}},
			files: map[string]string{"tools/run.sh": "exec python3 tools/srv.py\n", "rc.sh": "export W=good\n", "tools/srv.py": "import os\n" + py("os.environ['W']"),
				"tools/mcp.py": pythonServer}, changed: "rc.sh"},
		{name: "relative in a script", needs: "python3", inside: true, server: map[string]any{"command": "./start"},
			files:   map[string]string{"start": "#!/bin/sh\nexec python3 src/server.py\n", "src/server.py": py("'good'"), "src/mcp.py": pythonServer},
			changed: "src/server.py"},
		{name: "sh -c with cd", needs: "python3", inside: true, server: map[string]any{"command": "sh", "args": args("-c", "cd tools && ./run.sh")},
			files:   map[string]string{"tools/run.sh": "#!/bin/sh\nexec python3 srv.py\n", "tools/srv.py": py("'good'"), "tools/mcp.py": pythonServer},
			changed: "tools/run.sh", to: "#!/bin/sh\nexec python3 evil.py\n"},
		{name: "glob", needs: "python3", inside: true, server: map[string]any{"command": "sh", "args": args("-c", "./tools/r*.sh")},
			files:   map[string]string{"tools/run.sh": "#!/bin/sh\nexec python3 tools/srv.py\n", "tools/srv.py": py("'good'"), "tools/mcp.py": pythonServer},
			changed: "tools/srv.py"},
		{name: "make", needs: "make", inside: true, server: map[string]any{"command": "make", "args": args("-s", "mcp")},
			files: map[string]string{"Makefile": "W=good\nmcp:\n\t@W=$(W) python3 tools/srv.py\n", "tools/srv.py": "import os\n" + py("os.environ['W']"),
				"tools/mcp.py": pythonServer}, changed: "Makefile"},
		{name: "require", needs: "node", server: map[string]any{"command": "node", "args": args("tools/srv.js")},
			files:   map[string]string{"tools/srv.js": js(`require("../lib/word").w`), "tools/mcp.js": nodeServer, "lib/word.js": "exports.w = 'good'\n"},
			changed: "lib/word.js"},
		{name: "node_modules", needs: "node", server: map[string]any{"command": "node", "args": args("tools/srv.js")},
			files: map[string]string{"tools/srv.js": js(`require("word")`), "tools/mcp.js": nodeServer, "node_modules/word/index.js": "module.exports = 'good'\n",
				"node_modules/word/package.json": "{}"}, changed: "node_modules/word/index.js"},
		{name: "node in the root", needs: "node", server: map[string]any{"command": "node", "args": args("srv.js")},
			files:   map[string]string{"srv.js": js(`require("./src/word").w`), "mcp.js": nodeServer, "src/word.js": "exports.w = 'good'\n", "package.json": "{}"},
			changed: "src/word.js"},
		{name: "NODE_OPTIONS", needs: "node", inside: true,
			server:  map[string]any{"command": "node", "args": args("tools/srv.js"), "env": map[string]any{"NODE_OPTIONS": "--require ./inject.js"}},
			files:   map[string]string{"tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer, "inject.js": "process.env.W = 'good'\n"},
			changed: "inject.js"},
		{name: "declared", needs: "python3",
			server: map[string]any{"command": "python3", "args": args("tools/srv.py"), "x-orchestrator": map[string]any{"files": args("data")}},
			files: map[string]string{"tools/srv.py": "import os, pathlib\n" + py("(pathlib.Path(__file__).parent.parent / ('da' + 'ta') / 'word').read_text().strip()"),
				"tools/mcp.py": pythonServer, "data/word": "good\n"}, changed: "data/word"},
		{name: "npm run", needs: "npm", inside: true, server: map[string]any{"command": "npm", "args": args("run", "--silent", "mcp")},
			files:   map[string]string{"package.json": `{"scripts": {"mcp": "W=good node tools/srv.js"}}`, "tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer},
			changed: "package.json"},
		{name: "npm --prefix", needs: "npm", inside: true, server: map[string]any{"command": "npm", "args": args("--prefix", "sub", "run", "--silent", "mcp")},
			files:   map[string]string{"sub/package.json": `{"scripts": {"mcp": "W=good node srv.js"}}`, "sub/srv.js": js(`process.env.W`), "sub/mcp.js": nodeServer},
			changed: "sub/package.json"},
	}
}

// said calls the one tool of a server for a thread, and returns what it loaded and where it ran.
func (r *rig) said(id thread.ID, dir, server string) (word, cwd string, err error) {
	text, err := r.callIn(id, dir, server, "say")
	word, cwd, _ = strings.Cut(text, " ")
	return word, cwd, err
}

// TestRunsWhatWasAccepted changes, for each way to load code, a file that was loaded: until that is accepted, what was
// accepted runs or nothing does.
func TestRunsWhatWasAccepted(t *testing.T) {
	for _, c := range loadings() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(c.needs + " is not there")
			}
			r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
				cfg.Env = []string{"PATH=" + searchPath(), "HOME=" + r.home}
				for name, content := range c.files {
					r.put(filepath.Join(r.project, name), []byte(content))
					if strings.HasPrefix(content, "#!") {
						if err := os.Chmod(filepath.Join(r.project, name), 0o700); err != nil {
							t.Fatal(err)
						}
					}
				}
				r.repository(conf{"x": c.server})
			})
			r.approve("x")
			word, cwd, err := r.said("t1", r.project, "x")
			if err != nil || word != "good" {
				t.Fatalf("as it was accepted: %q, %v\n%s\n%s", word, err, strings.Join(r.detail("t1", "x").Log, "\n"), strings.Join(r.detail("t1", "x").Launch, "\n"))
			}
			if (cwd != r.project) != c.inside {
				t.Errorf("it runs in %s", cwd)
			}
			shown := strings.Join(r.detail("t1", "x").Launch, "\n")
			if !strings.Contains(shown, "starts in: ") || !strings.Contains(shown, "not covered: ") {
				t.Errorf("it is not said where it starts, or what is not covered:\n%s", shown)
			}
			path := filepath.Join(r.project, c.changed)
			old, err := os.ReadFile(path)
			evil := strings.ReplaceAll(string(old), "good", "EVIL")
			if c.to != "" || err != nil {
				evil = c.to
			}
			r.put(path, []byte(evil))
			if err := r.act(mcpctl.ActRestart, "x", ""); err == nil {
				word, _, err = r.said("t1", r.project, "x")
				if err == nil && word != "good" {
					t.Errorf("changed code ran: %q", word)
				}
			}
			r.look()
			if word, _, err = r.said("t1", r.project, "x"); err == nil && word != "good" {
				t.Errorf("changed code ran: %q", word)
			}
			t.Logf("after the change: %q %v", word, err)
			// Once it is accepted, it runs.
			if r.detail("t1", "x").Accepted {
				return // it does not load it
			}
			r.approve("x")
			if _, _, err = r.said("t1", r.project, "x"); err != nil && c.name != "sh -c with cd" {
				t.Errorf("after it was accepted: %v", err)
			}
		})
	}
}

// TestNotInTheCopy: what is not among the accepted files is not there for a server, and it is not taken from the project.
func TestNotInTheCopy(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = []string{"PATH=" + searchPath(), "HOME=" + r.home}
		r.put(filepath.Join(r.project, "tools/srv.py"), []byte("import sys\nsys.path.insert(0, __file__ + '/../..')\nimport importlib\nw = importlib.import_module('wo' + 'rd').w\nimport mcp\nmcp.serve(w)\n"))
		r.put(filepath.Join(r.project, "tools/mcp.py"), []byte(pythonServer))
		r.put(filepath.Join(r.project, "word.py"), []byte("w = 'good'\n"))
		r.repository(conf{"x": {"command": "python3", "args": args("tools/srv.py")}})
		cfg.Hub.Times.Wait = 50 * time.Millisecond
	})
	r.approve("x")
	if word, _, err := r.said("t1", r.project, "x"); err == nil {
		t.Errorf("it found %q in the project", word)
	}
	if log := strings.Join(r.detail("t1", "x").Log, "\n"); !strings.Contains(log, "word") {
		t.Errorf("its log does not say what is missing:\n%s", log)
	}
}

// TestEnvironmentOfPython runs a server from a virtual environment, by its interpreter and by a script that names it, in
// the project and in a worktree that has none.
func TestEnvironmentOfPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	worktree := ""
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = []string{"PATH=" + searchPath(), "HOME=" + r.home}
		worktree = filepath.Join(r.state, "worktrees", "t2")
		venv := filepath.Join(r.project, ".venv")
		make := exec.Command("python3", "-m", "venv", "--without-pip", venv)
		make.Env = []string{"PATH=" + searchPath()}
		if out, err := make.CombinedOutput(); err != nil {
			t.Skipf("no virtual environments here: %v: %s", err, out)
		}
		site, err := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages"))
		if err != nil || len(site) != 1 {
			t.Fatal(site, err)
		}
		r.put(filepath.Join(site[0], "mcp.py"), []byte(pythonServer))
		r.put(filepath.Join(site[0], "word.py"), []byte("w = 'good'\n"))
		script := "#!" + venv + "/bin/python\nimport mcp, word, sys\nmcp.serve(word.w + ':' + sys.prefix)\n"
		r.put(filepath.Join(venv, "bin", "srv"), []byte(script))
		if err := os.Chmod(filepath.Join(venv, "bin", "srv"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{r.project, worktree} {
			r.put(filepath.Join(dir, "tools/srv.py"), []byte("import mcp, word, sys\nmcp.serve(word.w + ':' + sys.prefix)\n"))
		}
		r.repository(conf{"x": {"command": ".venv/bin/python", "args": args("tools/srv.py")}, "y": {"command": ".venv/bin/srv"}})
	})
	r.threads.add("t2", "claude", worktree)
	for _, server := range []string{"x", "y"} {
		r.approve(server)
		word, cwd, err := r.said("t1", r.project, server)
		if prefix, ok := strings.CutPrefix(word, "good:"); err != nil || !ok || strings.HasPrefix(prefix, r.project) || cwd != r.project {
			t.Errorf("%s: %q in %q, %v\n%s", server, word, cwd, err, strings.Join(r.detail("t1", server).Log, "\n"))
		}
	}
	word, cwd, err := r.said("t2", worktree, "x")
	if err != nil || !strings.HasPrefix(word, "good:") || cwd != worktree {
		t.Errorf("in a worktree without an environment: %q in %q, %v", word, cwd, err)
	}
}
