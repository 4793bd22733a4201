package gateway

import (
	"net/http"
	"strconv"
	"strings"
)

// refuse returns the status that a request is refused with, 0 when it may pass; hosts are the gateway's own. It is
// asked before anything else is done, and what it refuses gets no body.
func refuse(r *http.Request, hosts map[string]bool) int {
	switch {
	case !hosts[strings.ToLower(r.Host)], r.URL.Host != "": // absolute-form targets name a host of their own
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

// climbs reports whether a path holds a part that names the folder above, in any of the ways in which a server may
// read it: escaped once or several times, between backslashes, with parameters behind it. No model API has such
// paths, and behind an upstream with a path of its own they would leave it.
func climbs(path string) bool {
	for range 4 { // no server reads what is still escaped after that
		for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			part, _, _ = strings.Cut(part, ";")
			if strings.TrimRight(part, " \t\x00") == ".." {
				return true
			}
		}
		plain := unescape(path)
		if plain == path {
			return false
		}
		path = plain
	}
	return strings.Contains(path, "%")
}

// unescape resolves every escape that is one and leaves the others.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
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
