package gateway

import (
	"encoding/json"
	"net/http"

	"orchestrator/contextmgr/wire"
)

// deny answers with an error of the gateway's own, in the format that the agent can show.
func deny(w http.ResponseWriter, codec wire.Codec, status int, message string) {
	body := plainError(message)
	if codec != nil {
		body = codec.Error(status, message)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an agent that is gone needs no error
}

// plainError returns an error for agents whose format is unknown.
func plainError(message string) []byte {
	what := map[string]string{"type": "gateway_error", "message": message}
	b, _ := json.Marshal(map[string]any{"error": what}) // strings always encode
	return b
}
