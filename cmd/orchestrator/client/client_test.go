package client

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/api"
)

func TestGone(t *testing.T) {
	dial := func(err error) error {
		return fmt.Errorf("ask: %w", &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", err)})
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nobody listens", dial(syscall.ECONNREFUSED), true},
		{"no socket", dial(syscall.ENOENT), true},
		{"ended in an answer", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		{"a sandbox forbids sockets", dial(syscall.EPERM), false},
		{"the folder is another's", dial(syscall.EACCES), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if Gone(c.err) != c.want {
				t.Errorf("Gone is %v for %v", !c.want, c.err)
			}
		})
	}
	cl := New(filepath.Join(t.TempDir(), "none.sock"))
	defer cl.Close()
	if _, err := api.Info.Do(t.Context(), cl, api.InfoRequest{}); !Gone(err) {
		t.Errorf("without a socket: %v", err)
	}
}
