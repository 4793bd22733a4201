package model

import (
	"fmt"
	"strings"
	"time"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// shownLines is how many lines of a file or of a command's output an answer repeats.
const shownLines = 12

// tour is the answer to a greeting: what to type to see each part of the screen, in the order of the README's tour. Its
// lines are short enough for a narrow pane.
const tour = `Hello! I am a script, not a language model, but what I do in this folder is real. Type these:

- write notes.txt: buy milk (a file, a diff)
- run ls -la (I ask before I do it)
- ask: Which? [red | green] (a question)
- count to 200 (text to scroll and copy)
- run seq 3300 (a long result, masked later)
- add the notes server (MCP: m accepts it)
- call notes__add buy milk (a tool of it)
- thanks #limit:61 (a limit of the provider)
- thanks #500 (a failure)
- what did I ask before? (in a fork, too)

help lists everything that I understand.`

// help describes the model at length.
const help = `I understand:

- list files
- what is in this project?
- read README.md
- explain main.go
- write notes.txt: buy milk
- replace milk with bread in notes.txt
- run git status
- todo: buy milk, call Ann
- run the tests
- search TODO
- write hello.txt: hi, then read hello.txt
- ask: Which colour? [red | green | blue]
- plan: a shelf, then write shelf.txt: oak
- count to 200
- what time is it?
- what did I ask before?
- which tools do you have?
- add the notes server
- call notes__add buy milk
- say hello

Before I run a command or call a tool of an MCP server I ask you. These in a prompt change the answer:

- #slow:5s (wait), #long:500 (lines), #fast
- #429, #500, #529 (refused), #cut (cut off)
- #429x2:30 (twice, to be tried after 30 s)
- #401 #after:2 (refused after two calls)
- #limit:61 (61 % of a limit are used)
- #usage:0 (said to be what it cost)
- #together (all calls at once)
- #times:25 (each call so often)
- #withdraw:5s (questions are taken back then)
- #change:5s (a command is asked for with
  -changed at its end instead)

A line that begins with #json: {"a": 1} is
answered with that JSON, as an agent of a
plan hands it over. And crash ends me, and
hang has me do nothing.`

var (
	greeting = pattern.Lazy(`(?i)^(?:hi|hello|hey|good (?:morning|evening|day))\b`)
	helping  = pattern.Lazy(`(?i)^(?:help|what can you do)$`)
	memory   = pattern.Lazy(`(?i)\b(?:what|which)\b.*\b(?:did i|have i|i)\b.*\b(?:ask|say|said|tell|told)|` +
		`\bremember\b.*\?|\bour conversation\b`)
	thanks = pattern.Lazy(`(?i)^(?:thanks|thank you|great|nice|good|perfect)\b`)
	clock  = pattern.Lazy(`(?i)^(?:what time is it|what(?:'s| is) the time)$`)
	count  = pattern.Lazy(`(?i)^count to (\d{1,6})\b`)
)

// announce describes what the model is about to do.
func announce(calls []scripted.Call) string {
	if len(calls) > 1 {
		return fmt.Sprintf("I will do that in %d steps.", len(calls))
	}
	switch c := calls[0]; c.Name {
	case "list_files":
		return "I will list the files."
	case "read_file":
		return fmt.Sprintf("I will read `%s`.", arg(c, "path"))
	case "write_file":
		return fmt.Sprintf("I will write `%s`.", arg(c, "path"))
	case "edit_file":
		return fmt.Sprintf("I will change `%s`.", arg(c, "path"))
	case "run_command":
		return fmt.Sprintf("I will run `%s`.", arg(c, "command"))
	case "ask_person":
		return ""
	default:
		return fmt.Sprintf("I will call `%s`.", shown(c.Name))
	}
}

// conclude returns the answer when all tools have run.
func conclude(t scripted.Turn, prompt string, steps []step) string {
	var parts []string
	n := 0
	for _, s := range steps {
		if s.call == nil {
			parts = append(parts, s.say)
			continue
		}
		parts = append(parts, report(t.Outcomes[n], strings.Contains(strings.ToLower(prompt), "explain")))
		n++
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n\n")
	}
	plain := strip(prompt, true)
	switch m := []string(nil); {
	case isHandoff(t.Prompt) && plain == "":
		return fmt.Sprintf("I have read the record of %d words and go on from there.", len(strings.Fields(t.Prompt)))
	case match(greeting, plain, &m):
		return tour
	case match(helping, plain, &m):
		return help
	case match(memory, prompt, &m):
		return recall(t.Prompts())
	case match(count, plain, &m):
		return counted(min(number(m[1]), 100_000))
	case match(clock, plain, &m):
		return "It is " + time.Now().Format("15:04:05.000000") + " here."
	case match(thanks, plain, &m):
		return "You are welcome. What is next?"
	case len(prompt) > 600:
		return fmt.Sprintf("I have read that: %d words. It begins with %q. What should I do with it?",
			len(strings.Fields(prompt)), clip(prompt, 60))
	case plain == "":
		return "Done."
	default:
		return fmt.Sprintf("I do not know how to do %q. Type help to see what I understand.", clip(plain, 80))
	}
}

// recall returns what was asked before: it shows that a conversation was resumed or forked completely.
func recall(prompts []string) string {
	earlier := prompts[:max(0, len(prompts)-1)]
	if len(earlier) == 0 {
		return "This is the first thing you ask me in this conversation."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "You asked me %s before:\n", things(len(earlier), "thing"))
	for i, p := range earlier {
		if len(earlier) > 20 && i >= 5 && i < len(earlier)-15 {
			if i == 5 {
				b.WriteString("\n- …")
			}
			continue
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, clip(p, 100))
	}
	return b.String()
}

// report describes what one tool returned.
func report(o scripted.Outcome, explained bool) string {
	out := strings.TrimRight(o.Output, "\n")
	if o.Failed {
		return fmt.Sprintf("That did not work: %s", clip(out, 400))
	}
	switch o.Name {
	case "list_files":
		are := "are"
		if len(lines(out)) == 1 {
			are = "is"
		}
		return fmt.Sprintf("There %s %s in `%s`:\n\n```\n%s\n```",
			are, things(len(lines(out)), "entry"), orDot(arg(o.Call, "path")), head(out, 3*shownLines))
	case "read_file":
		f := arg(o.Call, "path")
		if explained {
			return describeFile(f, out)
		}
		return fmt.Sprintf("`%s` has %s:\n\n```\n%s\n```", f, things(len(lines(out)), "line"), head(out, shownLines))
	case "write_file", "edit_file":
		return upper(out) + "."
	case "run_command":
		return fmt.Sprintf("`%s` printed:\n\n```\n%s\n```", clip(arg(o.Call, "command"), 120), head(out, shownLines))
	case "ask_person":
		return fmt.Sprintf("You chose: %s.", clip(out, 100))
	default:
		return fmt.Sprintf("`%s` returned:\n\n```\n%s\n```", shown(o.Name), head(out, shownLines))
	}
}
