package daemon

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

// connectAs connects to a socket as another user; only this goroutine's thread becomes one, and only meanwhile.
func connectAs(t *testing.T, path string, uid int) int {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	become := func(uid int) syscall.Errno {
		_, _, err := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0))
		return err
	}
	if err := become(uid); err != 0 {
		t.Fatal(err)
	}
	failed := unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	if err := become(0); err != 0 {
		panic(err) // nothing may go on as somebody else
	}
	if failed != nil {
		t.Fatal(failed)
	}
	return fd
}

// TestAnotherUserIsRefused: whoever reaches the socket all the same is asked for by the kernel's word.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can connect as another user; run as root to test it")
	}
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	for p, mode := range map[string]os.FileMode{dir: 0o755, path: 0o666} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan net.Conn, 2)
	go func() {
		l := &ownerOnly{Listener: listener, uid: os.Getuid(), log: slog.New(slog.DiscardHandler)}
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	fd := connectAs(t, path, 65534)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(fd, make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("another user's connection was not closed: %d, %v", n, err)
	}
	own, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	select {
	case c := <-accepted:
		if k, ok := c.(*known); !ok || k.peer.uid != 0 || k.peer.pid != os.Getpid() {
			t.Errorf("accepted %+v", c)
		} else {
			k.peer.release()
		}
		c.Close()
	case <-time.After(time.Minute):
		t.Error("the socket's owner was not accepted")
	}
	if len(accepted) != 0 {
		t.Error("more than the owner was accepted")
	}
}

// asked answers who a process is, and runs something before it does.
type asked struct {
	Callers
	meanwhile func()
}

func (a asked) Caller(int, string) (thread.ID, bool, error) {
	a.meanwhile()
	return "", false, nil
}

// TestAnEndedCallerIsNobody: the number of a process that ends while it is looked at may be another's by then.
func TestAnEndedCallerIsNobody(t *testing.T) {
	for _, ends := range []bool{false, true} {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := func() {
			_ = cmd.Process.Kill() // what it is told to do
			_ = cmd.Wait()
		}
		handle, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			end()
			t.Skipf("SKIPPED: this kernel has no handles of processes (%v)", err)
		}
		s := &guard{callers: asked{meanwhile: func() {
			if ends {
				end()
			}
		}}}
		ctx := s.connected(t.Context(), &known{peer: peer{uid: os.Getuid(), pid: cmd.Process.Pid, handle: handle}})
		o, ok := ctx.Value(originKey{}).(*origin)
		if !ok {
			t.Fatal("nobody is asked about")
		}
		<-o.ready
		if (o.err != nil) != ends {
			t.Errorf("a caller that ended (%v): %v", ends, o.err)
		}
		if !ends {
			end()
		}
	}
}
