package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	// runName is the folder of sockets in our home, where there is none for them elsewhere.
	runName = "run"
	// socketRecord is the file in a state with the path of its server's socket.
	socketRecord = "socket"
	// maxSocket is the longest path of a unix socket.
	maxSocket = 100
)

// socketName is the name of a state's socket.
func socketName(id string) string { return id[:16] + ".sock" }

// run is our folder of sockets where there is no other place for them.
func (p Places) run() string { return filepath.Join(p.home(), runName) }

// socket is where the server of a state listens: in the person's folder for sockets, below our home where there is
// none that agents cannot write. Nothing is made.
func (p Places) socket(root, id string) (string, error) {
	run := resolved(filepath.Join(p.Runtime, homeName))
	path := filepath.Join(run, socketName(id))
	usable := filepath.IsAbs(p.Runtime) && isOwn(p.Runtime) && len(path) <= maxSocket
	if !usable || p.temporary(run) != "" || git.Within(run, root) {
		path = filepath.Join(p.run(), socketName(id))
	}
	if len(path) > maxSocket {
		return "", thread.Hint(fmt.Errorf("the socket's path %s is too long for a unix socket", path),
			"set XDG_RUNTIME_DIR to a folder with a shorter path")
	}
	return path, nil
}

// isOwn reports whether a folder is there and belongs to this user: after `su` the variable may still name the
// folder of another one.
func isOwn(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// SocketProblem says why no server can be started from here, nil where one can.
func (p Project) SocketProblem() error { return p.unplaced }

// CheckSocket refuses a folder of sockets that is not this user's alone; one that is not there is well.
func (p Project) CheckSocket() error {
	if p.Socket == "" {
		return nil
	}
	f, err := private.Open(filepath.Dir(p.Socket))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return hint(fmt.Errorf("look at the folder of the socket: %w", err))
	}
	return f.Close()
}

// Sockets returns the sockets at which the project's server may listen, the likeliest first: the one that it recorded
// in the state, and the one of a server that was started from here. What does not exist is left out, and so is what
// is not ours. Refused says why what is recorded is not used.
func (p Project) Sockets() (paths []string, refused error) {
	if p.ID == "" || p.Problem != nil {
		return nil, nil
	}
	recorded, err := p.recorded()
	switch {
	case err == nil:
		paths = append(paths, recorded)
	case !errors.Is(err, fs.ErrNotExist):
		refused = err
	}
	if p.Socket != "" && p.Socket != recorded && p.CheckSocket() == nil && exists(p.Socket) {
		paths = append(paths, p.Socket)
	}
	return paths, refused
}

// Dial connects to the project's server, from whatever environment that was started.
func (p Project) Dial(ctx context.Context) (net.Conn, error) {
	paths, _ := p.Sockets()
	err := error(&net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)})
	for _, path := range paths {
		var d net.Dialer
		c, derr := d.DialContext(ctx, "unix", path)
		if derr == nil {
			return c, nil
		}
		if !errors.Is(err, fs.ErrPermission) { // which tells that a server may be there
			err = derr
		}
	}
	return nil, err
}

// recorded returns the socket that the project's server recorded. The record is no more than a hint: a socket is used
// only where we put sockets, in a folder that is this user's alone.
func (p Project) recorded() (string, error) {
	folder, err := p.openState()
	if err != nil {
		return "", err
	}
	defer folder.Close()
	content, err := folder.Read(socketRecord, 2*maxSocket)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(string(content), "\n")
	if err := p.checkRecorded(path); err != nil {
		return "", &private.Error{Path: folder.Path(socketRecord), Err: err}
	}
	return path, nil
}

// openState opens the state's folder and makes nothing.
func (p Project) openState() (*private.Folder, error) {
	return private.Open(p.places.State, homeName, p.folder)
}

func (p Project) checkRecorded(path string) error {
	dir := filepath.Dir(path)
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || len(path) > maxSocket || filepath.Base(path) != socketName(p.ID) ||
		dir != p.places.run() && filepath.Base(dir) != homeName {
		return fmt.Errorf("it names no socket of this project: %q", path)
	}
	if dir != p.places.run() {
		if t := p.places.temporary(dir); t != "" {
			return fmt.Errorf("%w: the server listens in %s, below the temporary folder %s", ErrExposed, dir, t)
		}
		if git.Within(dir, p.Root) {
			return fmt.Errorf("%w: the server listens in %s, in the project", ErrExposed, dir)
		}
	}
	if resolved(dir) != dir {
		return fmt.Errorf("%w: %s leads through a link", private.ErrNotOurs, dir)
	}
	folder, err := private.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); info.Mode().Type() != fs.ModeSocket || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s is no socket of this user", private.ErrNotOurs, path)
	}
	return nil
}

// Listener is the socket of the project's server. It records in the state where it is, so that clients find it from
// every environment, and Keep lets it outlive its folder.
type Listener struct {
	of Project

	// mu guards what follows.
	mu     sync.Mutex
	now    *net.UnixListener
	path   string
	closed bool
}

// Listen takes the project's socket, which the holder of its lock may do: a file that lies there is no server's. A
// socket that could not be recorded comes with the error, and is found from the environment of its server.
func (p Project) Listen() (*Listener, error) {
	l := &Listener{of: p}
	var err error
	if l.now, l.path, err = p.listen(); err != nil {
		return nil, err
	}
	return l, l.record()
}

// listen listens where the socket goes now: the folder that it was in may be gone.
func (p Project) listen() (*net.UnixListener, string, error) {
	path, err := p.places.socket(p.Root, p.ID)
	if err != nil {
		return nil, "", err
	}
	base, names := p.places.State, []string{homeName, runName}
	if filepath.Dir(path) != p.places.run() {
		base, names = p.places.Runtime, []string{homeName}
	}
	folder, err := private.Make(base, names...)
	if err != nil {
		return nil, "", hint(fmt.Errorf("make the folder of the socket: %w", err))
	}
	defer folder.Close()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("take the socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, "", fmt.Errorf("listen on the socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil { // nobody else enters the folder before
		return nil, "", errors.Join(fmt.Errorf("close the socket to others: %w", err), l.Close())
	}
	return l, path, nil
}

// record writes where the socket is, unless that is recorded already. A link, or whatever else lies at the record's
// name, gives way.
func (l *Listener) record() error {
	folder, err := l.of.openState()
	if err != nil {
		return hint(fmt.Errorf("record where the server listens: %w", err))
	}
	defer folder.Close()
	content := l.path + "\n"
	if have, err := folder.Read(socketRecord, 2*maxSocket); err == nil && string(have) == content {
		return nil
	}
	err = folder.Write(socketRecord, []byte(content))
	if errors.Is(err, private.ErrNotOurs) {
		if err = folder.Remove(socketRecord); err == nil {
			err = folder.Write(socketRecord, []byte(content))
		}
	}
	if err != nil {
		return hint(fmt.Errorf("record where the server listens: %w", err))
	}
	return nil
}

// Keep looks whether clients still find the server. Where the socket is gone, as when the person's folder for sockets
// goes with the last login, it listens at another place, which is returned; where the record is, it is written again.
func (l *Listener) Keep() (moved string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return "", nil
	}
	info, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Type() != fs.ModeSocket {
		next, path, err := l.of.listen()
		if err != nil {
			return "", err
		}
		l.now.SetUnlinkOnClose(false) // its name may be the next one's
		_ = l.now.Close()             // nobody can reach it
		l.now, l.path, moved = next, path, path
	}
	return moved, l.record()
}

// Path is where the server listens now.
func (l *Listener) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		now := l.now
		l.mu.Unlock()
		c, err := now.Accept()
		if err == nil {
			return c, nil
		}
		l.mu.Lock()
		moved := l.now != now
		l.mu.Unlock()
		if !moved {
			return nil, err
		}
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.now.Close()
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now.Addr()
}
