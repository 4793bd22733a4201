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
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/private"
)

// socketRecord is the file in a state with the path of its server's socket.
const socketRecord = "socket"

// SocketProblem returns why no server can be started from here, nil where one can.
func (p Project) SocketProblem() error { return p.unplaced }

// CheckSocket refuses a folder of sockets that is not this user's alone; that there is none yet is fine.
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
		if !errors.Is(err, fs.ErrPermission) { // it shows that a server may be there
			err = derr
		}
	}
	return nil, err
}

// recorded returns the socket that the project's server recorded. The record is only a hint: a socket is used
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
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || len(path) > maxSocket ||
		filepath.Base(path) != socketName(p.ID) ||
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
		return fmt.Errorf("%w: %s is not a socket of this user", private.ErrNotOurs, path)
	}
	return nil
}
