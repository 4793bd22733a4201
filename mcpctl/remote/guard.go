package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread/outward"
)

// signInTime is how long one request for signing in may take.
const signInTime = 30 * time.Second

// guard lets requests go to public addresses, to the host of the server, and to this machine if the server is here:
// where to sign in is said by the server, and must not lead to what only this machine can reach.
type guard struct {
	server  string // host name
	here    bool   // the server is on this machine
	dialer  net.Dialer
	mu      sync.Mutex
	proxies map[string]bool // addresses of the person's proxies
	through func(*http.Request) (*url.URL, error)
}

// newGuarded returns a client for signing in to a server. It goes through the proxy of an environment, and trusts its
// certificates.
func newGuarded(server *url.URL, env []string) *http.Client {
	network := outward.Of(env)
	g := &guard{
		server: server.Hostname(), here: loopback(server.Hostname()), proxies: map[string]bool{}, through: outward.Proxy(network),
	}
	// Certificates that cannot be read show as an error of the connection.
	trust, _ := outward.TLS(network)
	g.dialer = net.Dialer{Timeout: connectTime}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  g.proxy,
			TLSClientConfig:        trust,
			DialContext:            g.dial,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: maxHeader,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: sameHost,
		Timeout:       signInTime,
	}
}

// proxy is the person's proxy for a request. It resolves names itself, so that only addresses can be checked here.
func (g *guard) proxy(r *http.Request) (*url.URL, error) {
	to, err := g.through(r)
	if err != nil || to == nil {
		return to, err
	}
	host := r.URL.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		if err := g.check(host, ip); err != nil {
			return nil, err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.proxies[to.Hostname()] = true
	return to, nil
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	trusted := g.proxies[host]
	g.mu.Unlock()
	dialer := g.dialer
	dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return errors.New("the address cannot be read")
		}
		if trusted {
			return nil
		}
		return g.check(host, at.Addr())
	}
	return dialer.DialContext(ctx, network, address)
}

// check decides about an address, after names are resolved: a name may lead anywhere.
func (g *guard) check(host string, ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	switch {
	case host == g.server, ip.IsLoopback() && g.here, public(ip):
		return nil
	default:
		return fmt.Errorf("%s is not a public address", host)
	}
}

func public(ip netip.Addr) bool {
	return ip.IsValid() && ip.IsGlobalUnicast() && !ip.IsPrivate() && !shared.Contains(ip)
}

// shared is the address space of carriers (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")
