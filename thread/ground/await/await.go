// Package await waits in tests for conditions that no event announces.
package await

import (
	"testing"
	"time"
)

// patience is how long anything may take on a machine that does much else; only what is broken takes that long.
const patience = time.Minute

// Until waits until a condition holds, and fails the test if it never does. what says what is awaited.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, patience, what, holds)
}

// Within is Until for what must not take longer than a limit.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain for %s", limit, what)
		}
	}
}
