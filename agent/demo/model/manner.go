package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// manner is how the calls of a prompt are made, from the marks in it.
type manner struct {
	together bool // all in one answer
	times    int  // how often each is made
	stands   string
	changes  bool
}

var (
	togetherMark = pattern.Lazy(`(?:^|\s)#together\b`)
	timesMark    = pattern.Lazy(`(?:^|\s)#times:(\d{1,4})\b`)
	standsMark   = pattern.Lazy(`(?:^|\s)#(withdraw|change):(\w[\w.]*)`)
)

// changed is added to a command that takes the place of another one.
const changed = "-changed"

// manners reads the marks of a prompt.
func manners(prompt string) manner {
	m := manner{together: togetherMark().MatchString(prompt), times: 1}
	if times := timesMark().FindStringSubmatch(prompt); times != nil {
		m.times = number(times[1])
	}
	if stands := standsMark().FindStringSubmatch(prompt); stands != nil {
		if _, err := time.ParseDuration(stands[2]); err == nil {
			m.stands, m.changes = stands[2], stands[1] == "change"
		}
	}
	return m
}

// apply returns the steps as they are to be made.
func (m manner) apply(steps []step) []step {
	var all []step
	for _, s := range steps {
		times := m.times
		switch {
		case s.call == nil:
			times = 1
		case m.stands != "" && (s.call.Name == "run_command" || s.call.Name == "ask_person"):
			c := *s.call
			c.Args = maps.Clone(c.Args)
			c.Args["stands"] = m.stands
			if m.changes && c.Name == "run_command" {
				c.Args["instead"] = arg(c, "command") + changed
			}
			s.call = &c
		}
		all = append(all, slices.Repeat([]step{s}, times)...)
	}
	return all
}

// reporting matches what an agent is asked that may make no calls any more: what it has done, and what is missing.
var reporting = pattern.Lazy(`(?i)^\s*(?:you have used all your\b|report (?:your )?progress\b)`)

// progress says what was done for the prompt before, and what is missing of it.
func progress(t scripted.Turn) string {
	var prompt string
	called := map[string]int{}
	n := 0
	for _, m := range t.History {
		switch {
		case m.Role == scripted.User && m.Text != t.Prompt:
			prompt, n = m.Text, 0
			clear(called)
		case m.Role == scripted.Result:
			n++
		case m.Call != "":
			called[m.Call]++
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(called)) {
		names = append(names, fmt.Sprintf("%s %d", shown(name), called[name]))
	}
	text := fmt.Sprintf("Progress: I made %s.", things(n, "call"))
	if len(names) > 0 {
		text = fmt.Sprintf("Progress: I made %s (%s).", things(n, "call"), strings.Join(names, ", "))
	}
	var missing []string
	for _, s := range manners(unquoted(prompt)).apply(plan(marks().ReplaceAllString(task(prompt), " "), t.Tools)) {
		if s.call != nil {
			missing = append(missing, strings.TrimSuffix(strings.TrimPrefix(announce([]scripted.Call{*s.call}), "I will "), "."))
		}
	}
	if missing = missing[min(n, len(missing)):]; len(missing) == 0 {
		return text + " Gap: none."
	}
	return text + fmt.Sprintf(" Gap: %s left; the next is to %s.", things(len(missing), "call"), missing[0])
}
