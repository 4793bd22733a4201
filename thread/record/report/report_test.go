package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/record"
	"orchestrator/thread/record/report"
	"orchestrator/thread/work"
)

var update = flag.Bool("update", false, "write the golden reports")

func content(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sample is the report of a work session with everything in it, by an agent that would like to be obeyed.
func sample(t *testing.T) record.Report {
	t.Helper()
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.FixedZone("far away", 5*3600))
	claimed, checked := work.Validation{Tests: work.Pass, Lint: work.Pass}, work.Validation{Tests: work.Fail, Output: "tests: exit status 1\n```\n# FAIL"}
	yes := true
	out := func(n int64, of work.OutputType, path string, version int, current bool, v any) work.Output {
		return work.Output{N: n, Execution: "exec-001", Type: of, Content: content(t, v), Path: path, Version: version, Current: current, Created: at}
	}
	return record.Report{
		Session: work.Session{Name: "orch-2025-01-17-001", Scope: "Implement *vector* search", Status: work.SessionCompleted, Phase: work.PhaseConfirm,
			Created: at, Completed: at.Add(time.Hour)},
		Tasks: []work.Task{{Title: "HNSW | algorithm", Status: work.TaskComplete}},
		Executions: []record.Reported{{
			Row: work.Row{Execution: "exec-001", AgentType: "task-implementor", Status: "completed", State: work.Completed, Success: &yes, Origin: work.OriginHand,
				Scope: "Implement HNSW algorithm", Context: 15000, Model: "sonnet", Deployed: at, Completed: at.Add(25 * time.Minute), Seconds: 1500},
			Said:        "Done.\n```\n## Not a heading\n<script>alert(1)</script>\x1b[31m\n````",
			Allocations: []work.Allocation{{Type: work.ItemFile, Source: "spec/requirements.md", Tokens: 1500, Included: true}, {Type: work.ItemReference, Source: "b.md", Tokens: 9}},
			Outputs: []work.Output{
				out(1, work.OutputDeliverable, "lib/vector-search.ts", 1, false, work.Deliverable{Path: "lib/vector-search.ts", Added: 100}),
				out(2, work.OutputDeliverable, "lib/vector-search.ts", 2, true, work.Deliverable{Path: "lib/vector-search.ts", Added: 150, Modified: 2, Deleted: 1, From: "old.ts"}),
				out(3, work.OutputDeliverable, "a|b.bin", 1, true, work.Deliverable{Path: "a|b.bin", What: work.FileBinary}),
				out(4, work.OutputInsight, "", 0, true, "HNSW is O(log n)\n# and a heading"),
				out(5, work.OutputError, "", 0, true, "[click](http://x) ![](http://tracker)"),
			},
			Claimed: &claimed, Checked: &checked,
		}, {
			Row: work.Row{Execution: "exec-002", AgentType: "reviewer", Status: "deployed", State: work.Running, Origin: work.OriginOurs, Deployed: at.Add(time.Minute)},
		}},
	}
}

func write(t *testing.T, r record.Report, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r, name, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBuiltin: the built-in reports are what they were, wherever and however often they are made.
func TestBuiltin(t *testing.T) {
	for _, name := range []string{report.Synthesis, report.Log} {
		text, known := report.Builtin(name)
		if !known {
			t.Fatal(name)
		}
		got := write(t, sample(t), name, text)
		golden := filepath.Join("testdata", strings.TrimSuffix(name, ".tmpl")+".golden")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v):\n%s", name, err, got)
		}
		if again := write(t, sample(t), name, text); again != got {
			t.Error("it differs from one time to the next")
		}
		if strings.ContainsRune(got, 0x1b) {
			t.Error("an escape is printed")
		}
		_ = write(t, record.Report{}, name, text)
	}
}

// TestLie: a result that the checks deny is said at once, beside what they said.
func TestLie(t *testing.T) {
	text, _ := report.Builtin(report.Synthesis)
	got := write(t, sample(t), report.Synthesis, text)
	head, _, _ := strings.Cut(got, "\n## ")
	if !strings.Contains(head, "1 claim of checks denied") || !strings.Contains(got, "tests: pass (claimed), fail (checked)") {
		t.Error(got)
	}
}

// TestStructure: nothing that an agent wrote becomes a heading, a list, a table's cell, a link, an image or HTML.
func TestStructure(t *testing.T) {
	hostile := []string{"# h", "- l", "1. l", "a | b", "![x](http://t)", "[x](y)", "<b>", "`", "```\n# h\n```", "> q", "a\n\n# h", "\r# h", "&lt;", "~~x~~", "== ", "\u2028# h", "+ x", "a\tb"}
	for _, s := range hostile {
		line := report.Text(s).String()
		if strings.ContainsAny(line, "\n\r\u2028") {
			t.Errorf("%q has lines: %q", s, line)
		}
		for i, r := range line {
			if strings.ContainsRune("*_[]<>#|~!&`", r) && (i == 0 || line[i-1] != '\\') {
				t.Errorf("%q: %c stands alone in %q", s, r, line)
			}
		}
		if line != "" && strings.ContainsRune("-+=", rune(line[0])) || strings.HasPrefix(line, "1. ") {
			t.Errorf("%q begins %q", s, line)
		}
		got := write(t, sampleWith(t, s), "fence", `{{range .Executions}}{{fence .Message}}{{end}}`)
		fence, rest, _ := strings.Cut(got, "text\n")
		if body, ok := strings.CutSuffix(rest, "\n"+fence); !ok || strings.Contains(body, fence) {
			t.Errorf("%q is fenced as %q", s, got)
		}
	}
}

func sampleWith(t *testing.T, said string) record.Report {
	t.Helper()
	r := sample(t)
	r.Executions = r.Executions[:1]
	r.Executions[0].Said = said
	return r
}

// TestTemplates: a template of the person's has the functions that are documented; one that is wrong says where.
func TestTemplates(t *testing.T) {
	const text = `{{.Session.Name | raw}} {{with index .Executions 0}}{{date .Deployed}} {{took .Took}} {{cut 4 .Scope}} {{line .Message | len}} {{quote .Error}}` +
		`{{join "," .Checks}} {{default "none" .Bundle}} {{upper .Status}} {{count (len .Files) "file"}}{{end}} {{json .Totals.Files}}`
	got := write(t, sample(t), "own.tmpl", text)
	for _, want := range []string{"orch-2025-01-17-001 2025-01-17 25:00 ", "COMPLETED 3 files 2", " none ", "tests: pass (claimed), fail (checked)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	for text, want := range map[string]string{
		"a\n{{.Nothing}}":   "own.tmpl:2",
		"{{":                "own.tmpl:1",
		"{{range 5}}{{end}": "own.tmpl:1",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`: "exceeded maximum",
		strings.Repeat("x", report.MaxTemplate+1):               "more than",
		`{{range 100000}}{{printf "%10000d" 1}}{{end}}`:         "too long",
	} {
		var b bytes.Buffer
		err := report.Write(&b, sample(t), "own.tmpl", text)
		if err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("%.40q: %v, %d bytes", text, err, b.Len())
		}
	}
}
