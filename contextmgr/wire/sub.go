package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"orchestrator/thread"
)

// ChildSession returns the sub-agent of a request that names its own session and that of who started it; the zero value if
// it names no parent.
func ChildSession(h http.Header) thread.SubAgent {
	parent := h.Get("X-Parent-Session-Id")
	if parent == "" {
		return thread.SubAgent{}
	}
	return thread.SubAgent{Key: h.Get("X-Session-Id"), Parent: parent}
}

// Conversation returns a key for a conversation whose requests have no id: it is the same for each of them, and for another
// conversation that begins with the same words.
func Conversation(r *Request) thread.SubAgent {
	if len(r.Items) == 0 {
		return thread.SubAgent{}
	}
	h := sha256.New()
	h.Write(r.System)
	h.Write([]byte{0})
	h.Write(r.Items[0].Raw)
	return thread.SubAgent{Key: "conversation:" + hex.EncodeToString(h.Sum(nil)[:12]), Made: true, First: len(r.Items) == 1}
}
