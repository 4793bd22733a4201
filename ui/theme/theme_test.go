package theme

import (
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
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
		{colorprofile.ANSI, Selected, "\x1b[40mx\x1b[m"},
		{colorprofile.ANSI, Working, "\x1b[96mx\x1b[m"},
		{colorprofile.ANSI256, Muted, "\x1b[38;5;246mx\x1b[m"},
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
	for _, p := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.ANSI,
		colorprofile.ANSI256, colorprofile.TrueColor} {
		for _, dark := range []bool{true, false} {
			th := New(p, dark)
			for _, q := range pairs {
				if th.Style(q[0]).Render("x") == th.Style(q[1]).Render("x") {
					t.Errorf("%s dark=%v: tokens %d and %d look the same", p, dark, q[0], q[1])
				}
			}
			for i := range tokens {
				s := th.Style(i)
				if none := (lipgloss.NoColor{}); p <= colorprofile.ASCII &&
					(s.GetForeground() != none || s.GetBackground() != none) {
					t.Errorf("token %d has a colour without colours", i)
				}
			}
		}
	}
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
