package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"orchestrator/thread"
)

// texts returns a result of texts, with more fields.
func result(more string, texts ...string) string {
	var blocks []any
	for _, s := range texts {
		blocks = append(blocks, map[string]any{"type": "text", "text": s})
	}
	return `{"content":` + string(encoded(blocks)) + more + `}`
}

// give makes the servers answer with a result.
func (s *shelf) give(result string) {
	s.answer = func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(result), nil
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of many\n", i)
	}
	return b.String()
}

func manyRecords(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":%d,"n":9007199254740993123}`, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestStaging(t *testing.T) {
	long, records, picture := manyLines(2000), manyRecords(1000), `{"type":"image","data":"`+strings.Repeat("A", 30000)+`","mimeType":"image/png"}`
	lines := strings.ReplaceAll(strings.Trim(records, "[]"), "},{", "}\n{") + "\n"
	for _, c := range []struct {
		name   string
		in     string
		limit  int
		staged []string // what is kept; "" if nothing is
		kind   thread.DataKind
		says   string // in the result
	}{
		{name: "small", in: result("", "hello")},
		{name: "as large as may be", in: result("", strings.Repeat("x", 10_000-len(result("", ""))))},
		{name: "one byte larger", in: result("", strings.Repeat("x", 10_001-len(result("", "")))), staged: []string{strings.Repeat("x", 10_001-len(result("", "")))}},
		{name: "a higher limit of the server", in: result("", long), limit: 1 << 20},
		{name: "a lower limit of the server", in: result("", strings.Repeat("y", 200)), limit: 100, staged: []string{strings.Repeat("y", 200)}},
		{name: "text", in: result("", long), staged: []string{long}, kind: thread.DataText},
		{name: "texts", in: result("", long, "second"), staged: []string{long + "\nsecond"}},
		{name: "an error", in: result(`,"isError":true`, long)},
		{name: "a picture", in: `{"content":[` + picture + `]}`},
		{name: "a picture beside text", in: `{"content":[` + picture + `,{"type":"text","text":` + string(encoded(long)) + `}]}`, staged: []string{long}, says: picture},
		{name: "an array", in: result("", records), staged: []string{lines}, kind: thread.DataNDJSON, says: "1000 records"},
		{name: "an object with an array", in: result("", `{"next":"p2","items":`+records+`}`), staged: []string{lines}, kind: thread.DataNDJSON, says: `The records are those of \"items\". The other fields are {\"next\":\"p2\"}`},
		{name: "other JSON", in: result("", `{"a":"`+strings.Repeat("x", 20000)+`","b":1}`), staged: []string{"{\n \"a\": \"" + strings.Repeat("x", 20000) + "\",\n \"b\": 1\n}"}},
		{name: "an object with two arrays", in: result("", `{"a":`+records+`,"b":`+records+`}`), staged: []string{indented(`{"a":` + records + `,"b":` + records + `}`)}},
		{name: "an array of one", in: result("", `["`+strings.Repeat("x", 20000)+`"]`), staged: []string{"[\n \"" + strings.Repeat("x", 20000) + "\"\n]"}},
		{name: "nearly JSON", in: result("", records+"!"), staged: []string{records + "!"}},
		{name: "structure that the text says", in: result(`,"structuredContent":{"items":`+records+`}`, indented(`{"items":`+records+`}`)), staged: []string{lines}, kind: thread.DataNDJSON},
		{name: "structure that wraps the text", in: result(`,"structuredContent":{"result":`+string(encoded(long))+`}`, long), staged: []string{long}},
		{name: "structure whose elements are the texts", in: result(`,"structuredContent":{"result":[`+string(encoded(long))+`,{"a":1}]}`, long, `{"a": 1}`), staged: []string{long + "\n{\"a\": 1}"}},
		{name: "structure alone", in: `{"content":[],"structuredContent":{"items":` + records + `}}`, staged: []string{lines}, kind: thread.DataNDJSON},
		{name: "structure without content", in: `{"structuredContent":{"items":` + records + `}}`, staged: []string{lines}, kind: thread.DataNDJSON},
		{name: "a short text about a large structure", in: result(`,"structuredContent":{"items":`+records+`}`, "Found <1000>."), staged: []string{lines}, kind: thread.DataNDJSON, says: "Found <1000>."},
		{name: "a long text about a large structure", in: result(`,"structuredContent":{"items":`+records+`}`, long), staged: []string{long, lines}},
		{name: "a long text and a small structure", in: result(`,"structuredContent":{"count":7}`, long), staged: []string{long}, says: `{\"count\":7}`},
		{name: "an unknown content", in: `{"content":[{"type":"hologram","x":"` + strings.Repeat("x", 20000) + `"}]}`},
		{name: "content that is none", in: `{"content":"` + strings.Repeat("x", 20000) + `"}`},
		{name: "a result that is none", in: `"` + strings.Repeat("x", 20000) + `"`},
		{name: "half a character", in: result("", strings.Repeat("é", 20000)), staged: []string{strings.Repeat("é", 20000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, shelf, box := newRig(t)
			s := echoServer()
			s.StageChars = c.limit
			shelf.set(own, s)
			shelf.give(c.in)
			a := connect(t, g, own, `{}`)
			got := a.must("tools/call", `{"name":"fake__echo"}`)
			if len(box.req) != len(c.staged) {
				t.Fatalf("staged %d, not %d; the result is %.300s", len(box.req), len(c.staged), got)
			}
			if len(c.staged) == 0 {
				if got != c.in {
					t.Errorf("it was changed: %.300s", got)
				}
				return
			}
			for i, want := range c.staged {
				if kept := box.all[fmt.Sprintf("max:%08x", i+1)]; kept != want {
					t.Errorf("kept %d bytes %.100q, not %d %.100q", len(kept), kept, len(want), want)
				}
				if !strings.Contains(got, fmt.Sprintf("max:%08x", i+1)) {
					t.Errorf("the agent cannot find token %d: %.300s", i+1, got)
				}
			}
			if r := box.req[0]; r.Thread != own || r.Source != "fake/echo" || c.kind == thread.DataNDJSON && r.Kind != c.kind || c.kind == thread.DataText && r.Kind == thread.DataNDJSON {
				t.Errorf("staged as %+v", r)
			}
			if strings.Contains(got, `"structuredContent":`) || !strings.Contains(got, c.says) || !strings.Contains(got, retrieveTool) {
				t.Errorf("the agent gets %.3000s", got)
			}
			if rest := len(got) - strings.Count(got, "A"); c.limit == 0 && rest > 10_000 {
				t.Errorf("what is left is %d bytes", rest)
			}
		})
	}
}

func indented(s string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// full is a stager without room.
type full struct{ box }

func (*full) Stage(context.Context, thread.StageRequest, io.Reader) (thread.Staged, error) {
	return thread.Staged{}, errors.New("no space left")
}

func TestStagerThatFails(t *testing.T) {
	for _, stager := range []Stager{&full{}, nil} {
		_, shelf, _ := newRig(t)
		g := New(Config{Servers: shelf, Stager: stager})
		t.Cleanup(func() { _ = g.Close() })
		in := result(`,"structuredContent":{"n":9007199254740993123}`, manyLines(3000))
		shelf.give(in)
		if got := connect(t, g, own, `{}`).must("tools/call", `{"name":"fake__echo"}`); got != in {
			t.Errorf("it was changed: %.300s", got)
		}
	}
}

func TestStagingOfLongNames(t *testing.T) {
	g, shelf, box := newRig(t)
	tool := strings.Repeat("ü", 250)
	shelf.set(own, serverOf("sërver.one", tool))
	shelf.give(result("", manyLines(2000)))
	name := exposed("sërver.one", []string{tool})[0]
	connect(t, g, own, `{}`).tool(name, `{}`)
	if len(box.req) != 1 {
		t.Fatal("not staged")
	}
}

// stage stages a text by a call and returns its token.
func stage(a *agent, s *shelf, text string) string {
	a.Helper()
	s.give(result("", text))
	preview, _ := a.tool("fake__echo", `{}`)
	return regexp.MustCompile(`max:[0-9a-f]{8}`).FindString(preview)
}

func TestRetrieve(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	token := stage(a, shelf, manyLines(3000))
	for _, c := range []struct {
		arguments, want string
		fails           bool
	}{
		{`"from":2,"to":3`, "line 1 of many\nline 2 of many\n", false},
		{`"from":3000`, "line 2999 of many\n", false},
		{`"grep":"line 77 "`, "line 77 of many\n", false},
		{`"grep":"line 77","head":2`, "line 77 of many\nline 770 of many\n", false},
		{`"head":1,"offset":5`, "0 of many\n", false},
		{`"from":9000`, "[nothing is selected]", false},
		{`"offset":9000000`, "[nothing is selected]", false},
		{`"from":-1`, "select lines from 1 on", true},
		{`"from":5,"to":2`, "select lines from 1 on", true},
		{`"offset":-1`, "offset cannot be negative", true},
		{`"from":"two"`, "do not fit", true},
		{`"from":1e99`, "do not fit", true},
		{`"token":"max:ffffffff"`, "not found", true},
		{`"token":""`, "not found", true},
	} {
		got, isError := a.tool(retrieveTool, `{"token":"`+token+`",`+c.arguments+`}`)
		if isError != c.fails || c.fails && !strings.Contains(got, c.want) || !c.fails && got != c.want || strings.Contains(got, "<nil>") {
			t.Errorf("%s: %q, %t", c.arguments, got, isError)
		}
	}
	if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"orch__retrieve","arguments":[]}`)); err == nil {
		t.Error("arguments that are no object were taken")
	}
}

// TestRetrieveReassemblesEverything reads a text window by window, as its notes say.
func TestRetrieveReassemblesEverything(t *testing.T) {
	note := regexp.MustCompile(`\n\[cut after (\d+) bytes; go on with the same selection and offset (\d+), or select less\]$`)
	for name, text := range map[string]string{
		"lines": manyLines(3000), "one line": strings.Repeat("x", 35_000), "just full": strings.Repeat("y", 20_000),
		"two bytes":   "x" + strings.Repeat("é", 17_000),
		"three bytes": strings.Repeat("€", 11_111), "four bytes": "xy" + strings.Repeat("😀", 9_000),
	} {
		g, shelf, _ := newRig(t)
		a := connect(t, g, own, `{}`)
		token := stage(a, shelf, text)
		var all strings.Builder
		offset := "0"
		for range 20 {
			part, isError := a.tool(retrieveTool, `{"token":"`+token+`","offset":`+offset+`}`)
			if isError {
				t.Fatalf("%s: %s", name, part)
			}
			m := note.FindStringSubmatch(part)
			if m == nil {
				all.WriteString(part)
				break
			}
			part = strings.TrimSuffix(part, m[0])
			if fmt.Sprint(len(part)) != m[1] || len(part) > 10_000 {
				t.Errorf("%s: %d bytes, and the note says %s", name, len(part), m[1])
			}
			all.WriteString(part)
			offset = m[2]
		}
		if all.String() != text {
			t.Errorf("%s: %d bytes came of %d", name, all.Len(), len(text))
		}
	}
}

// TestRetrieveOfBytes: what is no text is shown as far as it can be, and reading goes on.
func TestRetrieveOfBytes(t *testing.T) {
	g, shelf, box := newRig(t)
	a := connect(t, g, own, `{}`)
	token := stage(a, shelf, manyLines(2000))
	box.all[token] = strings.Repeat("\xff\xfe\x80", 10_000)
	part, isError := a.tool(retrieveTool, `{"token":"`+token+`"}`)
	if isError || !strings.Contains(part, "\uFFFD") || !strings.Contains(part, "offset 10000,") && !strings.Contains(part, "offset 9999,") {
		t.Errorf("%.100q … %q", part, part[max(0, len(part)-100):])
	}
}
