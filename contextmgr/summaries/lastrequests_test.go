package summaries

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestLastRequests: a request comes back as it was, without its header, until others need the room.
func TestLastRequests(t *testing.T) {
	l, err := newLastRequests()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	body := make([]byte, 1000) // which does not become smaller
	_, _ = random.Read(body)
	keep := func(id thread.ID) {
		l.keep(gateway.Outgoing{Thread: id, Call: wire.Call{
			Path: "/v1/messages", Body: body, Header: http.Header{"X-Api-Key": {"secret"}},
		}}, nil)
	}
	keep("a")
	o, _, err := l.get("a")
	if err != nil || string(o.Call.Body) != string(body) || o.Call.Path != "/v1/messages" {
		t.Errorf("%v, %d bytes", err, len(o.Call.Body))
	}
	if e := l.of["a"]; o.Call.Header != nil || e.outgoing.Call.Header != nil || e.outgoing.Call.Body != nil {
		t.Errorf("credentials or the body itself are kept: %v", e.outgoing.Call.Header)
	}
	l.most = 2500
	for _, id := range []thread.ID{"b", "a", "a", "c"} {
		keep(id)
	}
	for id, want := range map[thread.ID]bool{"a": true, "b": false, "c": true, "none": false} {
		if _, _, err := l.get(id); (err == nil) != want {
			t.Errorf("%s: %v, want it kept: %v", id, err, want)
		}
	}
	if len(l.order) != 2 || len(l.of) != 2 || l.size > l.most || l.size < 2000 {
		t.Errorf("%v: %d bytes", l.order, l.size)
	}
}

func TestPays(t *testing.T) {
	for _, tt := range []struct {
		usd, price float64
		want       bool
	}{{0, 0, true}, {4, 1, true}, {6, 1, false}, {6, 2, true}, {6, 0, true}} {
		p := plan{gain: policy.Batch{Frees: 10, Saves: 1, Expected: 5}, usd: tt.usd}
		if got := p.pays(tt.price); got != tt.want {
			t.Errorf("$%v at $%v a token: %v", tt.usd, tt.price, got)
		}
	}
	if (plan{gain: policy.Batch{Expected: 5, Saves: 1}}).pays(1) {
		t.Error("what frees nothing pays")
	}
}
