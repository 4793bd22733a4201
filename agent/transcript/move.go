package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Relocate replaces folders with another in some values of a line (tool calls and their results): an agent that reads
// that it wrote a file of its parent, or one where its project was, keeps working on that file. Everything else is
// unchanged, byte for byte: the texts are what the model wrote.
func Relocate(line []byte, from []string, to string, values ...json.RawMessage) []byte {
	from = slices.DeleteFunc(slices.Clone(from), func(dir string) bool { return dir == "" || dir == to })
	if len(from) == 0 || to == "" {
		return line
	}
	for _, v := range values {
		if len(v) > 0 {
			line = bytes.Replace(line, v, replaceFolders(v, from, to), 1)
		}
	}
	return line
}

// replaceFolders replaces folders with another wherever a JSON text contains the path of one or one below it: of the
// innermost, and the new one stays.
func replaceFolders(raw []byte, from []string, to string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	renamed := []byte(escape.Replace(to))
	old := [][]byte{renamed}
	for _, dir := range from {
		old = append(old, []byte(escape.Replace(dir)))
	}
	slices.SortFunc(old, func(a, b []byte) int { return len(b) - len(a) })
	var out []byte
	done := 0
	for at := 0; at < len(raw); {
		i := slices.IndexFunc(old, func(dir []byte) bool {
			end := at + len(dir)
			return bytes.HasPrefix(raw[at:], dir) && !endsInName(raw[:at]) && (end == len(raw) || !inName(raw[end]))
		})
		if i < 0 {
			at++
			continue
		}
		out = append(append(out, raw[done:at]...), renamed...)
		at += len(old[i])
		done = at
	}
	return append(out, raw[done:]...)
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
