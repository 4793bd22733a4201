package wave

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// The bounds of what a task is told.
const (
	maxTitle    = 200       // characters
	maxBody     = 256 << 10 // bytes
	maxVars     = 100
	maxVarBytes = 64 << 10
)

// cleanText is a text as it is stored: in UTF-8, without what a terminal would obey, and without secrets.
func cleanText(text string) string {
	return secret.Redact(plaintext.Text(strings.ToValidUTF8(text, "\uFFFD")))
}

// cleanLine is cleanText on one line.
func cleanLine(text string) string { return strings.TrimSpace(plaintext.Line(cleanText(text))) }

// titleOf returns a title as it is stored.
func titleOf(text string) (string, error) {
	title := cleanLine(text)
	switch n := utf8.RuneCountInString(title); {
	case title == "":
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "the title is empty"), "say in a few words what is to be done")
	case n > maxTitle:
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "the title has %d characters, the limit is %d", n, maxTitle),
			"say the rest in the body: --body")
	}
	return title, nil
}

// bodyOf returns a body as it is stored.
func bodyOf(text string) (string, error) {
	body := strings.TrimSpace(cleanText(text))
	if len(body) > maxBody {
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "the body has %s, the limit is %s", thread.Bytes(int64(len(body))), thread.Bytes(maxBody)),
			"put it into a file of the project and name that")
	}
	return body, nil
}

// varsOf returns variables as they are stored.
func varsOf(vars map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if len(vars) > maxVars {
		return nil, thread.Kindf(thread.ErrInvalid, "there are %d variables, the limit is %d", len(vars), maxVars)
	}
	var out map[string]json.RawMessage
	for name, raw := range vars {
		kept := json.RawMessage(secret.Redact(string(raw)))
		switch said := thread.Excerpt(cleanLine(name)); {
		case len(name) > maxTitle || name != cleanLine(name) || name == "":
			return nil, thread.Kindf(thread.ErrInvalid, "variable %s: no plan has a variable of this name", said)
		case len(raw) > maxVarBytes:
			return nil, thread.Kindf(thread.ErrInvalid, "variable %s has %s, the limit is %s", said, thread.Bytes(int64(len(raw))), thread.Bytes(maxVarBytes))
		case !json.Valid(raw):
			return nil, thread.Kindf(thread.ErrInvalid, "variable %s is no JSON", said)
		case !json.Valid(kept):
			return nil, thread.Kindf(thread.ErrInvalid, "variable %s has a secret in it that cannot be taken out", said)
		}
		if out == nil {
			out = make(map[string]json.RawMessage, len(vars))
		}
		out[name] = kept
	}
	return out, nil
}

// planNameOf checks the name of a plan.
func planNameOf(name string) (string, error) {
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '_'):
		default:
			return "", noPlanName(name)
		}
	}
	if len(name) > maxPlanName {
		return "", noPlanName(name)
	}
	return name, nil
}

const maxPlanName = 64

func noPlanName(name string) error {
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "no plan can be called %s", thread.Excerpt(fmt.Sprintf("%q", cleanLine(name)))),
		"names of plans have letters, digits, hyphens and underscores")
}
