package thread

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"orchestrator/thread/plaintext"
)

// Token names staged data, on the command line and in prompts: "max:" and 8 hex digits.
type Token string

const (
	tokenMark   = "max:"
	tokenDigits = 8
)

// NewToken returns a random token, which may be in use.
func NewToken() Token {
	var b [tokenDigits / 2]byte
	rand.Read(b[:]) // never fails
	return Token(tokenMark + hex.EncodeToString(b[:]))
}

// ParseToken reads a token as people give it: with "max:" or without, and in full or only its beginning, which whole
// tells apart.
func ParseToken(s string) (t Token, whole bool, err error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), tokenMark)
	if digits == "" || len(digits) > tokenDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false, Hint(fmt.Errorf("%q is not a token: %w", plaintext.Cut(s, 80), ErrInvalid),
			"a token is max: and 8 hex digits, such as max:a1b2c3d4; `orchestrator stage list` lists them")
	}
	return Token(tokenMark + digits), len(digits) == tokenDigits, nil
}

// Digits returns the token without its mark.
func (t Token) Digits() string { return strings.TrimPrefix(string(t), tokenMark) }

// DataKind is what staged data consists of.
type DataKind string

// The kinds.
const (
	DataNDJSON DataKind = "ndjson" // a record a line
	DataJSON   DataKind = "json"   // one record, of any number of lines
	DataText   DataKind = "text"   // a record a line
	DataBinary DataKind = "binary" // no records
)

// DataKinds lists them.
func DataKinds() []DataKind { return []DataKind{DataNDJSON, DataJSON, DataText, DataBinary} }

// Staged is what is known of staged data.
type Staged struct {
	Token  Token    `json:"token"`
	Kind   DataKind `json:"kind"`
	Source string   `json:"source,omitempty"` // where it is from: "hubspot/contact"
	Labels []string `json:"labels,omitempty"`
	// Thread is the one whose agent staged it; empty for the person.
	Thread  ID        `json:"thread,omitempty"`
	Records int64     `json:"records"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Created time.Time `json:"created"`
	// Expires is when it is removed, unless it is used, touched or pinned before.
	Expires time.Time `json:"expires"`
	// Pins are what it is kept for beyond that.
	Pins []string `json:"pins,omitempty"`
}

// StagedInfo is Staged with what a look at the data tells.
type StagedInfo struct {
	Staged
	File string `json:"file"`
	// Preview holds the beginnings of the first lines, More whether there is more of them than is shown.
	Preview []string `json:"preview,omitempty"`
	More    bool     `json:"more,omitempty"`
}

// StagedData is staged data, or a part of it, to be read once.
type StagedData interface {
	io.WriterTo
	io.Closer
}

const (
	mostLabels = 20
	mostLabel  = 200 // bytes of a label or a source
	mostTTL    = 365 * 24 * time.Hour
)

// StageRequest says what is staged; all of it may be left out.
type StageRequest struct {
	Source string        `json:"source,omitempty"`
	Kind   DataKind      `json:"kind,omitempty"`
	Labels []string      `json:"labels,omitempty"`
	TTL    time.Duration `json:"ttl,omitempty"`
	Thread ID            `json:"-"` // of the agent that stages
}

// Check refuses what cannot be kept.
func (r StageRequest) Check() error {
	if r.Kind != "" && !slices.Contains(DataKinds(), r.Kind) {
		return fmt.Errorf("there is no type %q, only ndjson, json, text and binary: %w", r.Kind, ErrInvalid)
	}
	if len(r.Labels) > mostLabels {
		return fmt.Errorf("%d labels are more than %d: %w", len(r.Labels), mostLabels, ErrInvalid)
	}
	for _, s := range append([]string{r.Source}, r.Labels...) {
		if len(s) > mostLabel || plaintext.Line(s) != s {
			return fmt.Errorf("%q is not one line of at most %d bytes: %w", plaintext.Cut(s, 80), mostLabel, ErrInvalid)
		}
	}
	return CheckTTL(r.TTL)
}

// CheckTTL refuses times for which data cannot be kept; 0 is none.
func CheckTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < time.Second || ttl > mostTTL) {
		return fmt.Errorf("a time to live of %v is not between 1s and %v: %w", ttl, mostTTL, ErrInvalid)
	}
	return nil
}

// Selection is a part of staged data: of the lines From to To those that match Grep, and of these the first Head.
// What is zero selects everything.
type Selection struct {
	From int64  `json:"from,omitempty"` // counts from 1
	To   int64  `json:"to,omitempty"`
	Grep string `json:"grep,omitempty"`
	Head int64  `json:"head,omitempty"`
}

// Check refuses a selection that means nothing.
func (s Selection) Check() error {
	if s.From < 0 || s.To < 0 || s.Head < 0 || s.To > 0 && s.To < s.From {
		return fmt.Errorf("the lines %d to %d, at most %d of them: %w", s.From, s.To, s.Head, ErrInvalid)
	}
	return nil
}
