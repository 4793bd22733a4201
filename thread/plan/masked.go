package plan

import (
	"encoding/json"

	"orchestrator/thread/secret"
)

// masked returns a value without secrets in its texts; the zero value if it is none then.
func masked[T any](v T) (out T) {
	doc, err := json.Marshal(v)
	if err != nil || json.Unmarshal(secret.Mask(doc), &out) != nil {
		var none T
		return none
	}
	return out
}
