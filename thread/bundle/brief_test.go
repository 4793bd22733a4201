package bundle_test

import (
	"strings"
	"testing"

	"orchestrator/thread/bundle"
)

func TestBrief(t *testing.T) {
	made, err := bundle.Make(bundle.Order{AgentType: "reviewer", Scope: "Look at it", Items: []bundle.Item{
		file("a.md", "one\n```\ncode\n```\n"), {Source: "b.md", Content: []byte("# A\nx\n"), Sections: []string{"A"}}, file("empty", ""),
	}}, bundle.Target{Count: words}, noon)
	if err != nil {
		t.Fatal(err)
	}
	const want = "# Context\n\n## a.md\n\n````\none\n```\ncode\n```\n````\n\n## b.md: A\n\n```\n# A\nx\n```\n\n## empty\n\n```\n```\n\n# Task\n\nYou are: reviewer\n\nLook at it\n"
	got, err := bundle.Brief(made.Kept, made.Pieces, "")
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for template, says := range map[string]string{
		"{{.Nothing}}": "Nothing", "{{": "template", "{{range .Items}}{{.Content": "template", `{{len (printf "%5000000d" 1)}}`: "",
		`{{range .Items}}{{range $.Items}}{{printf "%9000000d" 1}}{{end}}{{end}}`: "16 MB", "{{call .Scope}}": "template",
	} {
		if _, err := bundle.Brief(made.Kept, made.Pieces, template); says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", template, err)
		}
	}
	if got, err := bundle.Brief(made.Kept, made.Pieces, `{{.AgentType | upper}} {{join "+" (index .Items 1).Sections}} {{trim " x "}}{{len .Rest}}`); err != nil || got != "REVIEWER A x3" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := bundle.Brief(made.Kept, nil, ""); err == nil {
		t.Error("without content")
	}
}

func TestSecretsAreNotGiven(t *testing.T) {
	const key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	made, err := bundle.Make(bundle.Order{Scope: "use " + key, Items: []bundle.Item{file("env", "TOKEN="+key+"\n")}}, bundle.Target{Count: words}, noon)
	if err != nil || len(made.Redacted) != 1 || strings.Contains(made.Kept.Bundle.Scope, key) || strings.Contains(string(made.Pieces[made.Kept.Pieces[0]]), key) {
		t.Errorf("%+v, %v", made, err)
	}
	if err := bundle.Changed(made.Kept, []bundle.Item{file("env", "TOKEN="+key+"\n")}); err != nil {
		t.Error(err)
	}
}

func TestExplain(t *testing.T) {
	rows := strings.Repeat("id,name,value\n", 3000)
	made, err := bundle.Make(bundle.Order{Items: []bundle.Item{
		{Source: "big.md", Content: text(60_000)}, {Source: "mid.md", Content: text(30_000), Priority: "recommended"}, file("rows.csv", strings.ReplaceAll(rows, ",", " ")),
		file("doc.md", "words here\n```json\n"+strings.Repeat("{ a } ", 1200)+"\n```\n"), file("copy.md", string(text(30_000))), file("small.md", "x"),
	}}, bundle.Target{Count: words}, noon)
	if err != nil {
		t.Fatal(err)
	}
	e := bundle.Explain(made.Kept, made.Pieces)
	for i, want := range []struct {
		verdict bundle.Verdict
		advice  string
		data    bool
	}{
		{bundle.Optimize, "sections", false}, {bundle.Review, "sections", false}, {bundle.Keep, "orchestrator stage <rows.csv", true},
		{bundle.Keep, "data inside", true}, {bundle.Review, "in mid.md already", false}, {bundle.Keep, "", false},
	} {
		it := e.Items[i]
		if it.Verdict != want.verdict || !strings.Contains(it.Advice, want.advice) || (want.advice == "") != (it.Advice == "") || (it.Data > 0) != want.data || it.Claimed {
			t.Errorf("%+v, want %+v", it, want)
		}
	}
	if strings.Join(e.Drop, " ") != "copy.md mid.md" || e.Frees != 60_000 {
		t.Errorf("%v, %d", e.Drop, e.Frees)
	}
}

func TestBudget(t *testing.T) {
	for _, tc := range []struct {
		used, budget int64
		warn         float64
		want         bundle.Level
	}{
		{0, 0, 0, bundle.LevelOK}, {149_999, 0, 0, bundle.LevelOK}, {150_000, 0, 0, bundle.LevelWarning}, {179_999, 0, 0, bundle.LevelWarning},
		{180_000, 0, 0, bundle.LevelCritical}, {200_000, 0, 0, bundle.LevelCritical}, {200_001, 0, 0, bundle.LevelOver},
		{50, 100, 0.5, bundle.LevelWarning}, {94, 100, 0.95, bundle.LevelOK}, {95, 100, 0.95, bundle.LevelCritical},
	} {
		b, err := bundle.Budget{Budget: tc.budget, Warn: tc.warn, Parts: []bundle.BudgetPart{{Execution: "x", Tokens: tc.used / 2}, {Tokens: tc.used - tc.used/2}}}.Sum()
		if err != nil || b.Level != tc.want || b.Used != tc.used || b.Given+b.Planned != b.Used || b.Remaining != b.Budget-b.Used {
			t.Errorf("%+v: %v, %+v", tc, err, b)
		}
	}
	for _, bad := range []bundle.Budget{{Budget: -1}, {Warn: 1}, {Warn: -1}, {Phase: 6}, {Phase: -1}} {
		if _, err := bad.Sum(); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}
