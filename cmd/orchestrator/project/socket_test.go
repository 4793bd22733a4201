package project

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// seen is the project p in another environment.
func (h *person) seen(runtime string) Project {
	h.t.Helper()
	places := h.places
	places.Runtime = runtime
	p, err := Find(h.t.Context(), h.path("p"), places)
	if err == nil {
		err = p.Claim()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// serve listens as a server of the project does, and ends with the test.
func (h *person) serve(p Project) *Listener {
	h.t.Helper()
	lock, err := p.Lock()
	if err != nil {
		h.t.Fatal(err)
	}
	l, err := p.Listen()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _, _ = l.Close(), lock.Close() })
	return l
}

// meets fails where a client of a project does not meet a listener.
func (h *person) meets(p Project, l net.Listener) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	met := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Write([]byte("here"))
			err = errors.Join(err, c.Close())
		}
		met <- err
	}()
	c, err := p.Dial(ctx)
	if err != nil {
		h.t.Fatalf("not found from XDG_RUNTIME_DIR=%q: %v", p.places.Runtime, err)
	}
	defer c.Close()
	said := make([]byte, 4)
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(said); err != nil || string(said) != "here" {
		h.t.Fatalf("another one answers: %q %v", said, err)
	}
	if err := <-met; err != nil {
		h.t.Fatal(err)
	}
}

// alone fails where somebody answers.
func (h *person) alone(p Project) {
	h.t.Helper()
	c, err := p.Dial(h.t.Context())
	if err == nil {
		c.Close()
		h.t.Fatal("somebody answers")
	}
	var op *net.OpError
	if !errors.As(err, &op) || errors.Is(err, fs.ErrPermission) {
		h.t.Fatalf("%v does not say that nobody is there", err)
	}
}

// TestServerIsFoundFromEveryEnvironment: with a folder for sockets, with another one, and without.
func TestServerIsFoundFromEveryEnvironment(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"run", "other", ""} {
		t.Run("started with "+server, func(t *testing.T) {
			h := newPerson(t)
			h.repository("p")
			h.sh("mkdir -m 700 other")
			runtime := func(name string) string {
				if name == "" {
					return ""
				}
				return h.path(name)
			}
			l := h.serve(h.seen(runtime(server)))
			for _, client := range []string{"run", "other", ""} {
				h.meets(h.seen(runtime(client)), l)
			}
			if info, err := os.Lstat(l.Path()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the socket is %v %v", info.Mode(), err)
			}
			_ = l.Close()
			h.alone(h.seen(runtime("run")))
		})
	}
}

// TestKilledServerLeavesNothingInTheWay: what a killed server recorded leads nowhere, and the next one is found.
func TestKilledServerLeavesNothingInTheWay(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	there, cron := h.seen(h.places.Runtime), h.seen("")
	lock, err := there.Lock()
	if err != nil {
		t.Fatal(err)
	}
	l, err := there.Listen()
	if err != nil {
		t.Fatal(err)
	}
	l.now.SetUnlinkOnClose(false) // as kill -9 leaves it
	_ = l.Close()
	_ = lock.Close()
	h.alone(there)
	h.alone(cron)
	next := h.serve(cron)
	h.meets(there, next)
	h.meets(cron, next)
}

// TestSocketOutlivesItsFolder: the folder for sockets goes with the last login and comes with the next.
func TestSocketOutlivesItsFolder(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	l := h.serve(h.seen(h.places.Runtime))
	first := l.Path()
	if moved, err := l.Keep(); moved != "" || err != nil {
		t.Errorf("moved to %q without need: %v", moved, err)
	}
	if err := os.RemoveAll(h.places.Runtime); err != nil {
		t.Fatal(err)
	}
	h.alone(h.seen(h.places.Runtime))
	moved, err := l.Keep()
	if err != nil || filepath.Dir(moved) != filepath.Join(h.places.State, homeName, runName) {
		t.Fatalf("moved to %q, %v", moved, err)
	}
	if info, err := os.Lstat(moved); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v %v", info.Mode(), err)
	}
	h.meets(h.seen(h.places.Runtime), l)
	h.meets(h.seen(""), l)
	h.sh("mkdir -m 700 run") // the next login
	if again, err := l.Keep(); again != "" || err != nil {
		t.Errorf("moved to %q without need: %v", again, err)
	}
	h.meets(h.seen(h.places.Runtime), l)
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if back, err := l.Keep(); err != nil || back != first {
		t.Errorf("listens at %q, %v; want %s", back, err, first)
	}
	h.meets(h.seen(""), l)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if moved, err := l.Keep(); moved != "" || err != nil {
		t.Errorf("a closed one listens at %q, %v", moved, err)
	}
	if c, err := l.Accept(); err == nil {
		c.Close()
		t.Error("a closed one accepts")
	}
}

// TestRecordIsNoMoreThanAHint plants everything at the record that could lead a client elsewhere. Nothing of it is
// dialled, a server that is there is found all the same where that can be, and its next look puts the record right.
func TestRecordIsNoMoreThanAHint(t *testing.T) {
	t.Parallel()
	type plant func(h *person, record, trap string) error
	write := func(path string) plant {
		return func(_ *person, record, _ string) error { return os.WriteFile(record, []byte(path+"\n"), 0o600) }
	}
	at := func(make func(h *person, name string) string) plant {
		return func(h *person, record, trap string) error {
			path := make(h, filepath.Base(trap))
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Rename(trap, path))
			return errors.Join(err, os.WriteFile(record, []byte(path+"\n"), 0o600))
		}
	}
	for name, put := range map[string]plant{
		"nothing":  func(_ *person, _, _ string) error { return nil },
		"a link":   func(_ *person, record, trap string) error { return os.Symlink(trap, record) },
		"a folder": func(_ *person, record, _ string) error { return os.Mkdir(record, 0o700) },
		"a pipe":   func(_ *person, record, _ string) error { return syscall.Mkfifo(record, 0o600) },
		"for all": func(_ *person, r, trap string) error {
			return errors.Join(os.WriteFile(r, []byte(trap), 0o600), os.Chmod(r, 0o666))
		},
		"empty":    write(""),
		"a number": write("\x00\xff"),
		"relative": write("orchestrator/x.sock"),
		"too large": func(_ *person, record, _ string) error {
			return os.WriteFile(record, []byte(strings.Repeat("/x", 1000)), 0o600)
		},
		"a socket elsewhere": func(_ *person, record, trap string) error {
			return os.WriteFile(record, []byte(trap+"\n"), 0o600)
		},
		"of another project": at(func(h *person, _ string) string {
			return h.path("run/orchestrator/0123456789abcdef.sock")
		}),
		"in the project":     at(func(h *person, name string) string { return h.path("p/orchestrator/" + name) }),
		"a temporary folder": at(func(h *person, name string) string { return h.path("temp/orchestrator/" + name) }),
		"for others": func(h *person, record, trap string) error {
			path := h.path("wide/orchestrator/" + filepath.Base(trap))
			dir := filepath.Dir(path)
			err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777), os.Rename(trap, path))
			return errors.Join(err, os.WriteFile(record, []byte(path+"\n"), 0o600))
		},
		"through a link": func(h *person, record, trap string) error {
			path := h.path("real/orchestrator/" + filepath.Base(trap))
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Rename(trap, path), os.Symlink("real", h.path("way")))
			return errors.Join(err, os.WriteFile(record, []byte(h.path("way/orchestrator/"+filepath.Base(trap))+"\n"), 0o600))
		},
		"no socket": func(h *person, record, trap string) error {
			path := h.path("run/orchestrator/" + filepath.Base(trap))
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
			return errors.Join(err, os.WriteFile(record, []byte(path+"\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newPerson(t)
			h.repository("p")
			h.places.Temp = []string{h.path("temp")}
			server, client := h.seen(""), h.seen(h.places.Runtime)
			trap, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.path(socketName(server.ID)), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			trap.SetUnlinkOnClose(false)
			defer func() { _ = trap.Close() }()
			go func() {
				if c, err := trap.Accept(); err == nil {
					c.Close()
					t.Error("the trap was dialled")
				}
			}()
			l := h.serve(server)
			h.meets(client, l)
			record := filepath.Join(server.StateDir(), socketRecord)
			if err := errors.Join(os.Remove(record), put(h, record, trap.Addr().String())); err != nil {
				t.Fatal(err)
			}
			h.alone(client)
			h.meets(server, l) // its own place is the usual one
			if moved, err := l.Keep(); moved != "" || err != nil {
				t.Errorf("moved to %q: %v", moved, err)
			}
			h.meets(client, l)
		})
	}
}

// TestOtherPeoplesRuntimeFolder: `su` leaves the variable as it was.
func TestOtherPeoplesRuntimeFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can give folders to another user")
	}
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	if err := os.Chown(h.places.Runtime, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	l := h.serve(h.seen(h.places.Runtime))
	if got := filepath.Dir(l.Path()); got != filepath.Join(h.places.State, homeName, runName) {
		t.Errorf("the socket lies in %s", got)
	}
	h.meets(h.seen(""), l)
}

// TestFoundThoughNoServerCouldStart: where the socket of a server that is started from here had too long a path, one
// that runs is found.
func TestFoundThoughNoServerCouldStart(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	h.places.State = h.path("home/" + strings.Repeat("long", 25))
	h.sh("mkdir -m 700 r")
	short := h.path("r")
	if len(short) > 60 {
		t.Skipf("SKIPPED: the temporary folder's own path is too long: %s", short)
	}
	p := h.seen("")
	if p.SocketProblem() == nil || p.Socket != "" {
		t.Fatalf("a server would listen at %q", p.Socket)
	}
	h.alone(p)
	if l, err := p.Listen(); l != nil || err == nil {
		t.Errorf("listens: %v", err)
	}
	h.meets(p, h.serve(h.seen(short)))
}
