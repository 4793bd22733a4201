package vterm

import (
	"time"
	"unicode/utf8"
)

// The sizes a terminal can have. They are beyond what can be read on any screen, and small enough that one that
// is told to be as large as numbers go costs tens of megabytes, not all there are.
const (
	MaxCols = 1000
	MaxRows = 400
)

// Bound returns the size that a terminal gets that is asked to have the one given. It is the one place where sizes
// are bounded, whoever asks for them: the person's terminal, a client, a stored request.
func Bound(cols, rows int) (int, int) { return clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows) }

// DefaultScrollback is how many lines of history a terminal keeps unless told otherwise.
const DefaultScrollback = 10000

// Options configure a terminal. The zero value can be used.
type Options struct {
	// Scrollback is the number of history lines; 0 means DefaultScrollback, less means none.
	Scrollback int
	// ScrollbackBytes caps the memory of the history; 0 means 16 MB.
	ScrollbackBytes int
	// Reply receives answers to the program's queries, at most about a hundred a second. It is called
	// inside Write and must not block; nil drops them.
	Reply func([]byte)
	// Event receives what the program reports or asks for. It is called inside Write; nil drops them.
	Event func(Event)
	// Foreground and Background are what colour queries answer; zero means light grey on black.
	Foreground, Background Color
	// Version is what XTVERSION answers after the name.
	Version string
	// Now is the clock of the reply limit; nil means time.Now.
	Now func() time.Time
}

type styleSlot struct {
	style Style
	id    uint32
}

// Terminal is the state of one emulated terminal. It is not safe for concurrent use.
//
// It has as many methods as there are things that control sequences do: each of them is a few lines that change this
// one state, and a type between would cost every printed byte an indirection.
type Terminal struct {
	opts       Options
	cols, rows int
	main, alt  screen
	scr        *screen // main or alt
	history    history
	scrolled   uint64 // lines that ever entered the history

	x, y        int
	wrapPending bool
	top, bottom int // scrolling region, both inclusive
	tabs        []bool
	charsets    charsets
	modes       Modes
	flags       modeFlags
	savedModes  map[int]bool

	pen        Style
	penID      uint32 // id of pen, if penOK
	blankID    uint32 // style of erased cells, if penOK
	penOK      bool
	styles     table[Style]
	styleCache [128]styleSlot
	keepStyles bool // sweeping is off while rows exist that no screen holds
	clusters   table[string]
	links      table[link]
	// linkSweepAt is the value of scrolled before which a full link table is not swept again.
	linkSweepAt uint64

	// The character printed last: where it is while a following code point can still join it,
	// and what REP repeats.
	joinX, joinY int
	joinable     bool
	joinBuf      [maxCluster + utf8.UTFMax]byte // scratch, to save an allocation a code point
	lastCh       uint32
	lastWidth    int

	gen    uint64
	shifts uint64
	moving []*row // scratch of scrolling
	rowSeq uint32

	palette     map[uint8]Color // entries the program changed
	fg, bg, cur Color           // colours the program set by OSC 10, 11, 12
	title, icon string
	titleStack  []string
	modifyKeys  uint8
	cursorStyle CursorStyle

	parser parser
	limit  replyLimit
}

// New returns a terminal of the given size, clamped to what is possible.
func New(cols, rows int, opts Options) *Terminal {
	if opts.Scrollback == 0 {
		opts.Scrollback = DefaultScrollback
	}
	if opts.ScrollbackBytes == 0 {
		opts.ScrollbackBytes = 16 << 20
	}
	if opts.Foreground.IsDefault() {
		opts.Foreground = RGBColor(0xd0, 0xd0, 0xd0)
	}
	if opts.Background.IsDefault() {
		opts.Background = RGBColor(0, 0, 0)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	t := &Terminal{
		opts:   opts,
		styles: newTable[Style](), clusters: newTable[string](), links: newTable[link](),
		limit: replyLimit{tokens: replyBurst},
	}
	t.cols, t.rows = Bound(cols, rows)
	t.history.maxLines = max(0, opts.Scrollback)
	t.history.maxBytes = opts.ScrollbackBytes
	t.reset()
	return t
}

func clamp(v, lo, hi int) int { return min(max(v, lo), hi) }

// reset is RIS: everything but size, options and generation.
func (t *Terminal) reset() {
	t.history.clear()
	t.main = screen{rows: t.freshRows(t.main.rows)}
	t.alt = screen{rows: t.freshRows(t.alt.rows)}
	t.scr = &t.main
	t.x, t.y, t.wrapPending = 0, 0, false
	t.top, t.bottom = 0, t.rows-1
	t.resetTabs()
	t.charsets = charsets{}
	t.modes = Modes{AutoWrap: true, CursorVisible: true, Graphemes: true}
	t.flags = modeFlags{}
	t.savedModes = nil
	t.pen, t.penOK, t.penID, t.blankID = Style{}, false, 0, 0
	t.joinable, t.lastCh, t.lastWidth = false, 0, 0
	t.palette, t.fg, t.bg, t.cur = nil, 0, 0, 0
	t.titleStack = nil
	t.modifyKeys = 0
	t.cursorStyle = CursorDefault
	t.touchAll()
}

func (t *Terminal) newRow() *row {
	t.rowSeq++
	return &row{id: t.rowSeq, gen: t.gen}
}

// freshRows empties the rows of a screen, or makes them.
func (t *Terminal) freshRows(rows []*row) []*row {
	for _, r := range rows {
		t.clearRow(r, 0)
	}
	for len(rows) < t.rows {
		rows = append(rows, t.newRow())
	}
	return rows
}

// clearRow empties a row of the screen: blank is the style of its cells.
func (t *Terminal) clearRow(r *row, blank uint32) {
	r.used, r.wrapped, r.gen = 0, false, t.gen
	if blank != 0 {
		r.fill(0, t.cols, t.cols, blank)
	}
}

func (t *Terminal) resetTabs() {
	t.tabs = make([]bool, t.cols)
	for i := 8; i < t.cols; i += 8 {
		t.tabs[i] = true
	}
}

// row returns row y of the current screen and marks it changed.
func (t *Terminal) row(y int) *row {
	r := t.scr.rows[y]
	r.gen = t.gen
	return r
}

func (t *Terminal) touchAll() {
	for _, r := range t.scr.rows {
		r.gen = t.gen
	}
}

func (t *Terminal) setPen(s Style) {
	t.pen, t.penOK = s, false
}

// moveTo puts the cursor at a place on the screen and forgets a pending wrap.
func (t *Terminal) moveTo(x, y int) {
	t.x, t.y = clamp(x, 0, t.cols-1), clamp(y, 0, t.rows-1)
	t.wrapPending, t.joinable = false, false
}

// emit reports what the program reports or asks for.
func (t *Terminal) emit(e Event) {
	if t.opts.Event != nil {
		t.opts.Event(e)
	}
}

func (t *Terminal) setTitle(s string) {
	if s != t.title {
		t.title = s
		t.emit(TitleChanged{Title: s})
	}
}

// Size returns the size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Title returns the window title, without control characters.
func (t *Terminal) Title() string { return t.title }

// Generation grows with every Write and Resize. While it stays, nothing that can be seen has changed.
func (t *Terminal) Generation() uint64 { return t.gen }

// RowGeneration returns a number that differs whenever the content of line y of the screen may differ, also
// when another row has scrolled there.
func (t *Terminal) RowGeneration(y int) uint64 {
	if y < 0 || y >= t.rows {
		return 0
	}
	r := t.scr.rows[y]
	return uint64(r.id)<<40 ^ r.gen
}

// Shifts grows whenever what is on the screen is moved to another place: by scrolling, or by inserting
// and deleting lines or characters.
func (t *Terminal) Shifts() uint64 { return t.shifts }

// Cursor is where and how the cursor shows.
type Cursor struct {
	X, Y    int
	Visible bool
	Style   CursorStyle
}

// Cursor returns the cursor. X is the last column also while a wrap is pending.
func (t *Terminal) Cursor() Cursor {
	return Cursor{X: t.x, Y: t.y, Visible: t.modes.CursorVisible, Style: t.cursorStyle}
}

// CursorStyle is the shape of the cursor, numbered as DECSCUSR numbers it.
type CursorStyle uint8

// The shapes.
const (
	CursorDefault CursorStyle = iota
	CursorBlinkingBlock
	CursorSteadyBlock
	CursorBlinkingUnderline
	CursorSteadyUnderline
	CursorBlinkingBar
	CursorSteadyBar
)
