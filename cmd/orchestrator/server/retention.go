package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

const (
	retainSetting = "retention"
	// retainPause is the time between two runs of retention.
	retainPause = 24 * time.Hour
	// retainGrace is the time between announcing what new settings would delete and deleting it. It is also how long a
	// deletion is reported.
	retainGrace = 7 * 24 * time.Hour
	// retainNames is how many threads are listed by name.
	retainNames = 10
)

// retention deletes threads past the retention limits automatically. Whenever the settings change, also by an upgrade,
// it announces for a week what it will delete. Afterwards it reports what it deleted.
type retention struct {
	settings thread.Settings
	collect  func(context.Context, thread.CollectRequest) (thread.Collected, error)
	clock    *clock
	policy   checkpoint.Policy

	mu   sync.Mutex // guards said
	said string
}

// retentionState is the stored state of retention.
type retentionState struct {
	Policy    string    `json:"policy"`
	Announced time.Time `json:"announced,omitzero"` // when it was announced what this policy would delete
	Ran       time.Time `json:"ran,omitzero"`
	Said      string    `json:"said,omitempty"` // the announcement or report
	SaidAt    time.Time `json:"saidAt,omitzero"`
}

// look runs retention if it is due.
func (k *retention) look(ctx context.Context) error {
	var was retentionState
	text, err := k.settings.Setting(ctx, retainSetting)
	if err != nil {
		return fmt.Errorf("read the state of retention: %w", err)
	}
	if text != "" && json.Unmarshal([]byte(text), &was) != nil {
		was = retentionState{} // not ours: start over
	}
	now, err := k.step(ctx, was)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.said = now.Said
	k.mu.Unlock()
	if now == was {
		return nil
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = k.settings.SetSetting(ctx, retainSetting, string(b))
	}
	if err != nil {
		return fmt.Errorf("write the state of retention: %w", err)
	}
	return nil
}

func (k *retention) step(ctx context.Context, r retentionState) (retentionState, error) {
	policy := fmt.Sprintf("%v", k.policy)
	if k.policy == (checkpoint.Policy{}) {
		return retentionState{Policy: policy}, nil
	}
	if r.Policy != policy || r.Announced.IsZero() || k.clock.acceptedSince(r.Announced) {
		would, err := k.collect(ctx, thread.CollectRequest{DryRun: true})
		if err != nil {
			return r, err
		}
		r = retentionState{Policy: policy, Announced: k.clock.now().UTC()}
		if n := len(would.Threads); n+would.Recorded > 0 {
			r.SaidAt = r.Announced
		}
		if n := len(would.Threads); n > 0 {
			r.Said = fmt.Sprintf("%d thread(s) past the retention limits will be deleted for good in %d days: %s; "+
				"`orchestrator gc --dry-run` says why; to keep a thread, `restore` or `pin` it; "+
				"to keep all of them, set retention.days = 0",
				n, int(retainGrace.Hours()/24), namesOf(would.Threads))
		}
		if n := would.Recorded; n > 0 {
			r.Said = both(r.Said, fmt.Sprintf("%d executions, work sessions and bundles past retention.record_days will be deleted for "+
				"good in %d days; to keep them, set it to 0", n, int(retainGrace.Hours()/24)))
		}
		return r, nil
	}
	for _, at := range []*time.Time{&r.Announced, &r.Ran, &r.SaidAt} {
		if now := k.clock.now().UTC(); at.After(now) { // written when the clock was ahead
			*at = now
		}
	}
	if k.clock.since(r.Announced) < retainGrace || !r.Ran.IsZero() && k.clock.since(r.Ran) < retainPause {
		return r, nil
	}
	done, err := k.collect(ctx, thread.CollectRequest{})
	r.Ran = k.clock.now().UTC()
	switch n := len(done.Threads); {
	case n == 0 && done.Recorded > 0:
		r.SaidAt, r.Said = r.Ran, forgotten(r.Ran, done.Recorded)
	case n > 0:
		r.SaidAt = r.Ran
		r.Said = fmt.Sprintf("on %s %d thread(s) past the retention limits were deleted for good, %s freed: %s; "+
			"unmerged files are kept in git",
			r.Ran.Local().Format(time.DateOnly), n, thread.Bytes(done.Freed), namesOf(done.Threads))
		if done.Recorded > 0 {
			r.Said = both(r.Said, forgotten(r.Ran, done.Recorded))
		}
	case k.clock.since(r.SaidAt) >= retainGrace:
		r.Said, r.SaidAt = "", time.Time{}
	}
	if err != nil && len(done.Threads)+done.Recorded == 0 {
		return r, err
	}
	return r, nil
}

// news returns what will be or was deleted, and whether the user is asked about the clock.
func (k *retention) news() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	said := []string{k.said, k.clock.doubt()}
	return slices.DeleteFunc(said, func(s string) bool { return s == "" })
}

// both joins two sentences.
func both(a, b string) string {
	if a == "" {
		return b
	}
	return a + ". " + b
}

// forgotten says how much of the record of work was deleted.
func forgotten(at time.Time, n int) string {
	return fmt.Sprintf("on %s %d executions, work sessions and bundles past retention.record_days were deleted for good",
		at.Local().Format(time.DateOnly), n)
}

func namesOf(list []thread.Dropped) string {
	var names []string
	for _, d := range list[:min(len(list), retainNames)] {
		names = append(names, d.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(list) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
