package gateway

import (
	"encoding/json"
	"reflect"
	"strings"
)

// says reports whether the texts of a result say what its structured content says, as servers do for clients that do
// not read the latter: as JSON, or, wrapped in an object of one field, as a text or a text for each element.
func says(texts []string, structured json.RawMessage) bool {
	v, ok := value(string(structured))
	if !ok {
		return false
	}
	if equal(texts, v) {
		return true
	}
	if o, ok := v.(map[string]any); ok && len(o) == 1 {
		for _, only := range o {
			return equal(texts, only)
		}
	}
	return false
}

func equal(texts []string, v any) bool {
	if len(texts) == 1 && same(texts[0], v) {
		return true
	}
	all, ok := v.([]any)
	if !ok || len(all) != len(texts) {
		return false
	}
	for i, one := range all {
		if !same(texts[i], one) {
			return false
		}
	}
	return true
}

func same(text string, v any) bool {
	if s, ok := v.(string); ok && s == text {
		return true
	}
	other, ok := value(text)
	return ok && reflect.DeepEqual(other, v)
}

// value decodes JSON with its numbers as they are written.
func value(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}
