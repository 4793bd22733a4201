package branch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestBadNames(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	canary := filepath.Join(r.top, "canary")
	before := r.state()
	for _, name := range []string{
		"", "-c", "--upload-pack=touch " + canary, "--output=" + canary, "a..b", "@{-1}", "a b", "a\nb",
		"$(touch " + canary + ")", "x.lock",
		strings.Repeat("x", 5000), "a\u202eb", "../x", ":/first", "main^{tree}",
	} {
		for what, err := range map[string]error{
			"merge": second(r.merger.Merge(ctx, r.dir, name, "m")),
			"push":  second(r.merger.Push(ctx, r.dir, name)),
			"pr":    second(r.merger.OpenPR(ctx, r.dir, name, "", "t", "b")),
		} {
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%s %.30q: %v", what, name, err)
			}
		}
	}
	if _, err := r.merger.Merge(ctx, r.dir, "nothing-like-it", "m"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an unknown branch: %v", err)
	}
	if _, err := os.Stat(canary); err == nil || r.state() != before {
		t.Error("a name did something")
	}
}

func second[T any](_ T, err error) error { return err }

func TestNoRepository(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	if _, err := r.merger.Branch(ctx, r.top); !errors.Is(err, thread.ErrNoRepository) {
		t.Errorf("%v", err)
	}
	if b, err := r.merger.Branch(ctx, r.side); b != "side" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	r.gitIn(r.side, "checkout", "-q", "--detach")
	if b, err := r.merger.Branch(ctx, r.side); b != "" || err != nil {
		t.Errorf("detached: %q %v", b, err)
	}
}
