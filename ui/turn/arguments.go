package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/ui/plain"
)

// arguments says in one line what a tool was called with: the values of a JSON object, in their
// order, a single one without its name; other text as it is.
func arguments(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return plain.First(text)
	}
	var names, values []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return plain.First(text)
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return plain.First(text)
		}
		s, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				return plain.First(text)
			}
			s = string(b)
		}
		names, values = append(names, fmt.Sprint(name)), append(values, plain.First(s))
	}
	if len(values) == 1 {
		return values[0]
	}
	for i := range values {
		values[i] = plain.Line(names[i]) + ": " + values[i]
	}
	return strings.Join(values, "  ")
}
