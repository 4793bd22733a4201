package api_test

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

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// answered returns the response that a server sends.
func answered(t testing.TB, resp any) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	if err := api.WriteResponse(w, resp); err != nil {
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
			if err := api.ReadResponse(res, read.Interface()); err != nil {
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
		if err := api.ReadResponse(cut, &list); err == nil {
			t.Errorf("%q was read as %q", body[:n], list)
		}
	}
	for _, rows := range []int{0, 2, 4} {
		var list []string
		header := http.Header{"Orchestrator-Rows": {fmt.Sprint(rows)}}
		if err := api.ReadResponse(&http.Response{Header: header, Body: io.NopCloser(bytes.NewReader(body))}, &list); err == nil && rows > 0 {
			t.Errorf("three rows were read as %d: %q", rows, list)
		}
	}
	for _, bad := range []string{"{}", "3", `["a", 3]`, `["a" "b"]`, "[\"a\"\n,3\n]\n"} {
		var list []string
		if err := api.ReadResponse(&http.Response{Body: io.NopCloser(strings.NewReader(bad))}, &list); err == nil {
			t.Errorf("%q was read as %q", bad, list)
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
	if err := api.WriteResponse(sent, list); err != nil {
		t.Fatal(err)
	}
	if before := list[rows-1].before; before < sent.Body.Len()/2 {
		t.Errorf("%d of %d bytes had been sent when the last row was encoded", before, sent.Body.Len())
	}
	var read []thread.Status
	if err := api.ReadResponse(answered(t, statuses(rows)), &read); err != nil {
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

// BenchmarkList reads a list of 5,000 threads row by row, beside reading it as a whole.
func BenchmarkList(b *testing.B) {
	body, err := io.ReadAll(answered(b, statuses(5000)).Body)
	if err != nil {
		b.Fatal(err)
	}
	header := http.Header{"Orchestrator-Rows": {"5000"}}
	b.Run("rows", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var list []thread.Status
			res := &http.Response{Header: header, Body: io.NopCloser(bytes.NewReader(body))}
			if err := api.ReadResponse(res, &list); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var list []thread.Status
			if err := json.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
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
