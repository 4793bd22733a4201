package claude

import (
	"bytes"
	"encoding/json"
	"strings"
)

// moved has the tool calls of a line, and what came of them, name another folder. Claude Code watches
// the files that its conversation read and wrote, and tells the model what others write there: a fork
// would hear of all that its parent goes on to do, and work on the parent's files. What was said and
// thought stays as it is.
func moved(line []byte, from, to string) []byte {
	if from == "" || from == to {
		return line
	}
	var l struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Result json.RawMessage `json:"toolUseResult"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	var parts []json.RawMessage
	if json.Unmarshal(l.Message.Content, &parts) != nil {
		parts = nil // a text
	}
	for _, part := range parts {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(part, &p) == nil && (p.Type == "tool_use" || p.Type == "tool_result") {
			line = bytes.Replace(line, part, relocated(part, from, to), 1)
		}
	}
	if len(l.Result) > 0 {
		line = bytes.Replace(line, l.Result, relocated(l.Result, from, to), 1)
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
