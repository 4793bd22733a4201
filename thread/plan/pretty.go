package plan

import (
	"bytes"
	"encoding/json"
	"strconv"

	"orchestrator/thread"
)

// What is larger than this goes into no prompt, whatever its tokens are: it is handed over as a file.
const (
	maxPretty = 64 << 10 // bytes, indented
	maxNested = 100
)

// pretty returns a JSON value over lines, indented by two, and else as it was written: the order of keys, numbers and
// characters stay. It is "" and false for one that is too large, without having made it; its text is JSON.
func pretty(value string) (string, bool) {
	return indented(value, maxPretty)
}

// indented is pretty with another bound in bytes.
func indented(value string, most int) (string, bool) {
	if size, depth := measure(value, most); size > most || depth > maxNested {
		return "", false
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace([]byte(value)), "", "  "); err != nil {
		return "", false
	}
	return b.String(), true
}

// measure returns at least the size of a JSON value once it is indented, and how deep it is nested. It ends where it is more
// than most.
func measure(value string, most int) (size, depth int) {
	open, quoted := 0, false
	size = len(value)
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			depth = max(depth, open)
			size += 1 + 2*open
		case c == '}' || c == ']':
			open--
			size += 1 + 2*max(open, 0)
		case c == ',':
			size += 1 + 2*max(open, 0)
		case c == ':':
			size++
		}
		if size > most {
			return size, depth
		}
	}
	return size, depth
}

// at returns the value at a path of a JSON value, as it is written there.
func at(value json.RawMessage, path []string) (json.RawMessage, error) {
	for i, key := range path {
		value = bytes.TrimSpace(value)
		missing := func(what string) error {
			return thread.Kindf(thread.ErrInvalid, "there is no %s: %s", excerpt(join("data", path[:i+1])), what)
		}
		switch {
		case len(value) > 0 && value[0] == '{':
			var object map[string]json.RawMessage
			if err := json.Unmarshal(value, &object); err != nil {
				return nil, missing("it is no JSON")
			}
			v, ok := object[key]
			if !ok {
				return nil, missing("the object has no such key")
			}
			value = v
		case len(value) > 0 && value[0] == '[':
			var list []json.RawMessage
			n, err := strconv.ParseUint(key, 10, 31)
			if err == nil {
				err = json.Unmarshal(value, &list)
			}
			if err != nil || int(n) >= len(list) {
				return nil, missing("the list has no such place; places are numbers from 0")
			}
			value = list[n]
		default:
			return nil, missing("what it would be in is neither an object nor a list")
		}
	}
	return bytes.TrimSpace(value), nil
}

func join(first string, rest []string) string {
	for _, r := range rest {
		first += "." + r
	}
	return first
}
