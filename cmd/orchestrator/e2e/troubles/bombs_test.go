package troubles

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orchestrator/cmd/orchestrator/e2e"
)

// bomb packs a head, so many megabytes of one letter, and a tail.
func bomb(t *testing.T, coding, head string, megabytes int, tail string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = nopCloser{&out}
	for c := range strings.SplitSeq(coding, ", ") {
		var err error
		switch under := w; c {
		case "gzip":
			w = gzip.NewWriter(under)
		case "deflate":
			w, err = flate.NewWriter(under, flate.DefaultCompression)
		case "br":
			w = brotli.NewWriter(under)
		case "zstd":
			w, err = zstd.NewWriter(under)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if coding == "gzip, gzip" {
		inner := bomb(t, "gzip", head, megabytes, tail)
		out.Reset()
		w = gzip.NewWriter(&out)
		head, megabytes, tail = string(inner), 0, ""
	}
	letters := []byte(strings.Repeat("a", 1<<20))
	_, err := io.WriteString(w, head)
	for range megabytes {
		if err == nil {
			_, err = w.Write(letters)
		}
	}
	if err == nil {
		_, err = io.WriteString(w, tail)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// addressOf starts an agent and returns where it sends requests of a model.
func addressOf(r *e2e.Rig, label string) (name, url string) {
	r.T.Helper()
	name = r.Ok("new", "-a", "command", label, "--", "/bin/sh", "-c", `printf %s "$ANTHROPIC_BASE_URL" >`+label+`.part && mv `+label+`.part `+label+`; read x`)
	e2e.Await(r.T, "the agent", func() bool {
		_, err := os.Stat(filepath.Join(r.Project, label))
		return err == nil
	})
	return name, strings.TrimSpace(r.Read(label)) + "/v1/messages"
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestBombs sends a server packed requests and answers that unpack to very much, twelve at once: all pass, it takes no
// more memory than its limit, and others are served meanwhile.
func TestBombs(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	answers := map[string][]byte{}
	var mu sync.Mutex
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if coding := r.Header.Get("X-Bomb"); coding != "" {
			mu.Lock()
			b := answers[coding]
			mu.Unlock()
			w.Header().Set("Content-Encoding", coding)
			_, _ = w.Write(b)
			return
		}
		_, _ = io.WriteString(w, `{"type":"message","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"end_turn","content":[{"type":"text","text":"noted"}],"usage":{"input_tokens":6,"output_tokens":2}}`)
	}))
	defer up.Close()
	r.Env = append(r.Env, "ANTHROPIC_BASE_URL="+up.URL)
	base := func(label string) (name, url string) { return addressOf(r, label) }
	_, sends := base("sends")
	_, gets := base("gets")
	quiet, other := base("quiet")
	const head, tail = `{"model":"claude-sonnet-4-6","max_tokens":32000,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"`, `"}]}`
	codings := []string{"gzip", "br", "zstd", "gzip, gzip"}
	requests := map[string][]byte{}
	for i, c := range codings {
		requests[c] = bomb(t, c, head, 20+40*(i%2), tail) // read, and too much to be read
		answers[c] = bomb(t, c, `{"type":"message","content":[{"type":"text","text":"`, 400, `"}]}`)
	}
	pid := r.ServerPID()
	post := func(url, coding string, body []byte, answer string) {
		q, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		if coding != "" {
			q.Header.Set("Content-Encoding", coding)
		}
		q.Header.Set("X-Bomb", answer)
		q.Header.Set("Accept-Encoding", "identity")
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%q and %q: %s, %v", coding, answer, res.Status, err)
		}
	}
	plain := []byte(head + "hello" + tail)
	post(other, "", plain, "")
	idle := e2e.ProcessOf(t, pid, "status", "VmRSS")
	for name, one := range map[string]func(coding string){
		"requests": func(c string) { post(sends, c, requests[c], "") },
		"answers":  func(c string) { post(gets, "", plain, c) },
	} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil { // the peak from here on
			t.Skipf("SKIPPED: the peak of a process cannot be reset here: %v", err)
		}
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() { one(codings[i%len(codings)]) })
		}
		all.Go(func() { post(other, "", plain, "") })
		all.Wait()
		most := e2e.ProcessOf(t, pid, "status", "VmHWM")
		t.Logf("%s: idle %d MB, at most %d MB", name, idle>>10, most>>10)
		if raceEnabled := slices.Contains(e2e.BuildFlags(), "-race"); most > idle+256<<10 && !raceEnabled {
			t.Errorf("%s: the server took %d MB more than at rest", name, (most-idle)>>10)
		}
	}
	e2e.Await(t, "the other thread's turn", func() bool { return r.Status(quiet).Turn > 0 })
}

// TestHalfSentBodies leaves 3,000 requests half sent, 100 KB of each: the server takes no more memory than its limit, and
// another thread is served meanwhile and afterwards.
func TestHalfSentBodies(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"end_turn","content":[{"type":"text","text":"noted"}],"usage":{"input_tokens":6,"output_tokens":2}}`)
	}))
	defer up.Close()
	r.Env = append(r.Env, "ANTHROPIC_BASE_URL="+up.URL)
	_, half := addressOf(r, "half")
	_, other := addressOf(r, "other")
	ask := func() {
		t.Helper()
		res, err := http.Post(other, "application/json", strings.NewReader(`{"model":"claude-sonnet-4-6","max_tokens":9,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(b), "noted") {
			t.Errorf("beside them: %s, %v, %s", res.Status, err, b)
		}
	}
	ask()
	pid := r.ServerPID()
	idle := e2e.ProcessOf(t, pid, "status", "VmRSS")
	to, err := url.Parse(half)
	if err != nil {
		t.Fatal(err)
	}
	head := "POST " + to.Path + " HTTP/1.1\r\nHost: " + to.Host + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
	part := head + `{"model":"claude-sonnet-4-6","messages":[{"role":"user","content":"` + strings.Repeat("a", 100<<10)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	most := idle
	for i := range 3000 {
		c, err := net.Dial("tcp", to.Host)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		open = append(open, c)
		_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)) // what is not read waits in the kernel
		_, _ = io.WriteString(c, part)                                 // the oldest may have been closed for it
		if i%250 == 0 {
			most = max(most, e2e.ProcessOf(t, pid, "status", "VmRSS"))
			ask()
		}
	}
	most = max(most, e2e.ProcessOf(t, pid, "status", "VmRSS"))
	ask()
	t.Logf("idle %d MB, at most %d MB", idle>>10, most>>10)
	if race := slices.Contains(e2e.BuildFlags(), "-race"); most > idle+256<<10 && !race {
		t.Errorf("the server took %d MB more than at rest", (most-idle)>>10)
	}
}
