package wiretest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/contextmgr/wire"
)

// asIfFresh compares scans that know earlier ones with scans that know none, of conversations that grow and change.
func asIfFresh(t *rapid.T, c wire.Scanner, k Talk) {
	text := rapid.SampledFrom([]string{
		"", "x", "same", strings.Repeat("long ", 60), "\"é\\", "<system-reminder>r</system-reminder>",
	})
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	tool := rapid.SampledFrom([]string{"Read", "Bash"})
	item := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return k.Person(text.Draw(t, "says"))
		case 1, 2, 3:
			return k.Call(id.Draw(t, "call"), tool.Draw(t, "tool"), `{"path":`+string(wire.Quote(text.Draw(t, "input")))+`}`)
		case 4:
			return rapid.SampledFrom([]string{"null", "17", "1", "1e5", `"s"`, "[]", "{}", "true", "[[1],{}]"}).Draw(t, "odd")
		default:
			return k.Result(id.Draw(t, "call"), tool.Draw(t, "tool"), text.Draw(t, "result"))
		}
	})
	var items []string
	var earlier *wire.Scan
	for range rapid.IntRange(1, 12).Draw(t, "requests") {
		switch rapid.IntRange(0, 8).Draw(t, "change") {
		default:
			items = append(items, rapid.SliceOfN(item, 0, 3).Draw(t, "new")...)
		case 0:
			if len(items) > 0 {
				items[rapid.IntRange(0, len(items)-1).Draw(t, "edited")] = item.Draw(t, "edit")
			}
		case 1:
			items = rapid.Permutation(items).Draw(t, "shuffled")
		case 2:
			items = items[:rapid.IntRange(0, len(items)).Draw(t, "end")]
		case 3:
			items = items[rapid.IntRange(0, len(items)).Draw(t, "start"):]
		case 4:
			items = rapid.SliceOfN(item, 0, 4).Draw(t, "other")
		}
		sent := items
		if rapid.Bool().Draw(t, "marked") {
			sent = k.marked(items)
		}
		between := rapid.SampledFrom([]string{",", " ,\n", ", "}).Draw(t, "between")
		body := k.Body(strings.Join(sent, between))
		if rapid.IntRange(0, 3).Draw(t, "head") == 0 {
			body = strings.Replace(strings.Replace(body, `"name":"`, `"name":"x`, 1), "You are",
				"You are tasked with summarizing conversations and summarizing internal chat history", 1)
		}
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			body = body[:at] + rapid.SampledFrom([]string{"", "\"", "}", "]", ",", "x"}).Draw(t, "put") +
				body[min(len(body), at+rapid.IntRange(0, 2).Draw(t, "gone")):]
		}
		earlier = compare(t, c, k.request(body), earlier)
	}
}

// compare scans a call with and without an earlier scan, and returns the next earlier one.
func compare(t failer, c wire.Scanner, call wire.Call, earlier *wire.Scan) *wire.Scan {
	t.Helper()
	fresh, err := c.Scan(call, nil)
	next, again := c.Scan(call, earlier)
	if fmt.Sprint(err) != fmt.Sprint(again) {
		t.Fatalf("fresh: %v; with an earlier scan: %v", err, again)
	}
	equal(t, fresh, next)
	if err != nil {
		return earlier
	}
	check(t, call.Body, next)
	return next
}

// FuzzScan scans any bytes, with and without an earlier scan of any others.
func FuzzScan(f *testing.F, c wire.Scanner, k Talk, bodies ...string) {
	Quick(f)
	whole := k.conversation(k.marked(k.steps(2, 400))...).Body
	grown := k.conversation(k.marked(append(k.steps(2, 400), k.Person("more")))...).Body
	f.Add(whole, grown)
	for _, body := range bodies {
		f.Add([]byte(body), whole)
		f.Add([]byte(body), []byte(body))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		earlier := compare(t, c, k.request(string(a)), nil)
		compare(t, c, k.request(string(b)), earlier)
		call := k.request(string(b))
		s, err := c.Scan(call, earlier)
		if r, again := c.Request(call); fmt.Sprint(err) != fmt.Sprint(again) || !reflect.DeepEqual(r, s.Request) {
			t.Fatalf("request %+v, %v; scanned %+v, %v", r, again, s.Request, err)
		}
		if err != nil {
			return
		}
		check(t, b, s)
		replaceAny(t, c, call, s)
	})
}

// replaceAny replaces all contents of a body.
func replaceAny(t *testing.T, c wire.Scanner, call wire.Call, s *wire.Scan) {
	var with []wire.Replacement
	for _, content := range s.Contents {
		content.Text(content.Of(call.Body))
		if new := c.Replace(content.Of(call.Body), content.Form, "[stub]"); new != nil {
			if !json.Valid(new) || len(new) >= content.End-content.Start {
				t.Fatalf("%s becomes %s", content.Of(call.Body), new)
			}
			with = append(with, wire.Replacement{Span: content.Span, With: new})
		}
	}
	spliced := call
	spliced.Body = wire.Splice(call.Body, with)
	if json.Valid(call.Body) != json.Valid(spliced.Body) {
		t.Fatalf("%s becomes %s", call.Body, spliced.Body)
	}
	after := scan(t, c, spliced, s)
	if len(after.Contents) != len(s.Contents) || len(after.Request.Items) != len(s.Request.Items) {
		t.Fatalf("%d contents of %d items, then %d of %d", len(s.Contents), len(s.Request.Items), len(after.Contents),
			len(after.Request.Items))
	}
}
