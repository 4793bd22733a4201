package model

import (
	"regexp"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// quotes may surround a name in a request.
const quotes = `["'` + "`" + `]?`

var (
	joints   = pattern.Lazy(`(?i)(?:,|;|\.)?\s+(?:and )?then\s+|\n+`)
	courtesy = pattern.Lazy(`(?i)^(?:please|now|next|first|can you|could you|would you|i want you to|let's|also|and)\s+|` +
		`[\s.!?]+$`)

	listFiles = pattern.Lazy(`(?i)^(?:(?:list|show|see)(?: me)?(?: all)?(?: of)?(?: the)? files|ls)` +
		`(?:\s+(?:in|of|under)?\s*(\S+))?$`)
	writeFile = pattern.Lazy(`(?is)^(?:write|create|make|save)(?: a| the)?(?: new)?(?: file)?(?: called| named)?\s+` +
		quotes + `([^\s:"'` + "`" + `]+)` + quotes +
		`(?:\s*:\s*|\s+(?:with|containing|that says)(?: the)?(?: text| content| words)?:?\s+)(.*)$`)
	editFile  = pattern.Lazy(`(?is)^(?:edit|change)\s+([^\s:]+)\s*:\s*(.+?)\s*(?:=>|->|→)\s*(.*)$`)
	replaceIn = pattern.Lazy(`(?is)^(?:replace|change)\s+(.+?)\s+(?:with|by|to)\s+(.+?)\s+in\s+(\S+)$`)
	runTests  = pattern.Lazy(`(?i)^(?:run|execute)(?: all)?(?: of)?(?: the)? tests$`)
	run       = pattern.Lazy(`(?is)^(?:run|execute|!|\$)\s*(?:the command\s+)?` + "`?" + `(.+?)` + "`?" + `$`)
	search    = pattern.Lazy(`(?i)^(?:search|grep|find|look)\s+(?:for\s+)?` + quotes + `(.+?)` + quotes +
		`(?:\s+in\s+(\S+))?$`)
	explain  = pattern.Lazy(`(?i)^(?:explain|describe|summari[sz]e)(?: the)?(?: file)?\s+(\S*[./]\S*)$`)
	readFile = pattern.Lazy(`(?i)^(?:read|show|cat|open|print|display)(?: me)?(?: the)?(?: contents? of)?(?: the)?` +
		`(?: file)?\s+` + quotes + `(\S+?)` + quotes + `$`)
	ask      = pattern.Lazy(`(?is)^ask(?: me)?:?\s+(.+?)(?:\s*\[(.*)\])?$`)
	callTool = pattern.Lazy(`(?is)^(?:call|use)(?: the)?(?: tool)?\s+` + quotes + `([\w.-]+)` + quotes + `(?:\s+(?:with\s+)?(.+))?$`)
	notes    = pattern.Lazy(`(?i)^(?:add|configure|install)(?: the| an?)?(?: mcp)? notes(?: mcp)? server$`)
	todos    = pattern.Lazy(`(?is)^to-?dos?:\s*(.+)$`)
	subAgent = pattern.Lazy(`(?is)^sub-?agent\s+([\w-]+)\s*:\s*(.+)$`)
	planned  = pattern.Lazy(`(?is)^plan:\s*(.+)$`)
	trouble  = pattern.Lazy(`(?i)^(crash|hang)$`)
	say      = pattern.Lazy(`(?is)^say:?\s+(.*)$`)
)

// plan splits a prompt into steps; offered are the tools that may be called. What it does not understand is not a step; a text to be written may contain any
// words, so a prompt is split only if all its pieces are understood.
func plan(prompt string, offered []scripted.Tool) []step {
	before, script, literal := strings.Cut(prompt, "#do:")
	pieces := joints().Split(strings.TrimSpace(before), -1)
	if literal {
		pieces = append(pieces, strings.Split(script, ";;")...)
	}
	var steps []step
	all := true
	for _, p := range pieces {
		s, ok := understand(strings.TrimSpace(p), offered)
		if ok {
			steps = append(steps, s)
		}
		all = all && ok
	}
	if whole, ok := understand(strings.TrimSpace(prompt), offered); ok && !all && !literal {
		return []step{whole}
	}
	return steps
}

// understand parses one request.
func understand(s string, offered []scripted.Tool) (step, bool) {
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
	case match(notes, s, &m):
		return tool("run_command", "command", notesCommand), true
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
		grep := "grep -rnI --exclude-dir=.git -e " + quote(m[1]) + " " + quote(orDot(m[2])) + " | head -40"
		return tool("run_command", "command", grep), true
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
		args := map[string]any{"question": m[1], "options": options}
		return step{call: &scripted.Call{Name: "ask_person", Args: args}}, true
	case match(planned, s, &m):
		c := &scripted.Call{Name: "ask_person", Args: map[string]any{
			"question": planQuestion, "about": m[1], "kind": "plan", "options": []any{"Yes, go on", "No, plan on"},
		}}
		return step{call: c}, true
	case match(subAgent, s, &m):
		return tool("sub_agent", "type", m[1], "task", m[2]), true
	case match(trouble, s, &m):
		return tool(strings.ToLower(m[1])), true
	case match(callTool, s, &m):
		return remote(m[1], m[2], offered)
	case match(todos, s, &m):
		return tool("write_todos", "items", strings.NewReplacer(", ", "\n", "; ", "\n").Replace(m[1])), true
	case match(say, s, &m):
		return step{say: m[1]}, true
	}
	return step{}, false
}

// planQuestion is what the person is asked about a plan.
const planQuestion = "Shall I go on with this plan?"

// testCommand runs the project's tests, if there are any.
const testCommand = `if [ -f go.mod ]; then go test ./...; elif [ -f package.json ]; then npm test; ` +
	`elif [ -f Cargo.toml ]; then cargo test; elif [ -f pyproject.toml ] || [ -d tests ]; then python3 -m pytest; ` +
	`elif [ -f Makefile ]; then make test; else echo "I found no tests here."; fi`

// notesCommand configures the MCP server that comes with the program, where none is configured yet.
const notesCommand = `cat .mcp.json 2>/dev/null || ` +
	`echo '{"mcpServers": {"notes": {"command": "orchestrator", "args": ["demo-notes"]}}}' | tee .mcp.json`

// strip removes polite words from the beginning, and punctuation from the end.
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

// tool is a step that calls a tool; pairs are its arguments, each after its name.
func tool(name string, pairs ...string) step {
	args := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	return step{call: &scripted.Call{Name: name, Args: args}}
}

func orDot(s string) string {
	if s == "" || s == "here" {
		return "."
	}
	return s
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
