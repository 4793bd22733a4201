package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Relocate replaces a folder with another in some values of a line (tool calls and their results): an agent that reads
// that it wrote a file of its parent keeps working on that file. Everything else is unchanged, byte for byte: the texts
// are what the model wrote.
func Relocate(line []byte, from, to string, values ...json.RawMessage) []byte {
	if from == "" || to == "" || from == to {
		return line
	}
	for _, v := range values {
		if len(v) > 0 {
			line = bytes.Replace(line, v, replaceFolder(v, from, to), 1)
		}
	}
	return line
}

// replaceFolder replaces a folder with another wherever a JSON text contains its path or one below it.
func replaceFolder(raw []byte, from, to string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	old, renamed := []byte(escape.Replace(from)), escape.Replace(to)
	var out []byte
	done := 0
	for next := 0; ; {
		i := bytes.Index(raw[next:], old)
		if i < 0 {
			return append(out, raw[done:]...)
		}
		at, end := next+i, next+i+len(old)
		if !endsInName(raw[:at]) && (end == len(raw) || !inName(raw[end])) {
			out = append(append(out, raw[done:at]...), renamed...)
			done = end
		}
		next = end
	}
}

// endsInName reports whether a JSON text ends in a file name, which a path after it would continue.
func endsInName(raw []byte) bool {
	n := len(raw)
	escape := n > 1 && raw[n-2] == '\\' // as in \n
	return n > 0 && inName(raw[n-1]) && !escape
}

// inName reports whether a byte can be part of a file name.
func inName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80 || b == '_' || b == '-' ||
		b == '.'
}
