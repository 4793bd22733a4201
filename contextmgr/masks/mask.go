package masks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// maxContent is the maximum size of a content. Requests are smaller.
const maxContent = 256 << 20

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler: 64 hex digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash of %d digits: %w", len(text), thread.ErrInvalid)
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Mask is a content that is masked for good.
type Mask struct {
	ID policy.ID `json:"id"`
	// Tool, Lines and Tokens are what the text in its place says.
	Tool   string `json:"tool,omitempty"`
	Lines  int    `json:"lines,omitempty"`
	Tokens int64  `json:"tokens,omitempty"`
	// Input is set if it is the input of a tool, not a result.
	Input bool `json:"input,omitempty"`
	// Stub is the exact text in its place.
	Stub string `json:"stub"`
	// Token gives the content back, and so does File, the absolute path of the copy. If the store has been moved, Stub
	// still has the path from before.
	Token thread.Token `json:"token"`
	File  string       `json:"-"`
	// Home is the thread whose outputs have the copy: the one whose content was masked first.
	Home thread.ID `json:"home,omitempty"`
	// Sum and Bytes are of the content.
	Sum   Hash  `json:"sum"`
	Bytes int64 `json:"bytes"`
	// At, Reason and Request say when and why it was masked.
	At      time.Time `json:"at,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	Request int       `json:"request,omitempty"`
	// Names are the tokens of staged data that the content names, separated by spaces.
	Names string `json:"names,omitempty"`
}

// check refuses a mask that cannot have been stored.
func (m Mask) check() error {
	switch _, whole, err := thread.ParseToken(string(m.Token)); {
	case err != nil || !whole || m.Token != "max:"+thread.Token(m.Token.Digits()):
		return fmt.Errorf("token %.20q: %w", m.Token, thread.ErrInvalid)
	case m.ID == "" || m.Stub == "" || m.Bytes < 0 || m.Bytes > maxContent:
		return fmt.Errorf("mask %s: %w", m.Token, thread.ErrInvalid)
	case m.Home != "":
		return m.Home.Check()
	}
	return nil
}

// New is a content that is to be masked. The store sets Stub, Token, File, Home, Sum, Bytes and Names. A Token that is set is
// kept if nothing uses it.
type New struct {
	Mask
	Content []byte
	// Text returns the text in its place. It must not use the store.
	Text func(file string, token thread.Token) string
}

// check refuses what could not be given back exactly as it is.
func (n New) check() error {
	switch {
	case n.ID == "" || !utf8.ValidString(string(n.ID)):
		return fmt.Errorf("the id %.20q of a content: %w", n.ID, thread.ErrInvalid)
	case n.Text == nil:
		return thread.Kindf(thread.ErrInvalid, "%.20s: no text", n.ID)
	case len(n.Content) > maxContent:
		return fmt.Errorf("%.20s has %s, more than %s: %w", n.ID, thread.Bytes(int64(len(n.Content))),
			thread.Bytes(maxContent), thread.ErrLimit)
	}
	return nil
}

// mask returns the mask of a content that has its copy in a file.
func (n New) mask(token thread.Token, file string) (Mask, error) {
	m := n.Mask
	m.Token, m.File, m.Home = token, file, ""
	m.Sum, m.Bytes = sha256.Sum256(n.Content), int64(len(n.Content))
	m.Tool, m.Reason = strings.ToValidUTF8(m.Tool, ""), strings.ToValidUTF8(m.Reason, "")
	m.At, m.Names = m.At.Round(0).UTC(), namesIn(n.Content)
	m.Stub = n.Text(file, token)
	if m.Stub == "" || !utf8.ValidString(m.Stub) {
		return m, fmt.Errorf("the text in place of %.20s: %w", n.ID, thread.ErrInvalid)
	}
	return m, nil
}

// maxNames is how many tokens a mask notes at most that its content names.
const maxNames = 100

// namesIn returns the tokens that a content names.
func namesIn(content []byte) string {
	if !bytes.Contains(content, []byte("max:")) {
		return ""
	}
	var all []string
	for _, t := range thread.FindTokens(string(content)) {
		if all = append(all, string(t)); len(all) == maxNames {
			break
		}
	}
	return strings.Join(all, " ")
}

// Summary stands for a part of a conversation.
type Summary struct {
	ID string `json:"id"`
	// First and Last are hashes of the first and the last of the Items that it stands for.
	First Hash `json:"first"`
	Last  Hash `json:"last"`
	Items int  `json:"items"`
	// Text is the exact text in their place.
	Text string `json:"text"`
	// Tokens is its own size, and Replaced the size of what it stands for.
	Tokens   int64     `json:"tokens"`
	Replaced int64     `json:"replaced"`
	Source   string    `json:"source,omitempty"` // who wrote it: a model, a person
	At       time.Time `json:"at,omitzero"`
	// Dropped is set if it is not used any more.
	Dropped bool `json:"dropped,omitempty"`
}

// check refuses what could not be given back exactly as it is.
func (s Summary) check() error {
	if s.ID == "" || !utf8.ValidString(s.ID) || !utf8.ValidString(s.Text) {
		return fmt.Errorf("summary %.20q: %w", s.ID, thread.ErrInvalid)
	}
	return nil
}
