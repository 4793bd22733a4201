package pty

import "strings"

const (
	// tokenName is the environment variable with a process's token: a secret that distinguishes the process and what it
	// starts from everything else.
	tokenName = "ORCHESTRATOR_TOKEN"
	// hostName is the environment variable that marks a program as a Host. A process that descends from a Host and from no
	// known Process was left behind by one.
	hostName = "ORCHESTRATOR_SERVER"
)

// Token returns the token in an environment, empty if there is none.
func Token(env []string) string {
	token := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, tokenName+"="); ok {
			token = v
		}
	}
	return token
}

// IsHost reports whether an environment is a Host's.
func IsHost(env []string) bool {
	for _, kv := range env {
		if strings.HasPrefix(kv, hostName+"=") {
			return true
		}
	}
	return false
}

// HostEnv returns the environment for a program that will be a Host.
func HostEnv(env []string) []string { return append(Unmarked(env), hostName+"=1") }

// Unmarked returns an environment without the marks of a Process or a Host: for what a program in a terminal of ours
// starts and intends to leave behind.
func Unmarked(env []string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, tokenName+"=") && !strings.HasPrefix(kv, hostName+"=") {
			out = append(out, kv)
		}
	}
	return out
}
