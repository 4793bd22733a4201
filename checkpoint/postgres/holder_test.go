package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestAlone: a host's name is for one server, as long as it lives. One that loses it while the database is away does not
// go on beside the other.
func TestAlone(t *testing.T) {
	t.Parallel()
	ctx, project := t.Context(), unique(t)
	alone := func(host string) (*postgres.Store, error) {
		return postgres.Open(ctx, server.URL(t), postgres.Options{Project: project, Host: host, Alone: true})
	}
	first, err := alone("h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	if _, err := alone("h"); err == nil || !strings.Contains(err.Error(), "called h") {
		t.Errorf("the same name: %v", err)
	}
	other, err := alone("other")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if !first.Away().IsZero() {
		t.Error("it is away")
	}

	// Its sessions end, and another server comes first.
	taken := make(chan *postgres.Store)
	go func() {
		s, err := alone("h")
		if err != nil {
			t.Error(err)
		}
		taken <- s
	}()
	var second *postgres.Store
	for second == nil {
		sql(t, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()")
		select {
		case second = <-taken:
		case <-time.After(300 * time.Millisecond):
		}
	}
	await.Until(t, "the first to be away", func() bool { return !first.Away().IsZero() })
	if _, err := first.Threads(ctx); !errors.Is(err, thread.ErrUnreachable) {
		t.Errorf("it goes on beside the other: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	await.Until(t, "the first to be back", func() bool { return first.Away().IsZero() })
	if _, err := first.Threads(ctx); err != nil {
		t.Error(err)
	}
}
