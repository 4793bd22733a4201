package callers

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

	"orchestrator/cmd/orchestrator/e2e"
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
	r := e2e.NewRig(t)
	text := strings.Repeat("a line\n", 40_000)
	token, gone := r.Stage(text), r.Stage("gone\n", "--source", "gdrive")
	r.Ok("unstage", gone)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inside := *r
	inside.Program, inside.Env = self, append(slices.Clone(r.Env), sandboxVariable+"="+r.Program)
	if got := inside.Run("retrieve", token); got.Code != 0 || got.Stdout != text || got.Stderr != "" {
		t.Errorf("retrieve: %d bytes, exit %d, %s", len(got.Stdout), got.Code, got.Stderr)
	}
	if got := inside.Run("retrieve", token, "--range", "7-", "--head", "2"); got.Stdout != "a line\na line\n" {
		t.Errorf("retrieve a part: %+v", got)
	}
	if got := e2e.Get[e2e.Retrieved](&inside, "retrieve", token, "--head", "1"); got.Data != "a line\n" {
		t.Errorf("retrieve as JSON: %+v", got)
	}
	inside.Says(exitcode.Usage, []string{"complete token"}, "retrieve", token[:8])
	inside.Says(exitcode.NotFound, []string{"gdrive", "was unstaged at"}, "retrieve", gone)
	inside.Says(exitcode.NotFound, []string{"nothing is staged as max:00000000"}, "retrieve", "max:00000000")
	inside.Says(exitcode.Error, []string{"cannot be reached from this sandbox", "Write the data to a file"}, "stage")
	inside.Says(exitcode.Error, []string{"sandbox that forbids sockets"}, "stage", "list")
	if got := r.Ok("retrieve", token, "--head", "1"); got != "a line" {
		t.Errorf("outside: %q", got)
	}
}

// TestStageFromSandbox: an agent whose sandbox lets it write to its thread's folder for that stages through it, and gets
// the token that the server gave; without such a folder it is told why not.
func TestStageFromSandbox(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("sandboxed")
	r.Turn(name, "list files")
	id := r.Status(name).ID
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inside := *r
	inside.Program = self
	inside.Env = append(slices.Clone(r.Env), sandboxVariable+"="+r.Program, "ORCHESTRATOR_THREAD="+string(id))
	inside.Says(exitcode.Error, []string{"cannot be reached from this sandbox", "Write the data to a file"}, "stage")
	folder := filepath.Join(r.StateDir(), "threads", string(id), thread.DropFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	token := inside.Stage("from inside\n", "--source", "me", "--ttl", "2h")
	if got := r.Ok("retrieve", token); got != "from inside" {
		t.Errorf("it is %q", got)
	}
	info := e2e.Get[thread.StagedInfo](r, "stage", "info", token)
	if info.Thread != id || info.Source != "me" {
		t.Errorf("%+v", info)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	other := inside
	other.Env = append(slices.Clone(inside.Env), "ORCHESTRATOR_THREAD=../../x")
	other.Says(exitcode.Error, []string{"cannot be reached from this sandbox"}, "stage")
}
