package thread

import (
	"strings"
)

// SecretMark begins the value of a request header that carries a thread's secret to the gateway instead of the address.
// It may be any header: an agent fills only some of them from its environment. A value of the person's own follows
// after a semicolon, and only that is passed on to the provider.
const SecretMark = "orchestrator-secret:"

// NoSecret replaces the secret in a gateway address.
const NoSecret = "-"

// PublicURL removes the secret from a gateway's base URL, for agents whose address others can read: in the process
// list, in error messages, in logs. Requests to the returned URL need a header with the mark. A URL without a secret is
// returned unchanged, without a mark.
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

// CutSecret splits a header's value into the secret that it carries and the person's own value.
func CutSecret(value string) (secret, own string, ok bool) {
	after, ok := strings.CutPrefix(value, SecretMark)
	if !ok {
		return "", value, false
	}
	secret, own, _ = strings.Cut(after, ";")
	return strings.TrimSpace(secret), strings.TrimSpace(own), true
}
