package pager

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

func draw(p *Pager) string {
	var c layout.Canvas
	c.Reset(20, 10)
	p.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), true)
	return c.String()
}

func filled(n int) *Pager {
	p := &Pager{}
	var lines []styled.Line
	for i := range n {
		lines = append(lines, styled.Line{Spans: []styled.Span{{Text: fmt.Sprint("line ", i)}}, Ref: i / 10})
	}
	p.Set(lines)
	return p
}

func TestMoves(t *testing.T) {
	p := filled(100)
	draw(p)
	for _, a := range []intent.Action{intent.Last, intent.PageUp, intent.Up, intent.First, intent.PageDown,
		intent.Down} {
		if !p.Handle(a) {
			t.Errorf("%s is not taken", a)
		}
		draw(p)
		if p.win.At() < p.win.Above() || p.win.At() >= p.win.Above()+10 {
			t.Errorf("%s: cursor %d is not on screen from %d", a, p.win.At(), p.win.Above())
		}
	}
	if p.Handle(intent.Fork) {
		t.Error("fork is taken")
	}
	p.GoRef(5)
	if p.win.At() != 50 || p.Ref() != 5 {
		t.Errorf("ref leads to %d", p.win.At())
	}
}

func TestSearch(t *testing.T) {
	p := filled(100)
	draw(p)
	if n := p.Search("LINE 9"); n != 11 || p.win.At() != 9 {
		t.Errorf("%d matches, at %d", n, p.win.At())
	}
	p.Handle(intent.NextHit)
	if p.win.At() != 90 {
		t.Errorf("next is at %d", p.win.At())
	}
	p.Handle(intent.PrevHit)
	p.Handle(intent.PrevHit)
	if p.win.At() != 99 {
		t.Errorf("going round leads to %d", p.win.At())
	}
	if got := draw(p); !strings.Contains(got, "\x1b[4;7mline 9") {
		t.Errorf("the match is not marked: %q", got)
	}
	free := filled(100)
	free.Free = true
	draw(free)
	free.Search("line 55")
	if got := draw(free); !strings.Contains(got, "line 54") {
		t.Errorf("a free pager does not show the match: %s", got)
	}
}
