package vterm

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A snapshot is written in ordinary control sequences as far as they go. What they cannot say is said in
// CSI = 7501 ; op ; … w, which other terminals ignore.
const (
	restoreMark    = 7501
	restoreWrapped = 1 // the cursor's line continues in the next one
	restorePending = 2 // a wrap is pending
	restoreJoin    = 3 // the last character printed is at line, column
	restoreCursor  = 4 // the cursor is at line, column, whatever region and origin say
	restoreLast    = 5 // the last character printed: width, code points
	restoreCluster = 6 // print a character of several code points: width, code points
)

// restoreOp executes the sequences that only snapshots use. Sent by a program they can do it no more harm
// than any other wrong output of its own.
func (t *Terminal) restoreOp(p *params) {
	if p.raw(0) != restoreMark {
		return
	}
	y, x := clamp(p.raw(2), 0, t.rows-1), clamp(p.raw(3), 0, t.cols-1)
	switch p.raw(1) {
	case restoreWrapped:
		t.row(t.y).wrapped = true
	case restorePending:
		t.wrapPending = t.x == t.cols-1 && t.modes.AutoWrap
	case restoreCursor:
		t.moveTo(x, y)
	case restoreJoin:
		c := t.scr.rows[y].at(x)
		if x < t.scr.rows[y].used && c.width() > 0 {
			t.joinX, t.joinY, t.joinable = x, y, true
			t.lastCh, t.lastWidth = c.ch, c.width()
		}
	case restoreLast, restoreCluster:
		if ch, w, ok := t.restoredText(p); ok && p.raw(1) == restoreCluster {
			t.put(ch, w)
		} else if ok {
			t.lastCh, t.lastWidth = ch, w
		}
	}
}

// restoredText reads a character from parameters. It takes nothing that printing could not have made.
func (t *Terminal) restoredText(p *params) (ch uint32, width int, ok bool) {
	var text []rune
	for i := 3; i < p.n; i++ {
		r := rune(p.raw(i))
		if r < 0x20 || r >= 0x7f && r < 0xa0 || !utf8.ValidRune(r) || r >= 0xa0 && invisible(r) {
			return 0, 0, false
		}
		text = append(text, r)
	}
	s := []byte(string(text))
	if len(text) == 0 || len(s) > maxCluster {
		return 0, 0, false
	}
	width = clamp(p.raw(2), 1, 2)
	if len(text) == 1 {
		return uint32(text[0]), width, runeWidth(text[0]) == width
	}
	if !printable(text) {
		return 0, 0, false
	}
	return t.clusterID(s) | clusterBit, width, true
}

// printable reports whether a text fits into one cell: a grapheme, with marks put on it later.
func printable(text []rune) bool {
	for n := len(text); n > 0; n-- {
		if _, one := oneCluster([]byte(string(text[:n]))); one {
			return runeWidth(text[0]) > 0
		}
		if !mayExtend(text[n-1]) {
			return false
		}
	}
	return false
}

// writer collects the bytes of a snapshot.
type writer struct {
	t    *Terminal
	b    []byte
	pen  Style
	col  int
	prev rune // last code point printed, 0 when a new one cannot join it
}

func (w *writer) seq(format string, args ...any) {
	w.b = append(w.b, "\x1b"...)
	w.b = fmt.Appendf(w.b, format, args...)
}

// Snapshot returns bytes which, written to a fresh terminal of the same size, make it equal to this one: both
// screens, up to lines of history (all if negative), modes, cursor, colours, title, and a sequence or
// character of which only the beginning has come. Bytes that follow then do the same to both.
func (t *Terminal) Snapshot(lines int) []byte {
	w := &writer{t: t, b: make([]byte, 0, 4096)}
	w.seq("c")
	w.seq("[?7l")
	w.mainScreen(lines)
	if t.scr == &t.alt || !t.alt.unused() {
		w.altScreen()
	}
	w.settings()
	w.modes()
	w.cursor()
	w.unfinished()
	return w.b
}

func (s *screen) unused() bool {
	for _, r := range s.rows {
		if r.used > 0 {
			return false
		}
	}
	return !s.saved.set && len(s.kitty.flags) == 0
}

func (w *writer) mainScreen(lines int) {
	t := w.t
	n := t.history.count
	skip := 0
	if lines >= 0 && lines < n {
		skip = n - lines
	}
	i := 0
	t.history.each(func(line []byte) {
		if i++; i > skip {
			w.packed(line)
			w.b = append(w.b, "\r\n"...)
		}
	})
	for y, r := range t.main.rows {
		if y > 0 {
			w.b = append(w.b, "\r\n"...)
		}
		w.row(r)
	}
	w.screenState(&t.main)
}

func (w *writer) altScreen() {
	w.seq("[?47h")
	for y, r := range w.t.alt.rows {
		if r.used > 0 || r.wrapped {
			w.seq("[%dH", y+1)
			w.row(r)
		}
	}
	w.screenState(&w.t.alt)
	if w.t.scr != &w.t.alt {
		w.seq("[?47l")
	}
}

// screenState writes the saved cursor and the keyboard flags of a screen.
func (w *writer) screenState(s *screen) {
	if s.saved.set {
		if s.saved.origin {
			w.seq("[?6h")
		}
		w.seq("[=%d;%d;%d;%dw", restoreMark, restoreCursor, s.saved.y, s.saved.x)
		w.setPen(s.saved.pen)
		w.charsets(&s.saved.charsets)
		if s.saved.wrapPending {
			w.seq("[?7h")
			w.seq("[=%d;%dw", restoreMark, restorePending)
		}
		w.seq("7")
		w.seq("[?7l")
		w.seq("[?6l")
		w.setPen(Style{})
		w.seq("(B\x1b)B\x1b*B\x1b+B\x0f")
	}
	for i, f := range s.kitty.flags {
		if i == 0 {
			w.seq("[=%du", f)
		} else {
			w.seq("[>%du", f)
		}
	}
}

func (w *writer) charsets(c *charsets) {
	for i, set := range c.g {
		if set != 0 {
			w.b = append(w.b, 0x1b, "()*+"[i], set)
		}
	}
	w.b = append(w.b, [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[c.gl&3]...)
	switch c.single {
	case 2:
		w.seq("N")
	case 3:
		w.seq("O")
	}
}

func (w *writer) setPen(s Style) {
	if s == w.pen {
		return
	}
	if s.Link != w.pen.Link {
		l := w.t.links.vals[s.Link]
		w.b = append(w.b, "\x1b]8;"...)
		if l.id != "" {
			w.b = append(append(w.b, "id="...), l.id...)
		}
		w.b = append(append(append(w.b, ';'), l.uri...), "\x1b\\"...)
	}
	if (s.Attr^w.pen.Attr)&Protected != 0 {
		w.seq("[%d\"q", s.Attr&Protected/Protected)
	}
	w.b = s.AppendSGR(w.b)
	w.pen = s
}

// glyph writes one character. A jump to its own column keeps it apart from a neighbour it would join.
func (w *writer) glyph(text []byte, style Style, width int) {
	w.setPen(style)
	r, n := utf8.DecodeRune(text)
	switch {
	case n < len(text):
		w.character(restoreCluster, string(text), width)
		w.seq("[%dG", w.col+width+1)
		r = 0
	case w.prev != 0 && (mayExtend(r) || invites(w.prev)):
		w.seq("[%dG", w.col+1)
		fallthrough
	default:
		w.b = append(w.b, text...)
	}
	w.prev = r
	w.col += width
}

// character writes a restore sequence with a text.
func (w *writer) character(op int, text string, width int) {
	w.seq("[=%d;%d;%d", restoreMark, op, width)
	for _, r := range text {
		w.b = append(w.b, ';')
		w.b = strconv.AppendInt(w.b, int64(r), 10)
	}
	w.b = append(w.b, 'w')
}

func (w *writer) endRow(wrapped bool) {
	if wrapped {
		w.seq("[=%d;%dw", restoreMark, restoreWrapped)
	}
	w.setPen(Style{})
	w.prev, w.col = 0, 0
}

func (w *writer) row(r *row) {
	var buf [utf8.UTFMax]byte
	for _, c := range r.cells[:r.used] {
		if c.width() == 0 {
			continue
		}
		text := buf[:0]
		if c.ch&clusterBit != 0 {
			text = []byte(w.t.clusters.vals[c.ch&^clusterBit])
		} else {
			text = utf8.AppendRune(text, rune(c.ch))
		}
		w.glyph(text, w.t.styles.vals[c.style()], c.width())
	}
	w.endRow(r.wrapped)
}

func (w *writer) packed(line []byte) {
	u := newUnpacker(line)
	for u.next() {
		width := 1 + u.kind&1
		if u.kind >= runCluster {
			w.glyph(u.text, u.style, width)
			continue
		}
		for b := u.text; len(b) > 0; {
			_, n := utf8.DecodeRune(b)
			w.glyph(b[:n], u.style, width)
			b = b[n:]
		}
	}
	w.endRow(u.wrapped)
}

// settings writes what is neither screen nor mode: colours, titles, tab stops, region.
func (w *writer) settings() {
	t := w.t
	for n, c := range t.palette {
		r, g, b, _ := c.RGB()
		w.seq("]4;%d;%s\x1b\\", n, xcolor(r, g, b))
	}
	for i, c := range [3]Color{t.fg, t.bg, t.cur} {
		if r, g, b, ok := c.RGB(); ok {
			w.seq("]%d;%s\x1b\\", 10+i, xcolor(r, g, b))
		}
	}
	for _, s := range t.titleStack {
		w.seq("]2;%s\x1b\\", s)
		w.seq("[22t")
	}
	w.seq("]2;%s\x1b\\", t.title)
	w.seq("]1;%s\x1b\\", t.icon)
	w.tabs()
	if t.top != 0 || t.bottom != t.rows-1 {
		w.seq("[%d;%dr", t.top+1, t.bottom+1)
	}
	if t.modifyKeys != 0 {
		w.seq("[>4;%dm", t.modifyKeys)
	}
	if t.cursorStyle != CursorDefault {
		w.seq("[%d q", t.cursorStyle)
	}
}

func (w *writer) tabs() {
	same := true
	for i, on := range w.t.tabs {
		same = same && on == (i > 0 && i%8 == 0)
	}
	if same {
		return
	}
	w.seq("[3g")
	for i, on := range w.t.tabs {
		if on {
			w.seq("[%dG", i+1)
			w.seq("H")
		}
	}
}

func (w *writer) modes() {
	t := w.t
	for _, n := range switchModes {
		def := n == 7 || n == 25 || n == 2027
		on := *t.modeFlag(n)
		if on == def && n != 7 {
			continue
		}
		final := byte('l')
		if on {
			final = 'h'
		}
		w.b = append(w.b, "\x1b[?"...)
		w.b = strconv.AppendInt(w.b, int64(n), 10)
		w.b = append(w.b, final)
	}
	if t.modes.Insert {
		w.seq("[4h")
	}
	if t.modes.NewLine {
		w.seq("[20h")
	}
}

func (w *writer) cursor() {
	t := w.t
	w.seq("[=%d;%d;%d;%dw", restoreMark, restoreCursor, t.y, t.x)
	w.setPen(t.pen)
	w.charsets(&t.charsets)
	if t.wrapPending {
		w.seq("[=%d;%dw", restoreMark, restorePending)
	}
	if t.lastCh != 0 {
		w.character(restoreLast, t.text(t.lastCh), t.lastWidth)
	}
	if t.joinable && t.scr.rows[t.joinY].at(t.joinX).ch == t.lastCh {
		w.seq("[=%d;%d;%d;%dw", restoreMark, restoreJoin, t.joinY, t.joinX)
	}
}

// unfinished writes again what has come of a sequence or character that is not complete.
func (w *writer) unfinished() {
	p := &w.t.parser
	switch p.state {
	case stGround:
		w.b = append(w.b, p.u8[:p.u8n]...)
	case stEsc:
		w.seq("%s", p.seq)
	case stCSI:
		w.seq("[%s", p.seq)
		if p.over {
			w.b = append(w.b, '0')
		}
	case stOSC:
		w.seq("]%s", p.payload())
	case stDCSHead:
		w.seq("P%s", p.seq)
	case stDCS:
		if p.over {
			w.seq("Px")
			return
		}
		w.seq("P%s%s", p.seq, p.str)
	case stIgnore:
		w.seq("^")
	}
}
