package program

import (
	"fmt"
	"strings"
)

const (
	partialTop = 6 // lines of an unfinished line of the answer that are shown
	resultTop  = 5 // lines of a tool's output that are shown
)

// output lays out a turn's text and the results of its tools. Finished lines go above the live part and are not
// redrawn; the answer's last line belongs to the live part until it is finished.
type output struct {
	screen  *screen
	partial string // last line of the answer while it grows
	began   bool   // the answer's first line was printed
}

// say adds to the answer and returns the lines that are now finished.
func (o *output) say(text string) []line {
	o.partial += text
	cut := strings.LastIndexByte(o.partial, '\n')
	if cut < 0 {
		return nil
	}
	done := o.partial[:cut]
	o.partial = o.partial[cut+1:]
	return o.finished(done)
}

// flush finishes the answer's last line.
func (o *output) flush() []line {
	done := o.partial
	o.partial = ""
	var out []line
	if done != "" {
		out = o.finished(done)
	}
	o.began = false
	return out
}

func (o *output) finished(text string) []line {
	lead := "  "
	var out []line
	if !o.began {
		o.began, lead = true, "● "
		out = append(out, line{})
	}
	return append(out, o.screen.wrapped(styleNone, lead, "  ", text)...)
}

// live returns the answer's last line.
func (o *output) live() []line {
	if o.partial == "" {
		return nil
	}
	lead := "  "
	var out []line
	if !o.began {
		out, lead = append(out, line{}), "● "
	}
	grown := o.screen.wrapped(styleNone, lead, "  ", o.partial)
	return append(out, grown[max(0, len(grown)-partialTop):]...)
}

// result returns the beginning of a tool's result.
func (o *output) result(r returned) []line {
	style := styleDim
	if r.failed {
		style = styleWarn
	}
	all := strings.Split(strings.TrimRight(plain(r.text), "\n"), "\n")
	var out []line
	for i, t := range all[:min(len(all), resultTop)] {
		lead := "    "
		if i == 0 {
			lead = "  └ "
		}
		out = append(out, line{style: style, text: lead + o.screen.clipped(t, 6)})
	}
	if n := len(all) - resultTop; n > 0 {
		out = append(out, line{style: style, text: fmt.Sprintf("    … %d more lines", n)})
	}
	return out
}
