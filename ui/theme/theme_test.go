package theme

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestStyles(t *testing.T) {
	for _, c := range []struct {
		profile colorprofile.Profile
		tok     Token
		want    string
	}{
		{colorprofile.ASCII, Text, "x"},
		{colorprofile.ASCII, Link, "\x1b[4;4mx\x1b[m"},
		{colorprofile.ASCII, DiffAddWord, "\x1b[1;4;4mx\x1b[m"},
		{colorprofile.NoTTY, Match, "\x1b[7mx\x1b[m"},
		{colorprofile.ANSI, Selected, "\x1b[97;100mx\x1b[m"},
		{colorprofile.ANSI, Working, "\x1b[96mx\x1b[m"},
		{colorprofile.ANSI256, Muted, "\x1b[38;5;247mx\x1b[m"},
		{colorprofile.TrueColor, Waiting, "\x1b[1;38;2;255;175;95mx\x1b[m"},
	} {
		if got := New(c.profile, true).Style(c.tok).Render("x"); got != c.want {
			t.Errorf("%s, token %d: %q, want %q", c.profile, c.tok, got, c.want)
		}
	}
}

func TestAttr(t *testing.T) {
	all := Bold | Italic | Strike | Underline | Reverse
	if got := all.To(lipgloss.NewStyle()).Render("x"); got != "\x1b[1;3;4;7;4;9mx\x1b[m" {
		t.Errorf("%q", got)
	}
}

// What must be told apart is told apart in every profile and on both grounds.
func TestDistinctions(t *testing.T) {
	pairs := [][2]Token{{Text, Selected}, {Selected, SelectedFocus}, {DiffAdd, DiffAddWord}, {Text, Match},
		{Border, BorderFocus}}
	for _, th := range all() {
		for _, q := range pairs {
			if th.Style(q[0]).Render("x") == th.Style(q[1]).Render("x") {
				t.Errorf("%s: tokens %d and %d look the same", named(th), q[0], q[1])
			}
		}
		for i := range tokens {
			s := th.Style(i)
			if none := (lipgloss.NoColor{}); th.Profile() <= colorprofile.ASCII &&
				(s.GetForeground() != none || s.GetBackground() != none) {
				t.Errorf("%s: token %d has a colour without colours", named(th), i)
			}
		}
	}
}

// all returns the themes of all terminals.
func all() (out []*Theme) {
	for _, s := range []Scheme{Calm, Contrast, Own} {
		for _, p := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.ANSI,
			colorprofile.ANSI256, colorprofile.TrueColor} {
			out = append(out, NewIn(s, p, true), NewIn(Calm, p, true).On(p, false), NewIn(s, p, false))
		}
	}
	return out
}

func named(th *Theme) string {
	return fmt.Sprintf("scheme %d, %s, dark=%v", th.scheme, th.profile, th.dark)
}

func TestSchemeOf(t *testing.T) {
	for setting, want := range map[string]Scheme{"auto": Calm, "dark": Calm, "light": Calm, "none": Calm, "contrast": Contrast, "terminal": Own} {
		if got := SchemeOf(setting); got != want {
			t.Errorf("%s: %d, want %d", setting, got, want)
		}
	}
}

// quiet are the tokens that are not read as text, or only by who looks for them.
var quiet = []Token{Muted, Quote, Border, Track, FillSystem, FillTools, FillMessages, FillInputs, FillFirst, FillSecond, FillThird,
	FillFourth, FillOther}

// Each token can be read on each background that terminals of its kind have, and on a selected row.
func TestReadable(t *testing.T) {
	grounds := map[bool][]color.Color{
		true: {rgb(0x000000), rgb(0x101216), rgb(0x1e1e1e)}, false: {rgb(0xffffff), rgb(0xfafafa), rgb(0xfdf6e3)},
	}
	for _, th := range all() {
		if th.profile < colorprofile.ANSI256 || th.scheme == Own {
			continue // what the colours look like is not ours to say
		}
		text, muted := 4.5, 3.0
		if th.scheme == Contrast {
			text, muted = 7, 7
		}
		rows := []color.Color{th.Style(Selected).GetBackground(), th.Style(SelectedFocus).GetBackground()}
		for i := range tokens {
			s, least := th.Style(i), text
			if slices.Contains(quiet, i) {
				least = muted
			}
			on := grounds[th.dark]
			if i != Border && i != Track && i != BorderFocus && i < FillSystem || i > FillOther { // no rules and pictures in rows
				on = append(slices.Clip(on), rows...)
			}
			if _, none := s.GetBackground().(lipgloss.NoColor); !none {
				on = []color.Color{s.GetBackground()}
			}
			front := s.GetForeground()
			if _, none := front.(lipgloss.NoColor); none {
				continue // the terminal's own, on its own
			}
			for _, g := range on {
				if got := contrast(front, g); got < least {
					t.Errorf("%s: token %d has a contrast of %.1f on %v, not %.1f", named(th), i, got, g, least)
				}
			}
		}
	}
}

// With 16 colours, nothing is in the colour of its background, and coloured backgrounds have a colour for text.
func TestSixteen(t *testing.T) {
	for _, th := range all() {
		if th.profile < colorprofile.ANSI || th.profile > colorprofile.ANSI && th.scheme != Own {
			continue
		}
		none := lipgloss.NoColor{}
		ground := []color.Color{ansi.BasicColor(0)}
		if !th.dark {
			ground = []color.Color{ansi.BasicColor(7), ansi.BasicColor(15)}
		}
		for i := range tokens {
			front, back := th.Style(i).GetForeground(), th.Style(i).GetBackground()
			if back == none && slices.Contains(ground, front) || back != none && (front == none || front == back) {
				t.Errorf("%s: token %d is %v on %v", named(th), i, front, back)
			}
			for _, c := range []color.Color{front, back} {
				if _, basic := c.(ansi.BasicColor); c != none && !basic {
					t.Errorf("%s: token %d has the colour %v", named(th), i, c)
				}
			}
		}
	}
}

// contrast returns the contrast of two colours, from 1 to 21, as WCAG 2 defines it.
func contrast(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		part := func(v uint32) float64 {
			x := float64(v) / 0xffff
			if x <= 0.04045 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Greys stay grey, and colours keep their hue.
func TestNearest256(t *testing.T) {
	for c, want := range map[[3]uint8]uint8{
		{0, 0, 0}: 16, {255, 255, 255}: 231, {255, 0, 0}: 196, {128, 128, 128}: 244,
		{0x8b, 0x93, 0xa1}: 246, {0x2b, 0x31, 0x3c}: 236, {0xe4, 0xe8, 0xee}: 254, {0x7a, 0x25, 0x30}: 89,
		{0x5f, 0xaf, 0xff}: 75,
	} {
		if got := Nearest256(c[0], c[1], c[2]); got != want {
			t.Errorf("%x: %d, want %d", c, got, want)
		}
	}
}

func TestNearest16(t *testing.T) {
	for c, want := range map[[3]uint8]uint8{
		{0, 0, 0}: 0, {255, 255, 255}: 15, {250, 10, 10}: 1, {10, 10, 180}: 4, {120, 130, 125}: 8, {0, 200, 10}: 2,
	} {
		if got := Nearest16(c[0], c[1], c[2]); got != want {
			t.Errorf("%x: %d, want %d", c, got, want)
		}
	}
}
