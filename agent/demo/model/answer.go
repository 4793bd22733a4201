package model

import (
	"fmt"
	"path"
	"strings"
	"time"

	"orchestrator/thread/pattern"
)

// shown is how many lines of a file or a command's output an answer repeats.
const shown = 12

// help is what the model says of itself.
const help = `I am the demo agent that comes with orchestrator. I am a set of rules, not a language model, but what I do is real: I read and write files in this folder and run commands in it. Try:

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

Before I run a command I ask you. Add #slow, #long or #429 to a prompt to see how waiting, long answers and limits look.`

var (
	greeting = pattern.Lazy(`(?i)^(?:hi|hello|hey|good (?:morning|evening|day))\b`)
	memory   = pattern.Lazy(`(?i)\b(?:what|which)\b.*\b(?:did i|have i|i)\b.*\b(?:ask|say|said|tell|told)|\bremember\b.*\?|\bour conversation\b`)
	thanks   = pattern.Lazy(`(?i)^(?:thanks|thank you|great|nice|good|perfect)\b`)
	clock    = pattern.Lazy(`(?i)^(?:what time is it|what(?:'s| is) the time)$`)
	count    = pattern.Lazy(`(?i)^count to (\d{1,6})\b`)
)

// announce says what the model is about to do.
func announce(calls []call) string {
	if len(calls) > 1 {
		return fmt.Sprintf("I will do that in %d steps.", len(calls))
	}
	switch c := calls[0]; c.tool {
	case "list_files":
		return "I will list the files."
	case "read_file":
		return fmt.Sprintf("I will read `%v`.", c.input["path"])
	case "write_file":
		return fmt.Sprintf("I will write `%v`.", c.input["path"])
	case "edit_file":
		return fmt.Sprintf("I will change `%v`.", c.input["path"])
	case "run_command":
		return fmt.Sprintf("I will run `%v`.", c.input["command"])
	default:
		return ""
	}
}

// conclude is the answer when all tools have run.
func conclude(t turn, prompt string, steps []step) string {
	var parts []string
	n := 0
	for _, s := range steps {
		if s.call == nil {
			parts = append(parts, s.say)
			continue
		}
		parts = append(parts, report(t.results[n], strings.Contains(strings.ToLower(prompt), "explain")))
		n++
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n\n")
	}
	plain := strip(prompt, true)
	switch m := []string(nil); {
	case match(greeting, plain, &m):
		return "Hello! " + help
	case match(memory, prompt, &m):
		return recall(t.earlier)
	case match(count, plain, &m):
		return counted(min(number(m[1]), 100_000))
	case match(clock, plain, &m):
		return "It is " + time.Now().Format("15:04:05.000000") + " here."
	case match(thanks, plain, &m):
		return "You are welcome. What is next?"
	case len(prompt) > 600:
		return fmt.Sprintf("I have read that: %d words. It begins with %q. What should I do with it?", len(strings.Fields(prompt)), clip(prompt, 60))
	case plain == "":
		return "Done."
	default:
		return fmt.Sprintf("I do not know how to do %q. %s", clip(plain, 80), help)
	}
}

func counted(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintln(&b, i)
	}
	return strings.TrimSpace(b.String())
}

// recall tells what was asked before: it shows that a conversation was resumed or forked whole.
func recall(earlier []string) string {
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

// report says what one tool came to.
func report(r result, explained bool) string {
	out := strings.TrimRight(r.output, "\n")
	if r.failed {
		return fmt.Sprintf("That did not work: %s", clip(out, 400))
	}
	switch r.tool {
	case "list_files":
		return fmt.Sprintf("There are %s in `%s`:\n\n```\n%s\n```", things(len(lines(out)), "entry"), orDot(r.text("path")), head(out, 3*shown))
	case "read_file":
		f := r.text("path")
		if explained {
			return describeFile(f, out)
		}
		return fmt.Sprintf("`%s` has %s:\n\n```\n%s\n```", f, things(len(lines(out)), "line"), head(out, shown))
	case "write_file", "edit_file":
		return upper(out) + "."
	case "run_command":
		return fmt.Sprintf("`%s` printed:\n\n```\n%s\n```", clip(r.text("command"), 120), head(out, shown))
	case "ask_person":
		return fmt.Sprintf("You chose: %s.", clip(out, 100))
	default:
		return out
	}
}

var definition = pattern.Lazy(`(?m)^(?:export |pub |async |static )*(?:func|type|class|def|function|struct|enum|interface|fn|impl|const [A-Z]\w*|#+)\s*(?:\([^)]*\)\s*)?([\w ./:-]{2,60})`)

// describeFile says what can be seen of a file without understanding it.
func describeFile(name, text string) string {
	ls := lines(strings.TrimRight(text, "\n"))
	var b strings.Builder
	kind := language(name)
	if kind == "" {
		kind = "text"
	}
	fmt.Fprintf(&b, "`%s` is a %s file of %s and %s.", name, kind, things(len(ls), "line"), things(len(strings.Fields(text)), "word"))
	if first := firstProse(ls); first != "" {
		fmt.Fprintf(&b, " It begins: %q.", strings.TrimRight(clip(first, 120), "."))
	}
	var names []string
	for _, m := range definition().FindAllStringSubmatch(text, 12) {
		names = append(names, strings.TrimSpace(m[1]))
	}
	if len(names) > 0 {
		b.WriteString("\n\nIts main parts:\n")
		for _, n := range names {
			b.WriteString("\n- " + n)
		}
	}
	return b.String()
}

// describeProject says what the listing and the most telling file show.
func describeProject(results []result) string {
	listing := results[0].output
	kinds := make(map[string]int)
	best, files, folders := "", 0, 0
	for _, f := range strings.Fields(listing) {
		if strings.HasSuffix(f, "/") {
			folders++
			continue
		}
		files++
		if l := language(f); l != "" && l != "Markdown" {
			kinds[l]++
			if best == "" || kinds[l] > kinds[best] {
				best = l
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This folder holds %s and %s", things(files, "file"), things(folders, "folder"))
	if best != "" {
		fmt.Fprintf(&b, ", mostly %s", best)
	}
	b.WriteString(".")
	if len(results) > 1 && !results[1].failed {
		b.WriteString(" " + describeFile(results[1].text("path"), results[1].output))
	} else if files == 0 {
		b.WriteString(" There is nothing to read yet. Try: write README.md: # My project")
	}
	return b.String()
}

func firstProse(ls []string) string {
	for _, l := range ls {
		l = strings.TrimLeft(strings.TrimSpace(l), "#/*<!-= ")
		if len(strings.Fields(l)) > 2 {
			return l
		}
	}
	return ""
}

// languages by the end of a file's name.
var languages = map[string]string{
	".go": "Go", ".mod": "Go module", ".rs": "Rust", ".py": "Python", ".js": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".java": "Java", ".rb": "Ruby", ".php": "PHP", ".sh": "shell",
	".md": "Markdown", ".html": "HTML", ".css": "CSS", ".json": "JSON", ".toml": "TOML", ".yml": "YAML", ".yaml": "YAML", ".sql": "SQL",
}

func language(name string) string { return languages[strings.ToLower(path.Ext(name))] }

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func head(s string, n int) string {
	ls := lines(s)
	if len(ls) <= n {
		return s
	}
	return strings.Join(ls[:n], "\n") + fmt.Sprintf("\n… %s more", things(len(ls)-n, "line"))
}

func things(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// filler is an answer of so many lines.
func filler(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%5d  A long answer goes on, line after line, so that there is something to scroll through.\n", i)
	}
	return b.String()
}
