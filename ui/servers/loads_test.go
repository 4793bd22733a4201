package servers

import "testing"

// TestLoads: one request at a time, one more if something changed meanwhile, and answers from before a change are of no
// use.
func TestLoads(t *testing.T) {
	var l loads
	begin := func(want bool) int {
		t.Helper()
		n, ok := l.begin()
		if ok != want {
			t.Fatalf("begins: %v, want %v", ok, want)
		}
		return n
	}
	begin(false) // nothing is out of date
	l.again()
	n := begin(true)
	begin(false) // it is on its way
	l.again()
	l.again()
	begin(false)
	if !l.end(n) {
		t.Error("an answer is of no use because of an event")
	}
	n = begin(true)
	l.discard()
	begin(false)
	if l.end(n) {
		t.Error("an answer from before a change is of use")
	}
	n = begin(true)
	if !l.end(n) {
		t.Error("an answer from after a change is of no use")
	}
	begin(false)
}
