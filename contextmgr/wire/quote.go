package wire

import (
	"bytes"
	"encoding/json"
)

// Quote returns a text as JSON. Unlike json.Marshal it leaves the characters of HTML as they are.
func Quote(text string) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // strings always encode
	return bytes.TrimRight(out.Bytes(), "\n")
}
