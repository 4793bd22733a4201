package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Moved has values of a line, what tools were called with and what came of it, name another folder: an
// agent that reads that it wrote a file of its parent goes on to work on that file. All else stays, to
// the byte: what was said and thought is what the model said.
func Moved(line []byte, from, to string, values ...json.RawMessage) []byte {
	if from == "" || to == "" || from == to {
		return line
	}
	for _, v := range values {
		if len(v) > 0 {
			line = bytes.Replace(line, v, relocated(v, from, to), 1)
		}
	}
	return line
}

// relocated names another folder wherever a JSON text names a folder or a path below it.
func relocated(raw []byte, from, to string) []byte {
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
		if !endsInName(raw[:at]) && (end == len(raw) || !ofName(raw[end])) {
			out = append(append(out, raw[done:at]...), renamed...)
			done = end
		}
		next = end
	}
}

// endsInName reports whether a JSON text ends in a file's name, which a path behind it would go on with.
func endsInName(raw []byte) bool {
	n := len(raw)
	escape := n > 1 && raw[n-2] == '\\' // as in \n
	return n > 0 && ofName(raw[n-1]) && !escape
}

// ofName reports whether names of files are made of a byte.
func ofName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80 || b == '_' || b == '-' || b == '.'
}
