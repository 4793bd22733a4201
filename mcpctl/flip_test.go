package mcpctl_test

import (
	"bufio"
	"context"
	"fmt"
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
	"orchestrator/thread/setup"
)

// flipVar is how long TestFlip flips, a few seconds by default; flipInVar is a command in front of the process that does,
// such as a sandbox.
const (
	flipVar   = "ORCHESTRATOR_FLIP"
	flipInVar = "ORCHESTRATOR_FLIP_IN"
)

// flipper exchanges files with others, at least one every millisecond, until it is killed: in another process, as an agent
// would. Which ones it flips changes all the time; the others hold what was accepted, so that there is something to start.
// It says how often it did.
const flipper = `
import os, random, sys, time
pairs = [sys.argv[i:i+2] for i in range(1, len(sys.argv), 2)]
good = [open(p, 'rb').read() for p, _ in pairs]
evil = [open(e, 'rb').read() for _, e in pairs]
def put(i, content, how):
    path = pairs[i][0]
    temp = os.path.join('flips', str(i)) # not in the folders of servers, which would not be as they were accepted
    if how == 0 and not os.path.islink(path): # in place, which a reader can see half way
        with open(path, 'wb') as f:
            f.write(content)
        return
    with open(temp, 'wb') as f:
        f.write(content)
    if how == 1:
        os.replace(temp, path)
    elif how == 2: # by a link
        os.symlink(os.path.abspath(temp), temp + '.link')
        os.replace(temp + '.link', path)
    else: # gone in between
        if os.path.lexists(path):
            os.remove(path)
        os.replace(temp, path)
flips = 0
os.makedirs('flips', exist_ok=True)
print('begun', flush=True)
while True:
    chosen = random.sample(range(len(pairs)), random.randint(1, max(1, len(pairs) // 3)))
    end = time.monotonic() + random.uniform(0.01, 0.4)
    while time.monotonic() < end:
        for i in chosen:
            put(i, random.choice((good, evil))[i], random.randrange(4))
            flips += 1
        time.sleep(0.001)
    for i in chosen:
        put(i, good[i], 1)
    print(flips, flush=True)
`

// flipping is a running flipper.
type flipping struct {
	mu    sync.Mutex
	flips string
}

// start begins to flip until the test ends.
func (f *flipping) start(t *testing.T, dir string, pairs []string) {
	t.Helper()
	args := append(strings.Fields(os.Getenv(flipInVar)), "python3", "-u", "-c", flipper)
	cmd := exec.Command(args[0], append(args[1:], pairs...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	if os.Getenv(flipInVar) == "" {
		cmd.Env = []string{"PATH=" + searchPath()}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 0 {
				close(begun)
			}
			f.mu.Lock()
			f.flips = lines.Text()
			f.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	select {
	case <-begun:
	case <-ended:
		t.Fatal("nothing flips")
	}
}

func (f *flipping) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flips
}

// tally counts starts.
type tally struct {
	mu               sync.Mutex
	started, refused map[string]int
}

func (t *tally) add(what string, accepted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if accepted {
		t.started[what]++
		return
	}
	t.refused[what]++
}

func (t *tally) total() (n int, started, refused map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.started {
		n += one
	}
	return n, maps.Clone(t.started), maps.Clone(t.refused)
}

// TestFlip starts servers, and sets worktrees up, while another process exchanges what they load every millisecond: what was
// accepted is started, and nothing else ever runs.
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
	servers := []string{"imports", "modules", "venv", "shell", "package"}
	var flips []string
	var worktree string
	accepted := map[string]string{}
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = []string{"PATH=" + searchPath(), "HOME=" + r.home}
		worktree = filepath.Join(r.project, "worktree")
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
		r.venv("c/.venv")
		rel, err := filepath.Rel(r.project, r.word)
		if err != nil {
			t.Fatal(err)
		}
		flip(rel, "w = 'good'\n", touch+"w = 'EVIL'\n")
		put("d/srv.py", "import mcp\nmcp.serve('good')\n")
		put("d/mcp.py", pythonServer)
		flip("d/run.sh", "exec python3 d/srv.py\n", "touch '"+r.witness("evil")+"'; exec python3 d/srv.py\n")
		flip("e/package.json", `{"scripts": {"mcp": "node srv.js"}}`, `{"scripts": {"mcp": "touch '`+r.witness("evil")+`'; node srv.js"}}`)
		put("e/srv.js", `require("./mcp.js").serve("good")`)
		put("e/mcp.js", nodeServer)
		flip("worktree/tools/setup.sh", "echo good\n", "touch '"+r.witness("evil")+"'\n")
		flip("worktree/tools/clean.sh", "echo good\n", "touch '"+r.witness("evil")+"'\n")
		r.repository(conf{
			"imports": {"command": "python3", "args": args("a/srv.py")}, "modules": {"command": "node", "args": args("b/srv.js")},
			"venv": {"command": "c/.venv/bin/python", "args": args("c/srv.py")}, "shell": {"command": "sh", "args": args("d/run.sh")},
			"package": {"command": "npm", "args": args("--prefix", "e", "run", "--silent", "mcp")},
		})
	})
	for _, s := range servers {
		r.approve(s)
	}
	commands := setup.Commands{Setup: "sh tools/setup.sh", Teardown: "sh tools/clean.sh"}
	place, content, err := commands.Content(worktree)
	if err != nil {
		t.Fatal(err)
	}
	accepted[setup.Place(r.project, place)] = string(content)
	prepared := setup.New(setup.Config{Project: r.project, Logs: filepath.Join(r.state, "logs"), Commands: commands, Limit: time.Minute,
		Accepted: func(place string, content []byte) bool { return accepted[place] == string(content) }, Env: []string{"PATH=" + searchPath()}})

	var running flipping
	running.start(t, r.project, flips)
	counts := tally{started: map[string]int{}, refused: map[string]int{}}
	began := time.Now()
	evil := func() bool {
		_, err := os.Stat(r.witness("evil"))
		return err == nil
	}
	over := func() bool {
		n, _, _ := counts.total()
		return evil() || time.Since(began) > limit && (n > 0 || time.Since(began) > limit+time.Minute)
	}
	var work sync.WaitGroup
	for _, s := range servers {
		work.Go(func() {
			for !over() {
				r.look()
				_ = r.act(mcpctl.ActRestart, s, "") // refused while the look saw the other content
				word, _, err := r.said("t1", r.project, s)
				if err == nil && word != "good" {
					t.Errorf("%s says %q", s, word)
					return
				}
				counts.add(s, err == nil)
			}
		})
	}
	work.Go(func() {
		one := thread.Thread{ID: "t9", Name: "fork", Agent: "demo", Worktree: thread.Worktree{Path: worktree}}
		for n := 0; !over(); n++ {
			what, ran := "setup", false
			say := func(_ thread.Level, text string) { ran = ran || strings.Contains(text, "completed") }
			if n%2 == 0 {
				_ = prepared.SetUp(context.Background(), one, say)
			} else {
				what = "teardown"
				_ = prepared.TearDown(context.Background(), one, say)
			}
			counts.add(what, ran)
		}
	})
	work.Wait()
	total, started, refused := counts.total()
	if evil() {
		t.Fatalf("what was not accepted ran; started %v, refused %v", started, refused)
	}
	t.Logf("in %v, %s flips: %d accepted starts %v, refused %v, 0 of what was not accepted", time.Since(began).Round(time.Second), &running, total, started, refused)
	if total == 0 {
		t.Error("nothing was started, so this shows nothing: " + strings.Join(servers, " "))
	}
}
