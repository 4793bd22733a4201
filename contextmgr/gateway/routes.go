package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"orchestrator/thread"
)

// hookPath is the path for agents' reports, below a thread's base URL.
const hookPath = "/_hook"

// routes are the routes of all threads, found by their secrets.
type routes struct {
	observer thread.Observer
	calls    *calls
	log      *slog.Logger

	// mu guards the rest. Of other locks, only a route's and its sender's are taken while it is held.
	mu       sync.Mutex
	byID     map[thread.ID]*route
	bySecret map[[sha256.Size]byte]*route // by the secret's hash, so that a look-up's timing reveals nothing
}

// set sets a thread's route and returns its secret. A thread without a route gets one.
func (t *routes) set(id thread.ID, upstreams map[string]*url.URL, spec thread.RouteSpec, out *way) (secret string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rt := t.byID[id]
	if rt == nil {
		var b [32]byte
		rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
		rt = &route{id: id, secret: hex.EncodeToString(b[:]), observer: t.observer, queue: newQueue(t.calls, t.log)}
		t.byID[id] = rt
		t.bySecret[sha256.Sum256([]byte(rt.secret))] = rt
	}
	rt.mu.Lock()
	rt.upstreams, rt.windows, rt.plain, rt.patient, rt.out = upstreams, spec.Windows, spec.Plain, spec.Patient, out
	rt.mu.Unlock()
	return rt.secret
}

// remove removes a thread's route.
func (t *routes) remove(id thread.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if rt := t.byID[id]; rt != nil {
		delete(t.byID, id)
		delete(t.bySecret, sha256.Sum256([]byte(rt.secret)))
		rt.sender.forget()
	}
}

// of returns a thread's route, nil if it has none.
func (t *routes) of(id thread.ID) *route {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// find returns the route of a secret.
func (t *routes) find(secret string) *route {
	sum := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	rt := t.bySecret[sum]
	if rt == nil || subtle.ConstantTimeCompare([]byte(rt.secret), []byte(secret)) != 1 {
		return nil
	}
	return rt
}

// claim returns the route for the secret in a request, and the rest of its path; nil if there is none. If the address
// has no secret, a header has it. The secret is removed from h: of a header that contains it, only the person's own
// part remains.
func (t *routes) claim(h http.Header, target string) (*route, string) {
	secret, rest, ok := cutPath(target)
	if !ok {
		return nil, ""
	}
	var rt *route
	byHeader := secret == thread.NoSecret
	if !byHeader {
		rt = t.find(secret)
	}
	for name, values := range h {
		kept := values[:0:0]
		for _, v := range values {
			secret, own, ok := thread.CutSecret(v)
			if ok && byHeader && rt == nil {
				rt = t.find(secret)
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

// cutPath splits a request target: "/t/<secret>/rest".
func cutPath(path string) (secret, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, "/t/")
	if !ok {
		return "", "", false
	}
	secret, rest, found := strings.Cut(path, "/")
	if found {
		rest = "/" + rest
	}
	return secret, rest, secret != ""
}
