package bundle_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// printed is the example of a bundle as it is documented.
const printed = `{
  "bundle_id": "bundle-001",
  "agent_type": "task-implementor",
  "scope": "Implement vector search",
  "created_at": "2025-01-17T10:00:00Z",
  "context_items": [
    {
      "type": "file",
      "source": "spec/requirements.md",
      "token_count": 1500,
      "priority": "required",
      "sections": [
        "Vector Search Requirements"
      ]
    },
    {
      "type": "reference",
      "source": "references/hnsw-algorithm.md",
      "token_count": 3000,
      "priority": "recommended",
      "sections": [
        "Algorithm Overview",
        "Implementation Notes"
      ]
    },
    {
      "type": "shared_context",
      "source": "constitution.md",
      "token_count": 500,
      "priority": "required",
      "shared_with": [
        "bundle-002",
        "bundle-003"
      ]
    }
  ],
  "total_tokens": 5000,
  "budget_remaining": 195000
}
`

func TestPrintedForm(t *testing.T) {
	b, err := bundle.Parse([]byte(printed))
	if err != nil || string(bundle.Print(b)) != printed {
		t.Fatalf("%v\n%s", err, bundle.Print(b))
	}
	if !b.Created.Equal(time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)) {
		t.Error(b.Created)
	}
	if got := string(bundle.Print(work.Bundle{Scope: "a < b & c"})); !strings.Contains(got, `"a < b & c"`) || !strings.Contains(got, `"context_items": []`) {
		t.Error(got)
	}
}

func TestFormsThatAreNone(t *testing.T) {
	swap := func(old, now string) string { return strings.Replace(printed, old, now, 1) }
	for text, says := range map[string]string{
		"": "no bundle", "[]": "no bundle", "{}": "without items", printed + "x": "more follows",
		swap(`"scope"`, `"scoop"`): `"scoop"`, swap(`"file"`, `"folder"`): "use file", swap(`"required"`, `"urgent"`): "use required",
		swap("1500", "-1"): "token_count", swap("1500", "1.5"): "no bundle", swap(`"spec/requirements.md"`, `""`): "no source",
		swap("bundle-001", "a/b"): "bundle_id", swap("Implement vector search", strings.Repeat("x", 9000)): "at most",
	} {
		if _, err := bundle.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %q", text, err, says)
		}
	}
	b, err := bundle.Parse([]byte(strings.Replace(swap("5000", "9"), `"priority": "required",`, "", 1)))
	if err != nil || b.Total != 5000 || b.Items[0].Priority != work.Required {
		t.Errorf("%+v, %v", b, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{printed, "{}", `{"context_items":[{"source":"a"}]}`, "null", strings.Repeat("[", 100)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := bundle.Parse(raw)
		if err != nil {
			return
		}
		once := bundle.Print(b)
		again, err := bundle.Parse(once)
		if err != nil || string(bundle.Print(again)) != string(once) {
			t.Errorf("%v\n%s\n%s", err, once, bundle.Print(again))
		}
	})
}
