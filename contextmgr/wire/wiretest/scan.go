package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"pgregory.net/rapid"

	"orchestrator/contextmgr/wire"
)

// stub is a text that stands in place of a content. Its characters need care in JSON.
const stub = "[Masked: <12 lines> & \"more\"] — full output: /s/ab12cd34.txt"

// Scan tests a scanner.
func Scan(t *testing.T, c wire.Scanner, k Talk) {
	t.Run("lists", func(t *testing.T) { lists(t, c, k) })
	t.Run("as a request", func(t *testing.T) {
		call := k.conversation(k.steps(3, 500)...)
		request, err := c.Request(call)
		if s := scan(t, c, call, nil); err != nil || !reflect.DeepEqual(s.Request, request) {
			t.Errorf("scanned %+v, read %+v, %v", s.Request, request, err)
		}
	})
	t.Run("replaces", func(t *testing.T) { replaces(t, c, k) })
	t.Run("inputs", func(t *testing.T) { inputs(t, c, k) })
	t.Run("person", func(t *testing.T) { person(t, c, k) })
	t.Run("pairs", func(t *testing.T) { pairs(t, c, k) })
	t.Run("in doubt", func(t *testing.T) { inDoubt(t, c, k) })
	t.Run("cut", func(t *testing.T) {
		call := k.conversation(k.marked(k.steps(2, 300))...)
		whole := scan(t, c, call, nil)
		for i := range len(call.Body) {
			cut := call
			cut.Body = call.Body[:i]
			if s, err := c.Scan(cut, whole); err == nil || len(s.Contents)+len(s.Request.Items) > 0 || s.Prompted != -1 {
				t.Fatalf("cut at %d: %+v, %v", i, s, err)
			}
		}
	})
	t.Run("takes over", func(t *testing.T) { takesOver(t, c, k) })
	t.Run("as if fresh", rapid.MakeCheck(func(t *rapid.T) { asIfFresh(t, c, k) }))
	t.Run("at once", func(t *testing.T) { atOnce(t, c, k) })
	t.Run("memory", func(t *testing.T) { holds(t, c, k) })
}

func lists(t *testing.T, c wire.Scanner, k Talk) {
	call := k.conversation(k.Person("please"), k.Call("c1", "Read", `{"file_path": "/w/a.go"}`),
		k.Result("c1", "Read", "line one\nline <two> \"é\""), k.Call("c2", "Bash", `{"command":"ls"}`),
		k.Result("c2", "Bash", ""), k.Person("thanks"))
	s := scan(t, c, call, nil)
	var got []string
	for _, content := range s.Contents {
		got = append(got, fmt.Sprintf("%d %s %s %s %s %q", content.Item, content.Form, content.Call, content.Tool,
			content.Input, content.Text(content.Of(call.Body))))
	}
	var want []string
	add := func(item int, form wire.Form, call, tool, input, text string) {
		if form != wire.FormInput || k.Inputs {
			want = append(want, fmt.Sprintf("%d %s %s %s %s %q", item, form, call, tool, input, text))
		}
	}
	add(1, wire.FormInput, "c1", "Read", `{"file_path": "/w/a.go"}`, `{"file_path": "/w/a.go"}`)
	add(2, k.Form, "c1", "Read", `{"file_path": "/w/a.go"}`, "line one\nline <two> \"é\"")
	add(3, wire.FormInput, "c2", "Bash", `{"command":"ls"}`, `{"command":"ls"}`)
	add(4, k.Form, "c2", "Bash", `{"command":"ls"}`, "")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if items := k.Body(string(s.List.Of(call.Body))); items != string(call.Body) {
		t.Errorf("the list is %s", s.List.Of(call.Body))
	}
}

// replaces puts a stub in place of each content alone, and of all.
func replaces(t *testing.T, c wire.Scanner, k Talk) {
	call := k.conversation(k.marked(k.steps(4, 3000))...)
	s := scan(t, c, call, nil)
	var all []wire.Replacement
	for i, content := range s.Contents {
		with := wire.Replacement{Span: content.Span, With: c.Replace(content.Of(call.Body), content.Form, stub)}
		if with.With == nil {
			t.Fatalf("content %d is not replaced: %s", i, content.Of(call.Body))
		}
		all = append(all, with)
		spliced(t, c, call, s, i, with)
	}
	call.Body = wire.Splice(call.Body, all)
	after := scan(t, c, call, nil)
	if len(after.Contents) != len(s.Contents) {
		t.Fatalf("%d contents, %d after all were replaced", len(s.Contents), len(after.Contents))
	}
	for _, content := range after.Contents {
		if again := c.Replace(content.Of(call.Body), content.Form, stub); again != nil {
			t.Errorf("what was replaced is replaced again, by %s", again)
		}
	}
	told := 0
	for _, e := range c.Entries(after.Request.Items) {
		told += strings.Count(e.Text, stub) // of a result
		if quoted := strings.Trim(string(wire.Quote(stub)), `"`); quoted != stub {
			told += strings.Count(e.Text, quoted) // of an input, which is JSON
		}
	}
	if told != len(all) {
		t.Errorf("entries tell of %d stubs, want %d", told, len(all))
	}
}

// spliced tests one replacement in a body.
func spliced(t *testing.T, c wire.Scanner, call wire.Call, s *wire.Scan, i int, with wire.Replacement) {
	t.Helper()
	before := call.Body
	call.Body = wire.Splice(before, []wire.Replacement{with})
	if !json.Valid(call.Body) {
		t.Fatalf("content %d: not valid JSON: %s", i, call.Body)
	}
	end := with.Start + len(with.With)
	if !bytes.Equal(call.Body[:with.Start], before[:with.Start]) || !bytes.Equal(call.Body[end:], before[with.End:]) {
		t.Fatalf("content %d: other bytes changed", i)
	}
	fresh, next := scan(t, c, call, nil), scan(t, c, call, s)
	equal(t, fresh, next)
	was, is := s.Contents[i], fresh.Contents[i]
	text := is.Text(is.Of(call.Body))
	if is.Form != was.Form || is.Call != was.Call || is.Tool != was.Tool {
		t.Errorf("content %d was %+v, is %+v", i, was, is)
	}
	if was.Form != wire.FormInput {
		if text != stub {
			t.Errorf("content %d reads %q", i, text)
		}
		return
	}
	want := fmt.Sprintf(`{"file_path":"/w/file%d.go","n":1.0,"content":%s}`, is.Item/2, wire.Quote(stub))
	if text != want {
		t.Errorf("content %d reads %s, want %s", i, text, want)
	}
}

// inputs tests what is replaced in the input of a call.
func inputs(t *testing.T, c wire.Scanner, k Talk) {
	long := strings.Repeat("x", 201)
	short := strings.Repeat("y", 200)
	q := string(wire.Quote(stub))
	for input, want := range map[string]string{
		`{"a":"` + short + `"}`:                               "",
		`{"path":"` + long + `","file":{"x":"` + long + `"}}`: "",
		`{"a": "` + long + `", "b":[1.0,"` + long + `",{"c":"` + long + `"}], "d":"` + short +
			`"}`: `{"a": ` + q + `, "b":[1.0,` + q +
			`,{"c":` + q + `}], "d":"` + short + `"}`,
		`{"file_path":"` + long + `","old_string":"` + long + `","new_string":"` + long +
			`","z":1e400}`: `{"file_path":"` + long +
			`","old_string":` + q + `,"new_string":` + q + `,"z":1e400}`,
		`{"` + long + `":"` + long + `","` + long + `":"\u003c\/"}`: `{"` + long + `":` + q + `,"` + long + `":"\u003c\/"}`,
		`{}`: "",
	} {
		call := k.conversation(k.Call("c1", "Edit", input))
		s := scan(t, c, call, nil)
		if !k.Inputs {
			if len(s.Contents) > 0 {
				t.Errorf("the input is listed: %+v", s.Contents)
			}
			continue
		}
		content := s.Contents[0]
		got := c.Replace(content.Of(call.Body), content.Form, stub)
		if text := content.Text(got); text != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", input, text, want)
		}
	}
	more := `{"a":"` + strings.Repeat("x", 250) + `","b":"` + long + `"}`
	stubs := strings.Repeat("z", 220) // shorter than only one of them
	want := `{"a":"` + stubs + `","b":"` + long + `"}`
	if got := string(c.Replace([]byte(more), wire.FormInput, stubs)); got != want {
		t.Errorf("becomes %s, want %s", got, want)
	}
	if got := c.Replace([]byte(more+" 1"), wire.FormInput, stub); got != nil {
		t.Errorf("two values become %s", got)
	}
	for _, form := range []wire.Form{wire.FormText, wire.FormParts, wire.FormValue, wire.FormInput, "", "other"} {
		for _, raw := range []string{"", " ", "null", "1", `"`, `[`, `{`, `"{\"a\":1}"`, `"x"`, `[]`, `{}`, `[1]`} {
			if got := c.Replace([]byte(raw), form, stub); got != nil {
				t.Errorf("%s as %s becomes %s", raw, form, got)
			}
		}
	}
}

func person(t *testing.T, c wire.Scanner, k Talk) {
	for _, text := range []string{"hello", "a\n\"<b>\" é\u2028\\", "1"} {
		item := string(c.PersonItem(text))
		items := append(k.steps(2, 100), item)
		s := scan(t, c, k.conversation(items...), nil)
		if s.Request.Prompt != text || len(s.Items) != len(items) {
			t.Errorf("the person said %q, not %q", s.Request.Prompt, text)
		}
		es := c.Entries(s.Request.Items[len(items)-1:])
		if len(es) != 1 || es[0].Text != text {
			t.Errorf("entries %+v", es)
		}
	}
}

// pairs tests which call a result is paired with.
func pairs(t *testing.T, c wire.Scanner, k Talk) {
	items := []string{
		k.Result("c1", "Read", "orphan"), // its call comes later
		k.Call("c1", "Read", `{"n":1}`), k.Result("c1", "Read", "one"),
		k.Call("c1", "Read", `{"n":2}`), k.Result("c1", "Read", "two"), k.Result("c1", "Read", "two"),
	}
	var want []string
	want = append(want, " ", `Read {"n":1}`, `Read {"n":2}`, `Read {"n":2}`)
	for i := range 100 { // far apart
		items = append(items, k.Call(fmt.Sprint("far", i), "Bash", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range 100 {
		items = append(items, k.Result(fmt.Sprint("far", i), "Bash", "far"))
		want = append(want, fmt.Sprintf(`Bash {"n":%d}`, i))
	}
	items = append(items, k.Result("gone", "Bash", "gone"))
	want = append(want, " ")
	var got []string
	for _, content := range scan(t, c, k.conversation(items...), nil).Contents {
		if content.Form != wire.FormInput {
			got = append(got, content.Tool+" "+string(content.Input))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// inDoubt tests bodies in which it is not clear what counts.
func inDoubt(t *testing.T, c wire.Scanner, k Talk) {
	items := strings.Join(k.steps(2, 300), ",")
	body := k.Body(items)
	at := strings.LastIndex(body, "["+items+"]")
	name := strings.LastIndexByte(body[:at-2], '"') // of the list: it ends at at-2
	list := body[name : at+len("["+items+"]")]
	for _, twice := range []string{
		body[:name] + list + "," + body[name:], body[:name] + list[:len(list)-len("["+items+"]")] + "[]," + body[name:],
	} {
		s := scan(t, c, k.request(twice), nil)
		if len(s.Contents) > 0 || s.List != (wire.Span{}) {
			t.Errorf("a list that is there twice has contents: %s", twice)
		}
		equal(t, s, scan(t, c, k.request(twice), scan(t, c, k.request(body), nil)))
	}
	for _, empty := range []string{`{}`, `[]`, `null`, strings.Replace(body, "["+items+"]", "null", 1),
		strings.Replace(body, "["+items+"]", "[]", 1), strings.Replace(body, "["+items+"]", "7", 1),
		strings.Replace(body, "["+items+"]", "[null,1,[],{}]", 1)} {
		if s, err := c.Scan(k.request(empty), nil); err == nil {
			check(t, []byte(empty), s)
			if len(s.Contents) > 0 {
				t.Errorf("%s has contents", empty)
			}
		} else if s == nil {
			t.Errorf("%s: no scan", empty)
		}
	}
}

// takesOver tests that items that have not changed are not parsed again. What was read of a small item cannot be told
// from what is read again, but its names are shared.
func takesOver(t *testing.T, c wire.Scanner, k Talk) {
	items := k.steps(20, 20_000)
	first := k.conversation(k.marked(items)...)
	earlier := scan(t, c, first, nil)
	grown := k.conversation(k.marked(append(items, k.Call("n", "Read", `{}`), k.Result("n", "Read", "new")))...)
	measure := func(earlier *wire.Scan) float64 {
		return testing.AllocsPerRun(5, func() { scanOnly(t, c, grown, earlier) })
	}
	fresh, next := measure(nil), measure(earlier)
	if next*3 > fresh {
		t.Errorf("%.0f allocations with an earlier scan, %.0f without one", next, fresh)
	}
	for i := range 3 { // scans of scans
		s := scan(t, c, grown, earlier)
		equal(t, s, scan(t, c, grown, nil))
		if earlier = s; i == 1 {
			earlier = s.Memory()
		}
	}
	if n := measure(earlier); n*3 > fresh {
		t.Errorf("%.0f allocations with the memory of scans, %.0f without", n, fresh)
	}
}

func scanOnly(t *testing.T, c wire.Scanner, call wire.Call, earlier *wire.Scan) {
	if _, err := c.Scan(call, earlier); err != nil {
		t.Fatal(err)
	}
}

// atOnce scans two continuations of a conversation at the same time.
func atOnce(t *testing.T, c wire.Scanner, k Talk) {
	items := k.steps(10, 500)
	earlier := scan(t, c, k.conversation(k.marked(items)...), nil)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			call := k.conversation(k.marked(append(slices.Clone(items), k.Person(fmt.Sprint("go ", i))))...)
			if s, err := c.Scan(call, earlier); err != nil || s.Request.Prompt != fmt.Sprint("go ", i) {
				t.Errorf("prompt %q, %v", s.Request.Prompt, err)
			}
			if s, err := c.Scan(k.conversation(items...), earlier); err != nil || s.Request.Prompt != "please" {
				t.Errorf("prompt %q, %v", s.Request.Prompt, err)
			}
		})
	}
	group.Wait()
}

// holds tests that a scan does not keep the body, and that it is small.
func holds(t *testing.T, c wire.Scanner, k Talk) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, memory, body := func() (s, memory *wire.Scan, body weak.Pointer[byte]) {
		small := []string{k.Call("small", "Read", `{"file_path":"/w/a"}`), k.Result("small", "Read", "a")}
		call := k.conversation(append(k.steps(500, 8000), small...)...)
		first := scan(t, c, call, nil)
		s = scan(t, c, call, first)
		s.Request = wire.Request{}
		return s, first.Memory(), weak.Make(&call.Body[0])
	}()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if body.Value() != nil {
		t.Error("the body is held")
	}
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 1<<20 {
		t.Errorf("a scan with %d contents holds %d KB", len(s.Contents), held>>10)
	} else {
		t.Logf("a scan with %d contents holds %d KB", len(s.Contents), held>>10)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(memory)
}
