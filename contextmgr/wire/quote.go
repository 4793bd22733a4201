package wire

import (
	"bytes"
	"encoding/json"
)

// Quote returns a text as JSON. Unlike json.Marshal it leaves the characters of HTML as they are.
func Quote(text string) json.RawMessage {
	if simple(text) {
		out := make(json.RawMessage, 0, len(text)+len(`""`))
		return append(append(append(out, '"'), text...), '"')
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // strings always encode
	return bytes.TrimRight(out.Bytes(), "\n")
}

// simple reports whether a text is the same in JSON.
func simple(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}
