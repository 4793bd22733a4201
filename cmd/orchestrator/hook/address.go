package hook

import (
	"errors"
	"strconv"
	"strings"
)

var (
	errUnset     = errors.New(AddressVariable + " is not set")
	errElsewhere = errors.New(AddressVariable + " is not on this machine")
)

// address is the port of a gateway on 127.0.0.1, and the base path for reports.
type address struct {
	port int
	path string
}

// parse parses an address as the gateway hands it out: http://127.0.0.1:PORT/PATH.
func parse(base string) (address, error) {
	if base == "" {
		return address{}, errUnset
	}
	rest, ok := strings.CutPrefix(base, "http://127.0.0.1:")
	digits, path, _ := strings.Cut(rest, "/")
	port, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || !printable(path) {
		return address{}, errElsewhere
	}
	return address{port: int(port), path: "/" + path}, nil
}

// printable reports whether a path can be sent unescaped in the first line of a request.
func printable(path string) bool {
	for i := range len(path) {
		if path[i] <= ' ' || path[i] >= 0x7f {
			return false
		}
	}
	return true
}

// escape encodes an event as a path element.
func escape(event string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := range len(event) {
		if c := event[i]; plain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// plain reports whether a byte needs neither escaping in a path nor sanitising on a terminal.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// AddressVariable is the environment variable with the gateway's secret address for an agent's hooks.
const AddressVariable = "ORCHESTRATOR_HOOK_URL"
