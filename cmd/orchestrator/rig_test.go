package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread"
)

// buildFlags are what the test program itself was built with, for the program under test.
func buildFlags() (flags []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-race" && s.Value == "true":
			flags = append(flags, "-race")
		case s.Key == "-tags":
			flags = append(flags, "-tags", s.Value)
		}
	}
	return flags
}

// program is the built program; TestMain sets it.
var program string

// mode is what a test program does instead of its tests where a variable of the environment is set.
type mode struct {
	Variable string
	Run      func(value string) (code int)
}

// testMain builds the program and runs a package's tests; what it returns is the code to exit with.
func testMain(m *testing.M, modes ...mode) int {
	mcptest.Main()
	for _, mode := range append(modes, mode{callsName, makeCalls}) {
		if value := os.Getenv(mode.Variable); value != "" {
			return mode.Run(value)
		}
	}
	if below, err := session.Below(os.Environ()); below || err != nil {
		fmt.Fprintf(os.Stderr, "these tests act for a person, and this runs below an agent of orchestrator (%v): run them elsewhere\n", err)
		return 1
	}
	var err error
	if program, err = buildProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		// Most of a test's time passes in processes that wait for one another.
		if err := f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if err := database.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// buildProgram builds the program once for all packages of tests: each of them, and each later run, finds it there, and go
// makes it anew where the code has changed.
func buildProgram() (path string, err error) {
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	flags := buildFlags()
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	room := filepath.Join(os.TempDir(), fmt.Sprintf("orchestrator-test-%d", os.Getuid()))
	if err := os.Mkdir(room, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if info, err := os.Lstat(room); err != nil {
		return "", err
	} else if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s is not a folder of yours alone; remove it", room)
	}
	id := sha256.Sum256([]byte(root + "\x00" + strings.Join(flags, "\x00")))
	dir := filepath.Join(room, hex.EncodeToString(id[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("wait for another build: %w", err)
	}
	path = filepath.Join(dir, "orchestrator")
	// Without a version: git refuses to tell it in a checkout that another user owns.
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", path, "./cmd/orchestrator")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// patience is how long a test waits for what must come; only a broken program takes that long.
const patience = 90 * time.Second

// rig is a person's machine for one test: a home, a repository, the program.
type rig struct {
	t       *testing.T
	home    string
	project string
	program string // the program that is called
	env     []string
	// patience is how long an agent may take to get where it must.
	patience time.Duration
}

// inPlace has new threads work in the project's folder though others do too.
const inPlace = "ORCHESTRATOR_NEW_WORKTREE=never"

// newRig makes a home and a repository with one commit; the server is ended with the test.
func newRig(t *testing.T) *rig {
	t.Helper()
	base := newBase(t)
	return newRigIn(t, base, base)
}

// newRigIn is newRig with home and project on a disk of their own.
func newRigIn(t *testing.T, base, disk string) *rig {
	t.Helper()
	r := &rig{t: t, home: filepath.Join(disk, "home"), project: filepath.Join(disk, "project"), program: program, patience: patience}
	run := filepath.Join(base, "run")
	for _, d := range []string{r.home, r.project, run} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.env = []string{
		"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + run, "TERM=xterm-256color", "LANG=C.UTF-8",
		"SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1",
		inPlace, // tests of threads that share a folder, or do not, take it out
		"GIT_AUTHOR_NAME=Tess", "GIT_AUTHOR_EMAIL=tess@example.com", "GIT_COMMITTER_NAME=Tess", "GIT_COMMITTER_EMAIL=tess@example.com",
	}
	r.write("README.md", "# A project\n\nIt says hello.\n")
	r.write("hello.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "Tess")
	r.git("config", "user.email", "tess@example.com")
	r.git("add", ".")
	r.git("commit", "-qm", "begin")
	t.Cleanup(func() {
		stopped := r.run("stop", "--force")
		left := r.servers()
		for begin := time.Now(); len(left) > 0 && time.Since(begin) < 10*time.Second; left = r.servers() {
			time.Sleep(20 * time.Millisecond) // a server releases its lock before its process ends
		}
		for _, pid := range left {
			t.Errorf("server %d is left running: %s%s", pid, stopped.stdout, stopped.stderr)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(r.stateDir(), "log", "server.log"))
			t.Logf("the server's log:\n%s", tail(log, 6000))
		}
		os.RemoveAll(base)
	})
	return r
}

// servers are the processes of the rig's servers, as far as the system lists processes.
func (r *rig) servers() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // of one that ended there is none
		args := strings.Split(string(line), "\x00")
		if len(args) < 2 || args[1] != "serve" || !strings.Contains(string(line), filepath.Dir(r.home)+"/") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// newBase makes a folder for homes and projects. No state may lie below a temporary folder: it lies among what the
// person who runs the tests has cached.
func newBase(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(cache, "otest") // short: a socket has 107 bytes for its path
	if err := os.MkdirAll(all, 0o700); err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(all, "")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	return base
}

// places are what the program takes from the rig's environment.
func (r *rig) places() project.Places {
	state := lookup(r.env, "XDG_STATE_HOME")
	if state == "" {
		state = filepath.Join(lookup(r.env, "HOME"), ".local", "state")
	}
	return project.Places{
		Home: lookup(r.env, "HOME"), State: state, Runtime: lookup(r.env, "XDG_RUNTIME_DIR"),
		Temp:     []string{"/tmp", "/var/tmp", lookup(r.env, "TMPDIR"), os.TempDir()},
		Accepted: func(string) bool { return true }, // whoever made the rig
	}
}

// found is the project as the program finds it.
func (r *rig) found() project.Project {
	r.t.Helper()
	p, err := project.Find(r.t.Context(), r.project, r.places())
	if err == nil {
		err = p.Problem
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// claimed is the project with its state, which is made where it is missing.
func (r *rig) claimed() project.Project {
	r.t.Helper()
	p := r.found()
	if err := p.Claim(); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// stateDir is the folder of the project's state; "" where there is none.
func (r *rig) stateDir() string {
	p, err := project.Find(context.Background(), r.project, r.places())
	if err != nil {
		r.t.Log(err)
	}
	return p.StateDir()
}

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

func (r *rig) write(name, content string) {
	r.t.Helper()
	file := filepath.Join(r.project, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.project, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.project, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// result is how a call of the program ended.
type result struct {
	stdout, stderr string
	code           int
}

// command is a call of the program in the project.
func (r *rig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.program, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	return cmd
}

// run calls the program and returns how it ended.
func (r *rig) run(args ...string) result {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = patience
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Errorf("orchestrator %v: %v", args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok calls the program, which must end well, and returns what it printed.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	res := r.run(args...)
	if res.code != 0 {
		r.t.Fatalf("orchestrator %v: exit %d\n%s%s", args, res.code, res.stdout, res.stderr)
	}
	return strings.TrimSpace(res.stdout)
}

// get calls the program with --json and decodes its answer.
func get[T any](r *rig, args ...string) T {
	r.t.Helper()
	var v T
	out := r.ok(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.t.Fatalf("orchestrator %v: %v in %s", args, err, out)
	}
	return v
}

// status returns a thread's status.
func (r *rig) status(name string) thread.Status {
	r.t.Helper()
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		if s.Name == name || string(s.ID) == name {
			return s
		}
	}
	r.t.Fatalf("no thread %q", name)
	return thread.Status{}
}

// await polls until a condition holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitState waits for a thread's state. It looks seldom: each look is a process, and an agent that starts
// needs the processors.
func (r *rig) awaitState(name string, want ...thread.State) thread.Status {
	r.t.Helper()
	for deadline := time.Now().Add(r.patience); ; time.Sleep(100 * time.Millisecond) {
		s := r.status(name)
		if slices.Contains(want, s.State.State) {
			return s
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("waited %v in vain for %s to be %v:\n%s", r.patience, name, want, r.run("why", name).stdout)
		}
	}
}

// screen is the program in a terminal.
type screen struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	// mu guards term.
	mu   sync.Mutex
	term *vterm.Terminal
	done chan struct{}
}

// open starts the program in a terminal of a size.
func (r *rig) open(cols, rows int, args ...string) *screen {
	r.t.Helper()
	cmd := r.command(args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		r.t.Fatal(err)
	}
	s := &screen{t: r.t, tty: tty, cmd: cmd, done: make(chan struct{})}
	s.term = vterm.New(cols, rows, vterm.Options{Reply: func(b []byte) { go func() { _, _ = tty.Write(b) }() }})
	go func() {
		defer close(s.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := tty.Read(buf)
			s.mu.Lock()
			_, _ = s.term.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("the screen at the end:\n%s", s.text())
		}
		cmd.Process.Kill()
		cmd.Wait()
		tty.Close()
		<-s.done
	})
	return s
}

// text is what the screen shows.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.Text()
}

// press types keys as a terminal would send them.
func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// see waits until the screen shows all the texts.
func (s *screen) see(texts ...string) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		shown := s.text()
		missing := ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the screen never showed %q:\n%s", missing, shown)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// end waits for the program to end and returns its exit code.
func (s *screen) end() int {
	s.t.Helper()
	ended := make(chan struct{})
	go func() { s.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(patience):
		s.t.Fatalf("the program did not end:\n%s", s.text())
	}
	select {
	case <-s.done: // all it printed is on the screen
	case <-time.After(patience):
		s.t.Fatal("the terminal stays open after its program")
	}
	return s.cmd.ProcessState.ExitCode()
}

// send asks a thread's agent something and does not wait for the answer.
func send(ctx context.Context, cl *client.Client, ref, text string) error {
	_, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: ref, Text: text})
	return err
}

// typeIn types a prompt in the agent's own terminal, as a person does, and presses return.
func typeIn(ctx context.Context, cl *client.Client, id thread.ID, text string) error {
	pane, err := cl.Attach(ctx, id, 100, 30)
	if err != nil {
		return err
	}
	defer func() { _ = pane.Close() }()
	if _, err := pane.Read(ctx); err != nil {
		return err
	}
	for _, keys := range []string{text, "\r"} {
		if err := pane.Write(ctx, []byte(keys)); err != nil {
			return err
		}
	}
	_, err = pane.Read(ctx) // it was seen
	return err
}
