package gateway

import (
	"io"
	"net/http"
	"time"
)

// maxHook is the size limit of a hook's report.
const maxHook = 4 << 20

// hook accepts an agent's report. It answers at once and with an empty body, because agents read answers as
// instructions; where the report asks what a person decides, it answers that, or nothing once nobody will.
func (g *Gateway) hook(w http.ResponseWriter, r *http.Request, rt *route, event string) {
	if !validEvent(event) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	held := g.bodies.memory.hold(&rt.held)
	size := r.ContentLength
	if size < 0 {
		size = maxHook
	}
	if !g.bodies.room(r, held, min(size, maxHook)+perRequest, g.opts.StoreLimit) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(g.opts.BodyLimit))
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	_ = rc.SetReadDeadline(time.Time{})
	if err != nil {
		held.release()
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	rt.queue.add(func() {
		defer held.release()
		rt.observer.Hook(rt.id, event, payload)
	})
	if says := rt.observer.Asked(rt.id, event, payload); says != nil {
		w.WriteHeader(http.StatusProcessing)
		if decision := says(r.Context()); len(decision) > 0 {
			_, _ = w.Write(decision) // a hook that has ended decides nothing
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// validEvent reports whether a text is the name of an event.
func validEvent(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
