package masking

import (
	"fmt"
	"testing"
)

// TestContents: each content is described once while the conversation has it, wherever it stands, and what is not sent any
// more is forgotten one day.
func TestContents(t *testing.T) {
	var c contents
	described := 0
	send := func(calls ...string) {
		t.Helper()
		for i, call := range calls {
			got := c.get(i, len(calls), key{call: call}, func() content {
				described++
				return content{retrieval: call == "r"}
			})
			if got.retrieval != (call == "r") {
				t.Errorf("%v: %d is described as another", calls, i)
			}
		}
	}
	for _, tt := range []struct {
		calls []string
		want  int
	}{
		{[]string{"a", "r"}, 2}, {[]string{"a", "r", "c"}, 3}, {[]string{"r", "c"}, 3}, {nil, 3}, {[]string{"a", "c", "r", "d"}, 4},
		{[]string{"a", "d"}, 4}, {[]string{"a", "d", "d"}, 4},
	} {
		if send(tt.calls...); described != tt.want {
			t.Errorf("%v: %d are described, want %d", tt.calls, described, tt.want)
		}
	}
	for i := range 5000 {
		send(fmt.Sprint("compacted", i))
	}
	if len(c.known) > 1100 {
		t.Errorf("%d are remembered of conversations of one", len(c.known))
	}
}
