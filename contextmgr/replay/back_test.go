package replay

import "testing"

// TestRewind: where the person went back a segment ends, although the context is as large as before, and nothing of
// what stood there counts.
func TestRewind(t *testing.T) {
	s := newStory(t, "claude").request(40_000, 1).call("a", "Read", "/f", 10, 2_850).add(Event{Kind: KindRewind}).
		call("b", "Edit", "/f", 10, 10).person(100).request(41_000, 1).call("c", "Bash", "", 10, 2_850).request(42_000, 1).b.Session()
	if len(s.Segments) != 2 {
		t.Fatalf("%d segments: %+v", len(s.Segments), s)
	}
	first, second := s.Segments[0], s.Segments[1]
	if !first.Begins || second.Begins || len(first.Requests) != 1 || len(second.Requests) != 2 || len(second.items) != 3 || len(first.Requests[0].edits) != 0 {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// TestAside: a turn begins with what the person says, not with what the agent itself adds.
func TestAside(t *testing.T) {
	for aside, want := range map[bool]int{true: 0, false: 1} {
		s := newStory(t, "claude").request(40_000, 1).add(Event{Kind: KindText, Person: true, Aside: aside, Bytes: 10}).request(41_000, 1).b.Session()
		if got := s.Segments[0].Requests[1].turn; got != want {
			t.Errorf("aside %v: the turn begins with request %d, want %d", aside, got, want)
		}
	}
}

// TestToolOfResult: a result that does not say whose it is has the tool of its call.
func TestToolOfResult(t *testing.T) {
	s := newStory(t, "claude").request(40_000, 1).add(Event{Kind: KindCall, Tool: "Bash", ID: "a", Bytes: 10}).
		add(Event{Kind: KindResult, ID: "a", Person: true, Bytes: 10}).request(41_000, 1).b.Session()
	if got := s.Segments[0].items[2].result.Tool; got != "Bash" {
		t.Errorf("the tool is %q", got)
	}
}
