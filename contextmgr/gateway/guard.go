package gateway

import (
	"net/http"
	"strconv"
	"strings"
)

// refuse returns the status with which a request is refused, 0 if it may pass; hosts are the gateway's own. It is
// called before anything else is done, and no body is sent with the refusal.
func refuse(r *http.Request, hosts map[string]bool) int {
	switch {
	case !hosts[strings.ToLower(r.Host)], r.URL.Host != "": // absolute-form targets contain a host of their own
		return http.StatusMisdirectedRequest
	case len(r.Header["Origin"]) > 0: // sent by a browser; no agent is one
		return http.StatusForbidden
	case r.Method == http.MethodConnect:
		return http.StatusMethodNotAllowed
	case !plainConnection(r.Header):
		return http.StatusBadRequest
	default:
		return 0
	}
}

// plainConnection reports whether the Connection header contains only what belongs to a connection. Any other header
// named in it would be removed by a proxy: an API key, for example.
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

// climbs reports whether a path contains an element that means the parent folder, in any form in which a server may
// read it: escaped once or several times, between backslashes, followed by parameters. No model API has such paths, and
// with an upstream that has a base path they would lead outside it.
func climbs(path string) bool {
	for range 4 { // no server decodes more than that
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

// unescape decodes every valid escape and leaves the others unchanged.
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

// isWebSocket reports whether a request asks to switch to another protocol.
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

// copyHeader copies the fields that may be passed on from one header to another.
func copyHeader(to, from http.Header) {
	for name, values := range from {
		if !hopByHop[name] {
			to[name] = append(to[name], values...)
		}
	}
}
