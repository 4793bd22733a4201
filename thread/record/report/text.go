package report

import (
	"strings"

	"orchestrator/thread/plaintext"
)

// Text is what a person or an agent wrote. In a template it is printed on one line, with what Markdown would obey escaped;
// functions print it in other forms.
type Text string

// String returns the text as it may stand anywhere in a line of Markdown.
func (t Text) String() string { return escape(plaintext.Line(string(t))) }

// escaped are the characters that a backslash takes their meaning in Markdown.
const escaped = "\\`*_[]<>#|~!&"

// escape escapes a line for Markdown.
func escape(line string) string {
	line = strings.TrimSpace(line)
	var b strings.Builder
	for i, r := range line {
		switch {
		case r < 0x80 && strings.ContainsRune(escaped, r):
			b.WriteByte('\\')
		case i == 0 && (r == '-' || r == '+' || r == '='):
			b.WriteByte('\\')
		case (r == '.' || r == ')') && i > 0 && strings.Trim(line[:i], "0123456789") == "":
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fence returns a text as a block of Markdown in which nothing is obeyed, with a fence longer than any in it.
func fence(t any) string {
	text := strings.TrimRight(plaintext.Text(plain(t)), "\n")
	marks, longest := 0, 0
	for _, r := range text {
		if marks++; r != '`' {
			marks = 0
		}
		longest = max(longest, marks)
	}
	line := strings.Repeat("`", max(3, longest+1))
	return line + "text\n" + text + "\n" + line
}

// quote returns a text as a quotation: its lines, each escaped.
func quote(t any) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(plaintext.Text(plain(t)), "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight("> "+escape(line), " "))
	}
	return b.String()
}

// plain returns a value of a template as the text that it is.
func plain(t any) string {
	switch s := t.(type) {
	case Text:
		return string(s)
	case string:
		return s
	default:
		return ""
	}
}
