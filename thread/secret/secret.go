// Package secret finds credentials in text by their known shapes and redacts them.
//
// It knows the keys of providers and code hosts by their prefixes, private keys, signed tokens, passwords in URLs,
// authorization headers and assignments to variables named like a credential. What has no such shape is not found: a
// password in a sentence, a key encoded in base64. It works on plain text and on JSON, which stays valid; it takes
// linear time, and none at program start.
package secret

import (
	"strings"
)

// Redact returns s with each secret replaced by a note on what it was, such as [redacted GitHub token]. It is
// idempotent.
func Redact(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !starts[s[i]] {
			i++
			continue
		}
		m, ok := match(s, i)
		if !ok || m.from < done {
			i++
			continue
		}
		b.WriteString(s[done:m.from])
		b.WriteString("[redacted ")
		b.WriteString(m.kind)
		b.WriteByte(']')
		done, i = m.to, m.to
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// Bytes is Redact for bytes; bytes without a secret are returned unchanged.
func Bytes(b []byte) []byte {
	s := string(b)
	if r := Redact(s); len(r) != len(s) || r != s {
		return []byte(r)
	}
	return b
}

// found is a secret in a text.
type found struct {
	from, to int
	kind     string
}

// starts are the bytes that a match may begin with.
var starts = [256]bool{
	'-': true, ':': true, '=': true,
	'A': true, 'B': true, 'G': true, 'N': true, 'P': true, 'S': true,
	'a': true, 'b': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'l': true, 'n': true, 'p': true,
	'r': true,
	's': true, 'w': true, 'x': true, 'y': true,
}

// match finds a secret that begins at s[i], or that s[i] indicates.
func match(s string, i int) (found, bool) {
	switch s[i] {
	case '-':
		return privateKey(s, i)
	case ':':
		if m, ok := urlPassword(s, i); ok {
			return m, true
		}
		return assigned(s, i)
	case '=':
		return assigned(s, i)
	}
	if !boundary(s, i) {
		return found{}, false
	}
	if m, ok := signedToken(s, i); ok {
		return m, true
	}
	if m, ok := authorization(s, i); ok {
		return m, true
	}
	for k := range shapes {
		if p := &shapes[k]; p.prefix[0] == s[i] && strings.HasPrefix(s[i:], p.prefix) {
			if end, ok := p.end(s, i+len(p.prefix)); ok {
				return found{i, end, p.kind}, true
			}
		}
	}
	return found{}, false
}

// boundary reports whether a word may begin at s[i]: not after a letter, digit or underscore, but after an escape of
// JSON or a URL.
func boundary(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	switch {
	case i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0,
		i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && hexadecimal(s[i-4:i]),
		i >= 3 && s[i-3] == '%' && hexadecimal(s[i-2:i]):
		return true
	}
	return false
}

// privateKey matches a private key in PEM, to its end or as far as it goes.
func privateKey(s string, i int) (found, bool) {
	const begin, dashes = "-----BEGIN ", "-----"
	if !strings.HasPrefix(s[i:], begin) {
		return found{}, false
	}
	at := i + len(begin)
	title, _, closed := strings.Cut(s[at:min(len(s), at+64)], dashes)
	if !closed || !strings.Contains(title, "PRIVATE KEY") {
		return found{}, false
	}
	at += len(title) + len(dashes)
	end := strings.Index(s[at:], dashes)
	if end >= 0 && strings.HasPrefix(s[at+end:], dashes+"END ") {
		stop := at + end + len(dashes+"END ")
		if close := strings.Index(s[stop:min(len(s), stop+64)], dashes); close >= 0 &&
			strings.IndexByte(s[at:at+end], '"') < 0 {
			if end < minPEM {
				return found{}, false // text about a key
			}
			return found{i, stop + close + len(dashes), "private key"}, true
		}
	}
	// Cut off: lines of base64, and a shorter last one if it looks like the rest.
	stop := at
	for next := at; next < len(s); {
		for next < len(s) && (s[next] == ' ' || s[next] == '\n' || s[next] == '\r' || s[next] == '\t') {
			next++
		}
		for strings.HasPrefix(s[next:], `\n`) || strings.HasPrefix(s[next:], `\r`) {
			next += 2
		}
		line := run(s, next, base64Char, len(s))
		if line == next || line-next < minPEM && (stop == at || line < len(s) && !odd(s[next:line])) {
			break
		}
		short := line-next < minPEM
		if stop, next = line, line; short {
			break
		}
	}
	return found{i, stop, "private key"}, stop > at+minPEM
}

// minPEM is the shortest line that counts as part of a key.
const minPEM = 32

// signedToken matches a JSON web token: three parts, of which two are JSON.
func signedToken(s string, i int) (found, bool) {
	const json = "eyJ"
	if !strings.HasPrefix(s[i:], json) {
		return found{}, false
	}
	head := run(s, i, urlChar, i+maxLook)
	if head-i < 15 || !strings.HasPrefix(s[head:], "."+json) {
		return found{}, false
	}
	body := run(s, head+1, urlChar, len(s))
	if body-head < 10 || body == len(s) || s[body] != '.' {
		return found{}, false
	}
	end := run(s, body+1, urlChar, len(s))
	return found{i, end, "signed token"}, true
}

// urlPassword matches the password of a URL, whose "://" begins at s[i].
func urlPassword(s string, i int) (found, bool) {
	if !strings.HasPrefix(s[i:], "://") || i == 0 || !letter(s[i-1]) {
		return found{}, false
	}
	user := run(s, i+3, userChar, i+3+128)
	if user >= len(s) || s[user] != ':' {
		return found{}, false
	}
	end := run(s, user+1, passwordChar, user+1+256)
	if end >= len(s) || s[end] != '@' || end+1 == len(s) || !word(s[end+1]) && s[end+1] != '[' ||
		placeholder(s[user+1:end]) {
		return found{}, false
	}
	return found{user + 1, end, "password"}, true
}

// authorization matches the credentials after "Bearer" and "Basic".
func authorization(s string, i int) (found, bool) {
	rest := s[i:min(len(s), i+7)]
	switch {
	case len(rest) == 7 && strings.EqualFold(rest, "bearer "):
	case len(rest) >= 6 && strings.EqualFold(rest[:6], "basic "):
		rest = rest[:6]
	default:
		return found{}, false
	}
	from := i + len(rest)
	end := run(s, from, tokenChar, from+maxLook)
	if !random(s[from:end], 16) {
		return found{}, false
	}
	return found{from, run(s, end, tokenChar, len(s)), "credentials"}, true
}

// assigned matches a value that s[i], a colon or equals sign, assigns to a name like that of a credential.
func assigned(s string, i int) (found, bool) {
	name := i
	for name > 0 && i-name < 3 && strings.IndexByte("\"' \\`:", s[name-1]) >= 0 {
		name--
	}
	first := name
	for first > 0 && name-first < 64 && (word(s[first-1]) || s[first-1] == '-') {
		first--
	}
	kind, least := credential(s[first:name])
	if kind == "" {
		return found{}, false
	}
	from := i + 1
	for from < len(s) && from-i < 5 && strings.IndexByte("\"' \\`=>", s[from]) >= 0 {
		from++
	}
	end := run(s, from, tokenChar, from+maxLook)
	if end < len(s) && strings.IndexByte("([{.<", s[end]) >= 0 || !random(s[from:end], least) {
		return found{}, false
	}
	return found{from, run(s, end, tokenChar, len(s)), kind}, true
}

// credential returns the kind of secret that a name suggests, and the minimum length of its value.
func credential(name string) (kind string, least int) {
	if len(name) < 3 {
		return "", 0
	}
	for _, c := range [...]struct {
		end, kind string
		least     int
	}{
		{"password", "password", 8}, {"passwd", "password", 8}, {"pwd", "password", 8}, {"secret", "secret", 16},
		{"token", "token", 16},
		{"secret_access_key", "secret", 30}, {"secretaccesskey", "secret", 30}, {"accountkey", "secret", 30},
		{"sharedaccesskey", "secret", 30},
		{"api_key", "key", 16}, {"api-key", "key", 16}, {"apikey", "key", 16}, {"access_key", "key", 16},
		{"private_key", "key", 16},
		{"secret_key", "secret", 16}, {"auth_key", "key", 16}, {"encryption_key", "key", 16},
	} {
		if n := len(name) - len(c.end); n >= 0 && strings.EqualFold(name[n:], c.end) {
			return c.kind, c.least
		}
	}
	return "", 0
}

// Mask returns bytes of the same length with each secret overwritten, for files that are addressed by offset.
func Mask(b []byte) []byte {
	const word = "[redacted]"
	s := string(b)
	var out []byte
	for i := 0; i < len(s); {
		if !starts[s[i]] {
			i++
			continue
		}
		m, ok := match(s, i)
		if !ok {
			i++
			continue
		}
		if out == nil {
			out = []byte(s)
		}
		hole := out[m.from:m.to]
		for k := range hole {
			hole[k] = '*'
		}
		if len(hole) >= len(word) {
			copy(hole, word)
		}
		i = m.to
	}
	if out == nil {
		return b
	}
	return out
}
