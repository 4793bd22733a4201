package manifest

import (
	"bytes"
	"encoding/json"
)

// encode encodes a manifest without changing the text of what the server said.
func encode(m Manifest) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
