package paint

import (
	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"

	"github.com/charmbracelet/colorprofile"
)

// look has what affects every row of the pane.
type look struct {
	term       *vterm.Terminal
	reverse    bool
	fg, bg     vterm.Color
	cols, rows int
}

// rowPainter writes rows of one frame.
type rowPainter struct {
	out     []byte
	cells   []vterm.Cell
	term    *vterm.Terminal
	profile colorprofile.Profile
	glyphs  glyph.Set
	look    look
	link    openLink
	style   vterm.Style // currently set on the terminal
	styled  bool        // style is known
}

// openLink is the link that the cells being written belong to.
type openLink struct {
	from uint16 // the program's, 0 for none
	open bool   // it is a link on the person's terminal too
}
