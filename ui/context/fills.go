package context

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// fill is a part of a context as it is drawn.
type fill struct {
	name   string
	letter string // where there are no colours
	shade  string // of a cell where there are; "" is full
	tok    theme.Token
	tokens int64
}

// kinds are the kinds of parts besides results, in the order of a request. Those that are small stand beside each other:
// they differ by more than their colours.
var kinds = [...]struct {
	kind, name, letter, shade string
	tok                       theme.Token
}{
	{"system", "system", "S", "█", theme.FillSystem},
	{"tools", "tools", "T", "▓", theme.FillTools},
	{"messages", "messages", "M", "▒", theme.FillMessages},
	{"inputs", "inputs", "I", "░", theme.FillInputs},
}

// tools are the styles of the tools with the most results.
var tools = [...]theme.Token{theme.FillFirst, theme.FillSecond, theme.FillThird, theme.FillFourth}

// fillsOf sums up parts: those that are no results by their kind, results by their tool, largest first, and at the end
// what is of another kind.
func fillsOf(parts []thread.ContextPart) []fill {
	sums, byTool := map[string]int64{}, map[string]int64{}
	for _, p := range parts {
		if p.Tokens <= 0 {
			continue
		}
		if p.Kind == "results" {
			byTool[p.Name] += p.Tokens
			continue
		}
		sums[p.Kind] += p.Tokens
	}
	var out []fill
	used := map[string]bool{"O": true, "X": true}
	for _, k := range kinds {
		used[k.letter] = true
		if n := sums[k.kind]; n > 0 {
			out = append(out, fill{name: k.name, letter: k.letter, shade: k.shade, tok: k.tok, tokens: n})
		}
		delete(sums, k.kind)
	}
	var named []fill
	for name, n := range byTool {
		clean := plain.Line(start(name))
		if clean == "" {
			clean = "results"
		}
		named = append(named, fill{name: clean, tokens: n})
	}
	slices.SortFunc(named, func(a, b fill) int {
		return cmp.Or(cmp.Compare(b.tokens, a.tokens), strings.Compare(a.name, b.name))
	})
	for i := range named {
		if i < len(tools) {
			named[i].tok, named[i].letter = tools[i], letterOf(named[i].name, used)
		}
	}
	out = append(out, named...)
	var rest int64
	for _, n := range sums {
		rest += n
	}
	if rest > 0 {
		out = append(out, fill{name: "else", letter: "X", tok: theme.FillOther, tokens: rest})
	}
	return out
}

// letterOf returns the first letter of a name that is not used yet, and uses it up.
func letterOf(name string, used map[string]bool) string {
	for _, r := range strings.ToUpper(name) + "ABCDEFGHJKLNPQRUVWYZ" {
		if l := string(r); r < unicode.MaxASCII && unicode.IsUpper(r) && !used[l] {
			used[l] = true
			return l
		}
	}
	return "?"
}

// atMost sums up the results of all tools but the first few.
func atMost(fills []fill, few int) []fill {
	var out []fill
	other := fill{name: "others", letter: "O", tok: theme.FillOther}
	n, count, at := 0, 0, -1
	for _, f := range fills {
		if f.tok < theme.FillFirst && f.tok >= theme.FillSystem || f.letter == "X" {
			out = append(out, f)
			continue
		}
		if n++; n <= few && f.letter != "" {
			out = append(out, f)
			continue
		}
		if at < 0 {
			at = len(out)
		}
		other.tokens += f.tokens
		if count++; count == 1 {
			other.name = f.name
		} else {
			other.name = "others"
		}
	}
	if at >= 0 {
		out = slices.Insert(out, at, other)
	}
	return out
}

// scale is what a bar shows.
type scale struct {
	window, tokens, masked int64 // window is 0 if it is unknown
}

// whole returns the tokens of the whole bar.
func (s scale) whole() float64 {
	if s.window > 0 {
		return float64(s.window)
	}
	return float64(s.tokens) + float64(s.masked)
}

// edges returns where each fill ends in a bar of w cells, and after them what is masked. What is something has a cell,
// unless there are too many.
func (s scale) edges(fills []fill, w int) []int {
	sum, whole := 0.0, s.whole()
	for _, f := range fills {
		sum += float64(f.tokens)
	}
	if sum <= 0 || whole <= 0 {
		return make([]int, len(fills)+1)
	}
	cells := func(tokens float64) int { return min(int(min(tokens/whole, 1)*float64(w)+0.5), w) }
	out := make([]int, 0, len(fills)+1)
	so, begins := 0.0, 0
	for _, f := range fills {
		so += float64(f.tokens)
		end := cells(so / sum * float64(s.tokens))
		if f.tokens > 0 && s.tokens > 0 && len(fills) < w/2 {
			end = min(max(end, begins+1), w)
		}
		out, begins = append(out, end), end
	}
	if s.window > 0 { // what is masked is not in the window
		return append(out, begins)
	}
	return append(out, max(cells(float64(s.tokens)+float64(s.masked)), begins))
}

// bands are the shares at which bands begin, in percent.
var bands = [...]int{30, 60, 90}

// drawBar draws a bar with the fills side by side, and the bands in what is free. Of an unknown window there is nothing
// free: what is masked comes after the fills, hatched.
func drawBar(c *layout.Canvas, b layout.Box, th *theme.Theme, fills []fill, s scale) {
	x := 0
	edges := s.edges(fills, b.W)
	for i, f := range fills {
		for ; x < edges[i]; x++ {
			c.Print(b, x, 0, th.Style(f.tok), f.cell(th))
		}
	}
	for ; x < edges[len(fills)]; x++ {
		c.Print(b, x, 0, th.Style(theme.Muted), masked)
	}
	for ; x < b.W; x++ {
		cell := free
		for _, band := range bands {
			if s.window > 0 && x == band*b.W/100 {
				cell = "│"
			}
		}
		c.Print(b, x, 0, th.Style(theme.Track), cell)
	}
}

// cell returns a cell of a fill.
func (f fill) cell(th *theme.Theme) string {
	if mono(th) {
		return f.letter
	}
	return cmp.Or(f.shade, "█")
}
