package manager

import (
	"cmp"
	"math"
	"slices"

	"orchestrator/thread"
)

// insertPrompts inserts a row for each prompt of a thread that no turn answered into a page of its timeline, newest
// first: after the turn that was answered before it. prompts are oldest first.
//
// It goes by the numbers of turns and not by time: clocks can be changed.
func insertPrompts(
	t thread.Thread, p thread.Page, list []thread.Checkpoint, prompts []thread.Prompt,
) []thread.Checkpoint {
	from := math.MinInt // a page holds them as far back as it goes itself
	if n := len(list); n > 0 && n >= cmp.Or(p.Limit, 100) && list[n-1].Thread == t.ID {
		from = list[n-1].Turn
	}
	rows := slices.DeleteFunc(promptRows(t, prompts), func(r thread.Checkpoint) bool {
		return r.Turn < from || p.Before > 0 && int64(r.Turn) >= p.Before || begun(list, r)
	})
	all := make([]thread.Checkpoint, 0, len(list)+len(rows))
	for _, c := range list {
		for len(rows) > 0 && (c.Thread != t.ID || c.Turn <= rows[0].Turn && !c.Rewound) {
			all, rows = append(all, rows[0]), rows[1:]
		}
		all = append(all, c)
	}
	return append(all, rows...)
}

// begun reports whether a list has responses of the turn that a prompt's row would stand before: they name the prompt.
func begun(list []thread.Checkpoint, row thread.Checkpoint) bool {
	return slices.ContainsFunc(list, func(c thread.Checkpoint) bool {
		return c.Kind == thread.KindResponse && c.Thread == row.Thread && c.Turn == row.Turn+1 && c.Prompt == row.Prompt
	})
}

// promptRows returns the rows of the prompts that no turn answered, newest first. The turn of each is the one that it
// comes after.
func promptRows(t thread.Thread, prompts []thread.Prompt) []thread.Checkpoint {
	answered := func(p thread.Prompt) bool { return p.State == thread.PromptAnswered && p.Turn > 0 }
	last := t.Turn // of a fork, before its first own turn: where it was forked
	if i := slices.IndexFunc(prompts, answered); i >= 0 {
		last = prompts[i].Turn - 1
	}
	after := make([]int, len(prompts))
	for i, p := range prompts {
		if answered(p) {
			last = p.Turn
		}
		after[i] = last
	}
	var rows []thread.Checkpoint
	most := t.Turn // a rewind took the turns after it away
	for i, p := range slices.Backward(prompts) {
		switch {
		case answered(p):
			most = min(most, p.Turn-1)
		case p.Unanswered():
			rows = append(rows, thread.PromptRow(p, min(after[i], most)))
		}
	}
	return rows
}
