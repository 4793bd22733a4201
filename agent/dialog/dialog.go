// Package dialog reads the questions that agents ask in dialogs on their screens: what is asked, about what, which
// answers are offered, and on which of them the keyboard is. It finds a dialog only where it is the last thing on the
// screen, so that text that an agent prints above its input is none.
package dialog

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
)

// Form is a kind of dialog of one agent.
type Form struct {
	Kind thread.QuestionKind
	// Asks matches the line that asks, which stands above the choices; a group in it is the question.
	Asks *regexp.Regexp
	// Shows matches a line that the dialog has besides, such as its title or its keys; nil if it needs none to be known.
	Shows *regexp.Regexp
	// About finds what the dialog is about in its lines above the choices, of which one asks; nil if nothing tells.
	About func(lines []string, asks int) string
	// Means tell what the choices do; the first that matches a choice's text decides.
	Means []Means
	// Ruled is set if a line across is the dialog's upper edge: without it, a part of the dialog is out of sight, and it can
	// only be answered where a person can scroll.
	Ruled bool
	// Next is set if the line that asks is the last one above the choices: no text of the model stands between them.
	Next bool
	// Titled is set if the line that asks is the dialog's first one, and nothing else shows where it begins: what is above
	// it is the conversation, which may go on meanwhile.
	Titled bool
	// Across matches choices that stand side by side on one line, each in a group; nil if they stand below each other.
	Across *regexp.Regexp
}

// Means describes what a choice does whose text matches.
type Means struct {
	Text *regexp.Regexp
	Does thread.Meaning
}

// Source is an agent whose dialogs can be read and answered. Optional for a thread.Agent.
type Source interface {
	// Dialogs returns the forms in order: the first one that a dialog has decides.
	Dialogs() []Form
}

// Dialog is a dialog that a screen shows.
type Dialog struct {
	// Question has no ID and no time yet.
	thread.Question
	// At is the choice on which the keyboard is; -1 if the screen does not show it.
	At int
	// Across is set if left and right go from one choice to the next, and not up and down.
	Across bool

	rows []string // all that it shows, but for its foot and where the keyboard is
}

// Sum is a sum of all that the dialog shows down to its last choice, such as the lines of a diff, wherever the keyboard
// is.
func (d Dialog) Sum() string {
	h := sha256.New()
	for _, s := range append([]string{string(d.Kind), d.Text, d.About}, d.rows...) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

const (
	// deepest is how many rows a dialog may have that are read, from the bottom of the screen.
	deepest = 40
	// foot is how many lines may stand below the last choice: its description, the keys.
	foot = 6
	// apart is how many lines may stand between two choices: descriptions.
	apart = 5
	// Longest is the length in bytes at which a text of a question is cut: more than any screen shows of a command.
	Longest = 8 << 10
)

// Read finds the dialog at the end of a screen. It is called with the terminal locked.
func Read(t *vterm.Terminal, forms []Form) (Dialog, bool) {
	if len(forms) == 0 {
		return Dialog{}, false
	}
	s := screenOf(t)
	for _, form := range forms {
		if d, ok := s.read(form); ok {
			return d, true
		}
	}
	return Dialog{}, false
}

// line is a row of the screen that is not empty.
type line struct {
	row  int
	text string // without frames at its ends
	rule bool   // it separates: a frame's upper or lower edge, a line across
	thin bool   // it separates parts of a dialog: it is dotted, inside a frame, or as text of the model may look
}

type screen struct {
	term  *vterm.Terminal
	lines []line
}

func screenOf(t *vterm.Terminal) screen {
	cols, rows := t.Size()
	s := screen{term: t}
	for y := max(0, rows-deepest); y < rows; y++ {
		text := strings.TrimRight(t.RowText(y), " ")
		if strings.Trim(text, " ") == "" {
			continue
		}
		l := line{row: y, text: unframed(text)}
		l.rule = strings.Trim(l.text, " ─━╌╭╮╰╯┌┐└┘▔▁▄▀═") == ""
		// An edge begins in the first column and goes across the screen. What a model wrote is indented.
		l.thin = l.rule && (text != l.text || strings.HasPrefix(text, " ") || strings.Contains(text, "╌") ||
			utf8.RuneCountInString(text) < cols-2)
		if !l.rule || strings.Trim(text, " │┃|") != "" {
			s.lines = append(s.lines, l)
		}
	}
	return s
}

// unframed removes the sides of frames around a line.
func unframed(text string) string {
	for range 2 {
		cut := strings.TrimRight(text, " ")
		for _, side := range []string{"│", "┃", "|"} {
			lead := strings.TrimLeft(cut, " ")
			if rest, framed := strings.CutPrefix(lead, side); framed {
				cut = strings.TrimRight(strings.TrimSuffix(rest, side), " ")
			}
		}
		text = cut
	}
	return text
}

// choices are what a dialog offers.
type choices struct {
	first int // index of the first one's line
	last  int // of the last one's
	texts []string
	rests []string // the rows below each one that belong to it
	at    int
}

func (s screen) read(form Form) (Dialog, bool) {
	var c choices
	var ok bool
	if form.Across != nil {
		c, ok = s.across(form.Across)
	} else if c, ok = s.numbered(form.Kind == thread.QuestionPermission); !ok {
		c, ok = s.marked()
	}
	if !ok {
		return Dialog{}, false
	}
	begin := c.first
	for begin > 0 && (!s.lines[begin-1].rule || s.lines[begin-1].thin) {
		begin--
	}
	for _, l := range s.lines[c.last+1:] {
		if l.rule && !strings.ContainsAny(l.text, "╰└┘╯") {
			return Dialog{}, false // what is below a line across is no foot: the agent's input, for one
		}
	}
	var above []string
	for _, l := range s.lines[begin:c.first] {
		above = append(above, strings.TrimSpace(l.text))
	}
	asks, times := -1, 0
	for i, text := range slices.Backward(above) {
		if s.lines[begin+i].rule {
			continue
		}
		if form.Next && asks < 0 && !form.Asks.MatchString(text) {
			return Dialog{}, false
		}
		if form.Asks.MatchString(text) {
			asks, times = max(asks, i), times+1
		}
	}
	if asks < 0 || form.Shows != nil && !slices.ContainsFunc(s.lines[begin:], func(l line) bool {
		return form.Shows.MatchString(strings.TrimSpace(l.text))
	}) {
		return Dialog{}, false
	}
	if form.Titled && times == 1 { // one that is there twice is not answered, see below
		begin, above, asks = begin+asks, above[asks:], 0
	}
	d := Dialog{At: c.at, Across: form.Across != nil}
	d.Kind, d.Text = form.Kind, clean(above[asks])
	if m := form.Asks.FindStringSubmatch(above[asks]); len(m) > 1 {
		d.Text = clean(m[1])
	}
	if form.Ruled && begin > 0 && asks > 0 {
		d.Title = clean(above[0])
	}
	if form.About != nil {
		d.About = clean(form.About(above, asks))
	}
	for i, text := range c.texts {
		choice := thread.Choice{Text: clean(text)}
		for _, m := range form.Means {
			if m.Text.MatchString(choice.Text) {
				choice.Means = m.Does
				break
			}
		}
		if len(c.rests) > 0 {
			choice.Text = clean(text + c.rests[i])
		}
		d.Choices = append(d.Choices, choice)
	}
	for i, l := range s.lines[begin : c.last+1] {
		d.rows = append(d.rows, strings.TrimLeft(l.text, " ❯›●▶>"))
		if i < len(above) && hides().MatchString(l.text) {
			d.Choices = nil
		}
	}
	if form.Ruled && begin == 0 || !form.Next && form.Shows == nil && times > 1 {
		d.Choices = nil // a part is out of sight, or text of the model reads as the dialog does
	}
	if d.Choices == nil {
		d.At = -1
	}
	return d, true
}

// hides matches what says that a part of the dialog is not shown.
var hides = pattern.Lazy(`(?i)\[?(…|\.\.\.) ?\+?\d+ (more )?lines?\b|\blines? hidden\b|\bview all\b|\(ctrl ?\+ ?o to `)

var numbered = pattern.Lazy(`^\s*([❯›●▶>]?)\s*(\d{1,2})\.\s+(\S.*)$`)

// numbered finds choices with numbers from 1 on, below each other. Where they are long, the rows below belong to them.
func (s screen) numbered(long bool) (choices, bool) {
	c := choices{first: len(s.lines), at: -1}
	var rest string
	want, below := 0, 0
	for i, l := range slices.Backward(s.lines) {
		m := numbered().FindStringSubmatch(l.text)
		n := 0
		if m != nil {
			n = number(m[2])
		}
		switch {
		case m != nil && (want == 0 || n == want):
			if want == 0 {
				c.last = i
			}
			if !long || len(c.texts) == 0 {
				rest = ""
			}
			c.texts, c.rests = append(c.texts, m[3]), append(c.rests, rest)
			c.first, below, want, rest = i, 0, n-1, ""
			if m[1] != "" {
				if c.at >= 0 {
					return choices{}, false // two marks: this is no list
				}
				c.at = len(c.texts) - 1
			}
			if want == 0 {
				return s.turned(c)
			}
		case want == 0 && below >= foot, want > 0 && below >= apart:
			return choices{}, false
		default:
			below++
			if !l.rule {
				rest = " " + strings.TrimSpace(l.text) + rest
			}
		}
	}
	return choices{}, false
}

// turned puts choices that were read from the bottom into their order, and looks for the keyboard by its colours where
// no mark shows it.
func (s screen) turned(c choices) (choices, bool) {
	slices.Reverse(c.texts)
	slices.Reverse(c.rests)
	if c.at >= 0 {
		c.at = len(c.texts) - 1 - c.at
	}
	if len(c.texts) < 2 {
		return choices{}, false
	}
	if c.at < 0 {
		var rows []spot
		for i := c.first; i <= c.last; i++ {
			if numbered().MatchString(s.lines[i].text) {
				rows = append(rows, s.spot(s.lines[i].row, ""))
			}
		}
		c.at = odd(rows)
	}
	return c, true
}

func number(s string) int {
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}

var marked = pattern.Lazy(`^(\s*)[❯›●▶]\s+(\S.*)$`)

// marked finds choices without numbers, of which one has a mark and the others begin in the column of its text.
func (s screen) marked() (choices, bool) {
	at := -1
	for i := len(s.lines) - 1; i >= 0 && i >= len(s.lines)-foot-apart; i-- {
		if marked().MatchString(s.lines[i].text) {
			at = i
			break
		}
	}
	if at < 0 {
		return choices{}, false
	}
	column := func(i int) int {
		text := s.lines[i].text
		return len([]rune(text)) - len([]rune(strings.TrimLeft(text, " ❯›●▶")))
	}
	same := func(i int) bool {
		return i >= 0 && i < len(s.lines) && !s.lines[i].rule && column(i) == column(at) && s.lines[i].row-s.lines[at].row == i-at
	}
	c := choices{first: at, last: at}
	for same(c.first - 1) {
		c.first--
	}
	for same(c.last + 1) {
		c.last++
	}
	for i := c.first; i <= c.last; i++ {
		if numbered().MatchString(s.lines[i].text) {
			return choices{}, false // a list that is half drawn
		}
		c.texts = append(c.texts, strings.TrimLeft(s.lines[i].text, " ❯›●▶"))
	}
	c.at = at - c.first
	return c, len(c.texts) > 1 && len(s.lines)-1-c.last <= foot
}

// across finds choices that stand side by side.
func (s screen) across(pattern *regexp.Regexp) (choices, bool) {
	for i := len(s.lines) - 1; i >= 0 && i >= len(s.lines)-foot; i-- {
		m := pattern.FindStringSubmatch(s.lines[i].text)
		if m == nil {
			continue
		}
		c := choices{first: i, last: i, texts: m[1:]}
		var spots []spot
		for _, text := range c.texts {
			spots = append(spots, s.spot(s.lines[i].row, text))
		}
		c.at = odd(spots)
		return c, true
	}
	return choices{}, false
}

// spot is how a place on the screen is coloured.
type spot struct {
	bg  vterm.Color
	rev bool
}

// spot returns how a text in a row is coloured, or the row's last number.
func (s screen) spot(row int, text string) spot {
	cells := s.term.Row(nil, row)
	var b strings.Builder
	var at []int // the cell of each byte
	for x, c := range cells {
		if c.Width == 0 {
			continue
		}
		n := b.Len()
		b.Write(c.AppendText(nil))
		for range b.Len() - n {
			at = append(at, x)
		}
	}
	i := strings.Index(b.String(), text)
	if text == "" {
		i = strings.IndexAny(b.String(), "0123456789")
	}
	if i < 0 {
		return spot{}
	}
	style := cells[at[i]].Style
	return spot{bg: style.Bg, rev: style.Attr&vterm.Reverse != 0}
}

// odd returns the only one of several that differs from the others; -1 if there is none.
func odd(spots []spot) int {
	at := -1
	for i, s := range spots {
		others := 0
		for _, o := range spots {
			if o == s {
				others++
			}
		}
		if others == 1 {
			if at >= 0 && len(spots) > 2 {
				return -1
			}
			at = i
		}
	}
	if len(spots) == 2 {
		return -1 // two that differ do not tell which is meant
	}
	return at
}

// clean makes a text from a screen one line to show. What hides, turns or joins letters is shown as what it is.
func clean(s string) string { return plaintext.OneLine(plaintext.Line(s), Longest) }
