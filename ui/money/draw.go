package money

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
	"orchestrator/ui/dialog"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Where there is room for more than the least, in cells.
const (
	wide    = 76
	highest = 4 // rows of the chart
	longest = 20
)

// eighths are the cells of a bar by how full they are.
var eighths = [...]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// page is what is drawn: a report, and which of its periods the groups are of.
type page struct {
	spending.Report
	period spending.Period
	now    time.Time
	err    string // why it is not up to date
}

// usd returns what is known of a cost.
func usd(s spending.Spent) float64 {
	if s.USD == nil {
		return 0
	}
	return *s.USD
}

// sums returns the line with the sums of all periods; that of the groups stands out. In a narrow one they are closer.
func (p page) sums(w int) []styled.Span {
	out := p.spaced("   ", " + ")
	if styled.Width(out...) > w {
		out = p.spaced("  ", "+")
	}
	return out
}

func (p page) spaced(gap, plus string) []styled.Span {
	var out []styled.Span
	for _, x := range []struct {
		period spending.Period
		sum    spending.Spent
	}{{spending.Today, p.Today}, {spending.Week, p.Week}, {spending.Month, p.Month}} {
		word, tok := theme.Muted, theme.Text
		if x.period == p.period {
			word, tok = theme.Accent, theme.Strong
		}
		if len(out) > 0 {
			out = append(out, styled.Span{Text: gap})
		}
		mark := ""
		if x.period == p.period {
			mark = "▸"
		}
		out = append(out, styled.Span{Text: mark + string(x.period) + " ", Tok: word}, styled.Span{Text: strings.ReplaceAll(x.sum.Money(), " + ", plus), Tok: tok})
	}
	return out
}

// saved returns what masking saved in the period of the groups, "" if nothing was spent.
func (p page) saved() string {
	sum := map[spending.Period]spending.Spent{spending.Today: p.Today, spending.Week: p.Week, spending.Month: p.Month}[p.period]
	switch text := sum.Saved(); {
	case text == "":
		return ""
	case sum.SavedUSD != nil && *sum.SavedUSD <= -0.005:
		return "masking cost " + strings.TrimPrefix(text, "−") + " more than it saved"
	default:
		return "saved by masking " + text + " (net)"
	}
}

// chart draws what each day cost as a bar, with the last day at the right and what the highest one stands for.
func (p page) chart(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if b.Empty() || len(p.Days) == 0 {
		return
	}
	most, best := 0.0, p.Days[0]
	for _, d := range p.Days {
		if usd(d) > most {
			most, best = usd(d), d
		}
	}
	x := 0
	for i, d := range p.Days {
		tok := theme.Working
		if i == len(p.Days)-1 {
			tok = theme.Accent
		}
		full := int(math.Ceil(usd(d) / cmp.Or(most, 1) * float64(8*b.H)))
		for y := range b.H {
			cell, st := eighths[min(max(full-8*(b.H-1-y), 0), 8)], th.Style(tok)
			if y == b.H-1 && full == 0 {
				cell, st = "·", th.Style(theme.Track)
				if d.Unpriced > 0 {
					cell, st = "?", th.Style(theme.Muted)
				}
			}
			c.Print(b, x, y, st, cell+map[bool]string{true: cell}[b.W >= wide-8 && cell != "·" && cell != "?"])
		}
		x += 2
		if b.W >= wide-8 {
			x++
		}
	}
	c.Print(b, x+1, b.H-1, th.Style(theme.Muted), plain.Cut(plain.Count(len(p.Days), "day"), b.W-x-1))
	if most > 0 && b.H > 1 {
		c.Print(b, x+1, 0, th.Style(theme.Muted), plain.Cut("most "+best.Money()+" on "+date(best.Day), b.W-x-1))
	}
}

// date writes a day in short.
func date(day string) string {
	if at, err := time.Parse(time.DateOnly, day); err == nil {
		return at.Format("Jan 2")
	}
	return day
}

// columns are where the parts of a row begin or, of numbers, end.
type columns struct{ second, cost, bar, barW, cache, threads int }

// columnsOf divides a width.
func columnsOf(w int, by spending.By) columns {
	at := columns{threads: w, cache: w - 12}
	if by == spending.ByThread {
		at.cache = w
	}
	at.barW = min(max(w-58, 0), longest)
	at.bar = at.cache - 10 - at.barW - 1
	at.cost = at.bar - 1
	first := max(at.cost-13, 10)
	switch by {
	case spending.ByThread:
		at.second = first * 3 / 5
	case spending.ByAgent, spending.BySession:
		at.second = first
	default:
		at.second = min(10, first/2)
	}
	return at
}

// drawGroup draws a row: what it is of, its cost with a bar, how much was read from the cache, and of how many threads
// it is.
func drawGroup(c *layout.Canvas, b layout.Box, th *theme.Theme, by spending.By, g spending.Group, most float64) {
	text, more := th.Style(theme.Text), th.Style(theme.Muted)
	at := columnsOf(b.W, by)
	first, second := names(by, g)
	left := at.cost - plain.Width(g.Spent.Money())
	end := min(at.second, left) - 1
	if second == "" {
		end = left - 1
	}
	c.Print(b, 0, 0, text, plain.Cut(plain.Line(first), end))
	if second != "" {
		c.Print(b, at.second, 0, more, plain.Cut(plain.Line(second), left-at.second-1))
	}
	c.Print(b, left, 0, th.Style(theme.Strong), g.Spent.Money())
	if cells := filled(usd(g.Spent), most, at.barW); cells > 0 {
		bar(c, b, at.bar+1, th.Style(theme.Working), cells)
	}
	if share, known := g.Spent.Cached(); known {
		said := "cache " + thread.Percent(share)
		c.Print(b, at.cache-plain.Width(said), 0, more, said)
	}
	if by != spending.ByThread {
		said := g.ThreadCount() + " threads"
		if said == "1 threads" {
			said = "1 thread"
		}
		c.Print(b, at.threads-plain.Width(said), 0, more, said)
	}
}

// names returns what a row is of, and what else is known of it.
func names(by spending.By, g spending.Group) (first, second string) {
	agent := cmp.Or(g.Spent.Agent, "(no name)")
	switch {
	case g.Others > 0:
		return plain.Count(g.Others, "other"), ""
	case by == spending.ByThread:
		return g.Title(by), g.Spent.Agent + " " + g.Model()
	case by == spending.BySession:
		return g.Title(by), ""
	case by == spending.ByAgent:
		return agent, ""
	default:
		return agent, g.Model()
	}
}

// filled returns how many cells of a bar a part of a whole takes: at least one, if it is something.
func filled(part, whole float64, w int) int {
	if part <= 0 || whole <= 0 || w <= 0 {
		return 0
	}
	return min(max(int(part/whole*float64(w)+0.5), 1), w)
}

func bar(c *layout.Canvas, b layout.Box, x int, st lipgloss.Style, cells int) {
	for i := range cells {
		c.Print(b, x+i, 0, st, "━")
	}
}

// drawQuota draws a limit: its window, how much of it is used, and when it begins anew.
func drawQuota(c *layout.Canvas, b layout.Box, th *theme.Theme, q thread.Quota, now time.Time) {
	const name, cells = 10, 20
	more := th.Style(theme.Muted)
	c.Print(b, 0, 0, th.Style(theme.Text), plain.Cut(plain.Line(q.Label()), name-1))
	x := name
	if share, known := q.Share(); known {
		w := min(cells, max(b.W-46, 0))
		c.PrintSpans(b, x, 0, th, gauge.Line(share, w))
		said := thread.Percent(share)
		c.Print(b, x+w+6-plain.Width(said), 0, th.Style(theme.Strong), said)
		x += w + 8
	}
	end := "no end reported"
	if !q.Resets.IsZero() {
		end = "until " + until(q.Resets, now)
	}
	x = c.Print(b, x, 0, more, plain.Cut(end, b.W-x))
	if host := plain.Line(q.Upstream); b.W-x > 12 {
		c.PrintRight(b, 0, 0, more, plain.Cut(host, b.W-x-2))
	}
}

// drawBudget draws a budget: whose it is, how much of it is used, and what is spent.
func drawBudget(c *layout.Canvas, b layout.Box, th *theme.Theme, a budget.Account) {
	const cells = 20
	name := min(24, max(b.W/4, 10))
	share := shareOf(a)
	tok := theme.Strong
	switch {
	case share >= 100:
		tok = theme.Bad
	case share >= float64(budget.Warned):
		tok = theme.Warn
	}
	c.Print(b, 0, 0, th.Style(theme.Text), plain.Cut(plain.Line(a.Name), name-1))
	w := min(cells, max(b.W-name-36, 0))
	c.PrintSpans(b, name, 0, th, gauge.Line(min(share, 100), w))
	said := thread.Percent(share)
	c.Print(b, name+w+6-plain.Width(said), 0, th.Style(tok), said)
	x := name + w + 8
	text := budget.Used(a.Limit, a.Spent)
	if a.Level >= budget.Over {
		text = "used up: " + text
	}
	c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(text, b.W-x))
}

// fullest returns the budgets of which most is used.
func (p page) fullest() []budget.Account {
	all := slices.Clone(p.Budgets)
	slices.SortStableFunc(all, func(a, b budget.Account) int { return cmp.Compare(shareOf(b), shareOf(a)) })
	return all[:min(len(all), mostBudgets)]
}

// until returns when a time to come is: how long it takes, and the hour or the day.
func until(at, now time.Time) string {
	form := "15:04"
	if at.Sub(now) > 20*time.Hour {
		form = "Mon 15:04"
	}
	return at.Local().Format(form) + ", in " + thread.Age(at.Sub(now))
}

// draw draws the page, with the groups in a window that scrolls.
func (p page) draw(c *layout.Canvas, b layout.Box, th *theme.Theme, groups *dialog.Rows[spending.Group]) {
	head, b := b.Top(1)
	x := c.PrintSpans(head, 0, 0, th, p.sums(head.W))
	if said := p.saved(); said != "" {
		if plain.Width(said) > head.W-x-2 {
			head, b = b.Top(1)
			c.Print(head, 0, 0, th.Style(theme.News), plain.Cut(said, head.W))
		} else {
			c.PrintRight(head, 0, 0, th.Style(theme.News), said)
		}
	}
	rows := 1
	if b.H >= 16 {
		rows = min(b.H/6, highest)
		_, b = b.Top(1)
	}
	top, b := b.Top(rows)
	p.chart(c, top, th)
	if b.H >= 12 {
		_, b = b.Top(1)
	}
	b, foot := b.Bottom(p.footRows(b))
	p.drawFoot(c, foot, th)
	heading, b := b.Top(1)
	p.drawTabs(c, heading, th)
	if len(p.Groups) == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut("Nothing was spent since "+date(p.Since), b.W))
		return
	}
	groups.Draw(c, b, th, func(row layout.Box, g spending.Group) {
		drawGroup(c, row, th, p.By, g, usd(p.Groups[0].Spent))
	})
}

// drawTabs draws by what there are groups; one of them is chosen.
func (p page) drawTabs(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	out := []styled.Span{{Text: "by ", Tok: theme.Muted}}
	for _, by := range tabs {
		tok, mark := theme.Muted, ""
		if by == p.By {
			tok, mark = theme.Heading, "▸"
		}
		word := string(by)
		if by == spending.BySession {
			word = "work session"
		}
		out = append(out, styled.Span{Text: mark + word + " ", Tok: tok})
	}
	out = append(out, styled.Span{Text: "since " + date(p.Since) + " ", Tok: theme.Muted})
	x := c.PrintSpans(b, 0, 0, th, out)
	for ; x < b.W; x++ {
		c.Print(b, x, 0, th.Style(theme.Border), "─")
	}
}

// mostQuotas is how many limits are shown.
const mostQuotas = 4

// mostBudgets is how many budgets are shown; `orchestrator budget` lists all.
const mostBudgets = 4

// footRows returns how many rows the limits and the legend take; the groups keep some.
func (p page) footRows(b layout.Box) int {
	n := min(len(p.Quotas), mostQuotas) + len(p.fullest()) + 1
	if b.H >= 12 {
		n++
	}
	return max(min(n, b.H-4), 1)
}

// drawFoot draws the limits, and what is not up to date or known.
func (p page) drawFoot(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	b, last := b.Bottom(1)
	if p.err != "" {
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("not up to date: "+plain.Line(p.err), last.W))
	} else {
		c.Print(last, 0, 0, th.Style(theme.Muted), plain.Cut("? = price unknown, never 0 · what the gateway saw", last.W))
	}
	budgets := p.fullest()
	budgets = budgets[:min(len(budgets), b.H)]
	n := min(len(p.Quotas), mostQuotas, b.H-len(budgets))
	_, b = b.Bottom(n + len(budgets))
	for y, a := range budgets {
		drawBudget(c, b.Row(y), th, a)
	}
	for y := range n {
		drawQuota(c, b.Row(len(budgets)+y), th, p.Quotas[y], p.now)
	}
}

// tabs are by what spending is grouped, in the order of the key that goes on.
var tabs = [...]spending.By{spending.ByModel, spending.ByAgent, spending.ByThread, spending.BySession}

// periods are in the order of the keys that go to the left and right.
var periods = [...]spending.Period{spending.Today, spending.Week, spending.Month}
