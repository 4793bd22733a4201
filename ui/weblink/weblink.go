// Package weblink judges the links of agents: which may be followed, and which say they lead elsewhere than they do.
package weblink

import (
	"net/url"
	"slices"
	"strings"
)

// maxTarget is the longest target that is followed.
const maxTarget = 2083

// Target returns a target as it may be followed: a page of the web, in printable ASCII without spaces and quotes, with a
// host that is written in ASCII and without a user before it, who would look like a host. It returns "" for any other.
func Target(s string) string {
	if len(s) > maxTarget {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" || !ascii(u.Host) {
		return ""
	}
	if u.Hostname() == "" || strings.ContainsAny(u.Host, "%\\;, ") {
		return ""
	}
	s = u.String()
	if !ascii(s) || len(s) > maxTarget {
		return ""
	}
	return strings.NewReplacer(`"`, "%22", "'", "%27", "<", "%3C", ">", "%3E", "`", "%60").Replace(s)
}

// ascii reports whether a text is printable ASCII without spaces.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// host returns the host of a target, in lower case.
func host(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Misleads reports whether a link's text names another host than its target leads to.
func Misleads(text, target string) bool {
	to := host(target)
	for word := range strings.FieldsSeq(text) {
		word = strings.ToLower(strings.Trim(word, `()[]{}<>"'.,;:!?`+"`"))
		if named := named(word); named != "" && named != to && "www."+named != to && named != "www."+to &&
			!(isFile(word) && strings.HasSuffix(strings.ToLower(target), "/"+word)) {
			return true
		}
	}
	return false
}

// isFile reports whether a word is the name of a file whose ending is that of no country's or other common hosts.
func isFile(word string) bool {
	_, ending, _ := strings.Cut(word, ".")
	if i := strings.LastIndexByte(ending, '.'); i >= 0 {
		ending = ending[i+1:]
	}
	return !strings.ContainsAny(word, "/:@") && slices.Contains([]string{
		"go", "ts", "tsx", "js", "jsx", "json", "yaml", "yml", "toml", "txt", "java", "cpp", "hpp", "html", "css", "sql", "proto", "lock", "mod", "sum",
	}, ending)
}

// named returns the host that a word names, "" if it names none: what follows a scheme, or what has dots as a domain.
func named(word string) string {
	rest, scheme := word, false
	if i := strings.Index(word, "://"); i >= 0 {
		rest, scheme = word[i+3:], true
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, ":")
	if scheme {
		return rest
	}
	i := strings.LastIndexByte(rest, '.')
	if i < 1 || len(rest)-i-1 < 2 || strings.ContainsAny(rest, "_*$=") {
		return ""
	}
	for _, r := range rest[i+1:] {
		if r >= '0' && r <= '9' { // a number, or a version
			return ""
		}
	}
	return rest
}

// In returns the address of a page in a text around byte at, "" if there is none.
func In(text string, at int) string {
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], "http")
		if i < 0 {
			return ""
		}
		from += i
		rest := text[from:]
		if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
			from += len("http")
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"'`|\\^{}", r) })
		if end < 0 {
			end = len(rest)
		}
		address := trimmed(rest[:end])
		if at >= from && at < from+len(address) {
			return Target(address)
		}
		from += end
	}
	return ""
}

// trimmed leaves out what ends a sentence, and a bracket that was opened before the address.
func trimmed(s string) string {
	for s != "" {
		last := s[len(s)-1]
		switch {
		case strings.IndexByte(".,;:!?", last) >= 0:
		case last == ')' && strings.Count(s, "(") < strings.Count(s, ")"):
		case last == ']' && strings.Count(s, "[") < strings.Count(s, "]"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}
