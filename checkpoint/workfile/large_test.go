package workfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"orchestrator/checkpoint/workfile"
	"orchestrator/thread/work"
)

// TestOneLargeRow holds that an execution with more than a line has room for keeps no other row, and no backup, from being
// written: it is there without some of its outputs, or texts, and that is said.
func TestOneLargeRow(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	source := both(t)["memory"]
	fill(t, source)
	for i := range 70 {
		content := json.RawMessage(fmt.Sprintf(`"%d %s"`, i, strings.Repeat("x", 1<<20-10)))
		if _, err := source.AddOutputs(ctx, "0000000000000002", []work.Output{{Type: work.OutputInsight, Content: content}}); err != nil {
			t.Fatal(err)
		}
	}
	all := make([]work.Event, 20) // they are escaped in the file, six bytes each
	for i := range all {
		all[i] = work.Event{Kind: work.KindSaid, Text: strings.Repeat("<", 1<<20)}
	}
	x, err := source.Execution(ctx, "0000000000000003")
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Append(ctx, x.ID, x.Fence, all...); err != nil {
		t.Fatal(err)
	}
	file, wrote := write(t, workfile.Export{From: source, Secrets: true})
	notes := fmt.Sprint(wrote.Notes)
	if wrote.Executions != 5 || !strings.Contains(notes, "left out: 4") || !strings.Contains(notes, "left out: 1 row") {
		t.Errorf("%+v", wrote)
	}
	target := both(t)["memory"]
	if got := read(t, workfile.Import{To: target}, file); got.Executions != 5 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
	if bytes.Count(file, []byte("\n")) != 9 {
		t.Errorf("%d lines", bytes.Count(file, []byte("\n")))
	}
	files, err := target.Outputs(ctx, work.OutputQuery{Execution: "0000000000000002", Types: []work.OutputType{work.OutputDeliverable}})
	if err != nil || len(files) != 1 {
		t.Errorf("%d deliverables are left: %v", len(files), err)
	}
}
