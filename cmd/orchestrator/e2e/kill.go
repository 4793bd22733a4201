package e2e

import (
	"os"
	"strconv"
	"testing"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// FromEnv reads a number from the environment.
func FromEnv(t testing.TB, name string, without int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return without
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// ManyStarts skips tests that start many processes where -short asks for the quick ones.
func ManyStarts(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts many processes; without it, it runs")
	}
}

// List returns the threads.
func List(t *testing.T, cl *client.Client) []thread.Status {
	t.Helper()
	all, err := api.List.Do(t.Context(), cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
