package daemon

import (
	"fmt"
	"log/slog"
	"net"
)

// ownerOnly drops connections from other users, which the folder's mode should already prevent, and records who is at
// the other end of the others.
type ownerOnly struct {
	net.Listener
	uid int // the socket's owner
	log *slog.Logger
}

// Accept returns the next connection of the socket's owner.
func (l *ownerOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p, err := peerOf(c)
		if err == nil && p.uid == l.uid {
			return &known{Conn: c, peer: p}, nil
		}
		if err == nil {
			p.release()
		}
		l.log.Warn("refused a connection from another user", "uid", p.uid, "error", err)
		c.Close()
	}
}

// peerOf returns who is at the other end of a connection.
func peerOf(c net.Conn) (p peer, err error) {
	if inner, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = inner.NetConn()
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return p, fmt.Errorf("not a unix connection: %T", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return p, fmt.Errorf("inspect the connection: %w", err)
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { p, asked = lookAt(int(fd)) }); err != nil {
		return p, fmt.Errorf("inspect the connection: %w", err)
	}
	return p, asked
}

// known is a connection whose peer process is known.
type known struct {
	net.Conn
	peer peer
}

// NetConn returns the connection itself.
func (k *known) NetConn() net.Conn { return k.Conn }
