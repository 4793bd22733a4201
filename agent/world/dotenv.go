package world

import (
	"strings"

	"orchestrator/thread/pattern"
)

// line matches a variable in a .env file, with what follows it: names may be followed by a colon, values may be quoted
// in three ways and, quoted, have several lines.
var line = pattern.Lazy(`(?m)^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|` +
	"\\s*`(?:\\\\`|[^`])*`" + `|[^#\r\n]+)?\s*(?:#.*)?$`)

// Variable is one of a .env file.
type Variable struct{ Name, Value string }

// DotEnv reads the variables of a .env file as the library of that name for Node.js does; of a name that is there twice
// the last one counts.
func DotEnv(raw []byte) []Variable {
	var all []Variable
	text := strings.ReplaceAll(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\r", "\n")
	for _, m := range line().FindAllStringSubmatch(text, -1) {
		value := strings.TrimSpace(m[2])
		if n := len(value); n > 1 && strings.ContainsRune("'\"`", rune(value[0])) && value[n-1] == value[0] {
			double := value[0] == '"'
			value = value[1 : n-1]
			if double {
				value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value)
			}
		}
		all = append(all, Variable{Name: m[1], Value: value})
	}
	return all
}
