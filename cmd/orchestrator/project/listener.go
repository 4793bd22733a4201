package project

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"orchestrator/thread/private"
)

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

// Listen takes the project's socket, which the holder of its lock may do: a file that is there belongs to no server. A
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

// record writes where the socket is, unless that is recorded already. It replaces a link, or whatever else has the
// record's name.
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
