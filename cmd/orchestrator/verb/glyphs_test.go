package verb

import (
	"strings"
	"testing"

	"orchestrator/ui/glyph"
)

func TestGlyphs(t *testing.T) {
	for _, c := range []struct {
		setting, environ string
		want             glyph.Set
	}{
		{"auto", "LANG=en_GB.UTF-8 TERM=xterm-256color", glyph.Unicode},
		{"auto", "LANG=de_DE.utf8", glyph.Unicode},
		{"auto", "TERM=xterm", glyph.Unicode},
		{"auto", "LANG=C", glyph.Bytes},
		{"auto", "LANG=C.UTF-8", glyph.Unicode},
		{"auto", "LANG=de_DE.ISO-8859-1", glyph.Bytes},
		{"auto", "LANG=en_GB.UTF-8 LC_ALL=POSIX", glyph.Bytes},
		{"auto", "LANG=C LC_CTYPE=en_GB.UTF-8", glyph.Unicode},
		{"auto", "LANG=en_GB.UTF-8 TERM=linux", glyph.ASCII},
		{"ascii", "LANG=en_GB.UTF-8", glyph.ASCII},
		{"ascii", "LANG=C", glyph.Bytes},
		{"unicode", "LANG=C TERM=linux", glyph.Unicode},
	} {
		if got := glyphsOf(c.setting, strings.Fields(c.environ)); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.setting, c.environ, got, c.want)
		}
	}
}
