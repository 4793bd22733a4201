package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
)

// ProcessOf reads a figure of a process: VmRSS in KB and Threads of its status, Pss of its smaps_rollup.
func ProcessOf(t *testing.T, pid int, file, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		t.Skipf("SKIPPED: no /proc here: %v", err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s is not in the %s of %d", name, file, pid)
	return 0
}

// Percentile of times.
func Percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, len(times)*p/100)]
}

// Client is a client of the server, which need not run yet.
func (r *Rig) Client() *client.Client {
	r.T.Helper()
	p := r.Claimed()
	cl := client.New(p.Socket)
	r.T.Cleanup(cl.Close)
	return cl
}
