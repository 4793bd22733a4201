package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/thread"
)

// answered returns the response that a server sends.
func answered(t testing.TB, resp any) *http.Response { return answeredTo(t, http.Header{}, resp) }

// answeredTo returns the response to a request with a header.
func answeredTo(t testing.TB, asked http.Header, resp any) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	if err := protocol.WriteResponse(w, asked, resp); err != nil {
		t.Fatal(err)
	}
	return w.Result()
}

// TestResponseIsRead: what a client reads is what the server had, and what any reader of JSON would read.
func TestResponseIsRead(t *testing.T) {
	for name, resp := range map[string]any{
		"nothing": struct{}{}, "one": thread.Status{Thread: thread.Thread{Name: "a"}}, "no list": []thread.Status(nil),
		"an empty list": []thread.Status{}, "a list": statuses(3), "pointers": []*thread.Unreadable{nil, {}},
		"lists in a list": [][]string{{"a"}, nil, {}}, "bytes": []byte("abc"), "JSON": json.RawMessage(`[1, 2]`),
		"texts with brackets": []string{"[", "],", `"]`, "\n"}, "a map": map[string]int{"a": 1},
	} {
		asked, compact := http.Header{}, reflect.New(reflect.TypeOf(resp))
		protocol.AskCompact(asked, compact.Interface())
		if err := protocol.ReadResponse(answeredTo(t, asked, resp), compact.Interface()); err != nil {
			t.Errorf("%s, compact: %v", name, err)
		}
		if len(asked) > 0 && !reflect.DeepEqual(compact.Elem().Interface(), resp) {
			t.Errorf("%s, compact: read %+v, want %+v", name, compact.Elem(), resp)
		}
		res := answered(t, resp)
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		whole, read := reflect.New(reflect.TypeOf(resp)), reflect.New(reflect.TypeOf(resp))
		if err := json.Unmarshal(body, whole.Interface()); err != nil {
			t.Errorf("%s: %q is no JSON: %v", name, body, err)
		}
		for _, header := range []http.Header{res.Header, {}, {"Orchestrator-Rows": {"x"}}, {"Orchestrator-Rows": {"-1"}}, {"Orchestrator-Rows": {"99999999999"}}} {
			res := &http.Response{Header: header, Body: io.NopCloser(bytes.NewReader(body))}
			if err := protocol.ReadResponse(res, read.Interface()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !reflect.DeepEqual(read.Interface(), whole.Interface()) {
				t.Errorf("%s with %v: read %+v, want %+v", name, header, read.Elem(), whole.Elem())
			}
		}
	}
}

// TestResponseIsCut: a list that ends anywhere but at its end is an error, never a shorter list.
func TestResponseIsCut(t *testing.T) {
	res := answered(t, []string{"a", "b", "c"})
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	body = bytes.TrimRight(body, "\n")
	for n := range body {
		var list []string
		cut := &http.Response{Header: res.Header, Body: io.NopCloser(bytes.NewReader(body[:n]))}
		if err := protocol.ReadResponse(cut, &list); err == nil {
			t.Errorf("%q was read as %q", body[:n], list)
		}
	}
	for _, rows := range []int{0, 2, 4} {
		var list []string
		header := http.Header{"Orchestrator-Rows": {fmt.Sprint(rows)}}
		if err := protocol.ReadResponse(&http.Response{Header: header, Body: io.NopCloser(bytes.NewReader(body))}, &list); err == nil && rows > 0 {
			t.Errorf("three rows were read as %d: %q", rows, list)
		}
	}
	for _, bad := range []string{"{}", "3", `["a", 3]`, `["a" "b"]`, "[\"a\"\n,3\n]\n"} {
		var list []string
		if err := protocol.ReadResponse(&http.Response{Body: io.NopCloser(strings.NewReader(bad))}, &list); err == nil {
			t.Errorf("%q was read as %q", bad, list)
		}
	}
}

// TestLayouts: a list is compact only between programs with the same rows. Any other asker gets JSON, and a client takes no
// layout that it does not have.
func TestLayouts(t *testing.T) {
	list := statuses(3)
	asked := http.Header{}
	protocol.AskCompact(asked, &list)
	if asked.Get("Orchestrator-Layout") == "" {
		t.Fatal("no layout is asked for")
	}
	res := answeredTo(t, asked, list)
	if got := res.Header.Get("Orchestrator-Layout"); got != asked.Get("Orchestrator-Layout") {
		t.Fatalf("the layout is %q", got)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for n := range body {
		var read []thread.Status
		cut := &http.Response{Header: res.Header, Body: io.NopCloser(bytes.NewReader(body[:n]))}
		if err := protocol.ReadResponse(cut, &read); err == nil {
			t.Errorf("%d of %d bytes were read as a list", n, len(body))
		}
	}
	for name, header := range map[string]http.Header{
		"another layout": {"Orchestrator-Layout": {"0123456789abcdef"}, "Orchestrator-Rows": {"3"}},
		"no rows":        {"Orchestrator-Layout": res.Header["Orchestrator-Layout"]},
		"two rows":       {"Orchestrator-Layout": res.Header["Orchestrator-Layout"], "Orchestrator-Rows": {"2"}},
		"four rows":      {"Orchestrator-Layout": res.Header["Orchestrator-Layout"], "Orchestrator-Rows": {"4"}},
	} {
		var read []thread.Status
		if err := protocol.ReadResponse(&http.Response{Header: header, Body: io.NopCloser(bytes.NewReader(body))}, &read); err == nil {
			t.Errorf("%s: read %d rows", name, len(read))
		}
	}
	for name, asker := range map[string]http.Header{"nothing": {}, "an older client": {"Orchestrator-Layout": {"0123456789abcdef"}}} {
		var read []thread.Status
		res := answeredTo(t, asker, list)
		if err := json.NewDecoder(res.Body).Decode(&read); err != nil || !reflect.DeepEqual(read, list) {
			t.Errorf("%s asked: read %+v, %v", name, read, err)
		}
	}
}

// TestListIsSentRowByRow: a client gets the first rows of a long list before the last are encoded, and makes room for
// all of them once.
func TestListIsSentRowByRow(t *testing.T) {
	const rows = 5000
	sent := &counted{ResponseRecorder: httptest.NewRecorder()}
	list := make([]row, rows)
	for i := range list {
		list[i].written = sent.bytes
	}
	if err := protocol.WriteResponse(sent, http.Header{}, list); err != nil {
		t.Fatal(err)
	}
	if before := list[rows-1].before; before < sent.Body.Len()/2 {
		t.Errorf("%d of %d bytes had been sent when the last row was encoded", before, sent.Body.Len())
	}
	var read []thread.Status
	if err := protocol.ReadResponse(answered(t, statuses(rows)), &read); err != nil {
		t.Fatal(err)
	}
	if len(read) != rows || cap(read) != rows {
		t.Errorf("%d rows were read into a list with room for %d", len(read), cap(read))
	}
}

// counted counts what is sent.
type counted struct{ *httptest.ResponseRecorder }

func (c *counted) bytes() int { return c.Body.Len() }

// row is a row that notes what had been sent before it was encoded.
type row struct {
	written func() int
	before  int
}

// MarshalJSON implements json.Marshaler.
func (r *row) MarshalJSON() ([]byte, error) {
	r.before = r.written()
	return []byte(`"a row of a list"`), nil
}

// BenchmarkList sends and reads a list of 5,000 threads: compact, and beside it as JSON row by row and as a whole.
func BenchmarkList(b *testing.B) {
	list := statuses(5000)
	compact, asked := http.Header{}, http.Header{}
	protocol.AskCompact(compact, &list)
	for name, asked := range map[string]http.Header{"compact": compact, "JSON": asked} {
		res := answeredTo(b, asked, list)
		body, err := io.ReadAll(res.Body)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("write/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answeredTo(b, asked, list)
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var read []thread.Status
				res := &http.Response{Header: res.Header, Body: io.NopCloser(bytes.NewReader(body))}
				if err := protocol.ReadResponse(res, &read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	body, err := io.ReadAll(answered(b, list).Body)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read/JSON as a whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var read []thread.Status
			if err := json.NewDecoder(bytes.NewReader(body)).Decode(&read); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func statuses(n int) []thread.Status {
	list := make([]thread.Status, n)
	for i := range list {
		at := time.Unix(int64(i), 0).UTC()
		list[i] = thread.Status{
			Thread: thread.Thread{
				ID: thread.NewID[thread.ID](), Name: fmt.Sprint("thread-", i), Agent: "demo", Dir: fmt.Sprint("/project-", i),
				Created: at, Updated: at,
			},
			State: thread.StateReport{State: thread.StateExited, Since: at, Evidence: []thread.Evidence{{Source: thread.SourceProcess, At: at}}},
		}
	}
	return list
}
