package gauge

import (
	"math"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func draw(w int, s *thread.Status) string {
	var c layout.Canvas
	c.Reset(w, Rows)
	Draw(&c, c.Bounds(), theme.New(colorprofile.ANSI, true), s)
	return c.String()
}

func TestBarHasTicksAndFills(t *testing.T) {
	for _, c := range []struct {
		tokens int64
		want   string
	}{
		{0, "╌╌╌┊╌╌┊╌╌┊"}, {1, "━╌╌┊╌╌┊╌╌┊"}, {1000, "━╌╌┊╌╌┊╌╌┊"}, {5500, "━━━━━╌┊╌╌┊"}, {10_000, "━━━━━━━━━━"},
		{10_900, "━━━━━━━━┃╍"}, {99_000, "━┃╍╍╍╍╍╍╍╍"},
	} {
		var cv layout.Canvas
		cv.Reset(10, 1)
		Bar(&cv, cv.Bounds(), theme.New(colorprofile.ASCII, true), thread.Gauge{Tokens: c.tokens, Window: 10_000})
		got := cv.String()
		for _, seq := range []string{"\x1b[1m", "\x1b[m"} {
			got = strings.ReplaceAll(got, seq, "")
		}
		if got != c.want {
			t.Errorf("%d: %q, want %q", c.tokens, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		g    thread.Gauge
		want string
	}{
		{thread.Gauge{Tokens: 84_000, Window: 200_000}, "84k/200k 42%"},
		{thread.Gauge{Tokens: 84_000, Window: 200_000, Estimated: true}, "~84k/200k 42%"},
		{thread.Gauge{Tokens: 84_000}, "84k"},
		{thread.Gauge{Tokens: 84_000, Window: 200_000, Estimated: true, Margin: 0.09}, "~84k±9%/200k 42%"},
		{thread.Gauge{Tokens: 84_000, Window: 200_000, Estimated: true, Margin: 0.081}, "~84k±9%/200k 42%"},
		{thread.Gauge{Tokens: 84_000, Window: 200_000, Margin: 0.09}, "84k/200k 42%"},
		{thread.Gauge{Tokens: 84_000, Estimated: true, Margin: math.NaN()}, "~84k"},
		{thread.Gauge{Tokens: 84_000, Estimated: true, Margin: math.Inf(1)}, "~84k"},
		{thread.Gauge{Tokens: 84_000, Estimated: true, Margin: -1}, "~84k"},
	} {
		if got := Numbers(c.g); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestBandsAreTold(t *testing.T) {
	for share, want := range map[int64]string{40: "summary at 60 %", 70: "summarising", 92: "emergency", 99: "full"} {
		s := &thread.Status{Thread: thread.Thread{
			Gauge: thread.Gauge{Tokens: share, Window: 100, CostUSD: 1.5, Source: "transcript"}}}
		if got := ansi.Strip(draw(60, s)); !strings.Contains(got, want+" · from transcript") || !strings.Contains(got, "$1.50") {
			t.Errorf("%d%%: %q", share, got)
		}
	}
	unpriced := &thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Tokens: 40, Window: 100, Model: "own-model"}}}
	if got := draw(40, unpriced); strings.Contains(got, "$") {
		t.Errorf("a model without a price: %q", got)
	}
	free := *unpriced
	free.Usage.Priced = true
	if got := draw(40, &free); !strings.Contains(got, "$0.00") {
		t.Errorf("a model that costs nothing: %q", got)
	}
	if got := draw(20, &thread.Status{}); !strings.Contains(got, "No messages yet") {
		t.Errorf("%q", got)
	}
	if got := draw(40, &thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Tokens: 40_000}}}); !strings.Contains(got, "window unknown") {
		t.Errorf("%q", got)
	}
}

// TestBeyondTheWindow: a context that is larger than its window does not look like one that fills it.
func TestBeyondTheWindow(t *testing.T) {
	of := func(tokens int64, w int) string {
		return ansi.Strip(draw(w, &thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Tokens: tokens, Window: 200_000}}}))
	}
	for w := 18; w < 60; w++ {
		if full, more := of(200_000, w), of(218_000, w); !strings.Contains(more, "┃") || strings.Contains(full, "┃") || !strings.Contains(more, "109%") {
			t.Errorf("%d wide: %q, but %q", w, full, more)
		}
	}
}

// What masks leave out comes before what is next, and what is spent before what is saved.
func TestMaskedIsTold(t *testing.T) {
	s := &thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Tokens: 84_000, Window: 200_000, CostUSD: 1.42,
		SavedUSD: 0.31, Masked: 31_000}}}
	for w, want := range map[int]string{
		60: "masked 31k · summary at 60 %           $1.42 · saved $0.31", 44: "masked 31k · summary at 60 %           $1.42",
		28: "masked 31k · summary at 60 %", 19: "masked 31k    $1.42", 6: "maske…",
	} {
		rows := strings.Split(ansi.Strip(draw(w, s)), "\n")
		if got := strings.TrimSpace(rows[1]); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%d wide: %q, want %q", w, got, want)
		}
	}
	s.Gauge.Masked = 0
	if got := draw(40, s); strings.Contains(got, "masked") {
		t.Errorf("nothing is masked: %q", got)
	}
}

// TestApart: what the agent sends before a word is said is told apart from the history and what is masked; the history is
// left out first, and what is spent stays.
func TestApart(t *testing.T) {
	s := &thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Tokens: 54_000, Window: 200_000, CostUSD: 1.42, Masked: 22_000, Base: 13_100}}}
	for w, want := range map[int]string{
		60: "base 13k · history 41k · masked 22k $1.42", 40: "base 13k · masked 22k $1.42", 29: "base 13k · masked 22k $1.42", 20: "base 13k $1.42",
	} {
		rows := strings.Split(ansi.Strip(draw(w, s)), "\n")
		if got := strings.Join(strings.Fields(rows[1]), " "); got != want {
			t.Errorf("%d wide: %q, want %q", w, got, want)
		}
	}
	for base, want := range map[int64]string{0: "masked 22k", 60_000: "base 54k · history 0 · masked 22k"} {
		s.Gauge.Base, s.Gauge.CostUSD = base, 0
		if rows := strings.Split(ansi.Strip(draw(44, s)), "\n"); !strings.HasPrefix(rows[1], want) {
			t.Errorf("base %d: %q, want %q", base, rows[1], want)
		}
	}
}

// TestBarHasASegmentForEachBand: each in the colour of its band, whatever the context's own band is.
func TestBarHasASegmentForEachBand(t *testing.T) {
	th := theme.New(colorprofile.TrueColor, true)
	var cv layout.Canvas
	cv.Reset(20, 1)
	Bar(&cv, cv.Bounds(), th, thread.Gauge{Tokens: 70, Window: 100})
	got := cv.String()
	at := 0
	for _, s := range []string{
		th.Style(theme.BandNormal).Render("━━━━━━"), th.Style(theme.BandMasking).Render("━━━━━━"),
		th.Style(theme.BandSummarising).Render("━━"),
	} {
		piece := strings.TrimSuffix(s, "\x1b[m")
		i := strings.Index(got[at:], piece)
		if i < 0 {
			t.Fatalf("%q is not in %q after %d bytes", piece, got, at)
		}
		at += i + len(piece)
	}
	if !strings.Contains(got[at:], "┊") || !strings.Contains(got[at:], "╌") {
		t.Errorf("%q has no free part", got[at:])
	}
}
