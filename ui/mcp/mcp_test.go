package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func drawPanel(p *Panel, h int) string {
	var c layout.Canvas
	c.Reset(44, h)
	p.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), "m")
	return ansi.Strip(c.String())
}

func drawTable(t *Table, w, h int) string {
	var c layout.Canvas
	c.Reset(w, h)
	keys, _ := intent.NewTable(nil)
	t.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), keys, now)
	return ansi.Strip(c.String())
}

func text(lines []styled.Span) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestPanel(t *testing.T) {
	p := &Panel{}
	if got := drawPanel(p, 2); !strings.Contains(got, "…") {
		t.Errorf("before the list has come: %q", got)
	}
	p.Set(thread.MCPReport{})
	if got := drawPanel(p, 1); !strings.Contains(got, "no servers") || p.Sum() != "" {
		t.Errorf("empty: %q", got)
	}
	p.Set(thread.MCPReport{Tokens: 11_900, All: 34_000, Servers: []thread.MCPServer{
		{Name: "zeta", Accepted: true}, {Name: "small", Accepted: true, On: true, Known: true, Tokens: 120, State: "ready"},
		{Name: "strange"}, {Name: "broken", Accepted: true, Problem: "no such\x1b file"},
		{Name: "words", Accepted: true, On: true, By: thread.MCPPattern, Known: true, Tokens: 9800, State: "starting"},
		{Name: "alpha with a very long name", Accepted: true, Known: true, Tokens: 4000},
	}})
	for h, want := range [][]string{
		nil, {"mcp ■ words ~9.8k ■ small ~120 +4 m"},
		{"mcp ■ words ~9.8k ■ small ~120 × broken m", "? strange +2"},
		{"mcp ■ words ~9.8k ■ small ~120 × broken m", "? strange □ alpha with a ve… ~4.0k", "□ zeta"},
	} {
		got := strings.Split(drawPanel(p, h), "\n")
		for i, row := range want {
			if strings.Join(strings.Fields(got[i]), " ") != row || plain.Width(got[i]) > 44 {
				t.Errorf("row %d of %d is %q, want %q", i, h, got[i], row)
			}
		}
		if len(got) > max(h, 1) {
			t.Errorf("%d rows of %d", len(got), h)
		}
	}
	if p.Sum() != "mcp ~12k" {
		t.Errorf("%q", p.Sum())
	}
	p.Fail(errors.New("it is\x1b gone"))
	if got := drawPanel(p, 3); !strings.Contains(got, "× it is␛ gone") || strings.Contains(got, "words") {
		t.Errorf("failed: %q", got)
	}
}

// Every state has a glyph, a word and a box; what a person has to look at is told from what is only off.
func TestStates(t *testing.T) {
	on := thread.MCPServer{Accepted: true, On: true}
	with := func(change func(*thread.MCPServer)) thread.MCPServer {
		s := on
		change(&s)
		return s
	}
	for _, c := range []struct {
		s         thread.MCPServer
		box, sign string
		tok       theme.Token
	}{
		{on, "[x]", "○", theme.Muted},
		{with(func(s *thread.MCPServer) { s.On = false }), "[ ]", "○", theme.Muted},
		{with(func(s *thread.MCPServer) { s.By = thread.MCPPattern }), "[a]", "○", theme.Muted},
		{with(func(s *thread.MCPServer) { s.By = thread.MCPInherited }), "[x]", "○", theme.Muted},
		{with(func(s *thread.MCPServer) { s.State = "ready" }), "[x]", "●", theme.Text},
		{with(func(s *thread.MCPServer) { s.State = "starting" }), "[x]", "◐", theme.Working},
		{with(func(s *thread.MCPServer) { s.State = "busy" }), "[x]", "◉", theme.Working},
		{with(func(s *thread.MCPServer) { s.State = "degraded" }), "[x]", "◒", theme.Warn},
		{with(func(s *thread.MCPServer) { s.State = "backoff" }), "[x]", "◌", theme.Warn},
		{with(func(s *thread.MCPServer) { s.State = "needs-auth" }), "[x]", "◇", theme.Warn},
		{with(func(s *thread.MCPServer) { s.State = "failed" }), "[!]", "×", theme.Bad},
		{with(func(s *thread.MCPServer) { s.Problem = "no command" }), "[!]", "×", theme.Bad},
		{with(func(s *thread.MCPServer) { s.Accepted = false }), "[?]", "?", theme.Warn},
		{with(func(s *thread.MCPServer) { s.Withheld = 2 }), "[!]", "○", theme.Muted},
		{with(func(s *thread.MCPServer) { s.State = "unheard\x1bof" }), "[x]", "·", theme.Muted},
	} {
		box, _ := boxOf(&c.s)
		state := stateOf(&c.s)
		if box != c.box || state.sign != c.sign || state.tok != c.tok || state.word == "" || strings.Contains(state.word, "\x1b") {
			t.Errorf("%+v: %s %+v, want %s %s", c.s, box, state, c.box, c.sign)
		}
	}
}

// In every width, the columns and the name fit, and state and tokens are always there.
func TestColumnsFit(t *testing.T) {
	for w := 44; w < 220; w++ {
		cols, name := fitting(columns(), w, 24)
		total := boxWidth + name
		titles := ""
		for _, c := range cols {
			total += c.w + 1
			titles += c.title + " "
		}
		if total > w || name < nameMin || !strings.Contains(titles, "state") || !strings.Contains(titles, "tokens") {
			t.Errorf("%d: %d cells, name %d, %s", w, total, name, titles)
		}
		if w >= 111 && len(cols) != len(columns()) {
			t.Errorf("%d: only %s", w, titles)
		}
	}
}

func TestTable(t *testing.T) {
	tab := &Table{}
	if got := drawTable(tab, 60, 12); !strings.Contains(got, "…") {
		t.Errorf("before the list has come:\n%s", got)
	}
	tab.Set(thread.MCPReport{})
	if got := drawTable(tab, 60, 12); !strings.Contains(got, ".mcp.json") || !strings.Contains(got, "opencode.json") {
		t.Errorf("empty:\n%s", got)
	}
	tab.Set(thread.MCPReport{Servers: []thread.MCPServer{{ID: "a", Name: "alpha"}, {ID: "b", Name: "beta", Known: true, Tokens: 9}}})
	if s := tab.Selected(); s.ID != "b" {
		t.Errorf("the first one is %s", s.ID)
	}
	tab.Handle(intent.Down)
	tab.Set(thread.MCPReport{Servers: []thread.MCPServer{{ID: "a", Name: "alpha", Tokens: 99, Known: true}, {ID: "b", Name: "beta"}}})
	if s := tab.Selected(); s.ID != "a" {
		t.Errorf("the cursor went to %s", s.ID)
	}
	tab.Fail(errors.New("gone"), false)
	if got := drawTable(tab, 60, 12); !strings.Contains(got, "not up to date: gone") || !strings.Contains(got, "alpha") {
		t.Errorf("kept:\n%s", got)
	}
	tab.Fail(errors.New("gone"), true)
	if got := drawTable(tab, 60, 12); !strings.Contains(got, "not loaded: gone") || strings.Contains(got, "alpha") || tab.Selected() != nil {
		t.Errorf("dropped:\n%s", got)
	}
}

// Whatever the size, nothing leaves the box, and there is a row of the list.
func TestTableOfAnySize(t *testing.T) {
	tab := &Table{}
	r := thread.MCPReport{Takes: "at the next resume of the thread", CacheTokens: 84_000, CacheUSD: 0.42}
	for i := range 30 {
		r.Servers = append(r.Servers, thread.MCPServer{ID: fmt.Sprint(i), Name: fmt.Sprintf("server 日本 %d", i), Reason: strings.Repeat("why not ", 30)})
		r.Outside = append(r.Outside, strings.Repeat("outside ", 20))
	}
	tab.Set(r)
	tab.Handle(intent.Last)
	for w := 20; w < 130; w += 7 {
		for h := 1; h < 40; h += 3 {
			got := strings.Split(drawTable(tab, w, h), "\n")
			if len(got) > h {
				t.Errorf("%d×%d: %d rows", w, h, len(got))
			}
			found := false
			for _, line := range got {
				found = found || strings.HasPrefix(line, "[?] server")
			}
			if h >= headRows+footRows+2 && !found {
				t.Errorf("%d×%d has no row:\n%s", w, h, strings.Join(got, "\n"))
			}
		}
	}
}

func TestHead(t *testing.T) {
	tab := &Table{}
	r := thread.MCPReport{Servers: make([]thread.MCPServer, 1), Tokens: 900, All: 1000}
	show := func(most int) string {
		tab.Set(r)
		var b strings.Builder
		for _, l := range tab.above.lines(80, most, "p") {
			b.WriteString(l.Text() + "\n")
		}
		return b.String()
	}
	if got := show(5); got != "on ~900 of ~1.0k tokens\n" {
		t.Errorf("%q", got)
	}
	r.CacheTokens = 84_000
	if got := show(5); got != "on ~900 of ~1.0k tokens · a switch re-reads ~84k tokens\n" {
		t.Errorf("%q", got)
	}
	r.CacheUSD, r.Takes = 0.42, "at once"
	if got := show(5); got != "on ~900 of ~1.0k tokens · a switch takes effect at once and re-reads ~84k tokens\n($0.42)\n" {
		t.Errorf("%q", got)
	}
	r.Outside = []string{"one", "two"}
	r.Problems = []thread.MCPProblem{{File: "a.json", Line: 3, Text: "bad"}, {File: "b.json", Text: "worse"}}
	if got := show(6); !strings.HasSuffix(got, "! one\n! two\n× a.json:3: bad\n× b.json: worse\n") {
		t.Errorf("%q", got)
	}
	if got := show(5); !strings.HasSuffix(got, "! one\n! two\n… 2 remarks (p)\n") {
		t.Errorf("%q", got)
	}
	for most := 1; most < 8; most++ {
		if got := show(most); strings.Count(got, "\n") > most {
			t.Errorf("%d rows at most: %q", most, got)
		}
	}
	if got := text(Troubles(r)); got != "! one\n! two\n× a.json:3: bad\n× b.json: worse\n" {
		t.Errorf("%q", got)
	}
}

// TestLaunchIsExact: each line of what is started is there, with every character that could hide something marked.
func TestLaunchIsExact(t *testing.T) {
	lines := []string{"sh -c  'a\nrm -rf ~'", "  indented", "a\u00a0b\u202ec", strings.Repeat("x", 5000) + "end", ""}
	got := text(Launch(thread.MCPDetail{Launch: lines, MCPServer: thread.MCPServer{Hash: "h1"}}))
	for _, want := range []string{"▸ sh -c  'a␊rm -rf ~'\n", "▸   indented\n", "▸ a<U+00A0>b<U+202E>c\n", strings.Repeat("x", 5000) + "end\n", "▸ \n", "launch hash h1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%.60q is not in\n%.300s", want, got)
		}
	}
	if n := strings.Count(got, "▸"); n != len(lines) {
		t.Errorf("%d lines for %d", n, len(lines))
	}
	if got := text(Launch(thread.MCPDetail{})); !strings.Contains(got, "not known") {
		t.Errorf("nothing to start: %q", got)
	}
}

func TestDetails(t *testing.T) {
	keys, _ := intent.NewTable(nil)
	d := thread.MCPDetail{MCPServer: thread.MCPServer{Name: "x", Accepted: true, State: "backoff", Reason: "exit code 1", Retry: now.Add(12 * time.Second),
		Transport: "stdio", Known: true, Tools: 3, ToolsOn: 2, Tokens: 1234, On: true, By: thread.MCPOffer, Why: "3 of 5", Warnings: []string{"unpinned version"}, Kept: "it goes on showing them",
		Sources: []thread.MCPSource{{File: ".mcp.json", Line: 7, Agent: "claude", Scope: "project"}}},
		Launch: []string{"npx x"}, Rates: []thread.MCPRate{{Pattern: "e2e", Fired: 4, Of: 1, Problem: "too wide"}}}
	got := text(Details(d, keys, now))
	for _, want := range []string{"◌ cannot start", "exit code 1", "it goes on showing them", "cannot start, next try in 0:12", "offered: 3 of 5", "unpinned version", ".mcp.json:7, for claude (project)",
		"2 of 3 on, ~1.2k tokens", "▸ npx x", "e2e  4 of 1 past prompt  too wide", "comes with the repository"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		size(0): "", size(10): "1 KiB", size(84 << 20): "84 MiB", size(12_000 << 20): "11 GiB",
		took(1.25): "1.2ms", took(120): "120ms", took(2400): "2.4s", took(62_000): "62s",
		ago(5 * time.Second): "now", ago(-time.Hour) + " ": "now ", ago(4 * time.Minute): "4m ago", ago(5 * time.Hour): "5h ago", ago(72 * time.Hour): "3d ago",
		called(&thread.MCPServer{}, now) + "-": "-",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A server with very many tools, or a log without an end, neither stops the screen nor is cut without a word.
func TestVeryMany(t *testing.T) {
	d := thread.MCPDetail{MCPServer: thread.MCPServer{Known: true, Accepted: true}}
	for i := range 100_000 {
		d.List = append(d.List, thread.MCPTool{Name: fmt.Sprint("tool ", i), Description: "does something", On: true})
	}
	d.List[70_000].Withheld = "changed"
	var tools Tools
	tools.Set(d)
	if s := tools.Selected(); s.Name != "tool 70000" || !tools.Withheld() {
		t.Errorf("the first one is %s", s.Name)
	}
	var c layout.Canvas
	th := theme.New(colorprofile.ASCII, true)
	allocs := testing.AllocsPerRun(1, func() {
		c.Reset(100, 30)
		tools.Draw(&c, c.Bounds(), th)
	})
	if allocs > 5_000 {
		t.Errorf("%v allocations for a frame", allocs)
	}
	d.Log = []string{strings.Repeat("line\n", 5000) + "the end"}
	log := Log(d)
	if len(log) != mostLines || log[0].Text != "… 4001 older lines" || log[len(log)-1].Text != "the end" {
		t.Errorf("%d lines, from %q to %q", len(log), log[0].Text, log[len(log)-1].Text)
	}
	about := Tool(&thread.MCPTool{Name: "x", Description: strings.Repeat("line\n", 5000)})
	if len(about) > mostLines+2 || about[len(about)-1].Text != "… there is more" {
		t.Errorf("%d lines", len(about))
	}
}
