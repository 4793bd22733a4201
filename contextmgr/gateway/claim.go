package gateway

import (
	"net/http"

	"orchestrator/thread"
)

// claim returns the route of the secret that a request has, and what follows in its path: nil without
// one. Where the address leaves it out, a header carries it. No secret is left in h: of a header that
// had one, only what is the person's own.
func (g *Gateway) claim(h http.Header, target string) (*route, string) {
	secret, rest, ok := cutPath(target)
	if !ok {
		return nil, ""
	}
	var rt *route
	byHeader := secret == thread.NoSecret
	if !byHeader {
		rt = g.find(secret)
	}
	for name, values := range h {
		kept := values[:0:0]
		for _, v := range values {
			secret, own, ok := thread.CutSecret(v)
			if ok && byHeader && rt == nil {
				rt = g.find(secret)
			}
			if !ok || own != "" {
				kept = append(kept, own)
			}
		}
		if len(kept) == 0 {
			delete(h, name)
		} else {
			h[name] = kept
		}
	}
	return rt, rest
}
