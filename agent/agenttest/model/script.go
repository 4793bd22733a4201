package model

import (
	"strconv"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// Script answers model requests.
type Script func(Turn) scripted.Reply

// defaultUsage makes plausible numbers from sizes: a quarter token a byte, mostly cached.
func defaultUsage(size int, r scripted.Reply) scripted.Usage {
	total := int64(size)/4 + 1
	out := int64(len(r.Text)+len(r.Thinking))/4 + 1
	for _, c := range r.Calls {
		out += int64(len(encode(c.Args)))/4 + 1
	}
	return scripted.Usage{Input: total - total*8/10, CacheRead: total * 8 / 10, Output: out}
}

// marker matches the markers in a prompt.
var marker = pattern.Lazy(`#(say|bash|read|write|think|big|usage|status|hold|cut|page|flagged|unchecked|escalate|with)\b:?`)

// Markers is the Script that reads the markers of the prompt.
func Markers(t Turn) scripted.Reply {
	if t.Side {
		return side(t)
	}
	steps := parseSteps(t)
	if len(steps) == 0 {
		return scripted.Reply{Text: "answer to: " + t.Prompt}
	}
	if t.Round < len(steps) {
		return steps[t.Round]
	}
	return scripted.Reply{Text: "done"} // every step was a tool call
}

// side answers requests that are not part of the main conversation: titles, summaries, classifiers.
func side(t Turn) scripted.Reply {
	if t.Schema {
		return scripted.Reply{Text: `{"title":"Scripted title"}`}
	}
	return scripted.Reply{Text: "Scripted title"}
}

// parseSteps converts a prompt's markers to one reply per request.
func parseSteps(t Turn) []scripted.Reply {
	var steps []scripted.Reply
	var next scripted.Reply
	escalate := false
	with := false // the next call is one more of the answer before
	finish := func(r scripted.Reply) {
		if n := len(steps) - 1; with && n >= 0 {
			steps[n].Calls = append(steps[n].Calls, r.Calls...)
		} else {
			steps = append(steps, r)
		}
		with, next = false, scripted.Reply{}
	}
	at := marker().FindAllStringSubmatchIndex(t.Prompt, -1)
	for i, m := range at {
		end := len(t.Prompt)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		value := t.Prompt[m[1]:end]
		if cut := strings.IndexByte(value, '\n'); cut >= 0 {
			value = value[:cut]
		}
		value = strings.TrimSpace(value)
		switch t.Prompt[m[2]:m[3]] {
		case "say":
			next.Text = value
			finish(next)
		case "big":
			next.Text = filler(number(value))
			finish(next)
		case "bash":
			next.Calls = []scripted.Call{t.Shell(value, escalate)}
			escalate = false
			finish(next)
		case "read":
			next.Calls = []scripted.Call{t.Read(value)}
			finish(next)
		case "write":
			path, text, _ := strings.Cut(value, "=")
			next.Calls = []scripted.Call{t.Write(path, text)}
			finish(next)
		case "think":
			next.Thinking = value
		case "usage":
			next.Usage = parseUsage(value)
		case "status":
			code, times, _ := strings.Cut(value, "x")
			next.Status, next.Fails = number(code), number(times)
		case "hold":
			next.Hold = value
		case "cut":
			next.Cut = true
		case "page":
			next.Page = true
		case "flagged":
			next.Verdict = scripted.Flagged
		case "unchecked":
			next.Verdict = scripted.Unchecked
		case "escalate":
			escalate = true
		case "with":
			with = true
		}
	}
	if next.Status != 0 || next.Hold != "" || next.Cut || next.Page || next.Thinking != "" ||
		next.Usage != (scripted.Usage{}) {
		next.Text = "answer to: " + t.Prompt
		finish(next)
	}
	return steps
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

func parseUsage(s string) scripted.Usage {
	var n [4]int64
	for i, part := range strings.SplitN(s, ",", 4) {
		n[i] = int64(number(part))
	}
	return scripted.Usage{Input: n[0], CacheRead: n[1], CacheWrite: n[2], Output: n[3]}
}

// filler returns n bytes of words.
func filler(n int) string {
	const word = "lorem ipsum "
	return strings.Repeat(word, n/len(word)+1)[:n]
}
