package masking

import (
	"strings"
	"testing"
)

// TestStub holds the text that stands in place of a result.
func TestStub(t *testing.T) {
	for _, c := range []struct {
		tool, path, token string
		lines             int
		tokens            int64
		want              string
	}{
		{"Read", "", "", 120, 2300, "[Masked: Read returned 120 lines, 2300 tokens]"},
		{"Read", "/s/masked/a1", "max:a1b2c3d4", 1, 130, "[Masked: Read returned 1 lines, 130 tokens] /s/masked/a1 max:a1b2c3d4"},
		{"Bash", "", "max:a1b2c3d4", 0, 0, "[Masked: Bash returned 0 lines, 0 tokens] max:a1b2c3d4"},
		{"mcp__linear__get issue]\n[\x1b\x80", "", "", 2, 3, "[Masked: mcp__linear__getissue returned 2 lines, 3 tokens]"},
		{" \n", "", "", 2, 3, "[Masked: tool returned 2 lines, 3 tokens]"},
		{strings.Repeat("é", 101), "", "", 2, 3, "[Masked: " + strings.Repeat("é", 100) + " returned 2 lines, 3 tokens]"},
	} {
		if got := Stub(c.tool, c.lines, c.tokens, c.path, c.token); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
