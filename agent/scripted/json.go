package scripted

import "encoding/json"

// object is any JSON object.
type object = map[string]any

// str returns v if it is a string.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// encode returns v as JSON on one line; v is always made of plain values.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("scripted: " + err.Error()) // only maps, slices, strings and numbers are passed
	}
	return raw
}
