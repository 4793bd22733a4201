package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread/ground/await"
	ground "orchestrator/thread/ground/process"
	"orchestrator/thread/ground/rpc"
)

// hostVar makes the test binary a program with a host in that folder.
const hostVar = "PROCESS_TEST_HOST"

// modeVar is one more mode of the server of that host.
const modeVar = "PROCESS_TEST_MODE"

func TestMain(m *testing.M) {
	mcptest.Main()
	if dir := os.Getenv(hostVar); dir != "" {
		runHost(dir)
	}
	goleak.VerifyTestMain(m)
}

// runHost starts a server with children that do not end by themselves, and does not end by itself either.
func runHost(dir string) {
	h, err := New(filepath.Join(dir, "state"), 0)
	if err != nil {
		panic(err)
	}
	p, err := h.Start(spec(&Log{}, "stubborn", "fork", "strays=3", os.Getenv(modeVar), "starts="+filepath.Join(dir, "starts")))
	if err != nil {
		panic(err)
	}
	answers(p)
	fmt.Println("started", h.guard.program.Pid)
	time.Sleep(time.Minute)
	os.Exit(1)
}

func spec(log *Log, mode ...string) Spec {
	cmd, args, env := mcptest.Command(mode...)
	return Spec{Command: cmd, Args: args, Env: append(env, "PATH="+os.Getenv("PATH")), Dir: os.TempDir(), Log: log}
}

func host(t testing.TB, dir string) *Host {
	t.Helper()
	h, err := New(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

type quiet struct{}

func (quiet) Request(context.Context, rpc.Message) (json.RawMessage, error) { return nil, nil }
func (quiet) Notification(rpc.Message)                                      {}

// answers waits until a server answers.
func answers(p *Process) {
	peer := rpc.NewPeer(p.Stream(), quiet{})
	go func() { _ = peer.Run() }()
	if _, err := peer.Call(context.Background(), "ping", nil); err != nil {
		panic(err)
	}
}

// started starts a server that has answered.
func started(t testing.TB, h *Host, log *Log, mode ...string) *Process {
	t.Helper()
	p, err := h.Start(spec(log, mode...))
	if err != nil {
		t.Fatal(err)
	}
	answers(p)
	return p
}

// pidsIn returns the pids in a file of mcptest.
func pidsIn(t testing.TB, file string) []int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// running returns which of some pids run.
func running(pids []int) (left []int) {
	for _, pid := range pids {
		if p, ok := ground.Look(pid); ok && !p.Ended {
			left = append(left, pid)
		}
	}
	return left
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		name string
		mode []string
		stop func(*Process)
		exit string
	}{
		{"one that ends with its input", nil, (*Process).Stop, "exit status 0"},
		{"a stubborn one with stubborn children", []string{"stubborn", "fork", "bare"}, (*Process).Stop, "signal: killed"},
		{"one with stubborn children", []string{"fork", "bare"}, (*Process).Stop, "exit status 0"},
		{"one with strays", []string{"strays=20"}, (*Process).Stop, "exit status 0"},
		{"one that is killed with strays", []string{"stubborn", "strays=20"}, (*Process).Kill, "signal: killed"},
		{"kill", []string{"fork", "bare"}, (*Process).Kill, "signal: killed"},
		{"kill of one that is stopped", []string{"fork", "bare"}, func(p *Process) { p.signal(syscall.SIGSTOP); p.Kill() }, "signal: killed"},
		{"the program alone is killed", []string{"fork", "bare"}, func(p *Process) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
			<-p.Done()
		}, "signal: killed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := host(t, t.TempDir())
			h.waits = waits{afterEOF: 500 * time.Millisecond, afterTerm: 50 * time.Millisecond}
			file := filepath.Join(t.TempDir(), "starts")
			p := started(t, h, &Log{}, append(test.mode, "starts="+file)...)
			pids := pidsIn(t, file)
			mode := strings.Join(test.mode, " ")
			if want := 1 + 2*strings.Count(mode, "fork") + 20*strings.Count(mode, "strays=20"); len(pids) != want {
				t.Fatalf("%d processes were started, want %d", len(pids), want)
			}
			if left := running(pids); len(left) != len(pids) {
				t.Fatalf("only %v of %v run", left, pids)
			}
			test.stop(p)
			left := running(pids)
			for end := time.Now().Add(3 * time.Second); len(left) > 0 && time.Now().Before(end); left = running(pids) {
				time.Sleep(time.Millisecond) // one that was killed takes a moment to go on a machine that is busy
			}
			if len(left) > 0 {
				t.Errorf("%v of %v are left", left, pids)
			}
			if got := p.Exit(); got != test.exit {
				t.Errorf("it ended with %q, want %q", got, test.exit)
			}
		})
	}
}

// TestWhatAKilledHostLeaves kills a program with a host, with and without its guard.
func TestWhatAKilledHostLeaves(t *testing.T) {
	for _, guarded := range []bool{true, false} {
		t.Run(fmt.Sprintf("guard %v", guarded), func(t *testing.T) {
			dir := t.TempDir()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			program := exec.Command(self)
			program.Env = append(os.Environ(), hostVar+"="+dir)
			if guarded {
				program.Env = append(program.Env, modeVar+"=bare")
			}
			out, err := program.StdoutPipe()
			if err == nil {
				err = program.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer program.Process.Kill()
			var guardPID int
			line, err := bufio.NewReader(out).ReadString('\n')
			if _, bad := fmt.Sscanf(line, "started %d", &guardPID); bad != nil {
				t.Fatalf("%q %v", line, err)
			}
			pids := pidsIn(t, filepath.Join(dir, "starts"))
			if left := running(pids); len(left) != 6 {
				t.Fatalf("%v of %v run", left, pids)
			}
			if !guarded {
				_ = syscall.Kill(guardPID, syscall.SIGKILL)
			}
			_ = program.Process.Kill()
			_ = program.Wait()
			if guarded {
				await.Within(t, 3*time.Second, "everything ends with the host", func() bool {
					return len(running(append(pids, guardPID))) == 0
				})
				return
			}
			await.Within(t, 3*time.Second, "the program ends with the host", func() bool { return len(running(pids[:1])) == 0 })
			if left := running(pids); len(left) != 5 {
				t.Fatalf("%v of %v are left without a guard, want the children", left, pids)
			}
			host(t, filepath.Join(dir, "state"))
			if left := running(pids); len(left) > 0 {
				t.Errorf("%v of %v are left by the next start", left, pids)
			}
		})
	}
}

// TestSweepSparesOthers: neither a pid that is used again nor another folder's server is killed.
func TestSweepSparesOthers(t *testing.T) {
	h := host(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "starts")
	p := started(t, h, &Log{}, "fork", "starts="+file)
	pids := pidsIn(t, file)
	seen, _ := ground.Look(p.PID())
	for what, r := range map[string]record{
		"another start": {Mark: "another", Boot: ground.Boot(), Leaders: []start{{p.PID(), seen.Start + 1}}},
		"another boot":  {Mark: "another", Boot: "another", Leaders: []start{{p.PID(), seen.Start}}},
		"a longer mark": {Mark: h.record.Mark[:len(h.record.Mark)-1], Boot: ground.Boot()},
	} {
		if n := r.sweep(); n != 0 || len(running(pids)) != 3 {
			t.Errorf("%s: %d processes were killed, %v are left", what, n, running(pids))
		}
	}
	r := record{Mark: "another", Boot: ground.Boot(), Leaders: []start{{p.PID(), seen.Start}}}
	if n := r.sweep(); n != 2 || slices.Contains(running(pids), p.PID()) {
		t.Errorf("%d processes of the group were killed, want the program and its child", n)
	}
}

// TestUnusedMark: the processes of the system are looked through only where something may have been started.
func TestUnusedMark(t *testing.T) {
	h := host(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "starts")
	started(t, h, &Log{}, "fork", "starts="+file)
	pids := pidsIn(t, file)
	for _, unused := range []bool{true, false} {
		dir := t.TempDir()
		b, err := json.Marshal(record{Mark: h.record.Mark, Boot: ground.Boot(), Unused: unused})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, recordName), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		host(t, dir)
		if left := running(pids); (len(left) > 0) != unused {
			t.Errorf("unused %v: %v of %v are left", unused, left, pids)
		}
		if b, err = os.ReadFile(filepath.Join(dir, recordName)); err != nil || !strings.Contains(string(b), `"unused":true`) {
			t.Errorf("unused %v: the record is %s, %v", unused, b, err)
		}
	}
}

// TestTooManyProcesses: a program is ended with all that it has started, and says why.
func TestTooManyProcesses(t *testing.T) {
	h := host(t, t.TempDir())
	h.limit, h.every = 10, 10*time.Millisecond
	file := filepath.Join(t.TempDir(), "starts")
	few := started(t, h, &Log{}, "strays=3", "starts="+file)
	p, err := h.Start(spec(&Log{}, "strays=30", "starts="+file))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if want := "processes: limits.processes allows 10"; !strings.Contains(p.Exit(), want) {
		t.Errorf("it ended with %q, want %q", p.Exit(), want)
	}
	await.Within(t, 3*time.Second, "the other one is left with its own", func() bool { return len(running(pidsIn(t, file))) == 4 })
	few.Stop()
}

// TestMemoryIsThatOfAllProcesses: also of those that have left the group.
func TestMemoryIsThatOfAllProcesses(t *testing.T) {
	h := host(t, t.TempDir())
	alone := started(t, h, &Log{})
	many := started(t, h, &Log{}, "strays=5", "starts="+filepath.Join(t.TempDir(), "starts"))
	if m := h.Memory(); m[many.PID()] < 2*m[alone.PID()] {
		t.Errorf("one with 5 more processes has %d bytes, one alone %d", m[many.PID()], m[alone.PID()])
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "canary")
	h := host(t, t.TempDir())
	s := spec(&Log{})
	s.Env = []string{"GORACE=atexit_sleep_ms=0", "A=1", markName + "=forged", "B=2"}
	s.Dir = t.TempDir()
	p, err := h.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	answers(p)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	if want := []string{"GORACE=atexit_sleep_ms=0", "A=1", "B=2", markName + "=" + p.mark}; !slices.Equal(got, want) {
		t.Errorf("its environment is %q, want %q", got, want)
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID())); err != nil || dir != s.Dir {
		t.Errorf("it runs in %q %v, want %q", dir, err, s.Dir)
	}
	var st struct{ sid, pgrp int }
	if st.sid, err = syscallGetsid(p.PID()); err != nil || st.sid != p.PID() {
		t.Errorf("its session is %d %v, want its own", st.sid, err)
	}
	if m := h.Memory()[p.PID()]; m < 1<<20 || m > 1<<30 {
		t.Errorf("it uses %d bytes", m)
	}
}

func TestRecordIsWrittenBeforeAnythingIsSent(t *testing.T) {
	dir := t.TempDir()
	h := host(t, dir)
	p, err := h.Start(spec(&Log{}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil || strings.Contains(string(b), "unused") {
		t.Fatalf("%s, %v", b, err)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil || r.Mark == "" || r.Boot != ground.Boot() || len(r.Leaders) != 1 ||
		r.Leaders[0].PID != p.PID() {
		t.Errorf("recorded is %s %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(dir, recordName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v %v", info.Mode(), err)
	}
	if _, err := New(dir, 0); err == nil {
		t.Error("a second host in the same folder")
	}
}

func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, recordName), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if h := host(t, dir); len(h.record.Mark) != 32 {
		t.Errorf("the mark is %q", h.record.Mark)
	}
}

// TestOutputIsBounded: what is no message goes to the log, and messages arrive in spite of it.
func TestOutputIsBounded(t *testing.T) {
	h := host(t, t.TempDir())
	var log Log
	p := started(t, h, &log, "banner", "garbage", "stderr=5000000")
	for end := time.Now().Add(time.Minute); p.Read() < 5000000 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // it is read beside the messages
	}
	if p.Read() < 5000000 {
		t.Errorf("%d bytes were read", p.Read())
	}
	p.Stop()
	lines := log.Lines()
	if len(lines) > maxLines || len(lines) < 10 {
		t.Errorf("the log has %d lines", len(lines))
	}
	if all := strings.Join(lines, "\n"); strings.ContainsAny(all, "\x00\x1b\x07\r") {
		t.Errorf("the log has control characters: %q", all[:200])
	}
}

// TestTooLongLine: the stream ends instead of filling the memory.
func TestTooLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it reads 64 MiB")
	}
	h := host(t, t.TempDir())
	p, err := h.Start(spec(&Log{}, "giant=1000000000"))
	if err != nil {
		t.Fatal(err)
	}
	peer := rpc.NewPeer(p.Stream(), quiet{})
	ended := make(chan error, 1)
	go func() { ended <- peer.Run() }()
	if _, err := peer.Call(context.Background(), "initialize", nil); err == nil {
		t.Error("it answered")
	}
	if err := <-ended; !errors.Is(err, rpc.ErrTooLong) {
		t.Errorf("the stream ended with %v", err)
	}
	if n := p.Read(); n > rpc.MaxFrame+1<<20 {
		t.Errorf("%d bytes were read of a line", n)
	}
	p.Kill()
}

func TestLog(t *testing.T) {
	var log Log
	if log.Lines() != nil {
		t.Error("an empty log has lines")
	}
	s := &splitter{log: &log}
	for _, part := range []string{"one\ntw", "o\n\x1b[31mred\x1b[0m\r\n", "é\xff\n", strings.Repeat("x", 10*maxLine), "\nlast"} {
		if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("wrote %d %v", n, err)
		}
	}
	s.end()
	got := log.Lines()
	want := []string{"one", "two", "␛[31mred␛[0m", "é\uFFFD", strings.Repeat("x", maxLine), "last"}
	if !slices.Equal(got, want) {
		t.Errorf("lines are %.100q, want %.100q", got, want)
	}
	for i := range 1000 {
		log.Add(fmt.Appendf(nil, "%d", i))
	}
	if got := log.Lines(); len(got) != maxLines || got[maxLines-1] != "999" {
		t.Errorf("%d lines to %q", len(got), got[len(got)-1])
	}
	for range 1000 {
		log.Add(bytes.Repeat([]byte("y"), maxLine))
	}
	if got := log.Lines(); len(got) != maxLog/maxLine {
		t.Errorf("%d long lines", len(got))
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("a/run", 0o700)
	write("b/run", 0o700)
	write("b/plain", 0o600)
	write("here", 0o700)
	t.Chdir(dir)
	path := "PATH=" + strings.Join([]string{".", "", filepath.Join(dir, "none"), filepath.Join(dir, "b"), filepath.Join(dir, "a")}, ":")
	for _, test := range []struct{ command, env, want string }{
		{"run", path, "b/run"},
		{"run", "PATH=" + filepath.Join(dir, "a"), "a/run"},
		{"run", "OTHER=1", ""},
		{"plain", path, ""},
		{"here", path, ""}, // never from the folder
		{"./here", path, "here"},
		{"a/run", "", "a/run"},
		{filepath.Join(dir, "here"), "", "here"},
		{filepath.Join(dir, "a"), "", ""},
		{"./none", path, ""},
		{"", path, ""},
	} {
		want := test.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		got, err := Find(test.command, dir, []string{test.env})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q in %q is %q %v, want %q", test.command, test.env, got, err, want)
		}
	}
}

func TestStartFails(t *testing.T) {
	h := host(t, t.TempDir())
	p := started(t, h, &Log{}) // with the guard
	p.Kill()
	before := openFiles(t)
	for what, s := range map[string]Spec{
		"no program":  {Command: "none-at-all", Env: []string{"PATH=/bin"}, Dir: "/", Log: &Log{}},
		"no folder":   {Command: "/bin/sh", Dir: "/none/at/all", Log: &Log{}},
		"not for CPU": {Command: script(t), Dir: "/", Log: &Log{}},
	} {
		if p, err := h.Start(s); err == nil {
			t.Errorf("%s: started %d", what, p.PID())
		}
	}
	if n := openFiles(t); n > before {
		t.Errorf("%d files are open, %d before", n, before)
	}
}

// script is a file that can be executed as far as its mode goes.
func script(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("\x7fELFnot"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFiles(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func syscallGetsid(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return strconv.Atoi(f[3])
}

func BenchmarkStart(b *testing.B) {
	h := host(b, b.TempDir())
	for b.Loop() {
		p := started(b, h, &Log{})
		p.Stop()
	}
}
