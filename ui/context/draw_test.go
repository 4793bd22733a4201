package context

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// draw returns what a view looks like, as rows without styles.
func draw(t *testing.T, m *Model, w, h int, p colorprofile.Profile) []string {
	t.Helper()
	var c layout.Canvas
	c.Reset(w, h)
	drawOn(t, &c, c.Bounds(), m, p)
	return strings.Split(sgr.ReplaceAllString(c.String(), ""), "\n")
}

func drawOn(t testing.TB, c *layout.Canvas, b layout.Box, m *Model, p colorprofile.Profile) {
	t.Helper()
	keys, err := intent.NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Draw(c, b, theme.New(p, true), keys, true, &thread.Status{Thread: thread.Thread{ID: "t"}})
}

func see(t *testing.T, m *Model, w, h int) string {
	t.Helper()
	return strings.Join(draw(t, m, w, h, colorprofile.TrueColor), "\n")
}

// nasty are texts that no agent should send.
var nasty = []string{
	"", "plain", "\x1b[31mred\x1b[0m", "\x1b]52;c;aGk=\x07", "\u202eback\u2066", "a\nb\tc\rd", "\xff\xfe", "日本語の道具",
	"👩\u200d👩\u200d👧", "z\u0301\u0301\u0301\u0301\u0301", strings.Repeat("long ", 400), strings.Repeat("語", 700), "\u009b2J", "\x00",
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(nasty), rapid.String())
}

func counts() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(-5, 300_000), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, math.MaxInt64 / 2}))
}

func reports() *rapid.Generator[thread.ContextReport] {
	return rapid.Custom(func(t *rapid.T) thread.ContextReport {
		r := thread.ContextReport{
			Model: texts().Draw(t, "model"), Window: counts().Draw(t, "window"), Tokens: counts().Draw(t, "tokens"),
			Margin: rapid.Float64().Draw(t, "margin"), Masked: counts().Draw(t, "masked"), SavedUSD: rapid.Float64().Draw(t, "saved"),
			Mode: thread.MaskMode(texts().Draw(t, "mode")), Why: texts().Draw(t, "why"), Forecast: texts().Draw(t, "forecast"),
			Reason: texts().Draw(t, "reason"), Rereads: rapid.IntRange(-1, 3).Draw(t, "rereads"),
		}
		for range rapid.IntRange(0, 14).Draw(t, "parts") {
			r.Parts = append(r.Parts, thread.ContextPart{
				Kind: rapid.OneOf(rapid.SampledFrom([]string{"system", "tools", "messages", "inputs", "results", "results"}), texts()).Draw(t, "kind"),
				Name: texts().Draw(t, "name"), Tokens: counts().Draw(t, "tokens"), Masked: counts().Draw(t, "masked"),
			})
		}
		for range rapid.IntRange(0, 6).Draw(t, "base") {
			r.Base = counts().Draw(t, "tokens")
			r.BaseParts = append(r.BaseParts, thread.BasePart{
				Kind: thread.BaseKind(rapid.OneOf(rapid.SampledFrom([]string{"system", "tool", "mcp", "instructions"}), texts()).Draw(t, "kind")),
				Name: texts().Draw(t, "name"), Tokens: counts().Draw(t, "tokens"), Lever: texts().Draw(t, "lever"),
			})
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "results") {
			r.Results = append(r.Results, thread.ContextResult{
				ID: fmt.Sprint(i), Tool: texts().Draw(t, "tool"), File: texts().Draw(t, "file"), Input: rapid.Bool().Draw(t, "input"),
				Tokens: counts().Draw(t, "tokens"), Turn: rapid.Int().Draw(t, "turn"), Masked: rapid.Bool().Draw(t, "masked"),
				Pinned: rapid.Bool().Draw(t, "pinned"), Kept: texts().Draw(t, "kept"),
			})
		}
		for range rapid.IntRange(0, 60).Draw(t, "points") {
			r.Curve = append(r.Curve, thread.ContextPoint{Turn: rapid.Int().Draw(t, "turn"), Tokens: counts().Draw(t, "tokens"),
				Masked: counts().Draw(t, "masked")})
		}
		return r
	})
}

// Whatever a report holds, it is drawn inside its box, and nothing reaches the canvas that a terminal would obey.
func TestAnyReportIsDrawn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := New()
		m.Show("t")
		q, _ := m.Want(State{})
		m.Fill(q, reports().Draw(rt, "report"), nil)
		if rapid.Bool().Draw(rt, "opened") {
			m.Move(-100)
			m.Fold()
		}
		m.Search(texts().Draw(rt, "filter"))
		var c layout.Canvas
		w, h := rapid.IntRange(0, 130).Draw(rt, "w"), rapid.IntRange(0, 50).Draw(rt, "h")
		c.Reset(w+4, h+4)
		for y := range h + 4 {
			c.Print(c.Bounds(), 0, y, theme.New(colorprofile.ASCII, true).Style(theme.Text), strings.Repeat("#", w+4))
		}
		profile := rapid.SampledFrom([]colorprofile.Profile{colorprofile.ASCII, colorprofile.TrueColor}).Draw(rt, "profile")
		drawOn(t, &c, c.Bounds().Inset(2), m, profile)
		rows := strings.Split(sgr.ReplaceAllString(c.String(), ""), "\n")
		for y, row := range rows {
			if !strings.HasPrefix(row, "##") || !strings.HasSuffix(row, "##") {
				rt.Fatalf("row %d is drawn over: %q", y, row)
			}
			if edge := y < 2 || y >= len(rows)-2; edge && strings.Trim(row, "#") != "" {
				rt.Fatalf("row %d is drawn over: %q", y, row)
			}
			for _, r := range row {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
					rt.Fatalf("row %d has %U: %q", y, r, row)
				}
			}
		}
	})
}

func TestFills(t *testing.T) {
	parts := []thread.ContextPart{
		{Kind: "results", Name: "Bash", Tokens: 30}, {Kind: "results", Name: "Read", Tokens: 50}, {Kind: "messages", Tokens: 20},
		{Kind: "tools", Tokens: 5}, {Kind: "tools", Name: "github", Tokens: 6}, {Kind: "system", Tokens: 9}, {Kind: "new", Tokens: 3},
		{Kind: "inputs", Name: "Write", Tokens: 0}, {Kind: "results", Name: "Grep", Tokens: 10}, {Kind: "results", Name: "Bash", Tokens: 1},
		{Kind: "results", Name: "Read\x1b[1m", Tokens: 7}, {Kind: "results", Name: "Rust", Tokens: 6}, {Kind: "results", Tokens: 2},
	}
	show := func(fills []fill) string {
		var out []string
		for _, f := range fills {
			out = append(out, fmt.Sprintf("%s %s %d", f.letter, f.name, f.tokens))
		}
		return strings.Join(out, ", ")
	}
	for few, want := range map[int]string{
		4: "S system 9, T tools 11, M messages 20, R Read 50, B Bash 31, G Grep 10, E Read␛[1m 7, O others 8, X else 3",
		1: "S system 9, T tools 11, M messages 20, R Read 50, O others 56, X else 3",
	} {
		if got := show(atMost(fillsOf(parts), few)); got != want {
			t.Errorf("at most %d:\n%s, want\n%s", few, got, want)
		}
	}
	if got := show(atMost(fillsOf(parts[:2]), 1)); got != "R Read 50, O Bash 30" {
		t.Errorf("a single other tool keeps its name, but: %s", got)
	}
}

// The fills of a bar are side by side in the right proportion; what is masked takes nothing of what is free.
func TestEdges(t *testing.T) {
	fills := []fill{{tokens: 10}, {tokens: 30}, {tokens: 60}}
	for _, c := range []struct {
		s    scale
		want []int
	}{
		{scale{window: 200, tokens: 100, masked: 50}, []int{5, 20, 50, 50}}, // what is masked is not in the window
		{scale{window: 0, tokens: 100, masked: 100}, []int{5, 20, 50, 100}},
		{scale{window: 200, tokens: 50}, []int{3, 10, 25, 25}}, // the parts' sum is off
		{scale{window: 100, tokens: 300, masked: 5}, []int{30, 100, 100, 100}},
		{scale{window: 10_000, tokens: 100}, []int{1, 2, 3, 3}}, // what is small is seen
		{scale{window: 100}, []int{0, 0, 0, 0}},
		{scale{}, []int{0, 0, 0, 0}},
	} {
		if got := c.s.edges(fills, 100); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.s, got, c.want)
		}
	}
}

// What fills a context can be told apart in every kind of terminal.
func TestFillsAreToldApart(t *testing.T) {
	all := []theme.Token{theme.FillSystem, theme.FillTools, theme.FillMessages, theme.FillInputs, theme.FillFirst, theme.FillSecond,
		theme.FillThird, theme.FillFourth, theme.FillOther}
	for _, p := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor} {
		for _, dark := range []bool{true, false} {
			seen := map[string]theme.Token{}
			for _, tok := range all {
				look := theme.New(p, dark).Style(tok).Render("█")
				if other, taken := seen[look]; taken {
					t.Errorf("%s dark=%v: tokens %d and %d look the same", p, dark, other, tok)
				}
				seen[look] = tok
			}
		}
	}
	m := loaded(t, sample())
	rows := draw(t, m, 80, 24, colorprofile.ASCII)
	if bar := strings.TrimSpace(rows[4]); bar != "SSSSMMMMMMMMRRRRRRRRRRRRRRRRBBBB················│·······················│·······" {
		t.Errorf("without colours: %q", bar)
	}
}

func sample() thread.ContextReport {
	return thread.ContextReport{
		Model: "opus", Window: 200_000, Tokens: 80_000, Margin: 0.05, Masked: 20_000, SavedUSD: 1.42, Mode: thread.MaskSafe,
		Why: "for this thread", Forecast: "Masking now frees 41k.", Reason: "It is too soon.",
		Parts: []thread.ContextPart{{Kind: "results", Name: "Read", Tokens: 40_000}, {Kind: "messages", Tokens: 20_000},
			{Kind: "system", Tokens: 10_000}, {Kind: "results", Name: "Bash", Tokens: 10_000}},
		Results: []thread.ContextResult{
			{ID: "1", Tool: "Read", File: "a.go", Tokens: 20_000, Turn: 1, Masked: true},
			{ID: "2", Tool: "Bash", Tokens: 900, Turn: 2, Pinned: true},
			{ID: "3", Tool: "Read", File: "b.go", Tokens: 1200, Turn: 3, Kept: "too new"},
			{ID: "4", Tool: "Write", File: "c.go", Input: true, Tokens: 60, Turn: 4},
		},
		Curve: []thread.ContextPoint{{Tokens: 30_000, Turn: 1}, {Tokens: 90_000, Turn: 2}, {Tokens: 80_000, Turn: 3, Masked: 20_000}},
	}
}

func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*thread.ContextReport)
		want   []string
		not    string
	}{
		{"all", func(*thread.ContextReport) {}, []string{"80k±5%/200k 40% masking", "−20k masked", "saved $1.42 net of cache writes",
			"mode safe: for this thread", "opus", "Masking now frees 41k.", "It is too soon."}, "to change"},
		{"observe", func(r *thread.ContextReport) { r.Mode, r.Why = thread.MaskObserve, "subscription login" },
			[]string{"mode observe: subscription login, . k to change"}, "safe"},
		{"a loss", func(r *thread.ContextReport) { r.SavedUSD = -0.12 }, []string{"cost $0.12 so far"}, "saved"},
		{"nothing yet", func(r *thread.ContextReport) { r.SavedUSD, r.Masked, r.Margin = 0.001, 0, 0 }, []string{"80k/200k"}, "saved"},
		{"no window", func(r *thread.ContextReport) { r.Window = 0 }, []string{"80k±5% tokens (window unknown)"}, "· free"},
		{"read again", func(r *thread.ContextReport) { r.Rereads = 2 }, []string{"2 masked results read again"}, "1 masked result"},
	} {
		r := sample()
		c.change(&r)
		got := see(t, loaded(t, r), 110, 40)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, got)
			}
		}
		if strings.Contains(got, c.not) {
			t.Errorf("%s: %q is in\n%s", c.name, c.not, got)
		}
	}
}

// Also in a small box everything has its place: the fullness, the forecast, the bar, the curve, and some of the list.
func TestSmall(t *testing.T) {
	m := loaded(t, sample())
	for _, size := range [][2]int{{56, 17}, {76, 21}, {83, 33}, {156, 47}} {
		got := see(t, m, size[0], size[1])
		for _, want := range []string{"80k±5%/200k 40%", "−20k masked", "saved $1.42 net", "mode safe", "frees 41k", "too soon", "█ system",
			"╱ masked", "Growth", "30%", "Results 4, 1 masked, 1 pinned", "b.go", "too new", "Write inp"} {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q is not in\n%s", size, want, got)
			}
		}
	}
	if got := see(t, m, 30, 8); strings.Contains(got, "Growth") || !strings.Contains(got, "Results") || !strings.Contains(got, "Write") {
		t.Errorf("tiny:\n%s", got)
	}
}

func TestCurve(t *testing.T) {
	m := loaded(t, sample())
	rows := draw(t, m, 66, 24, colorprofile.TrueColor)
	at := slices.IndexFunc(rows, func(s string) bool { return strings.HasPrefix(s, "Growth") })
	got := "\n" + strings.Join(rows[at:at+5], "\n") + "\n"
	const want = `
Growth over 3 responses, turns 1 to 3 ────────────────────────────
 120k                                         ╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱
  30% ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌████████████████████▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
                          ████████████████████████████████████████
      ████████████████████████████████████████████████████████████
`
	if got != want {
		t.Errorf("got%swant%s", got, want)
	}
	for _, c := range []struct {
		n, x, w, want int
	}{{1, 9, 10, 0}, {3, 0, 9, 0}, {3, 8, 9, 2}, {100, 9, 10, 99}, {100, 0, 10, 9}, {25, 9, 10, 24}} {
		v := curve{}
		for i := range c.n {
			v.points = append(v.points, thread.ContextPoint{Tokens: int64(i)})
		}
		if got := v.at(c.x, c.w).Tokens; got != int64(c.want) {
			t.Errorf("%d points, column %d of %d: point %d, want %d", c.n, c.x, c.w, got, c.want)
		}
	}
	for highest, want := range map[int64]int64{1: 10_000, 10_001: 20_000, 60_000: 60_000, 119_000: 120_000, 200_000: 200_000, 300_000: 300_000} {
		v := curve{window: 200_000, points: []thread.ContextPoint{{Tokens: highest}}}
		if got := v.top(); got != want {
			t.Errorf("%d tokens: the top is %d, want %d", highest, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name   string
		status thread.Status
		report *thread.ContextReport
		want   string
	}{
		{"not loaded", thread.Status{}, nil, "…"},
		{"no request", thread.Status{}, &thread.ContextReport{}, "Filled by the next prompt"},
		{"no gateway", thread.Status{Thread: thread.Thread{Launch: thread.Flags{NoGateway: true}}}, &thread.ContextReport{}, "without the gateway"},
		{"direct", thread.Status{Thread: thread.Thread{Gauge: thread.Gauge{Source: "transcript"}}}, &thread.ContextReport{}, "directly to the provider"},
	} {
		m := New()
		m.Show("t")
		if c.report != nil {
			load(t, m, State{}, *c.report)
		}
		keys, err := intent.NewTable(nil)
		if err != nil {
			t.Fatal(err)
		}
		c.status.ID = "t"
		var cv layout.Canvas
		cv.Reset(100, 20)
		rest := m.Draw(&cv, cv.Bounds(), theme.New(colorprofile.ASCII, true), keys, false, &c.status)
		if got := cv.String(); !strings.Contains(got, c.want) || rest.H < 15 {
			t.Errorf("%s: %d rows are left, and it says\n%s", c.name, rest.H, got)
		}
	}
	if rest := New().Draw(&layout.Canvas{}, layout.Box{W: 9, H: 9}, theme.New(colorprofile.ASCII, true), nil, false, nil); !rest.Empty() {
		t.Error("without a thread something is left to draw")
	}
}

func TestCutLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := plain.Line(texts().Draw(t, "text")), rapid.IntRange(0, 40).Draw(t, "width")
		got := plain.CutLeft(s, w)
		if plain.Width(got) > max(w, 0) {
			t.Fatalf("%q is wider than %d", got, w)
		}
		if !strings.HasSuffix(s, strings.TrimPrefix(got, "…")) {
			t.Fatalf("%q is not the end of %q", got, s)
		}
	})
	if got := plain.CutLeft("src/auth/handler.go", 11); got != "…handler.go" {
		t.Error(got)
	}
}

// However long a name is, little of it is laid out, and it stays whole characters.
func TestLongNamesAreBounded(t *testing.T) {
	long := "ab" + strings.Repeat("語", 100_000) + "yz"
	for what, got := range map[string]string{"start": start(long), "end": end(long)} {
		if len(got) > longest+len("…") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %v", what, len(got), utf8.ValidString(got))
		}
	}
	if !strings.HasPrefix(start(long), "ab") || !strings.HasSuffix(end(long), "yz") || start("short") != "short" || end("short") != "short" {
		t.Error("another part than asked for")
	}
	if broken := strings.Repeat("\x80", 2*longest); len(start(broken)) > longest+len("…") || len(end(broken)) > longest+len("…") {
		t.Error("broken bytes are not bounded")
	}
}
