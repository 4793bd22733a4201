package secret

import (
	"strings"
)

// shape is a key with a known prefix.
type shape struct {
	prefix string
	kind   string
	chars  charset
	least  int // after the prefix
	most   int // 0 is any
	// mixed keys are told from hyphenated words by a long piece of letters and digits.
	mixed bool
}

// shapes lists them; if two match, the first counts.
var shapes = [...]shape{
	{"sk-ant-", "Anthropic key", urlChar, 16, 0, false},
	{"sk-", "API key", urlChar, 20, 0, true},
	{"sk_live_", "Stripe key", alphanumeric, 16, 0, false},
	{"sk_test_", "Stripe key", alphanumeric, 16, 0, false},
	{"rk_live_", "Stripe key", alphanumeric, 16, 0, false},
	{"rk_test_", "Stripe key", alphanumeric, 16, 0, false},
	{"whsec_", "signing secret", base64Char, 24, 0, false},
	{"ghp_", "GitHub token", alphanumeric, 36, 0, false},
	{"gho_", "GitHub token", alphanumeric, 36, 0, false},
	{"ghu_", "GitHub token", alphanumeric, 36, 0, false},
	{"ghs_", "GitHub token", alphanumeric, 36, 0, false},
	{"ghr_", "GitHub token", alphanumeric, 36, 0, false},
	{"github_pat_", "GitHub token", urlChar, 22, 0, true},
	{"glpat-", "GitLab token", dotChar, 20, 0, false},
	{"gldt-", "GitLab token", dotChar, 20, 0, false},
	{"glrt-", "GitLab token", dotChar, 20, 0, false},
	{"glptt-", "GitLab token", dotChar, 20, 0, false},
	{"glcbt-", "GitLab token", dotChar, 20, 0, false},
	{"glsoat-", "GitLab token", dotChar, 20, 0, false},
	{"AKIA", "AWS key", base32, 16, 16, false},
	{"ASIA", "AWS key", base32, 16, 16, false},
	{"ABIA", "AWS key", base32, 16, 16, false},
	{"xoxa-", "Slack token", urlChar, 16, 0, true},
	{"xoxb-", "Slack token", urlChar, 16, 0, true},
	{"xoxe-", "Slack token", urlChar, 16, 0, true},
	{"xoxe.xox", "Slack token", urlChar, 16, 0, true},
	{"xoxo-", "Slack token", urlChar, 16, 0, true},
	{"xoxp-", "Slack token", urlChar, 16, 0, true},
	{"xoxr-", "Slack token", urlChar, 16, 0, true},
	{"xoxs-", "Slack token", urlChar, 16, 0, true},
	{"xapp-", "Slack token", urlChar, 20, 0, true},
	{"hooks.slack.com/services/", "Slack address", pathChar, 30, 0, false},
	{"AIza", "Google key", urlChar, 35, 35, false},
	{"ya29.", "Google token", urlChar, 20, 0, true},
	{"GOCSPX-", "Google secret", urlChar, 28, 28, false},
	{"npm_", "npm token", alphanumeric, 36, 36, false},
	{"pypi-AgE", "PyPI token", urlChar, 50, 0, false},
	{"hf_", "Hugging Face token", alphanumeric, 34, 0, false},
	{"gsk_", "Groq key", alphanumeric, 40, 0, false},
	{"xai-", "xAI key", alphanumeric, 40, 0, false},
	{"pplx-", "Perplexity key", alphanumeric, 40, 0, false},
	{"r8_", "Replicate token", alphanumeric, 37, 37, false},
	{"dop_v1_", "DigitalOcean token", alphanumeric, 64, 64, false},
	{"dckr_pat_", "Docker token", urlChar, 27, 0, false},
	{"dapi", "Databricks token", lowerHex, 32, 32, false},
	{"shpat_", "Shopify token", alphanumeric, 32, 32, false},
	{"lin_api_", "Linear key", alphanumeric, 40, 0, false},
	{"figd_", "Figma token", urlChar, 40, 0, false},
	{"hvs.", "Vault token", urlChar, 24, 0, true},
	{"SG.", "SendGrid key", dotChar, 60, 0, true},
	{"PMAK-", "Postman key", urlChar, 50, 0, true},
	{"NRAK-", "New Relic key", alphanumeric, 27, 27, false},
	{"AGE-SECRET-KEY-1", "age key", alphanumeric, 50, 0, false},
	{"ATATT3", "Atlassian token", dotChar, 60, 0, false},
}

// end returns the end of a key whose prefix ends at s[i].
func (p *shape) end(s string, i int) (int, bool) {
	end := run(s, i, p.chars, i+maxLook)
	n := end - i
	if n < p.least || p.most != 0 && n > p.most || p.most != 0 && end < len(s) && word(s[end]) {
		return 0, false
	}
	if p.mixed && !holdsRandom(s[i:end]) || !p.mixed && repeated(s[i:end]) {
		return 0, false
	}
	return run(s, end, p.chars, len(s)), true
}

// charset is a set of characters of a value.
type charset uint8

const (
	alphanumeric charset = iota
	urlChar              // of base64 for URLs
	dotChar              // the same and dots
	base32
	lowerHex
	base64Char
	tokenChar // of authorization headers
	pathChar
	userChar
	passwordChar
)

func (c charset) has(b byte) bool {
	switch c {
	case alphanumeric:
		return letter(b) || digit(b)
	case urlChar:
		return word(b) || b == '-'
	case dotChar:
		return word(b) || b == '-' || b == '.'
	case base32:
		return b >= 'A' && b <= 'Z' || b >= '2' && b <= '7'
	case lowerHex:
		return digit(b) || b >= 'a' && b <= 'f'
	case base64Char:
		return letter(b) || digit(b) || b == '+' || b == '/' || b == '='
	case tokenChar:
		return word(b) || strings.IndexByte("-.~+/=!@#%^*", b) >= 0
	case pathChar:
		return letter(b) || digit(b) || b == '/'
	case userChar:
		return word(b) || strings.IndexByte("-.~!%+", b) >= 0
	case passwordChar:
		return b > ' ' && b < 0x7f && strings.IndexByte("/@\"'\\<>`{}()[]?#", b) < 0
	}
	return false
}

// run returns the end of the run of bytes of a set that begins at s[i], at most `most` bytes.
func run(s string, i int, c charset, most int) int {
	for most = min(most, len(s)); i < most && c.has(s[i]); i++ {
	}
	return i
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func digit(b byte) bool  { return b >= '0' && b <= '9' }
func word(b byte) bool   { return letter(b) || digit(b) || b == '_' }

func hexadecimal(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) && (s[i]|0x20 < 'a' || s[i]|0x20 > 'f') {
			return false
		}
	}
	return true
}

// random reports whether a value of at least so many bytes looks random, not written: letters and digits, and many
// different ones.
func random(s string, least int) bool {
	s = strings.TrimRight(s, ".,;:!=")
	if len(s) < least || placeholder(s) {
		return false
	}
	var seen [256]bool
	letters, digits, distinct := 0, 0, 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			distinct++
		}
		switch {
		case digit(s[i]):
			digits++
		case letter(s[i]):
			letters++
		}
	}
	return letters >= 2 && digits >= 2 && distinct >= min(10, least-2)
}

// holdsRandom reports whether one piece between hyphens, dots and underscores looks random.
func holdsRandom(s string) bool {
	for from, i := 0, 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			continue
		}
		if random(s[from:i], 12) {
			return true
		}
		from = i + 1
	}
	return random(s, 40)
}

// odd reports whether a piece of base64 does not look like a word.
func odd(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) || i > 0 && c < 'a' {
			return true
		}
	}
	return false
}

// repeated reports whether a value repeats one or two characters: a placeholder.
func repeated(s string) bool {
	distinct := 0
	for i := range min(len(s), 64) {
		if strings.IndexByte(s[:i], s[i]) < 0 {
			distinct++
		}
	}
	return distinct <= 2
}

// placeholder reports whether a value is a placeholder, or already redacted.
func placeholder(s string) bool {
	if s == "" || s[0] == '$' || s[0] == '%' || s[0] == '*' || repeated(s) {
		return true
	}
	for _, p := range [...]string{
		"password", "passwd", "passw0rd", "pass", "pwd", "pw", "secret", "token", "foo", "bar", "baz", "redacted", "hidden",
		"user", "username", "p", "test",
	} {
		if strings.EqualFold(s, p) {
			return true
		}
	}
	return false
}

// maxLook is how many bytes are examined to decide whether something is a secret; a secret itself may be longer.
const maxLook = 512
