package await_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread/ground/await"
)

// failing is a test that notes how it fails.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = format
	panic(f)
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		await.Until(t, "three seconds", func() bool { return time.Since(begin) >= 3*time.Second })
		if took := time.Since(begin); took > 3*time.Second+10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		f := &failing{TB: t}
		func() {
			defer func() { _ = recover() }()
			await.Within(f, 5*time.Second, "what never comes", func() bool { return false })
		}()
		if took := time.Since(begin); !strings.Contains(f.said, "in vain") || took < 8*time.Second {
			t.Errorf("said %q after %v", f.said, took)
		}
	})
}
