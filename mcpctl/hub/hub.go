package hub

import (
	"context"
	"encoding/json"

	"orchestrator/mcpctl/manifest"
	"orchestrator/thread"
)

// Hub runs servers.
type Hub struct{ cfg Config }

// New returns a hub. Close ends it.
func New(cfg Config) *Hub { return &Hub{cfg: cfg.withDefaults()} }

// Call sends a request to a server, which is started if it does not run. An error response is returned as *rpc.Error. An
// error that wraps rpc.ErrUnsure means that the request may have taken effect.
func (h *Hub) Call(ctx context.Context, s Server, c Client, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, ErrClosed
}

// Manifest returns what a server offers. It is started only if that is not known.
func (h *Hub) Manifest(ctx context.Context, s Server, c Client) (manifest.Manifest, error) {
	return manifest.Manifest{}, ErrClosed
}

// Cached returns what a server offers if that is known.
func (h *Hub) Cached(s Server) (manifest.Manifest, bool) { return h.cfg.Manifests.Get(s.Hash) }

// Prewarm starts a server in the background.
func (h *Hub) Prewarm(s Server, c Client) {}

// Restart ends the servers of a hash, forgets how often they have failed, and starts those again that ran.
func (h *Hub) Restart(ctx context.Context, hash string) error { return nil }

// Stop ends the servers of a hash. Calls under way fail. The next call starts them again.
func (h *Hub) Stop(hash string) {}

// Forget ends the servers of a thread's own.
func (h *Hub) Forget(id thread.ID) {}

// States returns the state of every server that has been used.
func (h *Hub) States() []State { return nil }

// Log returns the last lines that the servers of a hash printed beside messages.
func (h *Hub) Log(hash string) []string { return nil }

// Close ends all servers. It returns when no process is left or the context ends.
func (h *Hub) Close(ctx context.Context) error { return nil }
