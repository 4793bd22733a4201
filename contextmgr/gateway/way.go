package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/outward"
)

// way is how the requests of threads leave this machine.
type way struct {
	id        string
	transport http.RoundTripper
}

// ways are the ways out, one for each network that threads have: connections are shared by those with the same.
type ways struct {
	// every is used by all instead, in tests.
	every http.RoundTripper

	// mu guards known. It is a leaf.
	mu    sync.Mutex
	known map[string]*way
}

// maxWays is how many are kept. People have one network or two; certificates that change make more.
const maxWays = 16

// of returns the way out by a network. Certificates that cannot be read are named in the error; the way is usable.
func (w *ways) of(n thread.Network) (*way, error) {
	if w.every != nil {
		return &way{transport: w.every}, nil
	}
	id := identify(n)
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.known[id]; one != nil {
		return one, nil
	}
	trust, err := outward.TLS(n)
	t := newTransport()
	t.Proxy, t.TLSClientConfig = outward.Proxy(n), trust
	one := &way{id: id, transport: t}
	if err != nil {
		return one, err // not kept: the files may be there the next time
	}
	if len(w.known) >= maxWays || w.known == nil {
		w.known = map[string]*way{}
	}
	w.known[id] = one
	return one, nil
}

// close closes idle connections.
func (w *ways) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.known {
		one.transport.(*http.Transport).CloseIdleConnections()
	}
}

// identify returns what tells networks apart: also certificates that were exchanged in their files.
func identify(n thread.Network) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", n)
	for _, path := range append(append([]string{n.Certificate, n.Key}, n.Roots...), n.RootDirs...) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newTransport returns a transport to the upstreams that adds nothing: no compression, no user agent, no retry of
// requests that may have been received.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConns:        200,
		MaxIdleConnsPerHost: 100,
		// Less than the 60 s after which common servers close idle connections, so that a request is not sent on a connection
		// that is just being closed.
		IdleConnTimeout:     50 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      32 << 10,
	}
}
