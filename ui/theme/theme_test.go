package theme

import "testing"

func TestAppendSGR(t *testing.T) {
	for _, c := range []struct {
		s    Style
		want string
	}{
		{Style{}, "\x1b[m"},
		{Style{Attr: Bold | Underline}, "\x1b[0;1;4m"},
		{Style{FG: ANSI(1), BG: ANSI(12)}, "\x1b[0;31;104m"},
		{Style{FG: Indexed(200)}, "\x1b[0;38;5;200m"},
		{Style{BG: RGB(0x010203), Attr: Reverse}, "\x1b[0;7;48;2;1;2;3m"},
	} {
		if got := string(c.s.AppendSGR(nil)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}

// What must be told apart is told apart in every profile and on both grounds.
func TestDistinctions(t *testing.T) {
	pairs := [][2]Token{{Text, Selected}, {Selected, SelectedFocus}, {DiffAdd, DiffAddWord}, {Text, Match}, {Border, BorderFocus}}
	for _, p := range []Profile{NoColor, ANSI16, ANSI256, TrueColor} {
		for _, dark := range []bool{true, false} {
			th := New(p, dark)
			for _, q := range pairs {
				if th.Style(q[0]) == th.Style(q[1]) {
					t.Errorf("%s dark=%v: tokens %d and %d look the same", p, dark, q[0], q[1])
				}
			}
			for i := range tokens {
				s := th.Style(i)
				if p == NoColor && (s.FG != 0 || s.BG != 0) {
					t.Errorf("token %d has a colour without colours", i)
				}
			}
		}
	}
}

func TestNearestOf256(t *testing.T) {
	for hex, want := range map[uint32]Color{0x000000: Indexed(16), 0xffffff: Indexed(231), 0xff0000: Indexed(196), 0x808080: Indexed(244)} {
		if got := to256(hex); got != want {
			t.Errorf("%06x: %d, want %d", hex, got&255, want&255)
		}
	}
}
