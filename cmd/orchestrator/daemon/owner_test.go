package daemon

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTheOwnerIsAccepted connects to sockets of two owners as the one who runs the test: who connects is asked of
// the kernel, and whoever is not the owner finds the connection closed.
func TestOnlyTheOwnerIsAccepted(t *testing.T) {
	for owner, welcome := range map[int]bool{os.Getuid(): true, os.Getuid() + 1: false} {
		dir, err := os.MkdirTemp("", "owner") // a socket's path must be short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		listener, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l := &ownerOnly{Listener: listener, uid: owner, log: slog.New(slog.NewTextHandler(&said, nil))}
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte("hello"))
				c.Close()
			}
		}()
		c, err := net.Dial("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := c.Read(make([]byte, 9)) // an error where it was refused
		c.Close()
		listener.Close()
		<-ended
		if (n > 0) != welcome || strings.Contains(said.String(), "another user") == welcome {
			t.Errorf("owner %d, asked by %d: %d bytes came, and the log says %q", owner, os.Getuid(), n, said.String())
		}
	}
}
