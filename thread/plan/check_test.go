package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// fussy refuses schemas and values that say so.
type fussy struct{}

func (fussy) Check(schema, value json.RawMessage) error { return fussy{}.Schema(value) }
func (fussy) Schema(s json.RawMessage) error {
	if strings.Contains(string(s), "bad") {
		return errors.New("it is bad")
	}
	return nil
}

func world() World {
	return World{
		Agents: map[string]Ability{"claude": {}, "any": {Program: true}}, Default: "claude",
		Models: work.Models{"claude": {thread.TierStrong: "big"}}, Apart: true, Checks: []string{"test"}, Schemas: fussy{}, Labels: []string{"linux"},
	}
}

// seven are the agents of the seed.
func seven() Plan {
	p := Plan{Name: "brief", MaxParallel: 4}
	for _, n := range []string{"vision", "apex", "nova"} {
		p.Agents = append(p.Agents, Agent{Name: n, Wave: 1, Prompt: "Look at {{task}}"})
	}
	for _, n := range []string{"echo", "pixel", "reel", "social"} {
		p.Agents = append(p.Agents, Agent{Name: n, Wave: 2, Prompt: "{{task}} {{vision}} {{apex}} {{nova}}"})
	}
	return p
}

func TestCheckSevenIsClean(t *testing.T) {
	if got := Check(seven(), world()); len(got) != 0 {
		t.Error(got)
	}
	p := seven()
	p.Agents[0].Schema = []byte(visionSchema)
	p.Agents[3].Prompt = "{{vision.data.top_keywords.0}} {{vision.data}} {{vision.summary}} {{vision.files}} {{vision.data.search_volume}}"
	for _, f := range Check(p, world()) {
		if f.Level != Warn || !strings.Contains(f.Text, "top_keywords.0 need not be there") {
			t.Error(f)
		}
	}
}

const visionSchema = `{"type":"object","properties":{"top_keywords":{"type":"array","items":{"type":"string"}},"search_volume":{"type":"integer"}},"required":["top_keywords","search_volume"]}`

func TestCheck(t *testing.T) {
	neg, agent := -1, func(change func(a *Agent)) func(p *Plan, w *World) {
		return func(p *Plan, _ *World) { change(&p.Agents[3]) }
	}
	reads := func(template, schema string) func(p *Plan, w *World) {
		return func(p *Plan, _ *World) { p.Agents[0].Schema, p.Agents[3].Prompt = []byte(schema), template }
	}
	writers := func(change func(one, other *Agent, w *World)) func(p *Plan, w *World) {
		return func(p *Plan, w *World) {
			one, other := &p.Agents[0], &p.Agents[1]
			one.Writes, other.Writes, one.Checks, other.Checks = []string{"a/**"}, []string{"b/**"}, true, true
			change(one, other, w)
		}
	}
	for name, c := range map[string]struct {
		change func(p *Plan, w *World)
		level  Level
		want   string // "" for no finding of this level
	}{
		"wide": {func(p *Plan, _ *World) {
			p.MaxParallel = 0
			p.Agents = append(p.Agents, Agent{Name: "x", Wave: 2, Prompt: "x"})
		}, Ask, "5 agents work at once: echo, pixel, reel, social, x"},
		"four is not wide":    {func(p *Plan, _ *World) { p.MaxParallel = 0 }, Ask, ""},
		"wide is agreed":      {func(p *Plan, _ *World) { p.Agents = append(p.Agents, Agent{Name: "x", Wave: 2, Prompt: "x"}) }, Ask, ""},
		"cycle":               {agent(func(a *Agent) { a.Wave, a.Reads = 0, []string{"x"} }), Wrong, `reads "x"`},
		"double name":         {agent(func(a *Agent) { a.Name = "Vision" }), Wrong, "taken by agent 1"},
		"reserved":            {agent(func(a *Agent) { a.Name = "var" }), Wrong, "{{var}} means something else"},
		"long name":           {agent(func(a *Agent) { a.Name = strings.Repeat("x", 65) }), Wrong, "too long"},
		"plan's name":         {func(p *Plan, _ *World) { p.Name = "../x" }, Wrong, "plan's name"},
		"no prompt":           {agent(func(a *Agent) { a.Prompt = " \n" }), Wrong, "no prompt"},
		"prompt not read":     {agent(func(a *Agent) { a.Prompt, a.PromptFile = "", "x.md" }), Wrong, "was not read"},
		"prompt of bytes":     {agent(func(a *Agent) { a.Prompt = "x\xff" }), Wrong, "no UTF-8"},
		"prompt with a zero":  {agent(func(a *Agent) { a.Prompt = "x\x00" }), Wrong, "byte 0"},
		"huge prompt":         {agent(func(a *Agent) { a.Prompt = strings.Repeat("x", MaxPrompt+1) }), Wrong, "is the most"},
		"unknown agent":       {agent(func(a *Agent) { a.Agent = "cluade" }), Wrong, `there is no agent "cluade"`},
		"unknown near agent":  {agent(func(a *Agent) { a.Agent = "cluade" }), Wrong, "Did you mean claude?"},
		"tier":                {agent(func(a *Agent) { a.Tier = "best" }), Wrong, `tier "best"`},
		"tier without model":  {agent(func(a *Agent) { a.Tier = thread.TierFast }), Wrong, "no fast model of claude"},
		"tier with model":     {agent(func(a *Agent) { a.Tier = thread.TierStrong }), Wrong, ""},
		"no program":          {agent(func(a *Agent) { a.Agent, a.Writes = "any", []string{"x"} }), Wrong, "it names none"},
		"program only reads":  {agent(func(a *Agent) { a.Agent, a.Program = "any", []string{"x"} }), Wrong, "cannot be kept from changing files"},
		"program":             {agent(func(a *Agent) { a.Agent, a.Program, a.Writes, a.Checks = "any", []string{"x"}, []string{"y"}, true }), Wrong, ""},
		"bare shell":          {agent(func(a *Agent) { a.Agent, a.Program, a.Writes = "any", []string{"/bin/bash", "-s"}, []string{"y"} }), Wrong, "as commands"},
		"shell with a script": {agent(func(a *Agent) { a.Agent, a.Program, a.Writes = "any", []string{"bash", "x.sh"}, []string{"y"} }), Wrong, ""},
		"program elsewhere":   {agent(func(a *Agent) { a.Program = []string{"x"} }), Wrong, "no program that could be named"},
		"output":              {agent(func(a *Agent) { a.Output = "pdf" }), Wrong, `hands over "pdf"`},
		"bad schema":          {agent(func(a *Agent) { a.Schema = []byte(`{"bad":1}`) }), Wrong, "it is bad"},
		"schema of a doc":     {agent(func(a *Agent) { a.Schema, a.Output = []byte(`{}`), OutputDoc }), Wrong, "has a schema, and hands over doc"},
		"schema not read":     {agent(func(a *Agent) { a.SchemaFile = "x.json" }), Wrong, "schema_file was not read"},
		"huge schema":         {agent(func(a *Agent) { a.Schema = []byte(strings.Repeat(" ", MaxSchema) + "{}") }), Wrong, "its schema has"},
		"failure":             {agent(func(a *Agent) { a.OnUpstreamFailure = "retry" }), Wrong, "on_upstream_failure"},
		"plan's failure":      {func(p *Plan, _ *World) { p.OnUpstreamFailure = "x" }, Wrong, "on_upstream_failure"},
		"deadline":            {agent(func(a *Agent) { a.Deadline = Duration(-time.Second) }), Wrong, "deadline"},
		"spawn":               {agent(func(a *Agent) { a.Spawn = -1 }), Wrong, "spawn"},
		"depth":               {agent(func(a *Agent) { a.SpawnDepth = 1 }), Wrong, "without spawn"},
		"needs":               {agent(func(a *Agent) { a.Needs = []string{"gpu"} }), Wrong, `label "gpu"`},
		"stall":               {func(p *Plan, _ *World) { p.Stall.Repeats = &neg }, Wrong, "negative"},
		"stall policy":        {func(p *Plan, _ *World) { p.Stall.Policy = "kill" }, Wrong, "policy of [stall]"},
		"budget":              {agent(func(a *Agent) { a.Budget = "much" }), Wrong, `"much" is no amount`},
		"budgets":             {func(p *Plan, _ *World) { p.Budget, p.Agents[0].Budget, p.Agents[1].Budget = "$1", "$0.6", "0.6usd" }, Ask, "$1.20 together, and the plan $1.00"},
		"budgets fit":         {func(p *Plan, _ *World) { p.Budget, p.Agents[0].Budget, p.Agents[1].Budget = "$1", "$0.6", "0.4usd" }, Ask, ""},
		"tokens":              {func(p *Plan, _ *World) { p.Budget, p.Agents[0].Budget = "10k", "11k" }, Ask, "11000 tokens"},
		"template":            {agent(func(a *Agent) { a.Prompt = "{{vision" }), Wrong, "has no end"},
		"unknown field":       {agent(func(a *Agent) { a.Prompt = "{{vison}}" }), Wrong, "Did you mean vision?"},
		"unknown variable":    {agent(func(a *Agent) { a.Prompt = "{{var.x}}" }), Wrong, "no such variable"},
		"peer":                {agent(func(a *Agent) { a.Prompt = "{{pixel.data}}" }), Wrong, "pixel does not work before it"},
		"not read":            {agent(func(a *Agent) { a.Reads, a.Prompt = []string{"vision"}, "{{apex}}" }), Wrong, `Write "apex" into its reads`},
		"field of nothing":    {agent(func(a *Agent) { a.Prompt = "{{vision.keywords}}" }), Wrong, "{{vision.data.keywords}}"},
		"missing field":       {reads("{{vision.data.top_keyword}}", visionSchema), Wrong, "Did you mean top_keywords?"},
		"field of a list":     {reads("{{vision.data.top_keywords.first}}", visionSchema), Wrong, "is a list"},
		"field of a number":   {reads("{{vision.data.search_volume.x}}", visionSchema), Wrong, "has no fields"},
		"open schema":         {reads("{{vision.data.other}}", `{"properties":{"a":{}},"additionalProperties":true}`), Wrong, ""},
		"schema by reference": {reads("{{vision.data.other}}", `{"$ref":"#/$defs/x"}`), Wrong, ""},
		"optional field":      {reads("{{vision.data.a}}", `{"properties":{"a":{}}}`), Warn, "need not be there"},
		"unused variable":     {func(p *Plan, _ *World) { p.Variables = map[string]Variable{"x": {}} }, Warn, "no prompt has the variable x"},
		"variable's type":     {func(p *Plan, _ *World) { p.Variables = map[string]Variable{"x": {Type: "date"}} }, Wrong, `type "date"`},
		"variable's default": {func(p *Plan, _ *World) {
			p.Variables = map[string]Variable{"x": {Type: VarInteger, Default: []byte("1.5")}}
		}, Wrong, "no whole number"},
		"variable's name":     {func(p *Plan, _ *World) { p.Variables = map[string]Variable{"a b": {}} }, Wrong, "name cannot be used"},
		"choice":              {func(p *Plan, _ *World) { p.Variables = map[string]Variable{"x": {Type: VarChoice}} }, Wrong, "choice of none"},
		"same files":          {writers(func(one, other *Agent, _ *World) { other.Writes = []string{"c", "a/x/*.go"} }), Wrong, "the same files as vision at the same time: a/** and a/x/*.go"},
		"other files":         {writers(func(one, other *Agent, _ *World) {}), Wrong, ""},
		"one after the other": {func(p *Plan, _ *World) { p.Agents[0].Writes, p.Agents[3].Writes = []string{"**"}, []string{"**"} }, Wrong, ""},
		"no repository":       {writers(func(_, _ *Agent, w *World) { w.Apart = false }), Wrong, "apex: it changes files at the same time as vision"},
		"merge without":       {writers(func(one, _ *Agent, w *World) { w.Apart, one.Merge = false, "merge" }), Wrong, "nothing can be merged"},
		"unchecked":           {writers(func(one, other *Agent, _ *World) { one.Checks, one.Merge = false, "merge" }), Ask, "merged beside apex, and nothing checks"},
		"unchecked alone":     {agent(func(a *Agent) { a.Writes = []string{"x"} }), Warn, "nothing checks what it writes"},
		"dropped":             {writers(func(one, _ *Agent, _ *World) { one.Merge = "drop" }), Warn, "thrown away"},
		"no checks":           {writers(func(_, _ *Agent, w *World) { w.Checks = []string{} }), Wrong, "has no [checks]"},
		"merge":               {writers(func(one, _ *Agent, _ *World) { one.Merge = "rebase" }), Wrong, `merge is "rebase"`},
		"checks without":      {agent(func(a *Agent) { a.Checks = true }), Wrong, "writes nothing"},
		"outside":             {agent(func(a *Agent) { a.Writes = []string{"a/../../x"} }), Wrong, "leads out"},
		"absolute":            {agent(func(a *Agent) { a.Deliver = []string{"/etc/passwd"} }), Wrong, "full path"},
		"git":                 {agent(func(a *Agent) { a.Writes = []string{"./.git/hooks/*"} }), Wrong, "repository's own"},
	} {
		t.Run(name, func(t *testing.T) {
			p, w := seven(), world()
			c.change(&p, &w)
			var texts []string
			for _, f := range Check(p, w) {
				if f.Level == c.level {
					texts = append(texts, f.Err().Error())
				}
			}
			if all := strings.Join(texts, "\n"); !strings.Contains(all, c.want) || (c.want == "") != (all == "") {
				t.Errorf("%s: got %q, want %q", c.level, all, c.want)
			}
		})
	}
}

// Findings are bounded whatever the plan is, and nothing of it reaches a terminal raw.
func TestCheckIsBounded(t *testing.T) {
	p := Plan{Name: "p"}
	for i := range 5000 {
		p.Agents = append(p.Agents, Agent{Name: fmt.Sprintf("a%d", i), Output: "\x1b[2J", Prompt: "{{\x1b]0;x\x07}}", Writes: []string{"\x1b", "**"}, Agent: "x\x1b", Budget: "\x1b"})
	}
	began := time.Now()
	found := Check(p, world())
	if len(found) == 0 || len(found) > maxFindings+1 || found[0].Level != Wrong {
		t.Error(len(found))
	}
	for _, f := range found {
		if strings.ContainsAny(f.Text+f.Do+f.Agent, "\x1b\x07") {
			t.Errorf("%q", f)
		}
	}
	t.Logf("%d findings in %v", len(found), time.Since(began))
}

// Without an upper bound of agents: 10,001 are refused, and so are more edges than can be stored.
func TestCheckTooMany(t *testing.T) {
	var p Plan
	for i := range MaxAgents + 1 {
		p.Agents = append(p.Agents, Agent{Name: fmt.Sprintf("a%d", i), Prompt: "x"})
	}
	p.Name = "p"
	if f := Check(p, World{}); len(f) != 1 || !strings.Contains(f[0].Text, "10001 agents") {
		t.Error(f)
	}
	p.Agents = p.Agents[:MaxAgents]
	for i := range p.Agents {
		p.Agents[i].Wave = 1 + i/5000
	}
	if f := Check(p, World{}); len(f) != 1 || !strings.Contains(f[0].Text, "25000000 ways") {
		t.Error(f)
	}
}

func TestValues(t *testing.T) {
	p := Plan{Variables: map[string]Variable{
		"text": {}, "n": {Type: VarNumber}, "i": {Type: VarInteger, Default: []byte("3")}, "on": {Type: VarBool}, "c": {Type: VarChoice, Choices: []string{"a", "b"}},
	}}
	typed := map[string]string{"text": "12", "n": "1e3", "on": "true", "c": "b"}
	given := map[string]json.RawMessage{}
	for name, text := range typed {
		given[name] = ReadValue(p.Variables[name], text)
	}
	values, problems := Values(p, given)
	if len(problems) != 0 || Plain(values["text"]) != "12" || Plain(values["i"]) != "3" || Plain(values["n"]) != "1e3" || string(values["text"]) != `"12"` {
		t.Error(values, problems)
	}
	for name, text := range map[string]string{"n": "x", "i": "1.5", "on": "yes", "c": "z", "other": "1"} {
		bad := map[string]json.RawMessage{}
		for n, v := range given {
			bad[n] = v
		}
		bad[name] = ReadValue(p.Variables[name], text)
		if _, problems := Values(p, bad); len(problems) != 1 || problems[0].Level != Wrong || !strings.Contains(problems[0].Text, name) {
			t.Error(name, problems)
		}
	}
	if _, problems := Values(p, nil); len(problems) != 4 {
		t.Error(problems)
	}
	if _, problems := Values(p, map[string]json.RawMessage{"text": []byte("{"), "n": []byte("1"), "on": []byte("false"), "c": []byte(`"a"`)}); len(problems) != 1 {
		t.Error(problems)
	}
}

// A circle of any length is found, and the plan without it is laid out.
func TestCheckCircle(t *testing.T) {
	p := Plan{Name: "p"}
	for i := range 3000 {
		p.Agents = append(p.Agents, Agent{Name: fmt.Sprintf("a%d", i), Prompt: "x", Reads: []string{fmt.Sprintf("a%d", (i+1)%3000)}})
	}
	if f := Check(p, World{}); len(f) != 1 || !strings.Contains(f[0].Text, "a0 -> a1") || len(f[0].Text) > 300 {
		t.Error(f)
	}
	p.Agents[2999].Reads = nil
	if f := Check(p, World{}); len(f) != 0 {
		t.Error(f)
	}
	if nodes, err := Layout(p); err != nil || nodes[0].Wave != 3000 {
		t.Error(err)
	}
}

func TestAncestors(t *testing.T) {
	p := seven()
	p.Gates = []Gate{{Name: "g", After: 1}}
	p.Agents[4].ReadsNone, p.Agents[4].After, p.Agents[4].Prompt = true, []string{"vision"}, "x"
	nodes, err := Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	before := ancestors(nodes, []int{0, 1, 4})
	var got []bool
	for _, n := range []int{0, 3, 4} {
		got = append(got, before[n].has(0), before[n].has(1), before[n].has(2))
	}
	// pixel follows on vision by itself, and on apex by the gate
	if want := []bool{false, false, false, true, true, false, true, true, false}; !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
}

func BenchmarkCheck10000(b *testing.B) {
	for name, plan := range wide() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, f := range Check(plan, world()) {
					if f.Level == Wrong {
						b.Fatal(f)
					}
				}
			}
		})
	}
}

// wide are plans of 10,000 agents.
func wide() map[string]Plan {
	plans := map[string]Plan{}
	for name, width := range map[string]int{"chain": 1, "100 wide": 100, "wide": 10_000} {
		p := Plan{Name: "p", MaxParallel: 4}
		for i := range 10_000 {
			a := Agent{Name: fmt.Sprintf("agent-%d", i), Prompt: "Look at {{task}} well.", Schema: []byte(visionSchema), Budget: "$0.10",
				Writes: []string{fmt.Sprintf("out/%d/**", i)}, Checks: true}
			if i >= width {
				for up := i / width * width; up > i/width*width-min(width, 50); up-- {
					a.Reads = append(a.Reads, fmt.Sprintf("agent-%d", up-1))
				}
				a.Prompt += fmt.Sprintf(" {{%s.data.search_volume}}", a.Reads[0])
			}
			p.Agents = append(p.Agents, a)
		}
		plans[name] = p
	}
	return plans
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"name":"p","agents":[{"name":"a","prompt":"x"},{"name":"b","reads":["a"],"prompt":"{{a.data.x}}","schema":{"properties":{"x":{}}},"writes":["**"]}],"gates":[{"name":"g","after":1}]}`)
	f.Add(`{"name":"p","variables":{"x":{"default":1}},"agents":[{"name":"a","wave":2,"gate":"?"},{"name":"b","wave":1,"after":["a"]}]}`)
	f.Add(`{"agents":[{"name":"a","reads":["b"]},{"name":"b","after":["a"]}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		var p Plan
		if json.Unmarshal([]byte(doc), &p) != nil {
			return
		}
		wrong := false
		for _, finding := range Check(p, world()) {
			wrong = wrong || finding.Level == Wrong
			if strings.ContainsRune(finding.Err().Error(), 0x1b) {
				t.Fatalf("%q", finding)
			}
		}
		nodes, err := Layout(p)
		if err != nil && !wrong {
			t.Fatal("Check has nothing against what cannot be laid out: ", err)
		}
		if err == nil {
			checkEdges(t, nodes)
		}
	})
}
