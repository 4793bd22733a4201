package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// TestBodiesUnderWayAreBounded sends large bodies of many threads at once: never more of them are under way than
// the bound has room for, and all arrive.
func TestBodiesUnderWayAreBounded(t *testing.T) {
	const size, room, threads = 1 << 20, 3, 9
	var now, most atomic.Int64
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if b, err := io.ReadAll(r.Body); err != nil || len(b) != size {
			t.Errorf("%d bytes came, %v", len(b), err)
		}
		time.Sleep(10 * time.Millisecond) // so that they meet where nothing bounds them
		now.Add(-1)
		streamAnswer(w, "ok")
	})
	w := open(t, up, func(o *gateway.Options) { o.Caps.Bytes, o.StoreLimit = room*size+size/2, patience })
	body := request("x")
	body = strings.Replace(body, `"x"`, `"`+strings.Repeat("x", size-len(body)+1)+`"`, 1)
	var all sync.WaitGroup
	for i := range threads {
		base, _, err := w.Route(thread.ID(fmt.Sprint("t", i)),
			thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up}})
		if err != nil {
			t.Fatal(err)
		}
		for _, chunked := range []bool{false, true} {
			all.Go(func() {
				var in io.Reader = strings.NewReader(body)
				if chunked {
					in = io.MultiReader(in) // no length
				}
				resp, err := client(t).Post(base+"/v1/messages", "application/json", in)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
					t.Errorf("%d %s %v", resp.StatusCode, b, err)
				}
			})
		}
	}
	all.Wait()
	if n := most.Load(); n > room || n == 0 {
		t.Errorf("%d bodies were under way at once, there is room for %d", n, room)
	}
	w.obs.wait(t, 2*threads)
}

// keeper is an observer that stores nothing until it is told to.
type keeper struct {
	*observer
	mu       sync.Mutex
	releases []func()
}

func (k *keeper) ExchangeEnded(id thread.ID, e thread.Exchange) {
	if e.Keep != nil {
		k.mu.Lock()
		k.releases = append(k.releases, e.Keep(e.Bytes))
		k.mu.Unlock()
	}
	k.observer.ExchangeEnded(id, e)
}

func (k *keeper) store() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.releases {
		r()
	}
	k.releases = nil
}

// TestBacklogHoldsUpTheNextRequest has a store that hangs: answers pass all the same, until too much of them is
// held, and then the thread's next request waits, and only that thread's. A run waits
// for longer, and is not refused.
func TestBacklogHoldsUpTheNextRequest(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		streamAnswer(w, strings.Repeat("a", 100<<10))
	})
	k := &keeper{observer: newObserver()}
	w := openWith(t, k, up, func(o *gateway.Options) { o.Caps.Bytes, o.StoreLimit = 32<<20, 200*time.Millisecond })
	passed := 0
	for ; ; passed++ {
		resp, body, err := post(t, w.base+"/v1/messages", request(strings.Repeat("x", 100<<10)))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusServiceUnavailable {
			if _, message := errorOf(t, body); !strings.Contains(message, "its cap is 32 MB") ||
				resp.Header.Get("Retry-After") == "" {
				t.Errorf("refused: %s", body)
			}
			break
		}
		if resp.StatusCode != 200 || passed > 40 {
			t.Fatalf("request %d: %d", passed, resp.StatusCode)
		}
		k.wait(t, passed+1)
	}
	if passed < 4 || passed > 6 { // a thread's 1 MB by 200 KB
		t.Errorf("%d requests passed", passed)
	}
	later := make(chan int, 1)
	run := patient(t, w, up) // the same, of a run: it waits until there is room
	for range passed {
		if resp, _, err := post(t, run+"/v1/messages", request(strings.Repeat("x", 100<<10))); err != nil || resp.StatusCode != 200 {
			t.Fatalf("a run: %v %v", resp, err)
		}
	}
	k.wait(t, 2*passed+1)
	go func() {
		resp, _, err := post(t, run+"/v1/messages", request(strings.Repeat("x", 100<<10)))
		if err != nil {
			t.Error(err)
			later <- 0
			return
		}
		later <- resp.StatusCode
	}()
	select {
	case status := <-later:
		t.Errorf("a request of a run did not wait: %d", status)
	case <-time.After(500 * time.Millisecond): // more than the limit of others
	}
	other, _, err := w.Route("t2", thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up}})
	if err != nil {
		t.Fatal(err)
	}
	if resp, _, err := post(t, other+"/v1/messages", request("x")); err != nil || resp.StatusCode != 200 {
		t.Errorf("another thread: %v %v", resp, err)
	}
	k.store()
	if status := <-later; status != 200 {
		t.Errorf("a request of a run, once all is stored: %d", status)
	}
	if resp, _, err := post(t, w.base+"/v1/messages", request("x")); err != nil || resp.StatusCode != 200 {
		t.Errorf("once all is stored: %v %v", resp, err)
	}
}
