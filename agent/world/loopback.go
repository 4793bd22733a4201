package world

import (
	"slices"
	"strings"

	"orchestrator/agent/launch"
)

// noProxy are the two spellings of the variable with what is reached without a proxy. Some programs read the one, some
// the other, and some the first that is set.
func noProxy() [2]string { return [2]string{"NO_PROXY", "no_proxy"} }

// loopback is how this machine is named there. "[::1]" is left out: some libraries refuse a list that has it, and none
// of our addresses is spelled so.
func loopback() []string { return []string{"127.0.0.1", "localhost", "::1"} }

// Direct returns an environment in which the addresses of this machine, such as those of our gateway, are reached
// without a proxy. The person's own list is kept, and holds in both spellings if only one was set.
func Direct(env launch.Env) launch.Env {
	for name, list := range direct(env.Value) {
		env = env.With(name, list)
	}
	return env
}

// direct returns the values of both variables; of returns what is set.
func direct(of func(string) string) map[string]string {
	names := noProxy()
	upper, lower := of(names[0]), of(names[1])
	if strings.TrimSpace(upper) == "" {
		upper = lower
	}
	if strings.TrimSpace(lower) == "" {
		lower = upper
	}
	return map[string]string{names[0]: withLoopback(upper), names[1]: withLoopback(lower)}
}

// withLoopback adds this machine to a list. A list that is only "*" stays: some programs know it only alone.
func withLoopback(list string) string {
	if strings.TrimSpace(list) == "*" {
		return "*"
	}
	has := strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	list = strings.TrimRight(list, ", \t")
	for _, name := range loopback() {
		if slices.Contains(has, name) {
			continue
		}
		if list != "" {
			list += ","
		}
		list += name
	}
	return list
}
