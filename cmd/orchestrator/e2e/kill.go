package e2e

import (
	"context"
	"os"
	"slices"
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

// List returns the threads, the archived ones included.
func List(t *testing.T, cl *client.Client) []thread.Status {
	t.Helper()
	all, err := All(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// All returns all threads that are not deleted, the archived ones included.
func All(ctx context.Context, cl *client.Client) ([]thread.Status, error) {
	all, err := api.List.Do(ctx, cl, api.None{})
	for after := int64(0); err == nil; {
		var page api.ArchivedPage
		if page, err = api.Archived.Do(ctx, cl, api.ArchivedRequest{After: after}); err != nil {
			break
		}
		for _, s := range page.Threads {
			if !slices.ContainsFunc(all, func(o thread.Status) bool { return o.ID == s.ID }) {
				all = append(all, s)
			}
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	return all, err
}
