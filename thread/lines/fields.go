package lines

import (
	"encoding/json"
	"strings"
)

// Fields returns the fields of a JSON object of which only the beginning may be there. A field whose value is cut is nil.
func Fields(beginning []byte) map[string]json.RawMessage {
	d := json.NewDecoder(strings.NewReader(string(beginning)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	out := make(map[string]json.RawMessage)
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			break
		}
		var value json.RawMessage
		err = d.Decode(&value)
		out[name] = value
		if err != nil {
			break
		}
	}
	return out
}

// Word returns a field's value if it is a text, "" if it is not.
func Word(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
