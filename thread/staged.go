package thread

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"time"

	"orchestrator/thread/plaintext"
)

// Token identifies staged data on the command line and in prompts: "max:" and 8 hex digits, or more where a project is
// set to longer ones.
type Token string

const (
	tokenPrefix = "max:"
	// TokenDigits is how many digits a token has unless something else is set.
	TokenDigits = 8
	// MaxTokenDigits is the most digits that a token can have. Their number is even.
	MaxTokenDigits = 16
)

// NewToken returns a random token. It may already be in use.
func NewToken() Token { return NewLongToken(TokenDigits) }

// NewLongToken returns a random token with so many digits. It may already be in use.
func NewLongToken(digits int) Token {
	var b [MaxTokenDigits / 2]byte
	rand.Read(b[:]) // never fails
	return Token(tokenPrefix + hex.EncodeToString(b[:])[:digits])
}

// CheckTokenDigits validates a number of digits.
func CheckTokenDigits(n int) error {
	if n < TokenDigits || n > MaxTokenDigits || n%2 != 0 {
		return Kindf(ErrInvalid, "a token has %d, 10, 12, 14 or %d digits, not %d", TokenDigits, MaxTokenDigits, n)
	}
	return nil
}

// ParseToken parses a token as people write it: with or without "max:", complete or only its first digits. whole
// reports whether it can be complete; it may still be the beginning of a longer one.
func ParseToken(s string) (t Token, whole bool, err error) {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), tokenPrefix)
	if digits == "" || len(digits) > MaxTokenDigits || strings.Trim(digits, hexDigits) != "" {
		return "", false, Hint(Kindf(ErrInvalid, "%q is not a token", plaintext.Cut(s, 80)),
			"a token is max: and 8 hex digits, such as max:a1b2c3d4; `orchestrator stage list` lists staged data")
	}
	return Token(tokenPrefix + digits), CheckTokenDigits(len(digits)) == nil, nil
}

// DropFolder is the name of the folder, in that of a thread's state, into which a sandboxed agent may put what it stages.
const DropFolder = "drop"

const hexDigits = "0123456789abcdef"

// FindTokens returns the complete tokens in a text, such as a prompt.
func FindTokens(text string) []Token {
	var all []Token
	seen := map[Token]bool{}
	for {
		_, rest, found := strings.Cut(text, tokenPrefix)
		if !found {
			return all
		}
		text = rest
		if t := tokenPrefix + Token(rest[:digitsOf(rest)]); t.whole() && !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
}

// ReplaceTokens returns a text with complete tokens replaced by others. It is the text itself if it has none of them.
func ReplaceTokens(text []byte, others map[Token]Token) []byte {
	var out []byte
	done := 0
	for at := 0; len(others) > 0; {
		i := bytes.Index(text[at:], []byte(tokenPrefix))
		if i < 0 {
			break
		}
		from := at + i
		at = from + len(tokenPrefix)
		end := at + digitsOf(string(text[at:min(len(text), at+MaxTokenDigits+1)]))
		if other, ok := others[Token(text[from:end])]; ok {
			out = append(append(out, text[done:from]...), other...)
			done, at = end, end
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// digitsOf returns how many hex digits a text begins with.
func digitsOf(s string) int { return len(s) - len(strings.TrimLeft(s, hexDigits)) }

// whole reports whether a token can be complete.
func (t Token) whole() bool { return CheckTokenDigits(len(t.Digits())) == nil }

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
	// Pins is what needs it: it does not expire until nothing does.
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
	// MaxTTL is the longest time to live.
	MaxTTL = 365 * 24 * time.Hour
)

// StageRequest describes the data to stage; every field is optional.
type StageRequest struct {
	Source string        `json:"source,omitempty"`
	Kind   DataKind      `json:"kind,omitempty"`
	Labels []string      `json:"labels,omitempty"`
	TTL    time.Duration `json:"ttl,omitempty"`
	Thread ID            `json:"-"` // of the agent that stages it
	Size   int64         `json:"-"` // of the data, if it is known before it is read
}

// Check validates the request.
func (r StageRequest) Check() error {
	if r.Kind != "" && !slices.Contains(DataKinds(), r.Kind) {
		return Kindf(ErrInvalid, "unknown type %q, use ndjson, json, text or binary", r.Kind)
	}
	if len(r.Labels) > maxLabels {
		return Kindf(ErrInvalid, "%d labels, but at most %d are possible", len(r.Labels), maxLabels)
	}
	for _, s := range append([]string{r.Source}, r.Labels...) {
		if len(s) > maxLabel || plaintext.Line(s) != s {
			return Kindf(ErrInvalid, "%q must be one line of at most %d bytes", plaintext.Cut(s, 80), maxLabel)
		}
	}
	return CheckTTL(r.TTL)
}

// CheckTTL validates a time to live; 0 means the default.
func CheckTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < time.Second || ttl > MaxTTL) {
		return Kindf(ErrInvalid, "the time to live %v must be between 1s and %v", ttl, MaxTTL)
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
		return Kindf(ErrInvalid, "lines %d to %d, at most %d", s.From, s.To, s.Head)
	}
	return nil
}
