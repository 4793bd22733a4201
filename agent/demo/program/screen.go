package program

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/term"
	"github.com/clipperhouse/displaywidth"
)

// Styles of a line, in the terminal's own colours.
const (
	styleNone   = ""
	styleDim    = "2"
	styleBold   = "1"
	styleAccent = "36"
	styleWarn   = "31" // yellow cannot be read on white
)

// line is one line of output in one style.
type line struct {
	style, text string
	of          *paragraph // that it is a part of; nil for a line by itself
}

// paragraph is a text that is broken into lines: first precedes the first one, rest all others.
type paragraph struct{ style, first, rest, text string }

// mostShown is how many paragraphs and lines of the transcript are laid out again in another width.
const mostShown = 1000

// screen draws a transcript that scrolls and a live part below it, in the terminal's main screen.
type screen struct {
	w     io.Writer
	cols  int
	color bool
	row   int // of the cursor in the live part
	// shown is the transcript, the newest last, to be laid out in another width.
	shown []line
}

// width returns the columns of a terminal, 80 if they are not known.
func width(f *os.File) int {
	if cols, _, err := term.GetSize(f.Fd()); err == nil && cols > 0 {
		return cols
	}
	return 80
}

// plain removes control characters: texts of models, files and commands must not bring them to the terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}

// flat returns a plain text on one line.
func flat(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }

// wrap breaks a text into lines of at most cols columns, at spaces if possible.
func wrap(text string, cols int) []string {
	cols = max(cols, 4)
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		out = append(out, wrapLine(l, cols)...)
	}
	return out
}

func wrapLine(l string, cols int) []string {
	var out []string
	width, begin, blank := 0, 0, -1
	for i, r := range l {
		w := displaywidth.Rune(r)
		if width+w > cols {
			cut, next := i, i
			switch {
			case r == ' ':
				next, w = i+1, 0
			case blank > begin:
				cut, next = blank, blank+1
			}
			out = append(out, strings.TrimRight(l[begin:cut], " "))
			begin, blank = next, -1
			width = displaywidth.String(l[min(begin, i):i])
		}
		if r == ' ' {
			blank = i
		}
		width += w
	}
	return append(out, l[begin:])
}

// wrapped breaks a text into lines of the screen's width: first precedes the first line, rest all others.
func (s *screen) wrapped(style, first, rest, text string) []line {
	var out []line
	of := &paragraph{style, first, rest, text}
	for i, l := range wrap(text, s.cols-displaywidth.String(first)-1) {
		lead := rest
		if i == 0 {
			lead = first
		}
		out = append(out, line{style, lead + l, of})
	}
	return out
}

// clipped shortens a line to the screen's width minus some columns.
func (s *screen) clipped(text string, less int) string {
	return displaywidth.TruncateString(text, max(s.cols-less, 8), "…")
}

// clippedLeft shortens a path to the screen's width minus some columns, and keeps its end.
func (s *screen) clippedLeft(path string, less int) string {
	most := max(s.cols-less, 8)
	for displaywidth.String(path) > most {
		rest, ok := strings.CutPrefix(path, "…/")
		if !ok {
			rest = strings.TrimLeft(path, "/~")
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return s.clipped(rest, less)
		}
		path = "…/" + after
	}
	return path
}

// tilde writes the person's folder as a shell does.
func tilde(path string) string {
	home := os.Getenv("HOME")
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" && home != "/" {
		return "~/" + rest
	}
	return path
}

// draw writes lines above the live part and redraws it, with the cursor at a position in it.
func (s *screen) draw(above, live []line, row, col int) {
	var b strings.Builder
	b.WriteString("\x1b[?2026h")
	if s.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.row)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range above {
		if n := len(s.shown); l.of == nil || n == 0 || s.shown[n-1].of != l.of {
			s.shown = append(s.shown, l)
		}
		s.put(&b, l)
		b.WriteString("\r\n")
	}
	s.shown = s.shown[max(0, len(s.shown)-mostShown):]
	for i, l := range live {
		if i > 0 {
			b.WriteString("\r\n")
		}
		s.put(&b, l)
	}
	if up := len(live) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	fmt.Fprintf(&b, "\x1b[%dG\x1b[?2026l", col+1)
	s.row = row
	_, _ = io.WriteString(s.w, b.String()) // if the terminal is gone, the program ends with its input
}

func (s *screen) put(b *strings.Builder, l line) {
	if l.style == styleNone || !s.color {
		b.WriteString(l.text)
		return
	}
	fmt.Fprintf(b, "\x1b[%sm%s\x1b[m", l.style, l.text)
}

// clear begins again at the top, without a transcript.
func (s *screen) clear() {
	_, _ = io.WriteString(s.w, "\x1b[H\x1b[2J\x1b[3J") // as in draw
	s.row, s.shown = 0, nil
}

// again clears the screen and returns the transcript in the screen's width, to be drawn once more.
func (s *screen) again() (above []line) {
	shown := s.shown
	s.clear()
	for _, l := range shown {
		if p := l.of; p != nil {
			above = append(above, s.wrapped(p.style, p.first, p.rest, p.text)...)
		} else {
			above = append(above, line{style: l.style, text: s.clipped(l.text, 1)})
		}
	}
	return above
}

// title sets the terminal's title.
func (s *screen) title(text string) {
	fmt.Fprintf(s.w, "\x1b]0;%s\x07", strings.ReplaceAll(plain(text), "\n", " "))
}

// status reports what the agent is doing (OSC 7501).
func (s *screen) status(state, kind, message string) {
	r := "\x1b]7501;state=" + state + ":app=orchestrator-demo"
	if kind != "" {
		r += ":kind=" + kind
	}
	if message != "" {
		r += ":msg=" + base64.StdEncoding.EncodeToString([]byte(message))
	}
	fmt.Fprint(s.w, r+"\x07")
}
