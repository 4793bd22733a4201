package model

import (
	"fmt"
	"strings"

	"orchestrator/agent/scripted"
)

// lines splits a text into its lines; an empty text has none.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// head returns the first n lines of a text, and how many more there are.
func head(s string, n int) string {
	ls := lines(s)
	if len(ls) <= n {
		return s
	}
	return strings.Join(ls[:n], "\n") + fmt.Sprintf("\n… %s more", things(len(ls)-n, "line"))
}

// things returns a number of things, in words.
func things(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// upper capitalises the first letter of a text.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// clip shortens a text to one line of at most n runes.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// filler returns an answer of n lines.
func filler(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%5d  A long answer goes on, line after line, so that there is something to scroll through.\n", i)
	}
	return b.String()
}

// counted returns an answer that counts.
func counted(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintln(&b, i)
	}
	return strings.TrimSpace(b.String())
}

// number parses digits; without any it is 0.
func number(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

// arg returns a string argument of a call.
func arg(c scripted.Call, name string) string {
	s, _ := c.Args[name].(string)
	return s
}
