package measures

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/hook"
)

// What the verbs are compared with: a program that does nothing, and one that dials and waits for an answer.
const (
	emptyProgram = "package main\n\nfunc main() {}\n"
	dialProgram  = `package main

import (
	"io"
	"net"
	"os"
)

func main() {
	c, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"); err != nil {
		os.Exit(1)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		os.Exit(1)
	}
}
`
)

// TestMeasureVerbs says what a whole process of `version` and of `hook` costs beside the smallest Go programs that
// could do the same, 200 runs each by turns.
func TestMeasureVerbs(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -run TestMeasureVerbs ./cmd/orchestrator/e2e/measures` runs it")
	}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer gateway.Close()
	runs := []*timedRun{
		{name: "an empty program", argv: []string{compiled(t, emptyProgram)}},
		{name: "version", argv: []string{e2e.Program, "version"}},
		{name: "a program that dials", argv: []string{compiled(t, dialProgram), gateway.Listener.(*net.TCPListener).Addr().String()}},
		{name: "hook", argv: []string{e2e.Program, "hook", "Stop"}},
	}
	for range 200 {
		for _, r := range runs {
			r.once(t, hook.AddressVariable+"="+gateway.URL+"/t/x")
		}
	}
	for _, r := range runs {
		t.Logf("%-20s %v, processor %v (medians)", r.name, e2e.Percentile(r.wall, 50), e2e.Percentile(r.cpu, 50))
	}
	t.Logf("version: %v of processor time over an empty program; hook: %.2f times one that dials",
		e2e.Percentile(runs[1].cpu, 50)-e2e.Percentile(runs[0].cpu, 50), float64(e2e.Percentile(runs[3].wall, 50))/float64(e2e.Percentile(runs[2].wall, 50)))
}

// timedRun is a command with the times that its runs took.
type timedRun struct {
	name      string
	argv      []string
	wall, cpu []time.Duration
}

func (r *timedRun) once(t *testing.T, environ string) {
	t.Helper()
	cmd := exec.Command(r.argv[0], r.argv[1:]...)
	cmd.Env = append(os.Environ(), environ)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	r.wall = append(r.wall, time.Since(begin))
	r.cpu = append(r.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// compiled builds a program of one file.
func compiled(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("go", "build", "-buildvcs=false", "-o", out, file).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, b)
	}
	return out
}
