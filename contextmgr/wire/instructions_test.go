package wire_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/contextmgr/wire"
)

// escaped writes a text with an escape for each character.
func escaped(text string) json.RawMessage {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04X\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return json.RawMessage(`"` + b.String() + `"`)
}

// TestPart: what stands at the place of a part of a text is that part, however the text is written; there is no place for a
// part of a character.
func TestPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("a\"\\/\n\tné–🎉\u2028\u0000")
	for range 300 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		text := b.String()
		for _, raw := range []json.RawMessage{wire.Quote(text), escaped(text), json.RawMessage(strings.ReplaceAll(string(wire.Quote(text)), "/", `\/`))} {
			for from := range len(text) + 1 {
				for to := range len(text) + 1 {
					cuts := from < len(text) && !utf8.RuneStart(text[from]) || to < len(text) && !utf8.RuneStart(text[to])
					at, ok := wire.Part(raw, from, to)
					if ok != (!cuts && from <= to) {
						t.Fatalf("%s from %d to %d: found %v", raw, from, to, ok)
					}
					var got string
					if ok && (json.Unmarshal([]byte(`"`+string(raw[at.Start:at.End])+`"`), &got) != nil || got != text[from:to]) {
						t.Fatalf("%s from %d to %d: %q", raw, from, to, got)
					}
				}
			}
		}
	}
	for _, raw := range []string{``, `7`, `"`, `"a`, `"\`, `"\u12`, `{"a":1}`, `"a" "b"`} {
		if at, ok := wire.Part(json.RawMessage(raw), 0, 1); ok {
			t.Errorf("%s has a part at %v", raw, at)
		}
	}
}
