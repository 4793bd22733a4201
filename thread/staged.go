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

// Token identifies staged data on the command line and in prompts: "max:" and 8 hex digits.
type Token string

const (
	tokenPrefix = "max:"
	tokenDigits = 8
)

// NewToken returns a random token. It may already be in use.
func NewToken() Token {
	var b [tokenDigits / 2]byte
	rand.Read(b[:]) // never fails
	return Token(tokenPrefix + hex.EncodeToString(b[:]))
}

// ParseToken parses a token as people write it: with or without "max:", complete or only its first digits. whole
// reports whether it is complete.
func ParseToken(s string) (t Token, whole bool, err error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), tokenPrefix)
	if digits == "" || len(digits) > tokenDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false, Hint(fmt.Errorf("%q is not a token: %w", plaintext.Cut(s, 80), ErrInvalid),
			"a token is max: and 8 hex digits, such as max:a1b2c3d4; `orchestrator stage list` lists staged data")
	}
	return Token(tokenPrefix + digits), len(digits) == tokenDigits, nil
}

// FindTokens returns the complete tokens in a text, such as a prompt.
func FindTokens(text string) []Token {
	var all []Token
	for {
		_, rest, found := strings.Cut(text, tokenPrefix)
		if !found {
			return all
		}
		text = rest
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789abcdef"))
		if t := Token(tokenPrefix + rest[:min(digits, tokenDigits)]); digits == tokenDigits && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
}

// Digits returns the token without its prefix.
func (t Token) Digits() string { return strings.TrimPrefix(string(t), tokenPrefix) }

// DataKind is the type of staged data.
type DataKind string

// The kinds.
const (
	DataNDJSON DataKind = "ndjson" // a record per line
	DataJSON   DataKind = "json"   // one record, on any number of lines
	DataText   DataKind = "text"   // a record per line
	DataBinary DataKind = "binary" // no records
)

// DataKinds returns all kinds.
func DataKinds() []DataKind { return []DataKind{DataNDJSON, DataJSON, DataText, DataBinary} }

// Staged describes staged data.
type Staged struct {
	Token  Token    `json:"token"`
	Kind   DataKind `json:"kind"`
	Source string   `json:"source,omitempty"` // where the data comes from: "hubspot/contact"
	Labels []string `json:"labels,omitempty"`
	// Thread is the thread whose agent staged it, or empty if the user did.
	Thread  ID        `json:"thread,omitempty"`
	Records int64     `json:"records"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Created time.Time `json:"created"`
	// Expires is when it is removed unless it is used, touched or pinned then.
	Expires time.Time `json:"expires"`
	// Pins says what needs it: it does not expire until nothing does.
	Pins []string `json:"pins,omitempty"`
}

// StagedInfo is Staged with the data's file and first lines.
type StagedInfo struct {
	Staged
	File string `json:"file"`
	// Preview has the beginnings of the first lines; More is set if the data has more lines.
	Preview []string `json:"preview,omitempty"`
	More    bool     `json:"more,omitempty"`
}

// StagedData is staged data, or a part of it, that can be read once.
type StagedData interface {
	io.WriterTo
	io.Closer
}

const (
	maxLabels = 20
	maxLabel  = 200 // bytes of a label or a source
	maxTTL    = 365 * 24 * time.Hour
)

// StageRequest describes the data to stage; every field is optional.
type StageRequest struct {
	Source string        `json:"source,omitempty"`
	Kind   DataKind      `json:"kind,omitempty"`
	Labels []string      `json:"labels,omitempty"`
	TTL    time.Duration `json:"ttl,omitempty"`
	Thread ID            `json:"-"` // of the agent that stages it
}

// Check validates the request.
func (r StageRequest) Check() error {
	if r.Kind != "" && !slices.Contains(DataKinds(), r.Kind) {
		return fmt.Errorf("unknown type %q, use ndjson, json, text or binary: %w", r.Kind, ErrInvalid)
	}
	if len(r.Labels) > maxLabels {
		return fmt.Errorf("%d labels, but at most %d are possible: %w", len(r.Labels), maxLabels, ErrInvalid)
	}
	for _, s := range append([]string{r.Source}, r.Labels...) {
		if len(s) > maxLabel || plaintext.Line(s) != s {
			return fmt.Errorf("%q must be one line of at most %d bytes: %w", plaintext.Cut(s, 80), maxLabel, ErrInvalid)
		}
	}
	return CheckTTL(r.TTL)
}

// CheckTTL validates a time to live; 0 means the default.
func CheckTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < time.Second || ttl > maxTTL) {
		return fmt.Errorf("the time to live %v must be between 1s and %v: %w", ttl, maxTTL, ErrInvalid)
	}
	return nil
}

// Selection is a part of staged data: of the lines From to To, the first Head that match Grep. A zero field selects
// everything.
type Selection struct {
	From int64  `json:"from,omitempty"` // the first line is 1
	To   int64  `json:"to,omitempty"`
	Grep string `json:"grep,omitempty"`
	Head int64  `json:"head,omitempty"`
}

// Check validates the selection.
func (s Selection) Check() error {
	if s.From < 0 || s.To < 0 || s.Head < 0 || s.To > 0 && s.To < s.From {
		return fmt.Errorf("lines %d to %d, at most %d: %w", s.From, s.To, s.Head, ErrInvalid)
	}
	return nil
}
