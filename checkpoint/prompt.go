package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/thread"
)

// CheckPrompt refuses a prompt that no store may accept, with thread.ErrInvalid.
func CheckPrompt(p thread.Prompt) error {
	if err := checkName("prompt id", string(p.ID)); err != nil {
		return err
	}
	if err := checkName("thread id", string(p.Thread)); err != nil {
		return err
	}
	if len(p.Text) > thread.MaxPrompt {
		return thread.Kindf(thread.ErrInvalid, "prompt %s has %d bytes, the limit is %d", p.ID, len(p.Text), thread.MaxPrompt)
	}
	return nil
}

// CheckPromptOf refuses a prompt whose id belongs to another thread, with thread.ErrInvalid.
func CheckPromptOf(p thread.Prompt, owner thread.ID) error {
	if owner != p.Thread {
		return thread.Kindf(thread.ErrInvalid, "prompt %s is stored for thread %s", p.ID, owner)
	}
	return nil
}

// NormalPrompt returns the prompt as stores keep it: times in UTC, texts in UTF-8.
func NormalPrompt(p thread.Prompt) thread.Prompt {
	p.Accepted, p.Opened, p.Ended = utc(p.Accepted), utc(p.Opened), utc(p.Ended)
	p.Text, p.Reason = strings.ToValidUTF8(p.Text, "\uFFFD"), cut(p.Reason)
	return p
}

// PackPrompt returns a prompt's document, which leaves out its Seq, and the document's hash.
func PackPrompt(p thread.Prompt) (doc, sum []byte, err error) {
	p.Seq = 0
	if doc, err = json.Marshal(p); err != nil {
		return nil, nil, fmt.Errorf("prompt %s: %w", p.ID, err)
	}
	h := sha256.Sum256(doc)
	return doc, h[:], nil
}

// OpenPrompt reads a prompt's document; thread.ErrDamaged if it does not match its hash.
func OpenPrompt(id thread.PromptID, seq int64, doc, sum []byte) (thread.Prompt, error) {
	var p thread.Prompt
	h := sha256.Sum256(doc)
	if !bytes.Equal(h[:], sum) || json.Unmarshal(doc, &p) != nil || p.ID != id {
		return thread.Prompt{}, fmt.Errorf("prompt %s: %w", id, thread.ErrDamaged)
	}
	p.Seq = seq
	return p, nil
}
