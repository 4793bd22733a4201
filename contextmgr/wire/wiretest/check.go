package wiretest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"reflect"

	"orchestrator/contextmgr/wire"
)

// failer is a test, or one of the many of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// scan scans a call and checks the scan.
func scan(t failer, c wire.Scanner, call wire.Call, earlier *wire.Scan) *wire.Scan {
	t.Helper()
	s, err := c.Scan(call, earlier)
	if err != nil {
		t.Fatalf("scan: %v in %s", err, call.Body)
	}
	check(t, call.Body, s)
	return s
}

// check tests what holds for every scan: spans are values of the body in order, and each content is in its item.
func check(t failer, body []byte, s *wire.Scan) {
	t.Helper()
	if len(s.Items) != len(s.Request.Items) {
		t.Fatalf("%d spans of %d items", len(s.Items), len(s.Request.Items))
	}
	end := 0
	for i, at := range s.Items {
		if at.Start < end || at.End > len(body) || !json.Valid(at.Of(body)) {
			t.Fatalf("item %d is %+v after %d", i, at, end)
		}
		end = at.End
		if raw := s.Request.Items[i].Raw; s.List != (wire.Span{}) && !bytes.Equal(at.Of(body), raw) {
			t.Fatalf("item %d is %s, its span %s", i, raw, at.Of(body))
		}
	}
	if s.List != (wire.Span{}) && (body[s.List.Start-1] != '[' || body[s.List.End] != ']') {
		t.Fatalf("the list is %+v", s.List)
	}
	end = 0
	for i, content := range s.Contents {
		switch item := s.Items[content.Item]; {
		case content.Start < end, content.Start < item.Start, content.End > item.End:
			t.Fatalf("content %d is %+v after %d, in item %+v", i, content.Span, end, item)
		case !json.Valid(content.Of(body)):
			t.Fatalf("content %d is %s", i, content.Of(body))
		case content.Sum != sha256.Sum256(content.Of(body)):
			t.Fatalf("the hash of content %d is not that of its bytes", i)
		case content.Input != nil && (!json.Valid(content.Input) || len(content.Input) > wire.MaxInput):
			t.Fatalf("the input of content %d is %s", i, content.Input)
		case s.List == (wire.Span{}):
			t.Fatalf("contents without a list")
		}
		end = content.End
	}
}

// equal compares two scans but for what they remember.
func equal(t failer, a, b *wire.Scan) {
	t.Helper()
	if !reflect.DeepEqual(a.Request, b.Request) || !reflect.DeepEqual(a.Items, b.Items) || a.List != b.List ||
		a.Prompted != b.Prompted {
		t.Fatalf("scans differ:\n%+v\n%+v", a, b)
	}
	if len(a.Contents) != len(b.Contents) {
		t.Fatalf("%d and %d contents", len(a.Contents), len(b.Contents))
	}
	for i := range a.Contents {
		if !reflect.DeepEqual(a.Contents[i], b.Contents[i]) {
			t.Fatalf("content %d differs:\n%+v\n%+v", i, a.Contents[i], b.Contents[i])
		}
	}
}
