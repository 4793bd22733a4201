package record

import (
	"bytes"
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

const (
	// maxWord is the longest title, model or type, maxMetadata the longest metadata, maxMessage the longest message.
	maxWord     = 200
	maxMetadata = 64 << 10
	maxMessage  = 1 << 20
)

// clean returns a text as it is stored: without secrets, in UTF-8, and without what a terminal would obey, since people
// read the record with programs that print what is there.
func clean(text string) string {
	return secret.Redact(plaintext.Text(strings.ToValidUTF8(text, "\uFFFD")))
}

// line is clean for what stands on one line.
func line(text string) string { return strings.TrimSpace(plaintext.Line(clean(text))) }

// word is line for a name that is bounded. what names it in the error for one that is too long.
func word(what, text string) (string, error) {
	text = line(text)
	if len(text) > maxWord {
		return "", thread.Kindf(thread.ErrInvalid, "%s has %d bytes, the limit is %d", what, len(text), maxWord)
	}
	return text, nil
}

// message is clean for a text that is kept in full, as far as it may be. The warning says what is left out.
func message(what, text string) (kept, warning string) {
	text = clean(text)
	kept = plaintext.Cut(text, maxMessage)
	if len(kept) < len(text) {
		warning = what + " has " + thread.Bytes(int64(len(text))) + ": the first " + thread.Bytes(maxMessage) + " are kept. `orchestrator stage` keeps all of it"
	}
	return kept, warning
}

// object returns metadata as it is stored: a JSON object, compact, without secrets.
func object(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if len(raw) > maxMetadata {
		return nil, thread.Kindf(thread.ErrInvalid, "the metadata has %s, the limit is %s", thread.Bytes(int64(len(raw))), thread.Bytes(maxMetadata))
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "the metadata is no JSON: %v", err)
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "the metadata is no JSON object"), `write it as {"key": "value"}`)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "the metadata is no JSON: %v", err)
	}
	kept := []byte(secret.Redact(out.String()))
	if !json.Valid(kept) {
		return nil, thread.Kindf(thread.ErrInvalid, "the metadata has a secret in it that cannot be taken out")
	}
	return kept, nil
}

// warned returns the warnings that there are.
func warned(all ...string) []string {
	var out []string
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
