// Package theme names every colour and attribute of the interface by its meaning.
//
// A Theme is made for a terminal: for its number of colours, and for a dark or light background. Panels use tokens and
// never name colours. Without colours, important distinctions are still visible through attributes, and through the
// glyphs and words that panels draw.
package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"orchestrator/ui/theme/nodetect"
)

func init() { nodetect.Restore() } // Lip Gloss is initialised: restore the environment

// Token is a meaning that has a style.
type Token int

// The tokens.
const (
	Text Token = iota
	Muted
	Strong
	Border
	BorderFocus
	Title
	Accent
	Key
	Selected
	SelectedFocus
	Match
	Good
	Warn
	Bad
	Working
	Waiting
	BandNormal
	BandMasking
	BandSummarising
	BandEmergency
	Track
	FillSystem // what fills a context
	FillTools
	FillMessages
	FillInputs
	FillFirst // the results of the tools with the most of it
	FillSecond
	FillThird
	FillFourth
	FillOther
	DiffAdd
	DiffDel
	DiffAddWord
	DiffDelWord
	DiffHunk
	Code
	Heading
	Link
	Quote
	tokens
)

// look is the style of a token in each kind of terminal. A colour of 0 is the terminal's default.
type look struct {
	dark, light         uint32 // foreground, 0xRRGGBB
	ansi, ansiLight     int    // foreground of 16, -1 for the terminal's default
	darkBG, lightBG     uint32
	ansiBG, ansiLightBG int
	attr                Attr // always
	mono                Attr // additional, without colours
}

func fg(dark, light uint32, ansi, ansiLight int, attr Attr) look {
	return look{dark: dark, light: light, ansi: ansi, ansiLight: ansiLight, ansiBG: -1, ansiLightBG: -1, attr: attr}
}

func (l look) on(dark, light uint32, ansi, ansiLight int) look {
	l.darkBG, l.lightBG, l.ansiBG, l.ansiLightBG = dark, light, ansi, ansiLight
	return l
}

func (l look) without(mono Attr) look { l.mono = mono; return l }

// looks returns the table of all tokens. Colours have a contrast of at least 4.5 on both backgrounds.
func looks() [tokens]look {
	return [tokens]look{
		Text:            fg(0, 0, -1, -1, 0),
		Muted:           fg(0x8b93a1, 0x5f6672, 8, 8, 0),
		Strong:          fg(0, 0, -1, -1, Bold),
		Border:          fg(0x4a5160, 0xb3b9c4, 8, 7, 0),
		BorderFocus:     fg(0x5fafff, 0x0060c0, 12, 4, 0).without(Bold),
		Title:           fg(0xaab2c0, 0x4b5260, 7, 8, 0),
		Accent:          fg(0x5fafff, 0x0060c0, 12, 4, Bold),
		Key:             fg(0x87d7ff, 0x005f9f, 14, 6, 0).without(Bold),
		Selected:        fg(0, 0, -1, -1, 0).on(0x2b313c, 0xe4e8ee, 0, 7).without(Underline),
		SelectedFocus:   fg(0xffffff, 0x000000, 15, 15, 0).on(0x1f4d7a, 0xbcd9f7, 4, 4).without(Reverse),
		Match:           fg(0x1c1c1c, 0x1c1c1c, 0, 0, 0).on(0xffd75f, 0xffdf6f, 3, 3).without(Reverse),
		Good:            fg(0x87d787, 0x1a7f37, 10, 2, 0),
		Warn:            fg(0xffd75f, 0x8a6100, 11, 3, 0).without(Bold),
		Bad:             fg(0xff8787, 0xc01c28, 9, 1, 0).without(Bold),
		Working:         fg(0x5fd7d7, 0x006f7f, 14, 6, 0),
		Waiting:         fg(0xffaf5f, 0xa04a00, 11, 5, Bold),
		BandNormal:      fg(0x87d787, 0x1a7f37, 10, 2, 0),
		BandMasking:     fg(0x5fd7d7, 0x006f7f, 14, 6, 0),
		BandSummarising: fg(0xffd75f, 0x8a6100, 11, 3, 0),
		BandEmergency:   fg(0xff8787, 0xc01c28, 9, 1, Bold),
		Track:           fg(0x4a5160, 0xb3b9c4, 8, 7, 0),
		FillSystem:      fg(0x7aa2f7, 0x2f4fb0, 12, 4, 0),
		FillTools:       fg(0xb79cf0, 0x6f3fa8, 13, 5, 0),
		FillMessages:    fg(0xc8ced8, 0x4b5260, 15, 0, 0),
		FillInputs:      fg(0xd99a6c, 0xb0480f, 3, 1, 0),
		FillFirst:       fg(0x73c991, 0x1a7f37, 10, 2, 0),
		FillSecond:      fg(0x56c2c9, 0x006f7f, 14, 6, 0),
		FillThird:       fg(0xd9c36a, 0x856200, 11, 3, 0),
		FillFourth:      fg(0xe090b4, 0xa3306f, 5, 13, 0),
		FillOther:       fg(0x8b93a1, 0x6b7280, 8, 8, 0),
		DiffAdd:         fg(0x9fe09f, 0x14602b, 10, 2, 0),
		DiffDel:         fg(0xff9f9f, 0xa3121d, 9, 1, 0),
		DiffAddWord:     fg(0xd7ffd7, 0x0b3d1a, 0, 0, 0).on(0x1f5f33, 0xabe5b9, 2, 2).without(Underline | Bold),
		DiffDelWord:     fg(0xffe0e0, 0x5c0a11, 0, 0, 0).on(0x7a2530, 0xffc4c8, 1, 1).without(Underline | Bold),
		DiffHunk:        fg(0x87afff, 0x3a55b4, 12, 4, 0),
		Code:            fg(0xd7afff, 0x6f3fa8, 13, 5, 0),
		Heading:         fg(0x5fafff, 0x0060c0, 12, 4, Bold),
		Link:            fg(0x87d7ff, 0x005f9f, 14, 6, Underline),
		Quote:           fg(0x8b93a1, 0x5f6672, 8, 8, Italic),
	}
}

// Theme has the styles for a terminal.
type Theme struct {
	profile colorprofile.Profile
	dark    bool
	styles  [tokens]lipgloss.Style
}

// New returns the theme for a terminal.
func New(p colorprofile.Profile, dark bool) *Theme {
	t := &Theme{profile: p, dark: dark}
	for i, l := range looks() {
		t.styles[i] = l.style(p, dark)
	}
	return t
}

// Profile returns the colour profile that it was made for.
func (t *Theme) Profile() colorprofile.Profile { return t.profile }

// Dark reports whether it was made for a dark background.
func (t *Theme) Dark() bool { return t.dark }

// Style returns a token's style.
func (t *Theme) Style(tok Token) lipgloss.Style { return t.styles[tok] }

func (l look) style(p colorprofile.Profile, dark bool) lipgloss.Style {
	s := l.attr.To(lipgloss.NewStyle())
	if p <= colorprofile.ASCII {
		return l.mono.To(s)
	}
	front, ground, basic, basicGround := l.dark, l.darkBG, l.ansi, l.ansiBG
	if !dark {
		front, ground, basic, basicGround = l.light, l.lightBG, l.ansiLight, l.ansiLightBG
	}
	// Black on a light background is a colour; otherwise 0 is the terminal's default.
	hasFront := front != 0 || (ground != 0 && l.dark != 0)
	if c := shade(p, front, hasFront, basic); c != nil {
		s = s.Foreground(c)
	}
	if c := shade(p, ground, ground != 0, basicGround); c != nil {
		s = s.Background(c)
	}
	return s
}

// shade returns a colour as a terminal can show it, or nil for the terminal's default.
func shade(p colorprofile.Profile, hex uint32, has bool, basic int) color.Color {
	switch c := rgb(hex); {
	case p == colorprofile.ANSI && basic >= 0:
		return ansi.BasicColor(basic) //nolint:gosec // one of 16
	case p == colorprofile.ANSI || !has:
		return nil
	default:
		return lipgloss.Complete(p)(nil, ansi.IndexedColor(Nearest256(c.R, c.G, c.B)), c)
	}
}
