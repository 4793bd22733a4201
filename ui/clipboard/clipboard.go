// Package clipboard puts text on the person's clipboard, through their terminal (OSC 52), and never reads it.
//
// What is copied is plain text: newlines, tabs and what can be seen. Escape sequences and control characters become
// marks, so that pasting it somewhere does nothing. It is not longer than terminals accept.
package clipboard

import (
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Most is how many bytes are copied at most: what xterm and others accept in Base64 are 100,000 bytes.
const Most = 74994

// Copied is what was copied.
type Copied struct {
	Bytes, Of int // Of is the length of the whole text
	lines     int
}

// Copy returns the command that copies a text, nil if there is none, and what that copies.
func Copy(text string) (tea.Cmd, Copied) {
	text = plaintext.Text(text)
	c := Copied{Of: len(text)}
	if len(text) > Most {
		n := Most
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	c.Bytes, c.lines = len(text), strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1
	if text == "" {
		return nil, c
	}
	return tea.SetClipboard(text), c
}

// Says returns what was copied as what: "answer copied, 1.2 KiB". Without a name it counts lines.
func (c Copied) Says(what string) string {
	if what == "" {
		what = plain.Count(c.lines, "line")
	}
	if c.Bytes < c.Of {
		return what + " copied, but only the first " + thread.Bytes(int64(c.Bytes)) + " of " + thread.Bytes(int64(c.Of)) +
			": terminals take no more"
	}
	return what + " copied, " + thread.Bytes(int64(c.Bytes))
}

// Cut reports whether it is only the start of the text.
func (c Copied) Cut() bool { return c.Bytes < c.Of }
