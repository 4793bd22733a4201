package troubles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// TestFlood posts requests as fast as they are answered and holds the server to its bound of memory: 300 of them,
// or as many as FLOOD says. Every one must become a turn.
func TestFlood(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	n, after := 80, 2*time.Second
	if sample.Whole() {
		n = 300
	}
	if v := os.Getenv("FLOOD"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
		after = 2 * time.Minute
	}
	r := e2e.NewRig(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"end_turn",`+
			`"content":[{"type":"text","text":"noted"}],"usage":{"input_tokens":60000,"output_tokens":2}}`)
	}))
	defer up.Close()
	r.Env = append(r.Env, "ANTHROPIC_BASE_URL="+up.URL)
	name := r.Ok("new", "-a", "command", "flood", "--", "/bin/sh", "-c", `printf %s "$ANTHROPIC_BASE_URL" >url.part && mv url.part url; read x`)
	url := filepath.Join(r.Project, "url")
	for end := time.Now().Add(e2e.Patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(url); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	pid := r.ServerPID()
	most, quit, watched := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				most = max(most, e2e.ProcessOf(t, pid, "status", "VmRSS"))
			}
		}
	}()
	began := time.Now()
	src := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		words := make([]byte, 200_000+src.IntN(100_000))
		for j := range words {
			words[j] = "etaoin shrdlu "[src.IntN(14)]
		}
		prompt, _ := json.Marshal(fmt.Sprintf("prompt %d %s", i, words))
		body := fmt.Appendf(nil, `{"model":"claude-sonnet-4-6","max_tokens":32000,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":%s}]}`, prompt)
		resp, err := http.Post(strings.TrimSpace(r.Read("url"))+"/v1/messages", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || resp.StatusCode != 200 {
			t.Fatalf("post %d: %d %s %v", i, resp.StatusCode, answer, err)
		}
	}
	posted := time.Since(began)
	atEnd := r.Status(name).Turn
	var s thread.Status
	for end := time.Now().Add(e2e.Patience + time.Duration(n)*100*time.Millisecond); s.Turn < n; time.Sleep(100 * time.Millisecond) {
		if s = r.Status(name); time.Now().After(end) {
			t.Fatalf("turn %d of %d is stored", s.Turn, n)
		}
	}
	stored := time.Since(began)
	time.Sleep(after)
	close(quit)
	<-watched
	rest := e2e.ProcessOf(t, pid, "status", "VmRSS")
	t.Logf("%d posts in %v, turn %d then; all stored after %v; at most %d MB, at rest %d MB", n, posted, atEnd, stored, most>>10, rest>>10)
	if s = r.Status(name); s.Turn != n {
		t.Errorf("turn %d, want %d", s.Turn, n)
	}
	if raceEnabled := slices.Contains(e2e.BuildFlags(), "-race"); most > 200<<10 && !raceEnabled {
		t.Errorf("the server took %d MB", most>>10)
	}
}
