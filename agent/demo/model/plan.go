package model

import (
	"regexp"
	"strings"
	"time"

	"orchestrator/thread/pattern"
)

// call is a tool to be run.
type call struct {
	tool  string
	input map[string]any
}

// action is the model's next move: text, and a tool or the end of the turn.
type action struct {
	text string
	call *call
}

// denied begins a tool's result when the person said no.
const denied = "denied by the person"

// next decides what comes after the results so far.
func next(t turn) action {
	if n := len(t.results); n > 0 && strings.HasPrefix(t.results[n-1].output, denied) {
		return action{text: "All right, I did not do that. What should I do instead?"}
	}
	prompt := marks().ReplaceAllString(t.prompt, " ")
	if about().MatchString(prompt) && !strings.Contains(prompt, "#do:") {
		return explore(t)
	}
	steps := plan(prompt)
	var calls []call
	for _, s := range steps {
		if s.call != nil {
			calls = append(calls, *s.call)
		}
	}
	if done := len(t.results); done < len(calls) {
		text := ""
		if done == 0 {
			text = announce(calls)
		}
		return action{text: text, call: &calls[done]}
	}
	return action{text: conclude(t, prompt, steps)}
}

// step is one piece of a plan: a tool or words.
type step struct {
	call *call
	say  string
}

var (
	marks     = pattern.Lazy(`(?:^|\s)#(?:slow|long|fast|cut|\d{3})(?:[:x][\w.]+)?\b`)
	about     = pattern.Lazy(`(?i)\b(?:what(?:'s| is| does)|explain|describe|summari[sz]e|overview of|look at|tell me about)\b.*\b(?:project|repo(?:sitory)?|code ?base|folder|directory)\b`)
	joints    = pattern.Lazy(`(?i)(?:,|;|\.)?\s+(?:and )?then\s+|\n+`)
	courtesy  = pattern.Lazy(`(?i)^(?:please|now|next|first|can you|could you|would you|i want you to|let's|also|and)\s+|[\s.!?]+$`)
	listFiles = pattern.Lazy(`(?i)^(?:(?:list|show|see)(?: me)?(?: all)?(?: of)?(?: the)? files|ls)(?:\s+(?:in|of|under)?\s*(\S+))?$`)
	writeFile = pattern.Lazy(`(?is)^(?:write|create|make|save)(?: a| the)?(?: new)?(?: file)?(?: called| named)?\s+["'` + "`" + `]?([^\s:"'` + "`" + `]+)["'` + "`" + `]?(?:\s*:\s*|\s+(?:with|containing|that says)(?: the)?(?: text| content| words)?:?\s+)(.*)$`)
	editFile  = pattern.Lazy(`(?is)^(?:edit|change)\s+([^\s:]+)\s*:\s*(.+?)\s*(?:=>|->|→)\s*(.*)$`)
	replaceIn = pattern.Lazy(`(?is)^(?:replace|change)\s+(.+?)\s+(?:with|by|to)\s+(.+?)\s+in\s+(\S+)$`)
	runTests  = pattern.Lazy(`(?i)^(?:run|execute)(?: all)?(?: of)?(?: the)? tests$`)
	run       = pattern.Lazy(`(?is)^(?:run|execute|!|\$)\s*(?:the command\s+)?` + "`?" + `(.+?)` + "`?" + `$`)
	search    = pattern.Lazy(`(?i)^(?:search|grep|find|look)\s+(?:for\s+)?["'` + "`" + `]?(.+?)["'` + "`" + `]?(?:\s+in\s+(\S+))?$`)
	explain   = pattern.Lazy(`(?i)^(?:explain|describe|summari[sz]e)(?: the)?(?: file)?\s+(\S*[./]\S*)$`)
	readFile  = pattern.Lazy(`(?i)^(?:read|show|cat|open|print|display)(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: file)?\s+["'` + "`" + `]?(\S+?)["'` + "`" + `]?$`)
	ask       = pattern.Lazy(`(?is)^ask(?: me)?:?\s+(.+?)(?:\s*\[(.*)\])?$`)
	say       = pattern.Lazy(`(?is)^say:?\s+(.*)$`)
)

// plan cuts a prompt into steps. What it does not understand is no step; a text to be written may hold
// any words, so it is cut only where all pieces are understood.
func plan(prompt string) []step {
	before, script, scripted := strings.Cut(prompt, "#do:")
	pieces := joints().Split(strings.TrimSpace(before), -1)
	if scripted {
		pieces = append(pieces, strings.Split(script, ";;")...)
	}
	var steps []step
	all := true
	for _, p := range pieces {
		s, ok := understand(strings.TrimSpace(p))
		if ok {
			steps = append(steps, s)
		}
		all = all && ok
	}
	if whole, ok := understand(strings.TrimSpace(prompt)); ok && !all && !scripted {
		return []step{whole}
	}
	return steps
}

// understand reads one request.
func understand(s string) (step, bool) {
	if m := writeFile().FindStringSubmatch(strip(s, false)); m != nil {
		text := m[2]
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return tool("write_file", "path", m[1], "content", text), true
	}
	s = strip(s, true)
	switch m := []string(nil); {
	case match(listFiles, s, &m):
		return tool("list_files", "path", orDot(m[1])), true
	case match(editFile, s, &m):
		return tool("edit_file", "path", m[1], "old", m[2], "new", m[3]), true
	case match(replaceIn, s, &m):
		return tool("edit_file", "path", m[3], "old", m[1], "new", m[2]), true
	case match(runTests, s, &m):
		return tool("run_command", "command", testCommand), true
	case match(run, s, &m):
		return tool("run_command", "command", m[1]), true
	case match(explain, s, &m), match(readFile, s, &m):
		return tool("read_file", "path", m[1]), true
	case match(search, s, &m):
		return tool("run_command", "command", "grep -rnI --exclude-dir=.git -e "+quote(m[1])+" "+quote(orDot(m[2]))+" | head -40"), true
	case match(ask, s, &m):
		options := []any{}
		for o := range strings.SplitSeq(m[2], "|") {
			if o = strings.TrimSpace(o); o != "" {
				options = append(options, o)
			}
		}
		if len(options) == 0 {
			options = []any{"Yes", "No"}
		}
		return step{call: &call{tool: "ask_person", input: map[string]any{"question": m[1], "options": options}}}, true
	case match(say, s, &m):
		return step{say: m[1]}, true
	}
	return step{}, false
}

// testCommand runs what tests there are.
const testCommand = `if [ -f go.mod ]; then go test ./...; elif [ -f package.json ]; then npm test; ` +
	`elif [ -f Cargo.toml ]; then cargo test; elif [ -f pyproject.toml ] || [ -d tests ]; then python3 -m pytest; ` +
	`elif [ -f Makefile ]; then make test; else echo "I found no tests here."; fi`

// strip takes polite words off the front, and off the end what ends a sentence.
func strip(s string, end bool) string {
	for {
		loc := courtesy().FindStringIndex(s)
		switch {
		case loc == nil:
			return strings.TrimSpace(s)
		case loc[0] == 0:
			s = s[loc[1]:]
		case end:
			s = s[:loc[0]]
		default:
			return strings.TrimSpace(s)
		}
	}
}

func match(re func() *regexp.Regexp, s string, m *[]string) bool {
	*m = re().FindStringSubmatch(s)
	return *m != nil
}

func tool(name string, pairs ...string) step {
	input := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		input[pairs[i]] = pairs[i+1]
	}
	return step{call: &call{tool: name, input: input}}
}

func orDot(s string) string {
	if s == "" || s == "here" {
		return "."
	}
	return s
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// explore looks at a project: its files, then the one that says most about it.
func explore(t turn) action {
	switch len(t.results) {
	case 0:
		return action{text: "I will look at the files first.", call: tool("list_files", "path", ".").call}
	case 1:
		if f := telling(t.results[0].output); f != "" && !t.results[0].failed {
			return action{text: "`" + f + "` should say what this is about.", call: tool("read_file", "path", f).call}
		}
	}
	return action{text: describeProject(t.results)}
}

// telling picks the file that says most about a project.
func telling(listing string) string {
	files := strings.Fields(listing)
	for _, want := range []string{"readme.md", "readme", "readme.txt", "readme.rst", "go.mod", "package.json", "cargo.toml", "pyproject.toml", "makefile"} {
		for _, f := range files {
			if strings.EqualFold(f, want) {
				return f
			}
		}
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "/") && language(f) != "" {
			return f
		}
	}
	return ""
}

// fault is how a request is to fail, from the marks in a prompt.
type fault struct {
	status int // 0: it does not
	times  int // 0: always
	cut    bool
	cuts   int // 0: always
	wait   time.Duration
	long   int // lines of the answer, 0: as they come
	fast   bool
}

var (
	statusMark = pattern.Lazy(`(?:^|\s)#(4\d\d|5\d\d)(?:x(\d{1,3}))?\b`)
	slowMark   = pattern.Lazy(`(?:^|\s)#slow(?::(\w[\w.]*))?\b`)
	longMark   = pattern.Lazy(`(?:^|\s)#long(?::(\d{1,6}))?\b`)
	cutMark    = pattern.Lazy(`(?:^|\s)#cut(?:x(\d{1,3}))?\b`)
	fastMark   = pattern.Lazy(`(?:^|\s)#fast\b`)
)

const (
	slowDefault = 3 * time.Second
	slowMost    = 10 * time.Minute
	longDefault = 200
)

// faults reads the marks of a prompt.
func faults(prompt string) fault {
	f := fault{fast: fastMark().MatchString(prompt)}
	if m := cutMark().FindStringSubmatch(prompt); m != nil {
		f.cut, f.cuts = true, number(m[1])
	}
	if m := statusMark().FindStringSubmatch(prompt); m != nil {
		f.status, f.times = number(m[1]), number(m[2])
	}
	if m := slowMark().FindStringSubmatch(prompt); m != nil {
		f.wait = slowDefault
		if d, err := time.ParseDuration(m[1]); err == nil && d >= 0 {
			f.wait = min(d, slowMost)
		}
	}
	if m := longMark().FindStringSubmatch(prompt); m != nil {
		f.long = longDefault
		if m[1] != "" {
			f.long = number(m[1])
		}
	}
	return f
}

// number reads digits; none are 0.
func number(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}
