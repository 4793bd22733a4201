package gateway

import (
	"net/http"
	"strings"
)

// refuse returns the status that a request is refused with, 0 when it may go on. It is asked
// before anything else is done, and what it refuses gets no body.
func (g *Gateway) refuse(r *http.Request) int {
	switch {
	case !g.hosts[strings.ToLower(r.Host)], r.URL.Host != "": // absolute-form targets name a host of their own
		return http.StatusMisdirectedRequest
	case len(r.Header["Origin"]) > 0: // a browser: no agent is one
		return http.StatusForbidden
	case r.Method == http.MethodConnect:
		return http.StatusMethodNotAllowed
	case !plainConnection(r.Header):
		return http.StatusBadRequest
	default:
		return 0
	}
}

// plainConnection reports whether the Connection header names only what belongs to a connection.
// Naming another header there would have it removed on the way: an API key, say.
func plainConnection(h http.Header) bool {
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "", "close", "keep-alive", "upgrade", "te", "trailer", "http2-settings", "proxy-connection":
			default:
				return false
			}
		}
	}
	return true
}

// isWebSocket reports whether a request asks to leave HTTP.
func isWebSocket(r *http.Request) bool {
	for _, v := range r.Header["Upgrade"] {
		if strings.Contains(strings.ToLower(v), "websocket") {
			return true
		}
	}
	return false
}

// hopByHop are the headers that belong to one connection.
var hopByHop = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Http2-Settings": true,
}

// copyHeader adds what may pass from one header to another.
func copyHeader(to, from http.Header) {
	for name, values := range from {
		if !hopByHop[name] {
			to[name] = append(to[name], values...)
		}
	}
}
