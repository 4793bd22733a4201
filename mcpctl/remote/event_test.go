package remote

import (
	"strings"
	"testing"
)

func TestEventReader(t *testing.T) {
	in := "\xef: comment\nretry: 5\n\nevent: a\nid: 1\ndata: x\ndata:y\ndata\n\nid\ndata: {}\r\n\r\ndata: z\n"
	r := newEventReader(strings.NewReader(in))
	want := []event{{"a", "1", []byte("x\ny\n")}, {"message", "", []byte("{}")}}
	for _, w := range want {
		got, err := r.next()
		if err != nil || got.name != w.name || got.id != w.id || string(got.data) != string(w.data) {
			t.Errorf("%+v, %v, want %+v", got, err, w)
		}
	}
	if got, err := r.next(); err == nil {
		t.Errorf("an event that is not finished: %+v", got)
	}
}

func FuzzEventReader(f *testing.F) {
	f.Add("event: a\nid: 1\ndata: x\ndata:y\n\n")
	f.Add("\r\n\r\r:\n::\ndata\n\n\x00")
	f.Fuzz(func(t *testing.T, in string) {
		r := newEventReader(strings.NewReader(in))
		for n := 0; ; n++ {
			e, err := r.next()
			if err != nil {
				return
			}
			if n > len(in) || len(e.data) > len(in) {
				t.Fatalf("%d events of %d bytes", n, len(in))
			}
		}
	})
}
