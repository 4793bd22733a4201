package page

import (
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/ui/plain"
)

// Stats prints sums over executions.
func Stats(w io.Writer, s record.Sums) {
	if s.Total.Runs == 0 {
		fmt.Fprintln(w, "nothing recorded has that; `orchestrator help answers` says what is")
		return
	}
	var t Columns
	t.Row(strings.ToUpper(string(s.By)), "RUNS", "OPEN", "OK", "IN", "CACHED", "OUT", "COST", "TIME")
	within := false
	for _, r := range s.Rows {
		row := sumRow(Dash(plain.Cut(r.Key, mostName+10)), r)
		if r.Within {
			row[7] += " *"
			within = true
		}
		t.Row(row...)
	}
	t.Row(sumRow("total", s.Total)...)
	t.Print(w)
	if s.Total.Natives > 0 {
		fmt.Fprintf(w, "%s that a CLI started by itself: what they used is a part of what the\nexecution used that they belong to, and counted once.\n",
			plain.Count(s.Total.Natives, "sub-agent"))
	}
	if within {
		fmt.Fprintln(w, "* is a part of what another row has, and not in the total.")
	}
}

// sumRow is a row of sums.
func sumRow(name string, r record.Sum) []string {
	runs, ok := fmt.Sprint(r.Runs), "-"
	if r.Natives > 0 && r.Natives < r.Runs {
		runs = fmt.Sprintf("%d (%d sub)", r.Runs, r.Natives)
	}
	if r.Success != nil {
		ok = thread.Percent(*r.Success)
	}
	return []string{name, runs, fmt.Sprint(r.Open), ok, thread.Tokens(r.Spent.In), thread.Tokens(r.Spent.Cached), thread.Tokens(r.Spent.Out),
		r.Spent.Money(), thread.Elapsed(time.Duration(r.Seconds * float64(time.Second)))}
}
