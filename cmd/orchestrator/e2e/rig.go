package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

	"github.com/creack/pty"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/frozen/frozentest"
)

// Patience is how long a test waits for what must come; only a broken program takes that long.
const Patience = 90 * time.Second

// Rig is a person's machine for one test: a home, a repository, the program.
type Rig struct {
	T       *testing.T
	Home    string
	Project string
	Program string // the program that is called
	Env     []string
	// Patience is how long an agent may take to get where it must.
	Patience time.Duration

	found *found
}

// found is where a rig's project was found last.
type found struct {
	// mu guards what follows.
	mu  sync.Mutex
	by  string // the folder and the environment by which it was found
	who project.Project
}

// inPlace has new threads work in the project's folder though others do too.
const inPlace = "ORCHESTRATOR_NEW_WORKTREE=never"

// NewRig makes a home and a repository with one commit; the server is ended with the test.
func NewRig(t *testing.T) *Rig {
	t.Helper()
	base := NewBase(t)
	return NewRigIn(t, base, base)
}

// NewRigIn is newRig with home and project on a disk of their own.
func NewRigIn(t *testing.T, base, disk string) *Rig {
	t.Helper()
	if err := openSources(); err != nil {
		t.Fatal("look at the code: ", err)
	}
	r := &Rig{T: t, Home: filepath.Join(disk, "home"), Project: filepath.Join(disk, "project"), Program: Program, Patience: Patience, found: new(found)}
	run := filepath.Join(base, "run")
	for _, d := range []string{r.Home, r.Project, run} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.Env = []string{
		"HOME=" + r.Home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + run, "TERM=xterm-256color", "LANG=C.UTF-8",
		"SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1",
		inPlace, // tests of threads that share a folder, or do not, take it out
		"GIT_AUTHOR_NAME=Tess", "GIT_AUTHOR_EMAIL=tess@example.com", "GIT_COMMITTER_NAME=Tess", "GIT_COMMITTER_EMAIL=tess@example.com",
	}
	r.Write("README.md", "# A project\n\nIt says hello.\n")
	r.Write("hello.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	r.Git("init", "-q", "-b", "main")
	r.Git("config", "user.name", "Tess")
	r.Git("config", "user.email", "tess@example.com")
	r.Git("add", ".")
	r.Git("commit", "-qm", "begin")
	t.Cleanup(func() {
		stopped := r.Run("stop", "--force")
		left := r.Servers()
		for begin := time.Now(); len(left) > 0 && time.Since(begin) < 10*time.Second; left = r.Servers() {
			time.Sleep(20 * time.Millisecond) // a server releases its lock before its process ends
		}
		for _, pid := range left {
			t.Errorf("server %d is left running: %s%s", pid, stopped.Stdout, stopped.Stderr)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(r.StateDir(), "log", "server.log"))
			t.Logf("the server's log:\n%s", Tail(log, 6000))
		}
		if err := frozentest.Open(base); err != nil {
			t.Error(err)
		}
		os.RemoveAll(base)
	})
	return r
}

// Servers are the processes of the rig's servers, as far as the system lists processes.
func (r *Rig) Servers() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // of one that ended there is none
		args := strings.Split(string(line), "\x00")
		if len(args) < 2 || args[1] != "serve" || !strings.Contains(string(line), filepath.Dir(r.Home)+"/") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// NewBase makes a folder for homes and projects. No state may lie below a temporary folder: it lies among what the
// person who runs the tests has cached.
func NewBase(t *testing.T) string {
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
func (r *Rig) places() project.Places {
	state := thread.Lookup(r.Env, "XDG_STATE_HOME")
	if state == "" {
		state = filepath.Join(thread.Lookup(r.Env, "HOME"), ".local", "state")
	}
	return project.Places{
		Home: thread.Lookup(r.Env, "HOME"), State: state, Runtime: thread.Lookup(r.Env, "XDG_RUNTIME_DIR"),
		Temp:     []string{"/tmp", "/var/tmp", thread.Lookup(r.Env, "TMPDIR"), os.TempDir()},
		Accepted: func(string) bool { return true }, // whoever made the rig
	}
}

// Found is the project as the program finds it.
func (r *Rig) Found() project.Project {
	r.T.Helper()
	p, err := project.Find(r.T.Context(), r.Project, r.places())
	if err == nil {
		err = p.Problem
	}
	if err != nil {
		r.T.Fatal(err)
	}
	return p
}

// Claimed is the project with its state, which is made where it is missing.
func (r *Rig) Claimed() project.Project {
	r.T.Helper()
	p := r.Found()
	if err := p.Claim(); err != nil {
		r.T.Fatal(err)
	}
	return p
}

// StateDir is the folder of the project's state; "" where there is none.
func (r *Rig) StateDir() string {
	p, err := project.Find(context.Background(), r.Project, r.places())
	if err != nil {
		r.T.Log(err)
	}
	return p.StateDir()
}

// Tail is the end of a text.
func Tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

func (r *Rig) Write(name, content string) {
	r.T.Helper()
	file := filepath.Join(r.Project, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.T.Fatal(err)
	}
}

func (r *Rig) Read(name string) string {
	r.T.Helper()
	b, err := os.ReadFile(filepath.Join(r.Project, name))
	if err != nil {
		r.T.Fatal(err)
	}
	return string(b)
}

// Git runs git in the project and returns what it printed.
func (r *Rig) Git(args ...string) string {
	r.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Project, r.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.T.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Result is how a call of the program ended.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Command is a call of the program in the project.
func (r *Rig) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.Program, args...)
	cmd.Dir, cmd.Env = r.Project, r.Env
	return cmd
}

// Run calls the program and returns how it ended.
func (r *Rig) Run(args ...string) Result {
	r.T.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.Command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = Patience
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.T.Errorf("orchestrator %v: %v", args, err)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Ok calls the program, which must end well, and returns what it printed.
func (r *Rig) Ok(args ...string) string {
	r.T.Helper()
	res := r.Run(args...)
	if res.Code != 0 {
		r.T.Fatalf("orchestrator %v: exit %d\n%s%s", args, res.Code, res.Stdout, res.Stderr)
	}
	return strings.TrimSpace(res.Stdout)
}

// Get calls the program with --json and decodes its answer.
func Get[T any](r *Rig, args ...string) T {
	r.T.Helper()
	var v T
	out := r.Ok(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.T.Fatalf("orchestrator %v: %v in %s", args, err, out)
	}
	return v
}

// Status returns a thread's status.
func (r *Rig) Status(name string) thread.Status {
	r.T.Helper()
	for _, list := range []func() []thread.Status{r.list, func() []thread.Status {
		return Get[[]thread.Status](r, "threads", "--all")
	}} {
		for _, s := range list() {
			if s.Name == name || string(s.ID) == name {
				return s
			}
		}
	}
	r.T.Fatalf("no thread %q", name)
	return thread.Status{}
}

// place is where the project is, looked for once.
func (r *Rig) place() (p project.Project, ok bool) {
	if r.found == nil { // as another user, whose socket is not ours
		return p, false
	}
	r.found.mu.Lock()
	defer r.found.mu.Unlock()
	by := r.Project + "\x00" + strings.Join(r.Env, "\x00")
	if r.found.by != by {
		p, err := project.Find(r.T.Context(), r.Project, r.places())
		if err != nil || p.ID == "" {
			return p, false
		}
		r.found.by, r.found.who = by, p
	}
	return r.found.who, true
}

// list asks a server that runs for its threads, without a process: tests look often, and what they wait for needs the
// processors. It is empty where no server is reached, which only the program can start.
func (r *Rig) list() []thread.Status {
	p, ok := r.place()
	if !ok {
		return nil
	}
	cl := client.NewBelow(p.Dial, "")
	defer cl.Close()
	list, err := api.List.Do(r.T.Context(), cl, api.None{})
	if err != nil {
		return nil
	}
	return list
}

// Await polls until a condition holds.
func Await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", Patience, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// AwaitState waits for a thread's state.
func (r *Rig) AwaitState(name string, want ...thread.State) thread.Status {
	r.T.Helper()
	for deadline := time.Now().Add(r.Patience); ; time.Sleep(100 * time.Millisecond) {
		s := r.Status(name)
		if slices.Contains(want, s.State.State) {
			return s
		}
		if time.Now().After(deadline) {
			r.T.Fatalf("waited %v in vain for %s to be %v:\n%s", r.Patience, name, want, r.Run("why", name).Stdout)
		}
	}
}

// Screen is the program in a terminal.
type Screen struct {
	T   *testing.T
	Tty *os.File
	Cmd *exec.Cmd

	// Mu guards Term and Clipboard.
	Mu   sync.Mutex
	Term *vterm.Terminal
	// Clipboard is what was put on the terminal's clipboard last.
	Clipboard string
	Done      chan struct{}
}

// Open starts the program in a terminal of a size.
func (r *Rig) Open(cols, rows int, args ...string) *Screen {
	r.T.Helper()
	cmd := r.Command(args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		r.T.Fatal(err)
	}
	s := &Screen{T: r.T, Tty: tty, Cmd: cmd, Done: make(chan struct{})}
	s.Term = vterm.New(cols, rows, vterm.Options{
		Reply: func(b []byte) { go func() { _, _ = tty.Write(b) }() },
		Event: func(e vterm.Event) {
			if c, ok := e.(vterm.Clipboard); ok {
				s.Clipboard = c.Text
			}
		},
	})
	go func() {
		defer close(s.Done)
		buf := make([]byte, 32<<10)
		for {
			n, err := tty.Read(buf)
			s.Mu.Lock()
			_, _ = s.Term.Write(buf[:n])
			s.Mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	r.T.Cleanup(func() {
		if r.T.Failed() {
			r.T.Logf("the screen at the end:\n%s", s.Text())
		}
		cmd.Process.Kill()
		cmd.Wait()
		tty.Close()
		<-s.Done
	})
	return s
}

// Text is what the screen shows.
func (s *Screen) Text() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Term.Text()
}

// Menu chooses an entry of the menu by its letter.
func (s *Screen) Menu(letter string) {
	s.T.Helper()
	s.Press(".")
	s.See("enter select  esc close")
	s.Press(letter)
}

// Press types keys as a terminal would send them.
func (s *Screen) Press(keys string) {
	s.T.Helper()
	if _, err := s.Tty.WriteString(keys); err != nil {
		s.T.Fatal(err)
	}
}

// See waits until the screen shows all the texts.
func (s *Screen) See(texts ...string) {
	s.T.Helper()
	deadline := time.Now().Add(Patience)
	for {
		shown := s.Text()
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
			s.T.Fatalf("the screen never showed %q:\n%s", missing, shown)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// End waits for the program to end and returns its exit code.
func (s *Screen) End() int {
	s.T.Helper()
	ended := make(chan struct{})
	go func() { s.Cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(Patience):
		s.T.Fatalf("the program did not end:\n%s", s.Text())
	}
	select {
	case <-s.Done: // all it printed is on the screen
	case <-time.After(Patience):
		s.T.Fatal("the terminal stays open after its program")
	}
	return s.Cmd.ProcessState.ExitCode()
}

// Send asks a thread's agent something and does not wait for the answer.
func Send(ctx context.Context, cl *client.Client, ref, text string) error {
	_, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: ref, Text: text})
	return err
}

// TypeIn types a prompt in the agent's own terminal, as a person does, and presses return.
func TypeIn(ctx context.Context, cl *client.Client, id thread.ID, text string) error {
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
