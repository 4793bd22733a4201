package plan

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/plaintext"
)

// Check says all that there is to say of a plan before it runs, the worst first: a plan with a finding that is Wrong does
// not run, one with an Ask once a person has agreed. It looks at the plan alone and what is known of the world; it takes time
// by the size of the plan.
func Check(p Plan, w World) []Finding {
	c := &checker{plan: p, world: w, kinds: map[string]int{}, shapes: map[string]any{}}
	l, problems := lay(p)
	c.found = append(c.found, problems...)
	c.whole()
	if len(p.Agents) <= MaxAgents {
		for i := range p.Agents {
			c.agent(&p.Agents[i])
		}
		c.budgets()
	}
	if len(problems) == 0 {
		c.laid(l)
	}
	return c.sorted()
}

// whole looks at what is about the plan itself.
func (c *checker) whole() {
	p := c.plan
	wrong := func(text, do string) { c.add(text, Finding{Wrong, "", text, do}) }
	if !validName(p.Name) || len(p.Name) > MaxName {
		wrong(fmt.Sprintf("the plan's name %q cannot be used", excerpt(p.Name)), fmt.Sprintf("Name it with letters, digits, - and _, beginning with a letter or digit, %d characters at most.", MaxName))
	}
	if fault := textFault(p.Description, MaxText); fault != "" {
		wrong("the description "+fault, "")
	}
	if p.MaxParallel < 0 || p.MaxParallel > MaxAgents {
		wrong(fmt.Sprintf("max_parallel is %d", p.MaxParallel), fmt.Sprintf("Write 1 to %d, or leave it out.", MaxAgents))
	}
	if !knownFailure(p.OnUpstreamFailure) {
		wrong(fmt.Sprintf("on_upstream_failure is %q", excerpt(string(p.OnUpstreamFailure))), "Write stop, continue or ask.")
	}
	c.found = append(c.found, checkVariables(p)...)
	c.stall(p.Stall)
	nodes := len(p.Agents) + len(p.Gates)
	size := 0
	for _, a := range p.Agents {
		if a.Gate != "" {
			nodes++
		}
		size += len(a.Prompt) + len(a.Schema)
	}
	if nodes > 2*MaxAgents {
		wrong(fmt.Sprintf("the plan has %d agents and gates", nodes), fmt.Sprintf("Give it %d at most.", 2*MaxAgents))
	}
	if size > MaxDocument {
		wrong(fmt.Sprintf("prompts and schemas have %s together", thread.Bytes(int64(size))), fmt.Sprintf("Keep them below %s.", thread.Bytes(MaxDocument)))
	}
	if len(p.Gates) > MaxAgents {
		return
	}
	for _, g := range p.Gates {
		if fault := textFault(g.Text, MaxText); fault != "" {
			c.add("gate text", Finding{Wrong, excerpt(g.Name), "its text " + fault, ""})
		}
	}
}

func (c *checker) stall(s Stall) {
	if s.Silence != nil && *s.Silence < 0 || s.Repeats != nil && *s.Repeats < 0 || s.Tokens != nil && *s.Tokens < 0 {
		c.add("stall", Finding{Wrong, "", "a bound of [stall] is negative", "Write 0 to have it off, or leave it out for the usual."})
	}
	if !slices.Contains([]StallPolicy{"", StallShow, StallAsk, StallRetry, StallStop}, s.Policy) {
		c.add("stall policy", Finding{Wrong, "", fmt.Sprintf("the policy of [stall] is %q", excerpt(string(s.Policy))), "Write show, ask, retry or stop."})
	}
}

// textFault says what is wrong with a text from outside; "" for nothing.
func textFault(text string, most int) string {
	switch {
	case len(text) > most:
		return fmt.Sprintf("has %s, and %s is the most", thread.Bytes(int64(len(text))), thread.Bytes(int64(most)))
	case !utf8.ValidString(text):
		return "is no UTF-8 text"
	case strings.ContainsRune(text, 0):
		return "has a byte 0"
	}
	return ""
}

func knownFailure(f OnUpstreamFailure) bool {
	return slices.Contains([]OnUpstreamFailure{"", FailStop, FailContinue, FailAsk}, f)
}

// agent looks at an agent by itself.
func (c *checker) agent(a *Agent) {
	say := func(level Level, kind, text, do string) { c.add(kind, Finding{level, excerpt(a.Name), text, do}) }
	wrong := func(kind, text, do string) { say(Wrong, kind, text, do) }
	c.works(a, wrong)
	c.writes(a, say)
	if a.Name == fieldTask || a.Name == fieldVar {
		wrong("reserved", fmt.Sprintf("{{%s}} means something else in prompts", a.Name), "Give it another name.")
	}
	if len(a.Name) > MaxName {
		wrong("name", "its name is too long", fmt.Sprintf("%d characters are the most.", MaxName))
	}
	switch {
	case strings.TrimSpace(a.Prompt) == "" && a.PromptFile != "":
		wrong("prompt file", "its prompt_file was not read", "Give the plan by its file, or its prompt itself.")
	case strings.TrimSpace(a.Prompt) == "":
		wrong("prompt", "it has no prompt", "Give it prompt or prompt_file.")
	default:
		if fault := textFault(a.Prompt, MaxPrompt); fault != "" {
			wrong("prompt text", "its prompt "+fault, "")
		}
	}
	if fault := textFault(a.Gate, MaxText); fault != "" {
		wrong("gate text", "the text of its gate "+fault, "")
	}
	switch a.Output {
	case "", OutputJSON, OutputDoc, OutputSheet, OutputImage, OutputText:
	default:
		wrong("output", fmt.Sprintf("it hands over %q", excerpt(string(a.Output))), "Write json, doc, sheet, image or text.")
	}
	c.schema(a, wrong)
	if !knownFailure(a.OnUpstreamFailure) {
		wrong("failure", fmt.Sprintf("on_upstream_failure is %q", excerpt(string(a.OnUpstreamFailure))), "Write stop, continue or ask.")
	}
	if a.Deadline < 0 || time.Duration(a.Deadline) > 30*24*time.Hour {
		wrong("deadline", "its deadline is none", "Write a time up to 30 days, like 10m.")
	}
	if a.Calls < 0 || a.Spawn < 0 || a.Spawn > MaxAgents || a.SpawnDepth < 0 || a.SpawnDepth > 100 {
		wrong("bounds", "calls, spawn or spawn_depth is no number that it can have", "Write 0 or more.")
	}
	if a.SpawnDepth > 0 && a.Spawn == 0 {
		wrong("spawn", "it has spawn_depth without spawn", "Say with spawn how many runs it may start, or leave spawn_depth out.")
	}
	for _, need := range a.Needs {
		if c.world.Labels != nil && !slices.Contains(c.world.Labels, need) {
			wrong("needs", fmt.Sprintf("no machine has the label %q", excerpt(need)), "Take it out of needs.")
		}
	}
	if len(a.Needs) > MaxVariables {
		wrong("needs", fmt.Sprintf("it needs %d labels", len(a.Needs)), fmt.Sprintf("Name %d at most.", MaxVariables))
	}
}

// works looks at what the agent is that works.
func (c *checker) works(a *Agent, wrong func(kind, text, do string)) {
	name := cmp.Or(a.Agent, c.world.Default)
	can, known := c.world.Agents[name]
	if c.world.Agents != nil && name != "" && !known {
		names := make([]string, 0, len(c.world.Agents))
		for n := range c.world.Agents {
			names = append(names, n)
		}
		slices.Sort(names)
		wrong("agent", fmt.Sprintf("there is no agent %q", excerpt(name)), thread.Meant(near.Names(name, names), "There are: "+strings.Join(names, ", ")+"."))
		return
	}
	if known {
		switch {
		case can.Program && len(a.Program) == 0:
			wrong("program", fmt.Sprintf("the agent %s is any program, and it names none", name), `Write program = ["NAME", "ARGUMENT"].`)
		case can.Program && len(a.Writes) == 0:
			wrong("program writes", "a program cannot be kept from changing files", "Say with writes which it changes: it works in a worktree of its own then.")
		case !can.Program && len(a.Program) > 0:
			wrong("program", fmt.Sprintf("the agent %s is no program that could be named", name), "Leave program out, or name the agent for any program.")
		}
	}
	if fault := programFault(a.Program); fault != "" {
		wrong("program", fault, "")
	}
	if len(a.Model) > 200 || textFault(a.Model, 200) != "" {
		wrong("model", "its model has a name that cannot be used", "")
	}
	if name == "" && a.Tier == "" {
		return
	}
	if _, err := c.world.Models.Choose(name, a.Model, a.Tier); err != nil && (c.world.Models != nil || !slices.Contains(thread.Tiers(), a.Tier)) {
		wrong("tier", err.Error(), hintOf(err))
	}
}

// commands are programs that run what they are given on their input, unless they are given a script.
func commands() []string {
	return []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php", "psql", "sqlite3"}
}

// bareCommands reports whether a program is such a one without a script.
func bareCommands(argv []string) bool {
	name := path.Base(argv[0])
	if name == "env" && len(argv) > 1 {
		return bareCommands(argv[1:])
	}
	return slices.Contains(commands(), name) && !slices.ContainsFunc(argv[1:], func(arg string) bool {
		return arg == "-c" || arg == "-e" || !strings.HasPrefix(arg, "-")
	})
}

func programFault(argv []string) string {
	if len(argv) > MaxPatterns {
		return "its program has too many arguments"
	}
	if len(argv) > 0 && bareCommands(argv) {
		return "it would run what others hand over as commands: name a script for it"
	}
	for i, arg := range argv {
		if i == 0 && arg == "" || textFault(arg, MaxText) != "" {
			return "its program has an argument that cannot be used"
		}
	}
	return ""
}

// hintOf returns what an error says is to be done, as a sentence.
func hintOf(err error) string {
	var hint *thread.HintError
	if !errors.As(err, &hint) || hint.Hint == "" {
		return ""
	}
	return strings.ToUpper(hint.Hint[:1]) + strings.TrimSuffix(hint.Hint[1:], ".") + "."
}

// writes looks at what an agent changes and hands over by files.
func (c *checker) writes(a *Agent, say func(level Level, kind, text, do string)) {
	for _, list := range []struct {
		what     string
		patterns []string
	}{{"writes", a.Writes}, {"deliver", a.Deliver}} {
		if len(list.patterns) > MaxPatterns {
			say(Wrong, "patterns", fmt.Sprintf("%s has %d patterns", list.what, len(list.patterns)), fmt.Sprintf("Write %d at most.", MaxPatterns))
			continue
		}
		for _, p := range list.patterns {
			if fault := patternFault(p); fault != "" {
				say(Wrong, "pattern", fmt.Sprintf("%s: %q %s", list.what, excerpt(p), fault), "Write a path from the project's folder, like docs/*.md or src/**.")
			}
		}
	}
	switch a.Merge {
	case "", "keep", "branch", "merge", "drop":
	default:
		say(Wrong, "merge", fmt.Sprintf("merge is %q", excerpt(a.Merge)), "Write keep, branch, merge or drop.")
	}
	if len(a.Writes) == 0 {
		if a.Merge != "" || a.Checks {
			say(Wrong, "no writes", "it has merge or checks, and writes nothing", "Say with writes which files it changes.")
		}
		return
	}
	switch {
	case a.Checks && c.world.Checks != nil && len(c.world.Checks) == 0:
		say(Wrong, "no checks", "it is to be checked, and the project has no [checks]", "Write [checks] into .orchestrator.toml, or leave checks out.")
	case !a.Checks && len(c.world.Checks) > 0:
		say(Warn, "unchecked", "nothing checks what it writes", "Write checks = true.")
	}
	if !c.world.Apart && a.Merge != "" && a.Merge != "keep" {
		say(Wrong, "merge", "without a repository nothing can be merged", "Leave merge out, or make the project a git repository.")
	}
}

func patternFault(p string) string {
	switch {
	case p == "" || len(p) > 500:
		return "is empty or too long"
	case textFault(p, 500) != "" || plaintext.Line(p) != p:
		return "is no text that can be a path"
	case path.IsAbs(p):
		return "is a full path"
	}
	clean := path.Clean(p)
	if clean == ".." || strings.HasPrefix(clean, "../") || slices.Contains(strings.Split(p, "/"), "..") {
		return "leads out of the project's folder"
	}
	if first, _, _ := strings.Cut(clean, "/"); strings.EqualFold(first, ".git") {
		return "is the repository's own"
	}
	return ""
}

// schema looks at the schema of what an agent hands over.
func (c *checker) schema(a *Agent, wrong func(kind, text, do string)) {
	if len(a.Schema) == 0 {
		if a.SchemaFile != "" {
			wrong("schema file", "its schema_file was not read", "Give the plan by its file, or its schema itself.")
		}
		return
	}
	if len(a.Schema) > MaxSchema {
		wrong("schema", fmt.Sprintf("its schema has %s", thread.Bytes(int64(len(a.Schema)))), fmt.Sprintf("%s are the most.", thread.Bytes(MaxSchema)))
		return
	}
	if a.Output != "" && a.Output != OutputJSON {
		wrong("schema output", fmt.Sprintf("it has a schema, and hands over %s", excerpt(string(a.Output))), "Leave the schema out, or hand over json.")
	}
	if c.world.Schemas == nil {
		return
	}
	if err := c.world.Schemas.Schema(a.Schema); err != nil {
		wrong("schema", "its schema: "+plaintext.Line(plaintext.OneLine(thread.Excerpt(err.Error()), 300)), "")
	}
}

// budgets looks at what all may spend.
func (c *checker) budgets() {
	whole, err := parseBudget(c.plan.Budget)
	if err != nil {
		c.add("budget", Finding{Wrong, "", err.Error(), hintOf(err)})
	}
	var usd float64
	var tokens int64
	for _, a := range c.plan.Agents {
		b, err := parseBudget(a.Budget)
		if err != nil {
			c.add("budget", Finding{Wrong, excerpt(a.Name), err.Error(), hintOf(err)})
			continue
		}
		if b.USD != nil {
			usd += *b.USD
		}
		if b.Tokens != nil && tokens <= 1<<60 {
			tokens += *b.Tokens
		}
	}
	const do = "All stop at the plan's: raise it, or lower theirs."
	if whole.USD != nil && usd > *whole.USD*1.000001 {
		c.add("budgets", Finding{Ask, "", fmt.Sprintf("the agents may spend $%.2f together, and the plan $%.2f", usd, *whole.USD), do})
	}
	if whole.Tokens != nil && tokens > *whole.Tokens {
		c.add("budgets", Finding{Ask, "", fmt.Sprintf("the agents may spend %d tokens together, and the plan %d", tokens, *whole.Tokens), do})
	}
}

func parseBudget(text string) (thread.Budget, error) {
	if text == "" {
		return thread.Budget{}, nil
	}
	if len(text) > 100 {
		return thread.Budget{}, thread.Kindf(thread.ErrInvalid, "the budget is no amount")
	}
	return budget.Parse(text)
}
