package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTools(t *testing.T) {
	nest := func(n int) string {
		return `{"name":"t","inputSchema":{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}
	for what, test := range map[string]struct{ raw, name, problem string }{
		"plain":              {`{"name":"t","inputSchema":{}}`, "t", ""},
		"unknown fields":     {`{"name":"t","inputSchema":{"type":"array"},"x":9007199254740993123}`, "t", ""},
		"optional task":      {`{"name":"t","inputSchema":{},"execution":{"taskSupport":"optional"}}`, "t", ""},
		"task only":          {`{"name":"t","inputSchema":{},"execution":{"taskSupport":"required"}}`, "t", "only be called as a task"},
		"null schema":        {`{"name":"t","inputSchema":null}`, "t", "inputSchema is not an object"},
		"list schema":        {`{"name":"t","inputSchema":[]}`, "t", "inputSchema is not an object"},
		"text schema":        {`{"name":"t","inputSchema":"{}"}`, "t", "inputSchema is not an object"},
		"boolean schema":     {`{"name":"t","inputSchema":true}`, "t", "inputSchema is not an object"},
		"no schema":          {`{"name":"t"}`, "t", "no inputSchema"},
		"no name":            {`{"inputSchema":{}}`, "", "no name"},
		"empty name":         {`{"name":"","inputSchema":{}}`, "", "no name"},
		"null name":          {`{"name":null,"inputSchema":{}}`, "", "no name"},
		"number as name":     {`{"name":7,"inputSchema":{}}`, "", "malformed"},
		"null":               {`null`, "", "no name"},
		"number":             {`7`, "", "malformed"},
		"deep enough":        {nest(maxDepth - 2), "t", ""},
		"too deep":           {nest(maxDepth - 1), "t", "nested 65 deep"},
		"brackets in a text": {`{"name":"t","inputSchema":{"a":"\"` + strings.Repeat("[{", 100) + `"}}`, "t", ""},
		"large enough":       {`{"name":"t","inputSchema":{},"d":"` + strings.Repeat("x", maxTool-100) + `"}`, "t", ""},
		"too large":          {`{"name":"t","inputSchema":{},"d":"` + strings.Repeat("x", maxTool) + `"}`, "t", "more than 262144"},
		"long name":          {`{"name":"` + strings.Repeat("n", 300) + `","inputSchema":{}}`, strings.Repeat("n", 256), "longer than 256"},
	} {
		tools, problems := Tools([]json.RawMessage{json.RawMessage(test.raw)})
		if len(tools) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %v %v", what, tools, problems)
		}
		got := tools[0]
		if got.Name != test.name || (got.Problem == "") != (test.problem == "") || !strings.Contains(got.Problem, test.problem) {
			t.Errorf("%s is %q with problem %q, want %q with %q", what, got.Name, got.Problem, test.name, test.problem)
		}
		if got.Problem == "" && string(got.Raw) != test.raw {
			t.Errorf("%s is not kept as it came", what)
		}
		if len(got.Raw) > maxTool {
			t.Errorf("%s: %d bytes are kept", what, len(got.Raw))
		}
	}
}

func TestOrderAndNames(t *testing.T) {
	raw := func(name, more string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"name":%q,"inputSchema":{}%s}`, name, more))
	}
	tools, problems := Tools([]json.RawMessage{raw("b", ""), raw("a", `,"n":1`), raw("c", ""), raw("a", `,"n":2`)})
	if len(problems) > 0 {
		t.Error(problems)
	}
	var got []string
	for _, tool := range tools {
		got = append(got, tool.Name+tool.Problem)
	}
	if want := []string{"a", "athe server lists another tool of this name before it", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("tools are %q, want %q", got, want)
	}
	if tool, ok := (Manifest{Tools: tools}).Tool("a"); !ok || !strings.Contains(string(tool.Raw), `"n":1`) {
		t.Errorf("the tool is %s", tool.Raw)
	}
	many := make([]json.RawMessage, maxTools+5)
	for i := range many {
		many[i] = raw(fmt.Sprint(i), "")
	}
	if tools, problems = Tools(many); len(tools) != maxTools || len(problems) != 1 || !strings.HasPrefix(problems[0], "5 more tools") {
		t.Errorf("%d tools, %q", len(tools), problems)
	}
}

func TestEntries(t *testing.T) {
	raw := []json.RawMessage{
		[]byte(`{"name":"b"}`), []byte(`{"name":"a","x":9007199254740993123}`), []byte(`null`), []byte(`{"name":7}`), []byte(`{}`),
		[]byte(`{"name":"b","second":1}`), []byte(`{"name":"c","x":"` + strings.Repeat("x", maxTool) + `"}`),
	}
	got, problems := Entries(raw, "prompts", "name")
	if want := `[{"name":"a","x":9007199254740993123} {"name":"b"}]`; fmt.Sprintf("%s", got) != want {
		t.Errorf("kept are %s, want %s", got, want)
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "5 prompts are left out") {
		t.Errorf("problems are %q", problems)
	}
	if _, problems = Entries(raw[:2], "prompts", "name"); len(problems) > 0 {
		t.Errorf("problems are %q", problems)
	}
}

func TestList(t *testing.T) {
	pages := func(p ...string) Caller {
		n := 0
		return func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			if want := `{}`; n == 0 && string(params) != want || method != "x/list" {
				return nil, fmt.Errorf("asked for %s %s", method, params)
			}
			if n >= len(p) {
				return nil, errors.New("asked for too many pages")
			}
			n++
			return json.RawMessage(p[n-1]), nil
		}
	}
	endless := func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprintf(`{"x":[1],"nextCursor":"%dx"}`, len(params))), nil
	}
	n := 0
	growing := func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		n++
		return json.RawMessage(fmt.Sprintf(`{"x":[1],"nextCursor":"%d"}`, n)), nil
	}
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	large := func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		n++
		return json.RawMessage(fmt.Sprintf(`{"x":[%s],"nextCursor":"%d"}`, big, n)), nil
	}
	for what, test := range map[string]struct {
		call    Caller
		entries int
		problem string
		fails   bool
	}{
		"one page":       {call: pages(`{"x":[1,2]}`), entries: 2},
		"three pages":    {call: pages(`{"x":[1],"nextCursor":"a"}`, `{"x":[2],"nextCursor":"b"}`, `{"x":[3],"nextCursor":""}`), entries: 3},
		"no entries":     {call: pages(`{}`)},
		"null":           {call: pages(`{"x":null,"nextCursor":null}`)},
		"repeats":        {call: pages(`{"x":[1],"nextCursor":"a"}`, `{"x":[2],"nextCursor":"a"}`), entries: 2, problem: "pages repeat"},
		"number":         {call: pages(`{"x":[1],"nextCursor":7}`), entries: 1, problem: "not a string"},
		"endless":        {call: endless, entries: 4, problem: "pages repeat"},
		"growing":        {call: growing, entries: maxPages, problem: "1000 pages"},
		"large":          {call: large, entries: 64, problem: "cut after 64 entries"},
		"no list":        {call: pages(`{"x":{}}`), fails: true},
		"no object":      {call: pages(`[]`), fails: true},
		"refused":        {call: pages(), fails: true},
		"refused, later": {call: pages(`{"x":[1],"nextCursor":"a"}`), fails: true},
	} {
		got, problem, err := List(context.Background(), test.call, "x/list", "x")
		if len(got) != test.entries && what != "endless" || !strings.Contains(problem, test.problem) ||
			(problem == "") != (test.problem == "") || (err != nil) != test.fails {
			t.Errorf("%s: %d entries, %q, %v", what, len(got), problem, err)
		}
	}
}

func sample(hash string) Manifest {
	return Manifest{
		Hash: hash, Protocol: "2025-11-25", Server: json.RawMessage(`{"name":"<&>"}`),
		Capabilities: json.RawMessage(`{"n":9007199254740993123}`), Problems: []string{"p"}, At: time.Unix(1, 0).UTC(),
		Tools: []Tool{
			{Name: "a", Raw: json.RawMessage(`{"name":"a","inputSchema":{},"d":"<é>  &","n":9007199254740993123}`)},
			{Name: "b", Problem: "too large"},
		},
		Prompts: []json.RawMessage{json.RawMessage(`{"name":"p"}`)},
	}
}

func cache(t testing.TB, dir string) *Cache {
	t.Helper()
	c, err := OpenCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir)
	const hash = "../../etc/passwd"
	if _, ok := c.Get(hash); ok {
		t.Error("it is there before")
	}
	want := sample(hash)
	if err := c.Put(want); err != nil {
		t.Fatal(err)
	}
	for what, from := range map[string]*Cache{"the same": c, "another": cache(t, dir)} {
		got, ok := from.Get(hash)
		if !ok || !got.Same(want) || !got.At.Equal(want.At) {
			t.Errorf("%s cache has %+v, want %+v", what, got, want)
		}
		if _, ok := from.Get("other"); ok {
			t.Errorf("%s cache has what was not stored", what)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d files: %v", len(list), err)
	}
	path := filepath.Join(dir, list[0].Name())
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v %v", info.Mode(), err)
	}
	for what, content := range map[string]string{"damaged": `{"Hash":`, "another's": `{"Hash":"other"}`, "empty": ``} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := cache(t, dir).Get(hash); ok {
			t.Errorf("from a %s file: %+v", what, got)
		}
	}
	// What is stored obeys the rules.
	bad, err := encode(Manifest{Hash: hash, Tools: []Tool{{Name: "a", Raw: json.RawMessage(`{"name":"a","inputSchema":null}`)}}})
	if err == nil {
		err = os.WriteFile(path, bad, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := cache(t, dir).Get(hash); !ok || len(got.Tools) != 1 || got.Tools[0].Problem == "" {
		t.Errorf("a stored tool without a schema is %+v", got.Tools)
	}
}

func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir)
	for i := range 4 {
		if err := c.Put(sample(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000-i), 0) // the last is the oldest
		if err := os.Chtimes(filepath.Join(dir, file(fmt.Sprint(i))), at, at); err != nil {
			t.Fatal(err)
		}
	}
	b, err := encode(sample("0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.evict("none", 2*int64(len(b))); err != nil {
		t.Fatal(err)
	}
	again := cache(t, dir)
	for i := range 4 {
		if _, ok := again.Get(fmt.Sprint(i)); ok != (i < 2) {
			t.Errorf("manifest %d is there: %v", i, ok)
		}
	}
	huge := sample("0")
	huge.Instructions = strings.Repeat("x", maxStored)
	if err := c.Put(huge); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get("0"); len(got.Instructions) != maxStored {
		t.Error("a large manifest is not kept in memory")
	}
	if _, ok := cache(t, dir).Get("0"); ok {
		t.Error("the old one is still on disk")
	}
}

func TestCompact(t *testing.T) {
	c := cache(t, t.TempDir())
	m := sample("h")
	m.Server = json.RawMessage(` { "name" : "a  b" } `)
	m.Tools[0].Raw = json.RawMessage(`{ "n": 9007199254740993123,  "d": "<\u003c>" }`)
	m.Resources = []json.RawMessage{json.RawMessage(`{ "uri": 1 }`)}
	m = m.Compact()
	if got := string(m.Server) + string(m.Tools[0].Raw) + string(m.Resources[0]); got !=
		`{"name":"a  b"}{"n":9007199254740993123,"d":"<\u003c>"}{"uri":1}` {
		t.Errorf("it is %s", got)
	}
	if err := c.Put(m); err != nil {
		t.Fatal(err)
	}
	c.known = make(map[string]Manifest)
	m.Tools[0].Problem = "it has no name" // it is checked when it is read
	m.Tools[0].Name = ""
	if got, ok := c.Get("h"); !ok || !got.Same(m) {
		t.Errorf("stored is %+v, want %+v", got, m)
	}
}

func TestSame(t *testing.T) {
	a := sample("h")
	later := a
	later.At = time.Unix(2, 0)
	if !a.Same(later) {
		t.Error("the time makes a difference")
	}
	for what, change := range map[string]func(*Manifest){
		"hash":         func(m *Manifest) { m.Hash = "x" },
		"protocol":     func(m *Manifest) { m.Protocol = "x" },
		"server":       func(m *Manifest) { m.Server = json.RawMessage(`{}`) },
		"instructions": func(m *Manifest) { m.Instructions = "x" },
		"capabilities": func(m *Manifest) { m.Capabilities = json.RawMessage(`{}`) },
		"tool":         func(m *Manifest) { m.Tools[0].Raw = json.RawMessage(`{}`) },
		"problem":      func(m *Manifest) { m.Tools[1].Problem = "x" },
		"prompts":      func(m *Manifest) { m.Prompts = nil },
		"resources":    func(m *Manifest) { m.Resources = []json.RawMessage{nil} },
		"templates":    func(m *Manifest) { m.Templates = []json.RawMessage{nil} },
		"problems":     func(m *Manifest) { m.Problems = nil },
	} {
		b := sample("h")
		change(&b)
		if a.Same(b) {
			t.Errorf("another %s makes no difference", what)
		}
	}
}

func FuzzTools(f *testing.F) {
	for _, s := range []string{`{"name":"t","inputSchema":{}}`, `null`, `{"name":"t","inputSchema":[[["]"]]]}`, `{"name":`, "\xff", `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tools, _ := Tools([]json.RawMessage{raw, raw})
		if len(tools) != 2 || tools[0].Problem == "" && (!json.Valid(raw) || tools[0].Name == "" || tools[1].Problem == "") {
			t.Errorf("%q is %+v", raw, tools)
		}
	})
}
