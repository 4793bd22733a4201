package thread_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// levers of a made-up CLI.
var levers = thread.Levers{Agent: "cli", Version: "2.1.331", Known: true, Levers: []thread.Lever{
	{Name: "loops", Tools: []string{"ScheduleWakeup", "Cron*"}, Saves: 1000},
	{Name: "workflows", Tools: []string{"Workflow"}, Saves: 1300},
	{Name: "todos", Tools: []string{"write_todos"}, Saves: 600},
	{Name: "skills", Saves: 900},
	{Name: "editing", Tools: []string{"write_file", "replace_all"}, Named: []string{"write_file"}},
	{Name: "agents", Tools: []string{"start_agent"}},
}}

// request is a first request with tools that are defined by one text, and with other texts.
func request(tools string, texts ...thread.BaseText) thread.FirstRequest {
	r := thread.FirstRequest{Model: "m1"}
	for name := range strings.FieldsSeq(tools) {
		r.Texts = append(r.Texts, thread.BaseText{Kind: thread.BaseTool, Name: name, Text: "{" + name + "}"})
	}
	return thread.FirstRequest{Model: r.Model, Texts: append(r.Texts, texts...)}
}

func text(kind thread.BaseKind, s string) thread.BaseText {
	return thread.BaseText{Kind: kind, Text: s}
}

func TestCheckBase(t *testing.T) {
	for name, c := range map[string]struct {
		left    []string
		r       thread.FirstRequest
		resumed bool
		want    []string // lever: what
	}{
		"all gone":                  {left: []string{"loops", "workflows"}, r: request("Read Bash", text(thread.BaseSystem, "You are an agent."))},
		"nothing left out":          {r: request("Read Workflow CronCreate")},
		"there":                     {left: []string{"loops", "workflows"}, r: request("Read Workflow"), want: []string{"workflows: Workflow is still there"}},
		"there, by a pattern":       {left: []string{"loops"}, r: request("CronCreate Read"), want: []string{"loops: CronCreate is still there"}},
		"there after a resume":      {left: []string{"workflows"}, r: request("Workflow"), resumed: true, want: []string{"workflows: Workflow is still there"}},
		"can be loaded":             {left: []string{"loops"}, r: request("Read", text(thread.BaseDeferred, "CronDelete\nMonitor")), want: []string{"loops: CronDelete can still be loaded"}},
		"named":                     {left: []string{"todos"}, r: request("read", text(thread.BaseSystem, "Always call write_todos first.")), want: []string{"todos: write_todos is gone, but the agent's prompt still names it"}},
		"named by a tool":           {left: []string{"loops"}, r: request("Read", thread.BaseText{Kind: thread.BaseTool, Name: "Bash", Text: "not for loops: use ScheduleWakeup"}), want: []string{"loops: ScheduleWakeup is gone, but the tool Bash still names it"}},
		"named in quotes":           {left: []string{"workflows"}, r: request("Read", text(thread.BaseSystem, "Use `Workflow` for many agents.")), want: []string{"workflows: Workflow is gone, but the agent's prompt still names it"}},
		"a word of the language":    {left: []string{"workflows"}, r: request("Read", text(thread.BaseSystem, "Workflow: read, edit, test. A good Workflow saves time."))},
		"part of a word":            {left: []string{"todos"}, r: request("read", text(thread.BaseSystem, "over_write_todos_file and rewrite_todosx"))},
		"named by the person":       {left: []string{"todos"}, r: request("read", text(thread.BaseInstructions, "use write_todos"), text(thread.BasePrompt, "use write_todos"), text(thread.BaseOther, "write_todos"))},
		"named before a resume":     {left: []string{"todos"}, r: request("read", text(thread.BaseSystem, "call write_todos"), text(thread.BaseDeferred, "write_todos")), resumed: true},
		"an MCP server has it":      {left: []string{"workflows"}, r: request("Read", thread.BaseText{Kind: thread.BaseMCP, Name: "github", Text: "Workflow(run)"})},
		"named by an MCP tool":      {left: []string{"todos"}, r: request("read", thread.BaseText{Kind: thread.BaseTool, Name: "mcp__git__log", Text: "write_todos"})},
		"named by another server":   {left: []string{"todos"}, r: request("read", thread.BaseText{Kind: thread.BaseTool, Name: "docs__read", Text: "write_todos"})},
		"named by lists":            {left: []string{"todos"}, r: request("read", text(thread.BaseSkills, "write_todos"), text(thread.BaseAgents, "write_todos"))},
		"named by a list in a tool": {left: []string{"todos"}, r: request("read", thread.BaseText{Kind: thread.BaseTool, Name: "start_agent", Text: "planner: calls write_todos"})},
		"named by a commit":         {left: []string{"todos"}, r: request("read", text(thread.BaseEnvironment, "git log: remove write_todos from the prompt"))},
		"named as was measured":     {left: []string{"editing"}, r: request("read", text(thread.BaseSystem, "Never call write_file."))},
		"named otherwise":           {left: []string{"editing"}, r: request("read", text(thread.BaseSystem, "Never call replace_all.")), want: []string{"editing: replace_all is gone, but the agent's prompt still names it"}},
		"a request without tools":   {left: []string{"todos"}, r: request("", text(thread.BaseSystem, "call write_todos"))},
		"a lever that is not there": {left: []string{"renamed"}, r: request("Workflow")},
	} {
		var got []string
		for _, f := range (thread.BaseStart{Levers: levers, Left: c.left, Resumed: c.resumed}).Check(c.r) {
			got = append(got, strings.Join(f.Levers, "+")+": "+f.What)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestGrownBase(t *testing.T) {
	size := func(maker int64, left ...string) thread.BaseSize {
		return thread.BaseSize{Model: "m1", Left: left, Maker: maker, Tools: maker / 2}
	}
	other := size(100)
	other.Model = "m2"
	for name, c := range map[string]struct {
		left    string
		now     int64
		known   []thread.BaseSize
		resumed bool
		want    string // levers: what
	}{
		"less than full":                   {left: "loops", now: 9000, known: []thread.BaseSize{size(10_000)}},
		"nothing known":                    {left: "loops", now: 9000},
		"another model":                    {left: "loops", now: 9000, known: []thread.BaseSize{other}},
		"larger than full":                 {left: "loops skills", now: 12_000, known: []thread.BaseSize{size(10_000)}, want: "skills: the base grew from 10k to 12k tokens"},
		"larger than with fewer":           {left: "loops workflows", now: 9900, known: []thread.BaseSize{size(9000, "loops")}, want: "workflows: the base grew from 9.0k to 9.9k tokens"},
		"larger than with others":          {left: "loops", now: 9900, known: []thread.BaseSize{size(9000, "workflows")}},
		"a little larger":                  {left: "loops", now: 10_100, known: []thread.BaseSize{size(10_000)}, want: "loops: the base is only 0 tokens smaller, and not 1.0k"},
		"saves what was measured, by half": {left: "loops skills", now: 9000, known: []thread.BaseSize{size(10_000)}},
		"saves next to nothing":            {left: "loops skills", now: 9800, known: []thread.BaseSize{size(10_000)}, want: "skills: the base is only 200 tokens smaller, and not 1.9k"},
		"full itself":                      {now: 20_000, known: []thread.BaseSize{size(10_000)}},
		"resumed with more tools":          {left: "loops", now: 12_000, resumed: true, known: []thread.BaseSize{size(10_000)}, want: "loops: the base grew from 5.0k to 6.0k tokens"},
		"resumed, saves little":            {left: "loops", now: 9900, resumed: true, known: []thread.BaseSize{size(10_000)}},
	} {
		var got string
		s := thread.BaseStart{Levers: levers, Left: strings.Fields(c.left), Resumed: c.resumed}
		for _, f := range s.Grown(size(c.now, s.Left...), c.known) {
			got += strings.Join(f.Levers, "+") + ": " + f.What
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestBaseSize counts what the maker writes, and nothing of the person, of MCP servers or the folder; what has other things
// around it is not compared.
func TestBaseSize(t *testing.T) {
	s := thread.BaseStart{Levers: levers, Left: []string{"loops"}, With: "flags"}
	r := request("Read Bash mcp__git__log start_agent", text(thread.BaseSystem, "12345"), text(thread.BaseSkills, "12"), text(thread.BaseAgents, "1"))
	for _, kind := range []thread.BaseKind{thread.BaseInstructions, thread.BasePrompt, thread.BaseMCP, thread.BaseOther, thread.BaseEnvironment, thread.BaseDeferred} {
		r.Texts = append(r.Texts, text(kind, "something"))
	}
	size := func(r thread.FirstRequest) thread.BaseSize { return s.Size(r, func(s string) int { return len(s) }) }
	got := size(r)
	want := thread.BaseSize{Model: "m1", Left: []string{"loops"}, Around: got.Around, Maker: 12 + 5, Tools: 12}
	if !reflect.DeepEqual(got, want) || got.Around == "" {
		t.Errorf("%+v, want %+v", got, want)
	}
	for what, texts := range map[string][]thread.BaseText{
		"a git status":         {text(thread.BaseEnvironment, "other")},
		"a tool of the levers": {{Kind: thread.BaseTool, Name: "Workflow", Text: "{}"}},
	} {
		if other := size(thread.FirstRequest{Model: "m1", Texts: slices.Concat(r.Texts, texts)}); other.Around != got.Around {
			t.Errorf("%s is another surrounding", what)
		}
	}
	for what, text := range map[string]thread.BaseText{
		"a tool of a server":     {Kind: thread.BaseTool, Name: "mcp__git__show", Text: "{}"},
		"a server":               {Kind: thread.BaseMCP, Name: "git", Text: "{}"},
		"a file of instructions": {Kind: thread.BaseInstructions, Name: "/a/AGENTS.md", Text: "rules"},
	} {
		other := size(thread.FirstRequest{Model: "m1", Texts: append(slices.Clone(r.Texts), text)})
		if other.Around == got.Around || other.Maker != got.Maker {
			t.Errorf("%s: %+v", what, other)
		}
		other.Maker += 10_000
		if found := s.Grown(other, []thread.BaseSize{{Model: "m1", Around: got.Around, Maker: got.Maker}}); len(found) > 0 {
			t.Errorf("%s: found %v", what, found)
		}
	}
	if s.With = "other flags"; size(r).Around == got.Around {
		t.Error("other flags are no other surrounding")
	}
}

// TestBaseFacts: what did not work at two starts is dropped once, and a profile is chosen without it.
func TestBaseFacts(t *testing.T) {
	there := thread.BaseFinding{Levers: []string{"loops"}, What: "CronCreate is still there", Offered: true}
	named := thread.BaseFinding{Levers: []string{"skills", "todos"}, What: "the base grew"}
	s := thread.BaseStart{Left: []string{"loops", "skills", "todos"}}
	var f thread.BaseFacts
	for i, step := range []struct {
		start   thread.BaseStart
		found   []thread.BaseFinding
		news    int
		dropped []string
	}{
		{s, []thread.BaseFinding{there, named}, 1, nil}, // that the tool is there is told at once
		{s, nil, 0, nil}, // and both were by chance
		{s, []thread.BaseFinding{there, named}, 1, nil},
		{thread.BaseStart{Left: s.Left, Resumed: true}, nil, 0, nil}, // which looks at less
		{thread.BaseStart{Left: []string{"workflows"}}, nil, 0, nil},
		{s, []thread.BaseFinding{there, named}, 1, []string{"loops", "skills", "todos"}},
		{s, []thread.BaseFinding{there, named}, 0, []string{"loops", "skills", "todos"}},
	} {
		was := maps.Clone(f.Dropped)
		next, news := f.Learn(step.start, step.found)
		if got := slices.Sorted(maps.Keys(next.Dropped)); len(news) != step.news || !slices.Equal(got, step.dropped) {
			t.Errorf("step %d: dropped %v, news %v", i, got, news)
		}
		if !maps.Equal(f.Dropped, was) {
			t.Errorf("step %d changed what was", i)
		}
		f = next
	}
	l := f.Without(levers)
	left, kept, err := thread.ChooseBase(l, "mine", map[string]thread.OwnBase{"mine": {LeaveOut: []string{"loops", "workflows", "skills"}}}, nil)
	if err != nil || !slices.Equal(left, []string{"workflows"}) || kept["loops"] != "did not work with cli 2.1.331" {
		t.Errorf("left %v, kept %v, %v", left, kept, err)
	}
	if levers.Levers[0].Kept != "" {
		t.Error("the table was changed")
	}
	for i := range 50 {
		f = f.Know(thread.BaseSize{Model: "m1", Maker: int64(i)})
		f = f.Know(thread.BaseSize{Model: strings.Repeat("m", i+2), Maker: 1})
	}
	if len(f.Sizes) != 20 || f.Sizes[18].Maker != 49 {
		t.Errorf("%d sizes: %+v", len(f.Sizes), f.Sizes)
	}
}
