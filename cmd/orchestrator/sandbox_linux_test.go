package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// sandboxVariable names a program that the test program runs in a sandbox without connections.
const sandboxVariable = "ORCHESTRATOR_TEST_SANDBOX"

// runInSandbox replaces this program by another one that cannot connect to anything, as in Codex's sandbox.
func runInSandbox(path string) int {
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CONNECT, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, sandboxVariable+"=") })
		err = syscall.Exec(path, append([]string{path}, os.Args[1:]...), env)
	}
	fmt.Fprintln(os.Stderr, "run in a sandbox:", err)
	return 1
}

// TestStagingInSandbox: without a connection to the server, retrieve reads the files of complete tokens, and everything
// else says why it cannot be done.
func TestStagingInSandbox(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := strings.Repeat("a line\n", 40_000)
	token, gone := r.stage(text), r.stage("gone\n", "--source", "gdrive")
	r.ok("unstage", gone)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inside := *r
	inside.program, inside.env = self, append(slices.Clone(r.env), sandboxVariable+"="+r.program)
	if got := inside.run("retrieve", token); got.code != 0 || got.stdout != text || got.stderr != "" {
		t.Errorf("retrieve: %d bytes, exit %d, %s", len(got.stdout), got.code, got.stderr)
	}
	if got := inside.run("retrieve", token, "--range", "7-", "--head", "2"); got.stdout != "a line\na line\n" {
		t.Errorf("retrieve a part: %+v", got)
	}
	if got := get[retrieved](&inside, "retrieve", token, "--head", "1"); got.Data != "a line\n" {
		t.Errorf("retrieve as JSON: %+v", got)
	}
	inside.says(exitcode.Usage, []string{"complete token"}, "retrieve", token[:8])
	inside.says(exitcode.NotFound, []string{"gdrive", "was unstaged at"}, "retrieve", gone)
	inside.says(exitcode.NotFound, []string{"nothing is staged as max:00000000"}, "retrieve", "max:00000000")
	inside.says(exitcode.Error, []string{"cannot be reached from this sandbox", "write the data to a file"}, "stage")
	inside.says(exitcode.Error, []string{"sandbox that forbids sockets"}, "stage", "list")
	if got := r.ok("retrieve", token, "--head", "1"); got != "a line" {
		t.Errorf("outside: %q", got)
	}
}

// TestStageFromSandbox: an agent whose sandbox lets it write to its thread's folder for that stages through it, and gets
// the token that the server gave; without such a folder it is told why not.
func TestStageFromSandbox(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("sandboxed")
	r.turn(name, "list files")
	id := r.status(name).ID
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inside := *r
	inside.program = self
	inside.env = append(slices.Clone(r.env), sandboxVariable+"="+r.program, "ORCHESTRATOR_THREAD="+string(id))
	inside.says(exitcode.Error, []string{"cannot be reached from this sandbox", "write the data to a file"}, "stage")
	folder := filepath.Join(threadHome(r.stateDir(), id), thread.DropFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	token := inside.stage("from inside\n", "--source", "me", "--ttl", "2h")
	if got := r.ok("retrieve", token); got != "from inside" {
		t.Errorf("it is %q", got)
	}
	info := get[thread.StagedInfo](r, "stage", "info", token)
	if info.Thread != id || info.Source != "me" {
		t.Errorf("%+v", info)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	other := inside
	other.env = append(slices.Clone(inside.env), "ORCHESTRATOR_THREAD=../../x")
	other.says(exitcode.Error, []string{"cannot be reached from this sandbox"}, "stage")
}
