package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/hook"
)

// initialised runs the program and returns the bytes that each package allocates while it is initialised.
func initialised(t *testing.T, environ []string, args ...string) map[string]int {
	t.Helper()
	var trace strings.Builder
	cmd := exec.Command(e2e.Program, args...)
	cmd.Env = append(append(os.Environ(), environ...), "GODEBUG=inittrace=1")
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, trace.String())
	}
	packages := make(map[string]int)
	for line := range strings.Lines(trace.String()) {
		// init NAME @0.1 ms, 0.002 ms clock, 96 bytes, 2 allocs
		f := strings.Fields(line)
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		packages[f[1]] = n
	}
	if len(packages) == 0 {
		t.Fatalf("no trace of initialised packages:\n%s", trace.String())
	}
	return packages
}

// TestInitIsCheap holds what our packages build before main begins, for every verb and every hook of an agent. What is
// not needed by all of them belongs into sync.OnceValue or pattern.Lazy.
func TestInitIsCheap(t *testing.T) {
	const most = 64 << 10
	total := 0
	packages := initialised(t, nil, "version", "--json")
	for name, n := range packages {
		if strings.HasPrefix(name, "orchestrator/") || name == "main" {
			total += n
			if n > 16<<10 {
				t.Errorf("%s allocates %d bytes when it is initialised", name, n)
			}
		}
	}
	if total > most {
		t.Errorf("our packages allocate %d bytes when they are initialised, want at most %d", total, most)
	}
}

// TestHookIsAnsweredFirst: an agent's hook is answered before any package of ours, the command line's or the network's
// is initialised, but for the one that sets a variable before Lip Gloss reads it.
func TestHookIsAnsweredFirst(t *testing.T) {
	reports := make(chan string, 1)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		reports <- r.URL.Path + " " + string(b)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer gateway.Close()
	packages := initialised(t, []string{hook.AddressVariable + "=" + gateway.URL + "/t/secret"}, "hook", "Stop")
	if got := <-reports; got != "/t/secret/Stop " {
		t.Errorf("the gateway received %q", got)
	}
	for name := range packages {
		ours := strings.HasPrefix(name, "orchestrator/") && name != "orchestrator/cmd/orchestrator/hook" &&
			name != "orchestrator/ui/theme/nodetect"
		theirs := name == "net" || name == "net/http" || strings.Contains(name, "cobra") || strings.Contains(name, "goldmark")
		if ours || theirs || name == "main" {
			t.Errorf("%s is initialised first", name)
		}
	}
}

// TestVersionIsAnsweredFirst: the version is printed before the command line's packages, the screen's or the network's are
// initialised, and alike by the verb itself. Neither looks for a project.
func TestVersionIsAnsweredFirst(t *testing.T) {
	for name := range initialised(t, nil, "version") {
		if strings.Contains(name, "cobra") || strings.Contains(name, "goldmark") || strings.Contains(name, "lipgloss") || name == "net" || name == "main" {
			t.Errorf("%s is initialised first", name)
		}
	}
	for _, args := range [][]string{{"version"}, {"version", "--json=false"}, {"--project", "/nowhere/at/all", "version"}} {
		cmd := exec.Command(e2e.Program, args...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HOME=/nowhere"}
		if err := os.WriteFile(cmd.Dir+"/.orchestrator.toml", []byte("no configuration"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		if want := "orchestrator " + buildinfo.Version() + "\n"; err != nil || string(out) != want {
			t.Errorf("%v: %q, %v; want %q", args, out, err, want)
		}
	}
}
