package state

import (
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
)

// Signs are the indications of its state that an unknown program gives in ways that many share: its title, the progress
// it reports (OSC 9;4), its bell and notifications, and menus and questions on its screen.
type Signs struct {
	title    string
	progress int
	reported bool   // it has reported progress
	worked   bool   // it has worked since the person last typed
	calls    string // the bell or notification since then
}

// Title records the terminal's new title.
func (s *Signs) Title(title string) { s.title = title }

// Progress records reported progress: 0 none, 1 normal, 2 error, 3 indeterminate, 4 paused.
func (s *Signs) Progress(state int) {
	s.progress, s.reported = state, true
}

// Worked records that the program is working, from other evidence.
func (s *Signs) Worked() { s.worked = true }

// Bell records a bell. A bell in reply to a key, as shells ring it, or before any work is ignored.
func (s *Signs) Bell() {
	if s.worked && s.calls == "" {
		s.calls = "rang the bell"
	}
}

// Notified records a notification for the person.
func (s *Signs) Notified(text string) {
	if text = Clean(text); text != "" {
		s.calls = "notification: " + text
	}
}

// Answered records that the person typed: earlier calls for attention are over.
func (s *Signs) Answered() { s.calls, s.worked = "", false }

// patterns match menus and questions of programs.
type patterns struct{ marked, chosen, item, keys, asks, allow *regexp.Regexp }

var known = sync.OnceValue(func() patterns {
	return patterns{
		marked: regexp.MustCompile(`(?m)^[\s│┃|]*[❯›●▶➤>]\s*\(?\d{1,2}[.)]\s`),
		chosen: regexp.MustCompile(`(?m)^[\s│┃|]*[❯›●▶➤]\S?\s*\(?\d{1,2}[.)]\s+` +
			`(Yes|No|Allow|Approve|Accept|Trust|Don't trust|Deny|Reject|Proceed|Continue|Skip|Cancel)\b`),
		item: regexp.MustCompile(`(?m)^[\s│┃|❯›●▶➤>]*\(?\d{1,2}[.)]\s`),
		keys: regexp.MustCompile(`(?i)(\b(enter|return)\b|↵)[^\n]{0,24}` +
			`\b(select|confirm|submit|continue|choose|approve|accept)|` +
			`\besc(ape)?\b( to)? (cancel|reject|dismiss|go back)\b`),
		asks: regexp.MustCompile(`(?i)(\[y/n\]|\(y/n\)|\[yes/no\]|\(yes/no\)|\bpassword( for \S+)?|` +
			`press (enter|return|any key)[^\n]{0,24})\s*[:?]?$`),
		allow: regexp.MustCompile(`(?i)\b(allow|approve|permission|do you want to|trust)\b`),
	}
})

// Evidence returns what the program seems to do, from its signs and the live lines of its screen; false if they
// indicate nothing. quiet is set if it is printing nothing at the moment.
func (s *Signs) Evidence(lines []string, quiet bool, at time.Time) (thread.Evidence, bool) {
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
		return say(thread.StateFailed, "reports an error")
	case s.progress == 4:
		return say(thread.StateQuestion, "reports that it is paused")
	case title != "":
		s.worked = s.worked || title == thread.StateWorking
		return say(title, said)
	case s.reported && quiet:
		return say(thread.StateIdle, "no longer reports progress")
	}
	return e, false
}

// dialogOn finds a menu or question among the last lines of a screen.
func dialogOn(lines []string) (state thread.State, detail string) {
	const most = 24
	var nonEmpty []string
	for _, l := range lines {
		if l = strings.TrimRight(l, " │┃|"); strings.TrimSpace(l) != "" {
			nonEmpty = append(nonEmpty, l)
		}
	}
	if len(nonEmpty) == 0 {
		return "", ""
	}
	p := known()
	nonEmpty = nonEmpty[max(0, len(nonEmpty)-most):]
	text := strings.Join(nonEmpty, "\n")
	foot := strings.Join(nonEmpty[max(0, len(nonEmpty)-6):], "\n")
	switch {
	case p.marked.MatchString(text) && len(p.item.FindAllStringIndex(text, 2)) > 1 && p.keys.MatchString(text):
		detail = "a menu is open"
	case p.chosen.MatchString(text) && len(p.item.FindAllStringIndex(text, 2)) > 1:
		detail = "a menu is open"
	case p.keys.MatchString(foot) && p.marked.MatchString(text):
		detail = "a menu is open"
	case p.asks.MatchString(nonEmpty[len(nonEmpty)-1]):
		return thread.StateQuestion, "asks: " + Clean(nonEmpty[len(nonEmpty)-1])
	default:
		return "", ""
	}
	if p.allow.MatchString(text) {
		return thread.StateApproval, "asks for permission"
	}
	return thread.StateQuestion, detail
}

// titled interprets the symbols that agents put at the beginning of their titles.
func titled(title string) (thread.State, string) {
	title = strings.TrimSpace(title)
	mark, _ := utf8.DecodeRuneInString(title)
	switch {
	case title == "":
		return "", ""
	case strings.ContainsRune("✋⚠", mark), strings.Contains(title, "Action Required"):
		return thread.StateApproval, "title asks for action"
	case mark >= '⠁' && mark <= '⣿', strings.ContainsRune("◐◑◒◓◴◵◶◷✦⏳", mark):
		return thread.StateWorking, "title shows activity"
	case strings.ContainsRune("✳◇", mark):
		return thread.StateIdle, "title shows idle"
	}
	return "", ""
}
