package mcpctl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl"
)

// flipVar is how long TestFlip flips; a few seconds by default.
const flipVar = "ORCHESTRATOR_FLIP"

// flipper exchanges files with others, one every millisecond, until it is killed: in another process, as an agent would.
const flipper = `
import os, sys, time, itertools
pairs = [sys.argv[i:i+2] for i in range(1, len(sys.argv), 2)]
good = [open(p, 'rb').read() for p, _ in pairs]
evil = [open(e, 'rb').read() for _, e in pairs]
for n in itertools.count():
    for i, (path, _) in enumerate(pairs):
        # good most of the time, so that there is something to start
        with open(path + '.new', 'wb') as f:
            f.write(evil[i] if n % 4 == 3 else good[i])
        if n % 2:
            os.replace(path + '.new', path)
        else: # in place, which a reader can see half way
            with open(path, 'wb') as f:
                f.write(evil[i] if n % 4 == 3 else good[i])
    time.sleep(0.001)
`

// TestFlip starts servers while another process exchanges what they load every millisecond: what was accepted is started,
// and nothing else ever runs.
func TestFlip(t *testing.T) {
	for _, needs := range []string{"python3", "node"} {
		if _, err := exec.LookPath(needs); err != nil {
			t.Skip(needs + " is not there")
		}
	}
	limit := 3 * time.Second
	if text := os.Getenv(flipVar); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	venvs := true
	servers := []string{"imports", "modules", "venv", "shell", "package"}
	var flips []string
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = []string{"PATH=" + searchPath(), "HOME=" + r.home}
		put := func(name, content string) string {
			path := filepath.Join(r.project, name)
			r.put(path, []byte(content))
			return path
		}
		flip := func(name, good, evil string) {
			path := put(name, good)
			other := filepath.Join(r.state, "evil-"+fmt.Sprint(len(flips)))
			r.put(other, []byte(evil))
			flips = append(flips, path, other)
		}
		touch := "open('" + r.witness("evil") + "', 'w')\n"
		touchJS := "require('fs').writeFileSync('" + r.witness("evil") + "', '')\n"
		put("a/srv.py", "import mcp, word\nmcp.serve(word.w)\n")
		put("a/mcp.py", pythonServer)
		flip("a/word.py", "w = 'good'\n", touch+"w = 'EVIL'\n")
		put("b/srv.js", `require("./mcp.js").serve(require("word"))`)
		put("b/mcp.js", nodeServer)
		flip("b/node_modules/word/index.js", "module.exports = 'good'\n", touchJS+"module.exports = 'EVIL'\n")
		put("c/srv.py", "import mcp, word\nmcp.serve(word.w)\n")
		make := exec.Command("python3", "-m", "venv", "--without-pip", filepath.Join(r.project, "c/.venv"))
		make.Env = []string{"PATH=" + searchPath()}
		if out, err := make.CombinedOutput(); err != nil {
			t.Logf("no virtual environments here: %v: %s", err, out)
			venvs = false
		} else {
			site, _ := filepath.Glob(filepath.Join(r.project, "c/.venv/lib/python*/site-packages"))
			rel, err := filepath.Rel(r.project, site[0])
			if err != nil {
				t.Fatal(err)
			}
			put(rel+"/mcp.py", pythonServer)
			flip(rel+"/word.py", "w = 'good'\n", touch+"w = 'EVIL'\n")
		}
		flip("d/run.sh", "exec python3 a/srv.py\n", "touch '"+r.witness("evil")+"'; exec python3 a/srv.py\n")
		flip("e/package.json", `{"scripts": {"mcp": "node srv.js"}}`, `{"scripts": {"mcp": "touch '`+r.witness("evil")+`'; node srv.js"}}`)
		put("e/srv.js", `require("./mcp.js").serve("good")`)
		put("e/mcp.js", nodeServer)
		r.repository(conf{
			"imports": {"command": "python3", "args": args("a/srv.py")}, "modules": {"command": "node", "args": args("b/srv.js")},
			"venv": {"command": "c/.venv/bin/python", "args": args("c/srv.py")}, "shell": {"command": "sh", "args": args("d/run.sh")},
			"package": {"command": "npm", "args": args("--prefix", "e", "run", "--silent", "mcp")},
		})
	})
	if !venvs {
		servers = []string{"imports", "modules", "shell", "package"}
	}
	for _, s := range servers {
		r.approve(s)
	}
	flipping := exec.Command("python3", append([]string{"-c", flipper}, flips...)...)
	flipping.Env = []string{"PATH=" + searchPath()}
	if err := flipping.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = flipping.Process.Kill()
		_ = flipping.Wait()
	}()
	started, refused := map[string]int{}, map[string]int{}
	total := 0
	for end := time.Now().Add(limit); time.Now().Before(end) || total == 0 && time.Now().Before(end.Add(time.Minute)); {
		for _, s := range servers {
			r.look()
			_ = r.act(mcpctl.ActRestart, s, "") // refused while the look saw the other content
			word, _, err := r.said("t1", r.project, s)
			switch {
			case err != nil:
				refused[s]++
			case word != "good":
				t.Fatalf("%s says %q", s, word)
			default:
				started[s]++
				total++
			}
			if _, err := os.Stat(r.witness("evil")); err == nil {
				t.Fatalf("what was not accepted ran, at the latest with %s; started %v, refused %v", s, started, refused)
			}
		}
	}
	t.Logf("in %v: %d accepted starts %v, refused %v, 0 of what was not accepted", limit, total, started, refused)
	if total == 0 {
		t.Error("nothing was started, so this shows nothing: " + strings.Join(servers, " "))
	}
}
