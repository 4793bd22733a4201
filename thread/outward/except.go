package outward

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// exceptions are what is reached without a proxy.
type exceptions struct {
	all   bool
	hosts []host
	nets  []netip.Prefix
}

type host struct {
	name   string // without the dot in front
	below  bool   // names below it too
	itself bool
	port   string // "" for every port
}

// parse reads a list: names, which stand for what is below them too, ".name" and "*.name" for only that, addresses,
// networks, all with or without a port, and "*".
func parse(list string) exceptions {
	var e exceptions
	for _, word := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if word == "*" {
			e.all = true
			continue
		}
		if p, err := netip.ParsePrefix(word); err == nil {
			e.nets = append(e.nets, p)
			continue
		}
		h := host{name: word, below: true, itself: true}
		if name, port, err := net.SplitHostPort(word); err == nil {
			h.name, h.port = name, port
		}
		h.name = strings.Trim(h.name, "[]")
		if _, err := netip.ParseAddr(h.name); err == nil {
			h.below = false
		}
		if name, ok := strings.CutPrefix(strings.TrimPrefix(h.name, "*"), "."); ok {
			h.name, h.itself = name, false
		}
		e.hosts = append(e.hosts, h)
	}
	return e
}

// has reports whether an address is reached without a proxy.
func (e exceptions) has(u *url.URL) bool {
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	}
	ip, err := netip.ParseAddr(name)
	isIP := err == nil
	if e.all || name == "localhost" || strings.HasSuffix(name, ".localhost") || isIP && ip.Unmap().IsLoopback() {
		return true
	}
	for _, h := range e.hosts {
		if h.port != "" && h.port != port {
			continue
		}
		if h.itself && h.name == name || h.below && !isIP && strings.HasSuffix(name, "."+h.name) {
			return true
		}
	}
	for _, p := range e.nets {
		if isIP && p.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}
