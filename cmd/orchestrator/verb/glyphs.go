package verb

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/glyph"
)

// glyphsOf returns what the terminal can show. A locale that names another charset than UTF-8 is believed, also "C". One
// that says nothing is not: terminals of containers and ssh often come without any, and show UTF-8.
func glyphsOf(setting string, environ []string) glyph.Set {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = thread.Lookup(environ, name); locale != "" {
			break
		}
	}
	charset := strings.ReplaceAll(strings.ToUpper(locale), "-", "")
	bytes := locale != "" && !strings.Contains(charset, "UTF8")
	switch {
	case setting == "unicode":
		return glyph.Unicode
	case bytes:
		return glyph.Bytes
	case setting == "ascii", thread.Lookup(environ, "TERM") == "linux":
		return glyph.ASCII
	default:
		return glyph.Unicode
	}
}
