package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Timeline is a thread's turns, the newest first.
func (r *Rig) Timeline(name string) []thread.Checkpoint {
	r.T.Helper()
	return Get[[]thread.Checkpoint](r, "checkpoint", "list", name)
}

// Reports are what was found damaged, all of it.
func (r *Rig) Reports(state string) string {
	r.T.Helper()
	files, err := filepath.Glob(filepath.Join(state, "damaged-*", "report.txt"))
	if err != nil {
		r.T.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			r.T.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// Same compares a thread's turns with what they were: prompts, answers, what they used, and the files they left.
func (r *Rig) Same(name string, was []thread.Checkpoint) {
	r.T.Helper()
	now := r.Timeline(name)
	if len(now) != len(was) {
		r.T.Errorf("%s: %s, was %s", name, Prompts(now), Prompts(was))
		return
	}
	for i, w := range was {
		n := now[i]
		if n.Turn != w.Turn || n.Kind != w.Kind || n.Prompt != w.Prompt || n.Answer != w.Answer || n.Model != w.Model || n.Gauge.Tokens != w.Gauge.Tokens ||
			n.Usage.Context() != w.Usage.Context() {
			r.T.Errorf("%s: turn %d is %+v, was %+v", name, w.Turn, n, w)
		}
		if w.Snapshot != nil && n.Snapshot != nil && w.Snapshot.Tree != n.Snapshot.Tree {
			r.T.Errorf("%s: turn %d has the files of %+v, had those of %+v", name, w.Turn, n.Snapshot, w.Snapshot)
		}
		if w.Snapshot != nil && w.Snapshot.Files > 0 && n.Snapshot == nil {
			r.T.Errorf("%s: turn %d has no files", name, w.Turn)
		}
	}
}

// Prompts are what was asked, for people.
func Prompts(list []thread.Checkpoint) string {
	var all []string
	for _, c := range slices.Backward(list) {
		all = append(all, fmt.Sprintf("%d %s %q", c.Turn, c.Kind, c.Prompt))
	}
	return strings.Join(all, ", ")
}
