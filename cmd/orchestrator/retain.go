package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

const (
	retainSetting = "retention"
	// retainPause is how long retention waits between two runs.
	retainPause = 24 * time.Hour
	// retainGrace is how long it waits between saying what it would delete by settings that are new to it, and the
	// first time that it does; and how long what was deleted is said.
	retainGrace = 7 * 24 * time.Hour
	// retainNames is how many threads it names.
	retainNames = 10
)

// keeper lets go by itself of what the retention settings need not keep. It says first what that would be, for a week,
// whenever the settings are others than before, an upgrade's included, and says afterwards what went.
type keeper struct {
	settings thread.Settings
	collect  func(context.Context, thread.CollectRequest) (thread.Collected, error)
	since    func(time.Time) time.Duration // by a clock that nobody set
	now      func() time.Time
	policy   checkpoint.Policy

	mu   sync.Mutex // guards said
	said string
}

// retained is what is stored of it.
type retained struct {
	Policy    string    `json:"policy"`
	Announced time.Time `json:"announced,omitzero"` // when it was said what this policy would delete
	Ran       time.Time `json:"ran,omitzero"`
	Said      string    `json:"said,omitempty"` // to people
	SaidAt    time.Time `json:"saidAt,omitzero"`
}

// look runs retention where it is due.
func (k *keeper) look(ctx context.Context) error {
	var was retained
	text, err := k.settings.Setting(ctx, retainSetting)
	if err != nil {
		return fmt.Errorf("read when threads were deleted last: %w", err)
	}
	if text != "" && json.Unmarshal([]byte(text), &was) != nil {
		was = retained{} // not ours: begun again
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
		return fmt.Errorf("keep when threads were deleted: %w", err)
	}
	return nil
}

func (k *keeper) step(ctx context.Context, r retained) (retained, error) {
	policy := fmt.Sprintf("%v", k.policy)
	if k.policy == (checkpoint.Policy{}) {
		return retained{Policy: policy}, nil
	}
	if r.Policy != policy || r.Announced.IsZero() {
		would, err := k.collect(ctx, thread.CollectRequest{DryRun: true})
		if err != nil {
			return r, err
		}
		r = retained{Policy: policy, Announced: k.now().UTC()}
		if n := len(would.Threads); n > 0 {
			r.SaidAt = r.Announced
			r.Said = fmt.Sprintf("by the retention settings %d thread(s) will be deleted for good in %d days: %s; "+
				"`orchestrator gc --dry-run` says why, `restore` and `pin` keep a thread, and retention.days = 0 all archived ones",
				n, int(retainGrace.Hours()/24), namesOf(would.Threads))
		}
		return r, nil
	}
	for _, at := range []*time.Time{&r.Announced, &r.Ran, &r.SaidAt} {
		if now := k.now().UTC(); at.After(now) { // written by a clock that was ahead
			*at = now
		}
	}
	if k.since(r.Announced) < retainGrace || !r.Ran.IsZero() && k.since(r.Ran) < retainPause {
		return r, nil
	}
	done, err := k.collect(ctx, thread.CollectRequest{})
	r.Ran = k.now().UTC()
	switch n := len(done.Threads); {
	case n > 0:
		r.SaidAt = r.Ran
		r.Said = fmt.Sprintf("on %s %d thread(s) were deleted for good by the retention settings, %s freed: %s; files that were not merged are kept in git",
			r.Ran.Local().Format(time.DateOnly), n, thread.Bytes(done.Freed), namesOf(done.Threads))
	case k.since(r.SaidAt) >= retainGrace:
		r.Said, r.SaidAt = "", time.Time{}
	}
	if err != nil && len(done.Threads) == 0 {
		return r, err
	}
	return r, nil
}

// news is what people should know: what will go, or what went.
func (k *keeper) news() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.said == "" {
		return nil
	}
	return []string{k.said}
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
