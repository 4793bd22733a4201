package protocol

import (
	"encoding/base64"
	"net/http"
	"strings"

	"orchestrator/thread/api"
)

// environHeader carries the environment of a person's client to calls that use it.
const environHeader = "Orchestrator-Environ"

// mostEnviron is the largest environment that is sent, in bytes; servers refuse much larger headers.
const mostEnviron = 512 << 10

// takesEnviron reports whether a call uses the environment of who calls: it starts agents, signs in to a server, or
// compares it with the server's.
func takesEnviron(call string) bool {
	switch call {
	case api.New.Name(), api.Fork.Name(), api.Resume.Name(), api.ResumeAll.Name(), api.AnswerOffer.Name(), api.ActMCP.Name(), api.Info.Name():
		return true
	default:
		return false
	}
}

// SetEnviron adds an environment to a call, if that uses one.
func SetEnviron(h http.Header, call string, env []string) {
	text := strings.Join(env, "\x00")
	if takesEnviron(call) && len(env) > 0 && len(text) <= mostEnviron {
		h.Set(environHeader, base64.StdEncoding.EncodeToString([]byte(text)))
	}
}

// Environ returns the environment that came with a call, nil for none.
func Environ(h http.Header) []string {
	text, err := base64.StdEncoding.DecodeString(h.Get(environHeader))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\x00")
}
