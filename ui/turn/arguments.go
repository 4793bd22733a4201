package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/ui/plain"
)

// argument is a named argument of a tool call.
type argument struct{ name, value string }

// read returns the members of a JSON object in order, with strings decoded; false if the text is not one.
func read(text string) ([]argument, bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var all []argument
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, false
		}
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		all = append(all, argument{fmt.Sprint(name), s})
	}
	return all, true
}

// arguments formats a tool's arguments on one line: the values of a JSON object in order, a single one without its
// name; any other text unchanged.
func arguments(text string) string {
	all, ok := read(text)
	switch {
	case !ok:
		return plain.First(text)
	case len(all) == 1:
		return plain.First(all[0].value)
	}
	values := make([]string, len(all))
	for i, a := range all {
		values[i] = plain.Line(a.name) + ": " + plain.First(a.value)
	}
	return strings.Join(values, "  ")
}

// unfolded formats them in full: a line for each argument, and the lines of a longer one below its name.
func unfolded(text string) string {
	all, ok := read(text)
	if !ok {
		return text
	}
	var b strings.Builder
	for _, a := range all {
		value := strings.TrimRight(a.value, "\n")
		if strings.Contains(value, "\n") {
			value = "\n  " + strings.ReplaceAll(value, "\n", "\n  ")
		}
		b.WriteString(a.name + ": " + value + "\n")
	}
	return b.String()
}
