package setup_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/frozen/frozentest"
	"orchestrator/thread/setup"
)

// place is a project and a worktree of it.
type place struct {
	*testing.T
	project, tree string
	cfg           setup.Config
	accepted      map[string]string
	mu            sync.Mutex
	said          []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top := t.TempDir()
	frozentest.Removable(t, top)
	p := &place{T: t, project: filepath.Join(top, "project"), tree: filepath.Join(top, "tree"), accepted: map[string]string{}}
	for _, dir := range []string{p.project, p.tree} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.cfg = setup.Config{
		Project: p.project, Own: []string{filepath.Join(p.project, "state")}, Logs: filepath.Join(top, "logs"), Limit: time.Minute, Env: os.Environ(),
		Accepted: func(place string, content []byte) bool {
			return len(content) > 0 && p.accepted[place] == string(content)
		},
	}
	return p
}

func (p *place) write(dir, name, content string) {
	p.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *place) read(dir, name string) string {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return string(b)
}

// accept accepts the commands as they are.
func (p *place) accept() {
	p.Helper()
	name, content, err := p.cfg.Commands.Content(p.tree)
	if err != nil {
		p.Fatal(err)
	}
	p.accepted[setup.Place(p.project, name)] = string(content)
}

func (p *place) say(_ thread.Level, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, text)
}

func (p *place) thread() thread.Thread {
	return thread.Thread{ID: "t1", Name: "fork-0001", Agent: "demo", Worktree: thread.Worktree{Path: p.tree}}
}

// setUp runs the setup and returns what was reported.
func (p *place) setUp(ctx context.Context) string {
	p.Helper()
	p.said = nil
	_ = setup.New(p.cfg).SetUp(ctx, p.thread(), p.say)
	return strings.Join(p.said, "\n")
}

func (p *place) has(said string, words ...string) {
	p.Helper()
	for _, w := range words {
		if !strings.Contains(said, w) {
			p.Errorf("%q is not said in:\n%s", w, said)
		}
	}
}

func TestSetupRunsWhatWasAccepted(t *testing.T) {
	p := newPlace(t)
	p.write(p.tree, "tools/setup.sh", "echo one; echo two >&2; pwd >ran; echo $ORCHESTRATOR_PROJECT_DIR >>ran\n")
	p.cfg.Commands = setup.Commands{Setup: "sh ./tools/setup.sh", Teardown: "touch torn-down"}
	p.has(p.setUp(t.Context()), "did not run", "have not been accepted", "trust")
	if got := p.read(p.tree, "ran"); !strings.Contains(got, "no such file") {
		t.Errorf("it ran before it was accepted: %q", got)
	}
	p.accept()
	p.has(p.setUp(t.Context()), "running setup of fork-0001: sh ./tools/setup.sh", "completed")
	if got := p.read(p.tree, "ran"); got != p.tree+"\n"+p.project+"\n" {
		t.Errorf("it ran as %q", got)
	}
	if got := p.read(p.cfg.Logs, "setup-t1.log"); got != "one\ntwo\n" {
		t.Errorf("its log is %q", got)
	}
	if err := setup.New(p.cfg).TearDown(t.Context(), p.thread(), p.say); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.tree, "torn-down")); err != nil {
		t.Error("teardown did not run")
	}
	p.write(p.tree, "tools/setup.sh", "touch changed\n")
	p.has(p.setUp(t.Context()), "have not been accepted")
	if err := setup.New(p.cfg).TearDown(t.Context(), p.thread(), p.say); err == nil || !strings.Contains(err.Error(), "did not run") {
		t.Errorf("the teardown of what was not accepted: %v", err)
	}
	p.write(p.tree, "tools/setup.sh", "echo one; echo two >&2; pwd >ran; echo $ORCHESTRATOR_PROJECT_DIR >>ran\n")
	p.cfg.Commands.Setup += " more"
	p.has(p.setUp(t.Context()), "have not been accepted")
	if got := p.read(p.tree, "changed"); !strings.Contains(got, "no such file") {
		t.Error("a changed script ran")
	}
}

func TestSetupThatFails(t *testing.T) {
	p := newPlace(t)
	p.cfg.Commands.Setup = "echo fetching; printf 'it is \\033[31mbroken\\n'; exit 3"
	p.accept()
	said := p.setUp(t.Context())
	p.has(said, "setup of fork-0001 failed", "exit status 3", "broken", filepath.Join(p.cfg.Logs, "setup-t1.log"), "can still be used")
	if strings.Contains(said, "\x1b") {
		t.Errorf("control bytes of the command are said: %q", said)
	}
}

// alive tells which processes run whose arguments hold a word.
func alive(t *testing.T, word string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "stat=,args=").Output()
	if err != nil {
		t.Skipf("ps: %v: what runs is not looked at", err)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
		return !strings.Contains(line, word) || strings.HasPrefix(line, "Z")
	})
}

// TestSetupThatHangs: a command that never ends is ended with all that it started, out of its group too.
func TestSetupThatHangs(t *testing.T) {
	for name, line := range map[string]string{
		"alone":             "sleep NUMBER",
		"deaf":              "trap '' TERM HUP INT; while :; do sleep NUMBER; done",
		"children":          "for i in 1 2 3 4 5 6 7 8; do (sleep NUMBER & sleep NUMBER) & done; wait",
		"out of its group":  "setsid sh -c 'trap \"\" TERM; sleep NUMBER; :' & setsid setsid sleep NUMBER & wait; sleep NUMBER",
		"one after another": "f() { sleep NUMBER & f2 & wait; }; f2() { sleep NUMBER & f3 & wait; }; f3() { (while :; do sleep NUMBER; done) & wait; }; f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			number := strconv.Itoa(100000 + os.Getpid()*7 + len(name))
			p.cfg.Commands.Setup = "echo begun; " + strings.ReplaceAll(line, "NUMBER", number)
			p.cfg.Limit = 300 * time.Millisecond
			p.accept()
			begin := time.Now()
			p.has(p.setUp(t.Context()), "timed out after 300ms and was killed; last output: begun")
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if left := alive(t, number); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
		})
	}
}

func TestSetupEndsWithItsContext(t *testing.T) {
	p := newPlace(t)
	p.cfg.Commands.Setup = "sleep 987654"
	p.accept()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p.has(p.setUp(ctx), "stopped")
}

// TestSetupLeavesNothing: what a command that ends well leaves running is ended, and not waited for.
func TestSetupLeavesNothing(t *testing.T) {
	p := newPlace(t)
	p.cfg.Commands.Setup = "sleep 876543 & setsid sleep 876543 & echo done"
	p.accept()
	p.has(p.setUp(t.Context()), "completed")
	if left := alive(t, "876543"); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
}

// TestSetupThatPrintsForEver: the log has a bound, and the newest line is known.
func TestSetupThatPrintsForEver(t *testing.T) {
	p := newPlace(t)
	p.cfg.Commands.Setup = "yes 0123456789 | head -c 20000000; echo; echo the end; exit 1"
	p.accept()
	p.has(p.setUp(t.Context()), "failed", "last output: the end")
	log := p.read(p.cfg.Logs, "setup-t1.log")
	if len(log) > 1<<20+200 || !strings.Contains(log, "more bytes of output were discarded") {
		t.Errorf("its log has %d bytes and ends with %q", len(log), log[max(0, len(log)-80):])
	}
}

// list stands for git: what is named is ignored.
func (p *place) list(names ...string) {
	p.cfg.Ignored = func(_ context.Context, dir string, patterns []string) ([]string, error) {
		if dir != p.project {
			p.Errorf("asked about %s", dir)
		}
		p.said = append(p.said, "patterns: "+strings.Join(patterns, " "))
		return names, nil
	}
}

func TestIncludeCopies(t *testing.T) {
	p := newPlace(t)
	outside := filepath.Join(p.project, "../outside")
	p.write(outside, "secret", "not yours\n")
	p.write(p.project, ".worktreeinclude", "# local files\n\n*.env  \n/config/local.json\n!skip.env\n../outside/secret\na/../../b\n/\n")
	p.write(p.project, ".env", "KEY=1\n")
	p.write(p.project, "config/local.json", "{}")
	p.write(p.project, "there.env", "from the project\n")
	p.write(p.tree, "there.env", "the worktree's\n")
	p.write(p.project, "state/state.db", "ours\n")
	if err := os.Chmod(filepath.Join(p.project, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		filepath.Join(p.project, "link.env"): "../outside/secret", filepath.Join(p.project, "dir"): "../outside",
		filepath.Join(p.project, "inner"): "config", filepath.Join(p.project, "inner.env"): ".env", filepath.Join(p.tree, "out"): "../outside",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	p.write(p.project, "out/x.env", "x\n")
	if err := syscall.Mkfifo(filepath.Join(p.project, "fifo.env"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.list(".env", "config/local.json", "there.env", "link.env", "dir/secret", "inner/local.json", "inner.env", "out/x.env", "fifo.env", "gone.env", "../outside/secret",
		"/etc/passwd", "state/state.db", ".orchestrator/x")
	said := p.setUp(t.Context())
	p.has(said, "patterns: *.env /config/local.json !skip.env", "line 6 points outside the project", "line 7 points outside", "line 8 names the project itself",
		"2 ignored files copied", "files not copied")
	if got := p.read(p.tree, ".env"); got != "KEY=1\n" {
		t.Errorf(".env is %q", got)
	}
	if info, err := os.Stat(filepath.Join(p.tree, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(".env: %v %v", info.Mode(), err)
	}
	if got := p.read(p.tree, "there.env"); got != "the worktree's\n" {
		t.Errorf("overwritten: %q", got)
	}
	var found []string
	err := filepath.WalkDir(p.tree, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(p.tree, path)
			found = append(found, name)
		}
		return err
	})
	if want := []string{".env", "config/local.json", "out", "there.env"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("the worktree holds %q, want %q (%v)", found, want, err)
	}
	if got, err := os.ReadDir(outside); err != nil || len(got) != 1 {
		t.Errorf("written through a link: %v %v", got, err)
	}
}

func TestIncludeOfAnAgent(t *testing.T) {
	p := newPlace(t)
	p.write(p.project, ".demo/local.json", "{}")
	p.cfg.Local = func(agent string) []string { return []string{"/." + agent + "/local.json"} }
	p.list(".demo/local.json")
	p.has(p.setUp(t.Context()), "patterns: /.demo/local.json", "1 ignored file")
	if p.read(p.tree, ".demo/local.json") != "{}" {
		t.Error("it is not copied")
	}
}

func TestIncludeRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(p *place)
		said string
	}{
		"too much": {func(p *place) {
			p.write(p.project, ".worktreeinclude", "*\n")
			p.write(p.project, "huge", "")
			if err := os.Truncate(filepath.Join(p.project, "huge"), 1<<40); err != nil {
				p.Skipf("no sparse files here: %v", err)
			}
			p.list(".env", "huge")
		}, "limit of 2000 files with 100 MB, none copied"},
		"a link": {func(p *place) {
			p.write(p.project, "patterns", "*.env\n")
			if err := os.Symlink("patterns", filepath.Join(p.project, ".worktreeinclude")); err != nil {
				p.Fatal(err)
			}
			p.list(".env")
		}, ".worktreeinclude ignored"},
		"what never ends": {func(p *place) {
			if err := syscall.Mkfifo(filepath.Join(p.project, ".worktreeinclude"), 0o600); err != nil {
				p.Fatal(err)
			}
			p.list(".env")
		}, ".worktreeinclude ignored"},
		"a large file": {func(p *place) {
			p.write(p.project, ".worktreeinclude", strings.Repeat("*.env\n", 100000))
			p.list(".env")
		}, ".worktreeinclude ignored"},
		"many patterns": {func(p *place) {
			p.write(p.project, ".worktreeinclude", strings.Repeat("*.env\n", 501))
			p.list(".env")
		}, "more than 500 patterns"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.project, ".env", "KEY=1\n")
			tc.make(p)
			p.has(p.setUp(t.Context()), tc.said)
			if got, err := os.ReadDir(p.tree); err != nil || len(got) > 0 {
				t.Errorf("copied: %v %v", got, err)
			}
		})
	}
}

// TestWhatWasAcceptedRuns: while somebody exchanges the script of a setup as fast as they can, what was accepted runs or
// nothing does; it runs in the worktree, finds other files beside it, and its copy's place may need quotes.
func TestWhatWasAcceptedRuns(t *testing.T) {
	p := newPlace(t)
	p.cfg.Logs = filepath.Join(filepath.Dir(p.project), "it's a \"$log\"", "logs")
	if err := os.MkdirAll(filepath.Dir(p.cfg.Logs), 0o700); err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(p.project, "evil")
	const good = ". \"$(dirname \"$0\")/lib.sh\"; pwd >> \"$ORCHESTRATOR_PROJECT_DIR/ran\"; echo \"$lib\" > said\n"
	p.write(p.tree, "tools/setup.sh", good)
	p.write(p.tree, "tools/lib.sh", "lib=$1loaded\n")
	for _, line := range []string{"sh tools/setup.sh", "sh './tools/setup.sh'", "sh \"tools/setup.sh\"", "cd . && sh " + p.tree + "/tools/setup.sh"} {
		p.cfg.Commands.Setup = line
		place, content, err := p.cfg.Commands.Content(p.tree)
		if err != nil {
			t.Fatal(err)
		}
		p.accepted[setup.Place(p.project, place)] = string(content)
		if err := setup.New(p.cfg).SetUp(t.Context(), p.thread(), p.say); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got := p.read(p.tree, "said"); got != "loaded\n" {
			t.Errorf("%s: it said %q", line, got)
		}
		_ = os.Remove(filepath.Join(p.tree, "said"))
	}
	s := setup.New(p.cfg)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			content := good
			if i%3 == 2 {
				content = "touch '" + evil + "'\n"
			}
			_ = os.WriteFile(filepath.Join(p.tree, "tools/new"), []byte(content), 0o600)
			_ = os.Rename(filepath.Join(p.tree, "tools/new"), filepath.Join(p.tree, "tools/setup.sh"))
		}
	}()
	ran, refused := 0, 0
	for i := 0; i < 40 || ran == 0 && i < 4000; i++ {
		if s.SetUp(t.Context(), p.thread(), p.say) == nil {
			ran++
		} else {
			refused++
		}
		if _, err := os.Stat(evil); err == nil {
			t.Fatalf("what was not accepted ran, after %d accepted runs and %d refusals", ran, refused)
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d accepted runs, %d refused", ran, refused)
	if ran == 0 {
		t.Error("nothing ran")
	}
}
