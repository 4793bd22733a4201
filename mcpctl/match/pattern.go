package match

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"orchestrator/thread/ground/lexical"
	"orchestrator/thread/plaintext"
)

// The limits of patterns.
const (
	maxPatterns = 100 // of one server
	maxPattern  = 256 // bytes of one
	maxHit      = 40  // columns of what is shown of a text or pattern
)

// Patterns are the compiled taskPatterns of a server. The zero value never matches.
//
// A pattern is one of:
//
//	word      a whole word or a part of an identifier, in any case, also inflected: "deploys", "deployed", "deploying"
//	word*     words that begin with it; *word: that end with it; *word*: that contain it
//	two words both, next to each other
//	/re2/     a regular expression, in any case; "(?-i:…)" for this case only
//	!pattern  a veto: no pattern of the server matches a text that this matches
type Patterns struct {
	wanted, vetoes []pattern
}

// pattern is one compiled pattern.
type pattern struct {
	written    string // without a veto's "!"
	expression *regexp.Regexp
	parts      []part // if it is no expression
}

// Compile compiles patterns. Those that are wrong are left out, each with an error.
func Compile(written []string) (Patterns, []error) {
	var (
		p    Patterns
		errs []error
	)
	if len(written) > maxPatterns {
		errs = append(errs, fmt.Errorf("%d patterns: only the first %d are used", len(written), maxPatterns))
		written = written[:maxPatterns]
	}
	for _, s := range written {
		text, veto := strings.CutPrefix(strings.TrimSpace(s), "!")
		compiled, err := compile(strings.TrimSpace(text))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("pattern %q: %w", plaintext.OneLine(s, maxHit), err))
		case veto:
			p.vetoes = append(p.vetoes, compiled)
		default:
			p.wanted = append(p.wanted, compiled)
		}
	}
	return p, errs
}

func compile(text string) (pattern, error) {
	p := pattern{written: text}
	switch {
	case text == "":
		return p, errors.New("it is empty")
	case len(text) > maxPattern:
		return p, fmt.Errorf("it is longer than %d bytes", maxPattern)
	case text[0] == '/':
		inner, closed := strings.CutSuffix(text[1:], "/")
		if !closed || inner == "" {
			return p, errors.New(`a regular expression stands between two "/"`)
		}
		if _, err := regexp.Compile(inner); err != nil {
			return p, errors.New(plaintext.Line(err.Error())) // it repeats the pattern
		}
		re, err := regexp.Compile("(?i:" + inner + ")")
		if err != nil {
			return p, errors.New("the regular expression is too large")
		}
		if re.MatchString("") {
			return p, errors.New("it matches every text")
		}
		p.expression = re
		return p, nil
	default:
		parts, err := partsOf(text)
		p.parts = parts
		return p, err
	}
}

// Match reports whether a text asks for the server, and which pattern says so: "matched `e2e`". Only the beginning of a
// long text is read, 64 KiB.
func (p Patterns) Match(text string) (reason string, ok bool) {
	if len(p.wanted) == 0 {
		return "", false
	}
	return p.match(read(text))
}

func (p Patterns) match(t text) (reason string, ok bool) {
	for _, veto := range p.vetoes {
		if _, vetoed := veto.find(t); vetoed {
			return "", false
		}
	}
	for _, wanted := range p.wanted {
		if hit, found := wanted.find(t); found {
			return wanted.reason(hit), true
		}
	}
	return "", false
}

// reason names the pattern, and what it hit unless that is the same.
func (p pattern) reason(hit string) string {
	if strings.EqualFold(hit, p.written) {
		return "matched `" + plaintext.Line(p.written) + "`"
	}
	return fmt.Sprintf("matched `%s` in %q", plaintext.Line(p.written), plaintext.OneLine(hit, maxHit))
}

// Rate is on how many of some texts a pattern matched.
type Rate struct {
	Pattern   string // as written
	Fired, Of int
}

// Rate counts the texts on which each pattern would have switched the server on, and on how many any of them would.
func (p Patterns) Rate(texts []string) (each []Rate, all Rate) {
	each = make([]Rate, len(p.wanted))
	for i, w := range p.wanted {
		each[i] = Rate{Pattern: w.written, Of: len(texts)}
	}
	all.Of = len(texts)
	for _, s := range texts {
		t, any := read(s), false
		for i, w := range p.wanted {
			one := Patterns{wanted: []pattern{w}, vetoes: p.vetoes}
			if _, ok := one.match(t); ok {
				each[i].Fired++
				any = true
			}
		}
		if any {
			all.Fired++
		}
	}
	return each, all
}

// text is a text that patterns are tried on.
type text struct {
	raw   string
	words []lexical.Word
}

func read(raw string) text {
	raw = clip(raw)
	return text{raw: raw, words: lexical.Split(raw)}
}

// find returns the first part of the text that the pattern matches.
func (p pattern) find(t text) (hit string, ok bool) {
	if p.expression != nil {
		at := p.expression.FindStringIndex(t.raw)
		if at == nil || at[0] == at[1] {
			return "", false
		}
		return t.raw[at[0]:at[1]], true
	}
	for i := range t.words {
		if end, found := t.match(p.parts, i); found {
			return t.raw[t.words[i].From:end], true
		}
	}
	return "", false
}

// maxJoined is how many words that are written together are tried as one: "GitHub" is two, and one.
const maxJoined = 6

// match matches the parts of a pattern with the words from i on and returns where the last one ends.
func (t text) match(parts []part, i int) (end int, ok bool) {
	whole := ""
	for j := i; j < len(t.words) && j < i+maxJoined; j++ {
		if j > i && !t.words[j].Joined(t.words[j-1]) {
			break
		}
		whole += t.words[j].Text
		if !parts[0].matches(whole) {
			continue
		}
		if len(parts) == 1 {
			return t.words[j].To, true
		}
		if j+1 < len(t.words) && together(t.raw[t.words[j].To:t.words[j+1].From]) {
			if end, ok := t.match(parts[1:], j+1); ok {
				return end, true
			}
		}
	}
	return 0, false
}

// together reports whether what is between two words leaves them side by side: nothing, space or signs, but not both as
// at the end of a sentence.
func together(between string) bool {
	space := strings.TrimSpace(between) == ""
	signs := !strings.ContainsFunc(between, unicode.IsSpace)
	return len(between) <= 16 && (signs || space && strings.Count(between, "\n") < 2)
}

// maxText is how much of a text is read, in bytes.
const maxText = 64 << 10

// clip returns the beginning of a text that is too long, cut between runes.
func clip(text string) string { return plaintext.Cut(text, maxText) }
