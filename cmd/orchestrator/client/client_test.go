package client

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread/api"
)

// TestUnreadableEvents: a stream with an event that this program cannot read ends, so that nothing is missed unsaid.
func TestUnreadableEvents(t *testing.T) {
	dir, err := os.MkdirTemp("", "client") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, ": begin\n\ndata: {\"seq\":1}\n\ndata: {\"seq\":\"two\"}\n\ndata: {\"seq\":3}\n\n")
		})}
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { _ = s.Close() })
	cl := New(l.Addr().String())
	defer cl.Close()
	events, err := api.Events.Open(t.Context(), cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	var seqs []int64
	for e := range events {
		seqs = append(seqs, e.Seq)
	}
	if !slices.Equal(seqs, []int64{1}) {
		t.Errorf("events %v came", seqs)
	}
}

// TestEndsUnanswered: a server that goes away amid a call is named in words, without the address of our socket.
func TestEndsUnanswered(t *testing.T) {
	dir, err := os.MkdirTemp("", "client") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })}
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { _ = s.Close() })
	cl := New(l.Addr().String())
	defer cl.Close()
	err = cl.Do(t.Context(), "restorebackup", api.None{}, nil)
	if err == nil || err.Error() != "call restorebackup on the server: it ended before it had answered. Run it again" || !Gone(err) {
		t.Errorf("%v, gone: %v", err, Gone(err))
	}
	_ = s.Close()
	if err := cl.Do(t.Context(), "list", api.None{}, nil); err == nil || strings.Contains(err.Error(), "http:") || !Gone(err) {
		t.Errorf("%v, gone: %v", err, Gone(err))
	}
}

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
