package mcpctl_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/frozen"
	"orchestrator/thread/ground/sample"
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
	changed string            // the file that is changed, which must not be run without a question
	to      string            // its other content; by default "good" is replaced by "EVIL"
	inside  bool              // it starts in the copy
	runners map[string]string // programs of other people, on PATH
	vscode  bool              // it is in VS Code's file
	prepare func(*rig)
}

// script stands for a runner: what it runs is what package.json, or another file of the folder in which it is, says.
const (
	packageScript = "#!/bin/sh\nwhile [ $# -gt 1 ]; do case $1 in -C|--cwd|--dir|--prefix) cd \"$2\"; shift;; esac; shift; done\n" +
		"exec sh -c \"$(node -p \"require('./package.json').scripts['$1']\")\"\n"
	projectScript = "#!/bin/sh\nwhile [ $# -gt 1 ]; do case $1 in --directory|--project) cd \"$2\"; shift;; esac; shift; done\n" +
		"exec python3 -c \"import os, sys, tomllib; sys.path.insert(0, ''); __import__(tomllib.load(open('pyproject.toml', 'rb'))['project']['scripts']['$1'])\"\n"
	fileRunner = "#!/bin/sh\nwhile [ $# -gt 1 ]; do case $1 in -C|--manifest-path) cd \"$2\" || cd \"$(dirname \"$2\")\"; shift;; esac; shift; done\nexec python3 \"$1/main\"\n"
)

func args(words ...string) []string { return words }

// searchPath is PATH with the folder of the interpreter itself first: a version manager in between takes its time.
var searchPath = sync.OnceValue(func() string {
	path := os.Getenv("PATH")
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		path = filepath.Dir(strings.TrimSpace(string(out))) + ":" + path
	}
	return path
})

// preloaded is a library that sets the variable W when it is loaded; "" where no compiler makes one.
func preloaded(word string) string {
	dir, err := os.MkdirTemp("", "preloaded-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "w.c"), filepath.Join(dir, "w.so")
	code := "#include <stdlib.h>\n__attribute__((constructor)) static void w(void) { setenv(\"W\", \"" + word + "\", 1); }\n"
	if os.WriteFile(from, []byte(code), 0o600) != nil || exec.Command("cc", "-shared", "-fPIC", "-o", to, from).Run() != nil {
		return ""
	}
	library, _ := os.ReadFile(to) // "" where it cannot be read
	return string(library)
}

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
		{name: "LD_PRELOAD", needs: "cc", inside: true,
			server: map[string]any{"command": "python3", "args": args("tools/srv.py"), "env": map[string]any{"LD_PRELOAD": "./inject.so"}},
			files: map[string]string{"tools/srv.py": "import os\n" + py("os.environ.get('W', 'good')"), "tools/mcp.py": pythonServer,
				"inject.so": preloaded("good")}, changed: "inject.so", to: preloaded("EVIL")},
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
		{name: "npm run, what comes before", needs: "npm", inside: true, server: map[string]any{"command": "npm", "args": args("run", "--silent", "mcp")},
			files: map[string]string{"package.json": `{"scripts": {"premcp": "sh ./first.sh", "mcp": "node tools/srv.js"}}`, "first.sh": "echo good > \"$TMP_WORD\"\n",
				"tools/srv.js": js(`require("fs").readFileSync(process.env.TMP_WORD, "utf8").trim()`), "tools/mcp.js": nodeServer},
			changed: "first.sh", prepare: func(r *rig) { r.word = filepath.Join(r.state, "word") }},
		{name: "npx", needs: "npx", server: map[string]any{"command": "npx", "args": args("--no", "srv")},
			files: map[string]string{"node_modules/srv/package.json": `{"name": "srv", "version": "1.0.0", "bin": "srv.js"}`, "node_modules/srv/srv.js": "#!/usr/bin/env node\n" + js("'good'"),
				"node_modules/srv/mcp.js": nodeServer, "package.json": "{}"},
			changed: "node_modules/srv/srv.js", prepare: func(r *rig) { r.link("node_modules/.bin/srv", "../srv/srv.js") }},
		{name: "npx --prefix", needs: "npx", inside: true, server: map[string]any{"command": "npx", "args": args("--no", "--prefix", "sub", "srv")},
			files: map[string]string{"sub/node_modules/srv/package.json": `{"name": "srv", "version": "1.0.0", "bin": "srv.js"}`,
				"sub/node_modules/srv/srv.js": "#!/usr/bin/env node\n" + js("'good'"), "sub/node_modules/srv/mcp.js": nodeServer, "sub/package.json": "{}"},
			changed: "sub/node_modules/srv/srv.js", prepare: func(r *rig) { r.link("sub/node_modules/.bin/srv", "../srv/srv.js") }},
		{name: "relative program", needs: "python3", server: map[string]any{"command": "./bin/srv"},
			files:   map[string]string{"bin/srv": "#!/usr/bin/env python3\nimport word\n" + py("word.w"), "bin/word.py": "w = 'good'\n", "bin/mcp.py": pythonServer},
			changed: "bin/word.py"},
		{name: "venv", needs: "python3", server: map[string]any{"command": ".venv/bin/python", "args": args("tools/srv.py")},
			files:   map[string]string{"tools/srv.py": "import word\n" + py("word.w")},
			changed: ".venv/lib/python/word.py", prepare: func(r *rig) { r.venv(".venv") }},
		{name: "node --import", needs: "node", inside: true, server: map[string]any{"command": "node", "args": args("--import", "./inject.mjs", "tools/srv.js")},
			files:   map[string]string{"tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer, "inject.mjs": "process.env.W = 'good'\n"},
			changed: "inject.mjs"},
		{name: "node -r", needs: "node", inside: true, server: map[string]any{"command": "node", "args": args("-r", "./inject", "tools/srv.js")},
			files:   map[string]string{"tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer, "inject.js": "process.env.W = require('./deep/word')\n", "deep/word.js": "module.exports = 'good'\n"},
			changed: "deep/word.js"},
		{name: "node --loader", needs: "node", inside: true, server: map[string]any{"command": "node", "args": args("--no-warnings", "--loader=./hook.mjs", "tools/srv.js")},
			files: map[string]string{"tools/srv.js": js(`require("fs").readFileSync(process.env.TMP_WORD, "utf8").trim()`), "tools/mcp.js": nodeServer,
				"hook.mjs": "import {writeFileSync} from 'fs'\nwriteFileSync(process.env.TMP_WORD, 'good')\n"},
			changed: "hook.mjs", prepare: func(r *rig) { r.word = filepath.Join(r.state, "word") }},
		{name: "variables in a file", needs: "node", inside: true, vscode: true,
			server:  map[string]any{"command": "node", "args": args("tools/srv.js"), "envFile": "${workspaceFolder}/conf/mcp.env"},
			files:   map[string]string{"conf/mcp.env": "NODE_OPTIONS=--require ./inject.js\n", "tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer, "inject.js": "process.env.W = 'good'\n"},
			changed: "inject.js"},
		{name: "a value in a file", needs: "node", vscode: true,
			server:  map[string]any{"command": "node", "args": args("tools/srv.js"), "envFile": "${workspaceFolder}/mcp.env"},
			files:   map[string]string{"mcp.env": "W=good\n", "tools/srv.js": js(`process.env.W`), "tools/mcp.js": nodeServer},
			changed: "mcp.env"},
		{name: "make -C", needs: "make", inside: true, server: map[string]any{"command": "make", "args": args("-s", "--no-print-directory", "-C", "sub", "mcp")},
			files: map[string]string{"sub/Makefile": "include defs.mk\nmcp:\n\t@W=$(W) python3 srv.py\n", "sub/defs.mk": "W=good\n", "sub/srv.py": "import os\n" + py("os.environ['W']"),
				"sub/mcp.py": pythonServer}, changed: "sub/defs.mk"},
		{name: "make -f", needs: "make", inside: true, server: map[string]any{"command": "make", "args": args("-s", "-f", "build/mcp.mk", "mcp")},
			files: map[string]string{"build/mcp.mk": "mcp:\n\t@python3 tools/srv.py\n", "tools/srv.py": py("'good'"), "tools/mcp.py": pythonServer}, changed: "tools/srv.py"},
		{name: "env", needs: "python3", inside: true, server: map[string]any{"command": "env", "args": args("W=x", "PYTHONPATH=lib", "python3", "tools/srv.py")},
			files:   map[string]string{"tools/srv.py": "import word\n" + py("word.w"), "tools/mcp.py": pythonServer, "lib/word.py": "w = 'good'\n"},
			changed: "lib/word.py"},
		{name: "env -C", needs: "python3", inside: true, server: map[string]any{"command": "env", "args": args("-C", "sub", "python3", "srv.py")},
			files:   map[string]string{"sub/srv.py": "import word\n" + py("word.w"), "sub/mcp.py": pythonServer, "sub/word.py": "w = 'good'\n"},
			changed: "sub/word.py"},
		{name: "pnpm", needs: "node", inside: true, runners: map[string]string{"pnpm": packageScript}, server: map[string]any{"command": "pnpm", "args": args("-C", "sub", "run", "mcp")},
			files:   map[string]string{"sub/package.json": `{"scripts": {"mcp": "W=good node srv.js"}}`, "sub/srv.js": js(`process.env.W`), "sub/mcp.js": nodeServer},
			changed: "sub/package.json"},
		{name: "yarn", needs: "node", inside: true, runners: map[string]string{"yarn": packageScript}, server: map[string]any{"command": "yarn", "args": args("--cwd", "sub", "mcp")},
			files:   map[string]string{"sub/package.json": `{"scripts": {"mcp": "node srv.js"}}`, "sub/srv.js": js(`require("./word")`), "sub/word.js": "module.exports = 'good'\n", "sub/mcp.js": nodeServer},
			changed: "sub/word.js"},
		{name: "bun", needs: "node", inside: true, runners: map[string]string{"bun": "#!/bin/sh\nshift\nexec node \"$@\"\n"}, server: map[string]any{"command": "bun", "args": args("run", "src/srv.js")},
			files:   map[string]string{"src/srv.js": js(`require("../lib/word")`), "lib/word.js": "module.exports = 'good'\n", "src/mcp.js": nodeServer},
			changed: "lib/word.js"},
		{name: "deno task", needs: "node", inside: true, runners: map[string]string{"deno": "#!/bin/sh\nexec sh -c \"$(node -p \"require('./deno.json').tasks.$2\")\"\n"},
			server:  map[string]any{"command": "deno", "args": args("task", "mcp")},
			files:   map[string]string{"deno.json": `{"tasks": {"mcp": "W=good node srv.js"}}`, "srv.js": js(`process.env.W`), "mcp.js": nodeServer},
			changed: "deno.json"},
		{name: "uv run", needs: "python3", inside: true, runners: map[string]string{"uv": projectScript}, server: map[string]any{"command": "uv", "args": args("run", "srv")},
			files: map[string]string{"pyproject.toml": "[project.scripts]\nsrv = \"pkg.good\"\n", "pkg/good.py": "from pkg import mcp\nmcp.serve('good')\n",
				"pkg/EVIL.py": "from pkg import mcp\nmcp.serve('EVIL')\n", "pkg/mcp.py": pythonServer},
			changed: "pyproject.toml"},
		{name: "uv --directory", needs: "python3", inside: true, runners: map[string]string{"uv": projectScript}, server: map[string]any{"command": "uv", "args": args("--directory", "sub", "run", "srv")},
			files: map[string]string{"sub/pyproject.toml": "[project.scripts]\nsrv = \"pkg.srv\"\n", "sub/pkg/srv.py": "from pkg import mcp, word\nmcp.serve(word.w)\n",
				"sub/pkg/word.py": "w = 'good'\n", "sub/pkg/mcp.py": pythonServer},
			changed: "sub/pkg/word.py"},
		{name: "uvx --from", needs: "python3", inside: true, runners: map[string]string{"uvx": "#!/bin/sh\nexec python3 \"$2/$3.py\"\n"}, server: map[string]any{"command": "uvx", "args": args("--from", "./tool", "srv")},
			files:   map[string]string{"tool/srv.py": "import word\n" + py("word.w"), "tool/word.py": "w = 'good'\n", "tool/mcp.py": pythonServer},
			changed: "tool/word.py"},
		{name: "go run", needs: "python3", inside: true, runners: map[string]string{"go": fileRunner}, server: map[string]any{"command": "go", "args": args("run", "./cmd/srv")},
			files:   map[string]string{"go.mod": "module x\n", "cmd/srv/main": "import word\n" + py("word.w"), "cmd/srv/word.py": "w = 'good'\n", "cmd/srv/mcp.py": pythonServer},
			changed: "cmd/srv/word.py"},
		{name: "go -C", needs: "python3", inside: true, runners: map[string]string{"go": fileRunner}, server: map[string]any{"command": "go", "args": args("-C", "sub", "run", ".")},
			files:   map[string]string{"sub/go.mod": "module x\n", "sub/main": "import word\n" + py("word.w"), "sub/word.py": "w = 'good'\n", "sub/mcp.py": pythonServer},
			changed: "sub/word.py"},
		{name: "cargo", needs: "python3", inside: true, runners: map[string]string{"cargo": fileRunner}, server: map[string]any{"command": "cargo", "args": args("run", "-q", "--manifest-path", "sub/Cargo.toml", "src")},
			files:   map[string]string{"sub/Cargo.toml": "", "sub/src/main": "import word\n" + py("word.w"), "sub/src/word.py": "w = 'good'\n", "sub/src/mcp.py": pythonServer},
			changed: "sub/src/word.py"},
	}
}

// link makes a link in the project, venv a Python environment there.
func (r *rig) link(name, target string) {
	r.Helper()
	path := filepath.Join(r.project, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) venv(name string) {
	r.Helper()
	folder := filepath.Join(r.project, name)
	make := exec.Command("python3", "-m", "venv", "--without-pip", folder)
	make.Env = []string{"PATH=" + searchPath()}
	if out, err := make.CombinedOutput(); err != nil {
		r.Skipf("no virtual environments here: %v: %s", err, out)
	}
	site, err := filepath.Glob(filepath.Join(folder, "lib", "python*", "site-packages"))
	if err != nil || len(site) != 1 {
		r.Fatal(site, err)
	}
	r.put(filepath.Join(site[0], "mcp.py"), []byte(pythonServer))
	r.put(filepath.Join(site[0], "word.py"), []byte("w = 'good'\n"))
	r.word = filepath.Join(site[0], "word.py")
}

// exchanging keeps copies, and then does something before the copy is used. It can return another folder instead.
type exchanging struct {
	*frozen.Store
	mu      sync.Mutex
	then    func()
	instead string
}

func (e *exchanging) Keep(entries []frozen.Entry) (string, error) {
	top, err := e.Store.Keep(entries)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.then != nil {
		e.then()
	}
	if e.instead != "" {
		top = e.instead
	}
	return top, err
}

func (e *exchanging) set(then func(), instead string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.then, e.instead = then, instead
}

// said calls the one tool of a server for a thread, and returns what it loaded and where it ran.
func (r *rig) said(id thread.ID, dir, server string) (word, cwd string, err error) {
	text, err := r.callIn(id, dir, server, "say")
	word, cwd, _ = strings.Cut(text, " ")
	return word, cwd, err
}

// exchanged writes "EVIL" for "good" into all files of a server, and what else would change it; undo puts back what was.
func (r *rig) exchanged(c loading) (undo func()) {
	r.Helper()
	old := map[string][]byte{}
	change := func(path string, content []byte) {
		was, err := os.ReadFile(path)
		if err != nil {
			was = nil
		}
		if _, ok := old[path]; !ok {
			old[path] = was
		}
		r.put(path, content)
	}
	for name, content := range c.files {
		change(filepath.Join(r.project, name), []byte(strings.ReplaceAll(content, "good", "EVIL")))
	}
	if c.to != "" {
		change(filepath.Join(r.project, c.changed), []byte(c.to))
	}
	if strings.HasPrefix(r.word, r.project) {
		change(r.word, []byte("w = 'EVIL'\n"))
	}
	return func() {
		for path, content := range old {
			if content == nil {
				_ = os.Remove(path)
				continue
			}
			r.put(path, content)
		}
	}
}

// TestRunsWhatWasAccepted changes, for each way to load code, what is loaded. Between the copy and the start: what was
// accepted runs, and it is seen that the folder instead of the copy would not. Before the start: until the change is
// accepted, what was accepted runs or nothing does.
func TestRunsWhatWasAccepted(t *testing.T) {
	for _, c := range sample.Of(t, 3, loadings()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(c.needs + " is not there")
			}
			copies := &exchanging{}
			r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
				copies.Store = cfg.Copies.(*frozen.Store)
				cfg.Copies = copies
				if c.prepare != nil {
					c.prepare(r)
				}
				bin := filepath.Join(r.home, "bin")
				cfg.Env = []string{"PATH=" + bin + ":" + searchPath(), "HOME=" + r.home}
				files := maps.Clone(c.files)
				for name, content := range files {
					r.put(filepath.Join(r.project, name), []byte(content))
					if strings.HasPrefix(content, "#!") {
						r.executable(filepath.Join(r.project, name))
					}
				}
				for name, content := range c.runners {
					r.put(filepath.Join(bin, name), []byte(content))
					r.executable(filepath.Join(bin, name))
				}
				if r.word != "" && !strings.HasPrefix(r.word, r.project) {
					c.server = maps.Clone(c.server)
					c.server["env"] = map[string]any{"TMP_WORD": r.word}
				}
				if c.vscode {
					b, err := json.Marshal(map[string]any{"servers": conf{"x": c.server}})
					if err != nil {
						t.Fatal(err)
					}
					r.put(filepath.Join(r.project, ".vscode/mcp.json"), b)
					return
				}
				r.repository(conf{"x": c.server})
			})
			r.approve("x")
			if c.vscode {
				r.mustFlip("t1", "x", true)
			}
			var undo func()
			copies.set(func() { undo = r.exchanged(c) }, "")
			word, cwd, err := r.said("t1", r.project, "x")
			copies.set(nil, "")
			if err != nil || word != "good" {
				t.Fatalf("as it was accepted, and exchanged after it was copied: %q, %v\n%s\n%s", word, err, strings.Join(r.detail("t1", "x").Log, "\n"), strings.Join(r.detail("t1", "x").Launch, "\n"))
			}
			if undo == nil {
				t.Fatal("it was not copied")
			}
			undo()
			if (cwd != r.project) != c.inside {
				t.Errorf("it runs in %s", cwd)
			}
			r.look()
			shown := strings.Join(r.detail("t1", "x").Launch, "\n")
			if !strings.Contains(shown, "starts in: ") || !strings.Contains(shown, "not covered: ") {
				t.Errorf("it is not said where it starts, or what is not covered:\n%s", shown)
			}
			// The same from the folder: what was exchanged runs, so that the above shows something.
			copies.set(func() { undo = r.exchanged(c) }, r.project)
			_ = r.act(mcpctl.ActRestart, "x", "") // what is exchanged may end at once
			if word, _, err = r.said("t1", r.project, "x"); err == nil && word == "good" {
				t.Errorf("it is not seen that the folder is run instead of the copy")
			}
			copies.set(nil, "")
			undo()
			// Before the start.
			path := filepath.Join(r.project, c.changed)
			if strings.HasPrefix(r.word, r.project) {
				path = r.word
			}
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
		r.put(filepath.Join(r.project, "tools/srv.py"), []byte("import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\nimport importlib\nw = importlib.import_module('wo' + 'rd').w\nimport mcp\nmcp.serve(w)\n"))
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
		r.venv(".venv")
		script := "#!" + venv + "/bin/python\nimport mcp, word, sys\nmcp.serve(word.w + ':' + sys.prefix)\n"
		r.put(filepath.Join(venv, "bin", "srv"), []byte(script))
		r.executable(filepath.Join(venv, "bin", "srv"))
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
