package plan

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	// MaxAtOnce is how many tasks of an armed plan may be at work at once.
	MaxAtOnce = 50
	// pausedAfter is how many tasks in a row fail before an armed plan takes no more.
	pausedAfter = 3
)

// Paused says why an armed plan takes no more tasks until it is armed again, "" if it takes them. ended are its final
// tasks, at least the newest: it is paused once those that ended last have failed, all of them since it was armed.
func (a Armed) Paused(ended []Task) string {
	since := slices.DeleteFunc(slices.Clone(ended), func(t Task) bool {
		return t.Status == Cancelled || t.Started.IsZero() || t.Started.Before(a.Changed)
	})
	slices.SortFunc(since, func(x, y Task) int { return cmp.Or(y.Ended.Compare(x.Ended), cmp.Compare(y.Name, x.Name)) })
	failed := 0
	for ; failed < len(since) && since[failed].Status == Failed; failed++ {
	}
	if failed < pausedAfter {
		return ""
	}
	return fmt.Sprintf("%d tasks in a row have failed, the last one %s", failed, since[0].Name)
}
