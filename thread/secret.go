package thread

import (
	"strings"
)

// SecretMark begins a request header's value that carries a thread's secret to the gateway, in place of
// the address. Any header may: an agent fills only some of them from its environment. A value of the
// person's own follows after a semicolon, and is all that goes on to the provider.
const SecretMark = "orchestrator-secret:"

// NoSecret stands in a gateway address where the secret would.
const NoSecret = "-"

// PublicURL takes the secret out of a gateway's base URL, for agents whose address others can read: in the
// list of processes, in error lines, in logs. Requests to what it returns need a header with the mark.
// A URL without a secret is returned as it is, with no mark.
func PublicURL(base string) (open, mark string) {
	before, after, ok := strings.Cut(base, "/t/")
	secret, rest, found := strings.Cut(after, "/")
	if !ok || secret == "" {
		return base, ""
	}
	open = before + "/t/" + NoSecret
	if found {
		open += "/" + rest
	}
	return open, SecretMark + secret
}

// CutSecret takes a header's value apart: the secret that it carries, and what is the person's own.
func CutSecret(value string) (secret, own string, ok bool) {
	after, ok := strings.CutPrefix(value, SecretMark)
	if !ok {
		return "", value, false
	}
	secret, own, _ = strings.Cut(after, ";")
	return strings.TrimSpace(secret), strings.TrimSpace(own), true
}
