// Package theme names every colour and attribute of the interface by its meaning.
//
// A Theme is made for a terminal: for its number of colours, and for a dark or light background. Panels use tokens and
// never name colours. On its background, and on that of a selected row, text has a contrast of at least 4.5, what is
// muted, rules and tracks one of at least 3; in the scheme Contrast all of them one of at least 7. Without colours,
// important distinctions are still visible through attributes, and through the glyphs and words that panels draw.
package theme

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

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
	News // what is to be read, or is done
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

// look is the style of a token in each kind of terminal.
type look struct {
	front, ground hue
	attr          Attr // always
	mono          Attr // additional, without colours
}

func fg(h hue, attr Attr) look { return look{front: h, attr: attr} }

func (l look) on(h hue) look { l.ground = h; return l }

func (l look) without(mono Attr) look { l.mono = mono; return l }

// looks returns the table of all tokens in a palette. Four colours mean something: amber is for you, teal moves, blue is
// to be read or has the focus, red is trouble. Green is for the gauge and for diffs alone.
func looks(p *palette) [tokens]look {
	return [tokens]look{
		Text:            fg(p.text, 0),
		Muted:           fg(p.muted, 0),
		Strong:          fg(p.text, Bold),
		Border:          fg(p.rule, 0),
		BorderFocus:     fg(p.blue, 0).without(Bold),
		Title:           fg(p.title, 0),
		Accent:          fg(p.blue, Bold),
		Key:             fg(p.pale, 0).without(Bold),
		Selected:        fg(p.onTint, 0).on(p.tint).without(Underline),
		SelectedFocus:   fg(p.onFocus, 0).on(p.focus).without(Reverse),
		Match:           fg(p.onMatch, 0).on(p.match).without(Reverse),
		News:            fg(p.blue, 0),
		Good:            fg(p.green, 0),
		Warn:            fg(p.amber, 0).without(Bold),
		Bad:             fg(p.red, 0).without(Bold),
		Working:         fg(p.teal, 0),
		Waiting:         fg(p.amber, Bold),
		BandNormal:      fg(p.green, 0),
		BandMasking:     fg(p.teal, 0),
		BandSummarising: fg(p.yellow, 0),
		BandEmergency:   fg(p.red, Bold),
		Track:           fg(p.rule, 0),
		FillSystem:      fg(p.fills[0], 0),
		FillTools:       fg(p.fills[1], 0),
		FillMessages:    fg(p.fills[2], 0),
		FillInputs:      fg(p.fills[3], 0),
		FillFirst:       fg(p.fills[4], 0),
		FillSecond:      fg(p.fills[5], 0),
		FillThird:       fg(p.fills[6], 0),
		FillFourth:      fg(p.fills[7], 0),
		FillOther:       fg(p.fills[8], 0),
		DiffAdd:         fg(p.add, 0),
		DiffDel:         fg(p.del, 0),
		DiffAddWord:     fg(p.onAdd, 0).on(p.addGround).without(Underline | Bold),
		DiffDelWord:     fg(p.onDel, 0).on(p.delGround).without(Underline | Bold),
		DiffHunk:        fg(p.hunk, 0),
		Code:            fg(p.violet, 0),
		Heading:         fg(p.blue, Bold),
		Link:            fg(p.pale, Underline),
		Quote:           fg(p.muted, Italic),
	}
}

// Scheme is a choice of colours.
type Scheme uint8

// The schemes.
const (
	Calm     Scheme = iota // ours
	Contrast               // all text with a contrast of at least 7
	Own                    // the terminal's own 16 colours
)

// SchemeOf returns the scheme that a setting names.
func SchemeOf(setting string) Scheme {
	switch setting {
	case "contrast":
		return Contrast
	case "terminal":
		return Own
	default:
		return Calm
	}
}

// Theme has the styles for a terminal.
type Theme struct {
	scheme  Scheme
	profile colorprofile.Profile // of the terminal
	dark    bool
	styles  [tokens]lipgloss.Style
}

// New returns the theme for a terminal.
func New(p colorprofile.Profile, dark bool) *Theme { return NewIn(Calm, p, dark) }

// NewIn returns the theme for a terminal in a scheme.
func NewIn(s Scheme, p colorprofile.Profile, dark bool) *Theme {
	t := &Theme{scheme: s, profile: p, dark: dark}
	pal := calm()
	switch s {
	case Contrast:
		pal = contrasting()
	case Own:
		p = min(p, colorprofile.ANSI)
	case Calm:
	}
	for i, l := range looks(&pal) {
		t.styles[i] = l.style(p, dark)
	}
	return t
}

// On returns the theme in the same scheme for another terminal.
func (t *Theme) On(p colorprofile.Profile, dark bool) *Theme { return NewIn(t.scheme, p, dark) }

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
	if c := l.front.on(p, dark, dark); c != nil {
		s = s.Foreground(c)
	}
	if c := l.ground.on(p, dark, !dark); c != nil {
		s = s.Background(c)
	}
	return s
}
