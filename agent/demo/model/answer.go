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

// help is the model's answer about itself.
const help = `I am the demo agent that comes with orchestrator. I am a set of rules, not a language model, ` +
	`but what I do is real: I read and write files in this folder and run commands in it. Try:

- list files
- what is in this project?
- read README.md
- write notes.txt: buy milk
- replace milk with bread in notes.txt
- run git status
- search TODO
- write hello.txt: hi, then read hello.txt
- ask: Which colour? [red | green | blue]
- what time is it?
- what did I ask before?
- which tools do you have?
- call notes__add buy milk

Before I run a command or call a tool of an MCP server I ask you. ` +
	`Add #slow, #long, #429 or #limit:61 to a prompt to see how waiting, long answers and limits look.`

var (
	greeting = pattern.Lazy(`(?i)^(?:hi|hello|hey|good (?:morning|evening|day))\b`)
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
		return "Hello! " + help
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
		return fmt.Sprintf("I do not know how to do %q. %s", clip(plain, 80), help)
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
		return fmt.Sprintf("There are %s in `%s`:\n\n```\n%s\n```",
			things(len(lines(out)), "entry"), orDot(arg(o.Call, "path")), head(out, 3*shownLines))
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
