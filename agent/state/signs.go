package state

import (
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
)

// Signs is what a program of which nothing is known shows of its state in ways that many share: its title, the
// progress it reports (OSC 9;4), its bell and notifications, and menus and questions on its screen.
type Signs struct {
	title    string
	progress int
	reported bool   // it has reported progress before
	worked   bool   // it was seen at work since the person typed last
	calls    string // what it rang or notified of since
}

// Title takes the terminal's new title.
func (s *Signs) Title(title string) { s.title = title }

// Progress takes a report of progress: 0 none, 1 normal, 2 error, 3 busy without a number, 4 paused.
func (s *Signs) Progress(state int) {
	s.progress, s.reported = state, true
}

// Worked notes that the program was at work by other evidence.
func (s *Signs) Worked() { s.worked = true }

// Bell takes the bell. One that answers a key, as shells do, or comes before any work calls nobody.
func (s *Signs) Bell() {
	if s.worked && s.calls == "" {
		s.calls = "rang the bell"
	}
}

// Notified takes a notification for the person.
func (s *Signs) Notified(text string) {
	if text = Clean(text); text != "" {
		s.calls = "notifies: " + text
	}
}

// Answered notes that the person typed: what the program called for is under way.
func (s *Signs) Answered() { s.calls, s.worked = "", false }

// patterns are what menus and questions of programs look like.
type patterns struct{ marked, chosen, item, keys, asks, allow *regexp.Regexp }

var known = sync.OnceValue(func() patterns {
	return patterns{
		marked: regexp.MustCompile(`(?m)^[\s│┃|]*[❯›●▶➤>]\s*\(?\d{1,2}[.)]\s`),
		chosen: regexp.MustCompile(`(?m)^[\s│┃|]*[❯›●▶➤]\S?\s*\(?\d{1,2}[.)]\s+(Yes|No|Allow|Approve|Accept|Trust|Don't trust|Deny|Reject|Proceed|Continue|Skip|Cancel)\b`),
		item:   regexp.MustCompile(`(?m)^[\s│┃|❯›●▶➤>]*\(?\d{1,2}[.)]\s`),
		keys: regexp.MustCompile(`(?i)(\b(enter|return)\b|↵)[^\n]{0,24}\b(select|confirm|submit|continue|choose|approve|accept)|` +
			`\besc(ape)?\b( to)? (cancel|reject|dismiss|go back)\b`),
		asks:  regexp.MustCompile(`(?i)(\[y/n\]|\(y/n\)|\[yes/no\]|\(yes/no\)|\bpassword( for \S+)?|press (enter|return|any key)[^\n]{0,24})\s*[:?]?$`),
		allow: regexp.MustCompile(`(?i)\b(allow|approve|permission|do you want to|trust)\b`),
	}
})

// Look returns what the program seems to do by its signs, the live lines of its screen among them; false when they say
// nothing. quiet is set when it prints nothing now.
func (s *Signs) Look(lines []string, quiet bool, at time.Time) (thread.Evidence, bool) {
	e := thread.Evidence{Source: thread.SourceScreen, At: at}
	say := func(state thread.State, detail string) (thread.Evidence, bool) {
		e.State, e.Detail = state, detail
		return e, true
	}
	if state, detail := dialogOn(lines); state != "" {
		return say(state, detail)
	}
	title, said := titled(s.title)
	switch {
	case s.calls != "" && quiet && title != thread.StateWorking && s.progress != 1 && s.progress != 3:
		return say(thread.StateQuestion, s.calls)
	case dialog(title):
		return say(title, said)
	case s.progress == 1 || s.progress == 3:
		s.worked = true
		return say(thread.StateWorking, "reports progress")
	case s.progress == 2:
		return say(thread.StateFailed, "reports an error as its progress")
	case s.progress == 4:
		return say(thread.StateQuestion, "reports that its progress is paused")
	case title != "":
		s.worked = s.worked || title == thread.StateWorking
		return say(title, said)
	case s.reported && quiet:
		return say(thread.StateIdle, "reports no progress any more")
	}
	return e, false
}

// dialogOn finds a menu or question among the last lines of a screen.
func dialogOn(lines []string) (state thread.State, detail string) {
	const most = 24
	var filled []string
	for _, l := range lines {
		if l = strings.TrimRight(l, " │┃|"); strings.TrimSpace(l) != "" {
			filled = append(filled, l)
		}
	}
	if len(filled) == 0 {
		return "", ""
	}
	p := known()
	filled = filled[max(0, len(filled)-most):]
	text := strings.Join(filled, "\n")
	foot := strings.Join(filled[max(0, len(filled)-6):], "\n")
	switch {
	case p.marked.MatchString(text) && len(p.item.FindAllStringIndex(text, 2)) > 1 && p.keys.MatchString(text):
		detail = "a menu is open"
	case p.chosen.MatchString(text) && len(p.item.FindAllStringIndex(text, 2)) > 1:
		detail = "a menu is open"
	case p.keys.MatchString(foot) && p.marked.MatchString(text):
		detail = "a menu is open"
	case p.asks.MatchString(filled[len(filled)-1]):
		return thread.StateQuestion, "asks: " + Clean(filled[len(filled)-1])
	default:
		return "", ""
	}
	if p.allow.MatchString(text) {
		return thread.StateApproval, "asks for permission"
	}
	return thread.StateQuestion, detail
}

// titled reads the marks that agents put before their titles.
func titled(title string) (thread.State, string) {
	title = strings.TrimSpace(title)
	mark, _ := utf8.DecodeRuneInString(title)
	switch {
	case title == "":
		return "", ""
	case strings.ContainsRune("✋⚠", mark), strings.Contains(title, "Action Required"):
		return thread.StateApproval, "title asks for action"
	case mark >= '⠁' && mark <= '⣿', strings.ContainsRune("◐◑◒◓◴◵◶◷✦⏳", mark):
		return thread.StateWorking, "title shows work"
	case strings.ContainsRune("✳◇", mark):
		return thread.StateIdle, "title shows rest"
	}
	return "", ""
}
