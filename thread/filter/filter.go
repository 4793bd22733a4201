// Package filter selects threads by a line of text, the same in lists of screens and of verbs.
//
// A filter is made of terms between blanks, and all must hold. A word must be contained in what a list says of a
// thread: its name, agent, model, state or group; case does not matter, and "two words" stand in quotes. agent=demo,
// model=, state=, name= and branch= ask for one of these, ctx>60, cost>1 and turns>=3 compare numbers. ! before a term
// inverts it. What is not known, such as the share of a window that is not known, is neither more nor less than a number.
package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// Hint says in a few words what can be asked for.
const Hint = "words  !not  agent=  model=  state=  ctx>60  cost>1"

// Filter selects threads. The zero value selects all.
type Filter struct {
	terms []term
}

// term is a condition.
type term struct {
	not   bool
	field string // "" for a word
	op    string
	text  string
	num   float64
}

// fields are what terms ask for, in the order in which they are named to people; the true ones are numbers.
func fields() []string {
	return []string{"agent", "model", "state", "name", "branch", "ctx", "cost", "turns"}
}

func isNumber(field string) bool { return field == "ctx" || field == "cost" || field == "turns" }

// Parse reads a filter. With an error, which says what is wrong and what to write instead, the filter is that of the
// other terms: it is read while it is typed.
func Parse(text string) (Filter, error) {
	var f Filter
	var wrong error
	for _, word := range split(text) {
		t, err := parse(word)
		if err != nil {
			wrong = cmp.Or(wrong, err)
			continue
		}
		f.terms = append(f.terms, t)
	}
	return f, wrong
}

// Empty reports whether a filter selects all threads.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// split returns the terms of a text. Names of groups are one term, in quotes or not.
func split(text string) []string {
	var out []string
	var now strings.Builder
	quoted, any := false, false
	end := func() {
		if any {
			out = append(out, now.String())
		}
		now.Reset()
		any = false
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case r == '"':
			quoted, any = !quoted, true
			now.WriteRune(r)
		case (r == ' ' || r == '\t') && !quoted:
			end()
		default:
			any = true
			now.WriteRune(r)
		}
	}
	end()
	return joinGroups(out)
}

// joinGroups joins the words of a group's name: “!needs you” is about the group.
func joinGroups(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		for _, g := range thread.Groups() {
			first, second, two := strings.Cut(string(g), " ")
			if bare := word[strings.LastIndexAny(word, "!=")+1:]; two && bare == first && i+1 < len(words) && words[i+1] == second {
				word += " " + second
				i++
				break
			}
		}
		out = append(out, word)
	}
	return out
}

// parse reads a term.
func parse(word string) (term, error) {
	var t term
	rest := word
	for strings.HasPrefix(rest, "!") {
		t.not, rest = !t.not, rest[1:]
	}
	at := strings.IndexAny(rest, `=<>!"`)
	if at < 0 || rest[at] == '"' && at == 0 || rest[at] == '!' && !strings.HasPrefix(rest[at:], "!=") {
		t.text = strings.ReplaceAll(rest, `"`, "")
		if t.text == "" {
			return t, fmt.Errorf("%s: a word is missing. Write it behind, as in !idle", word)
		}
		return t, nil
	}
	t.field = rest[:at]
	for _, op := range []string{"!=", ">=", "<=", "=", ">", "<"} {
		if strings.HasPrefix(rest[at:], op) {
			t.op, t.text = op, strings.ReplaceAll(rest[at+len(op):], `"`, "")
			break
		}
	}
	switch {
	case t.op == "" || !slices.Contains(fields(), t.field):
		return t, fmt.Errorf("%s: no field %q. Use %s, or put the text in quotes", word, t.field, strings.Join(fields(), ", "))
	case isNumber(t.field):
		num, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(t.text, "$"), "%"), 64)
		if err != nil || math.IsNaN(num) {
			return t, fmt.Errorf("%s: a number is missing. Write one, as in %s>60", word, t.field)
		}
		t.num = num
	case t.op != "=" && t.op != "!=":
		return t, fmt.Errorf("%s: %s is a text. Compare it with = or !=", word, t.field)
	case t.text == "":
		return t, fmt.Errorf("%s: a text is missing. Write it behind, as in %s=demo", word, t.field)
	}
	return t, nil
}

// Match reports whether a thread is selected.
func (f Filter) Match(s *thread.Status) bool {
	for _, t := range f.terms {
		if t.holds(s) == t.not {
			return false
		}
	}
	return true
}

func (t term) holds(s *thread.Status) bool {
	if !isNumber(t.field) {
		has := strings.Contains(strings.ToLower(strings.Join(facts(s, t.field), "\n")), t.text)
		return has == (t.op != "!=")
	}
	n, known := number(s, t.field)
	if !known {
		return false
	}
	switch t.op {
	case ">":
		return n > t.num
	case "<":
		return n < t.num
	case ">=":
		return n >= t.num
	case "<=":
		return n <= t.num
	case "!=":
		return n != t.num
	default:
		return n == t.num
	}
}

// facts returns the texts of a field, or those that words are looked for in.
func facts(s *thread.Status, field string) []string {
	names := []string{s.Name, s.Title, s.Label}
	state := []string{string(s.State.State), s.State.State.Word(), string(s.Group()), string(s.Outcome.Kind)}
	model := cmp.Or(s.Gauge.Model, s.Model)
	switch field {
	case "agent":
		return []string{s.Agent}
	case "model":
		return []string{model}
	case "state":
		return state
	case "name":
		return names
	case "branch":
		return []string{s.Worktree.Branch}
	default:
		return append(append(names, s.Agent, model), state...)
	}
}

// number returns the number of a field, as it is shown to people.
func number(s *thread.Status, field string) (n float64, known bool) {
	switch field {
	case "ctx":
		return math.Floor(s.Gauge.Share()), s.Gauge.Window > 0
	case "cost":
		return s.Cost()
	default:
		return float64(s.Turn), true
	}
}
