package manager

import (
	"fmt"
	"testing"

	"orchestrator/thread"
)

// TestFindByNameCopiesNothing: what finding a thread by its whole name or its id takes does not grow with the threads.
func TestFindByNameCopiesNothing(t *testing.T) {
	for _, n := range []int{10, 5000} {
		m := New(Config{})
		for i := range n {
			m.registry.add(thread.Thread{ID: thread.ID(fmt.Sprintf("id-%04d", i)), Name: fmt.Sprintf("thread-%04d", i)})
		}
		for _, ref := range []string{"thread-0007", "id-0003", " thread-0009 "} {
			if l, err := m.registry.find(ref); err != nil || !(ref == string(l.live.id) || " "+l.live.t.Name+" " == ref || l.live.t.Name == ref) {
				t.Fatalf("%q: %v", ref, err)
			}
			if took := testing.AllocsPerRun(10, func() { _, _ = m.registry.find(ref) }); took > 0 {
				t.Errorf("%d threads: finding %q allocates %v times", n, ref, took)
			}
		}
	}
}
