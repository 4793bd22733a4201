package lines_test

import (
	"fmt"
	"testing"

	"orchestrator/thread/lines"
)

// TestFields: what is there of an object is read, wherever it is cut.
func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"x","b":{"c":1}}` + "\n{}": `"x" {"c":1}`,
		`{"a":"x","b":{"c":`:             `"x" `,
		`{"a":"x","b`:                    `"x" `,
		`{"a":"x"`:                       `"x" `,
		`{"a":`:                          ` `,
		` {`:                             ` `,
		`["a"]`:                          ` `,
		``:                               ` `,
	} {
		f := lines.Fields([]byte(text))
		if got := fmt.Sprintf("%s %s", f["a"], f["b"]); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, ok := lines.Fields([]byte(`{"a":1,"b":[`))["b"]; !ok {
		t.Error("a field whose value is cut is not named")
	}
	if got := lines.Word([]byte(`"w"`)) + lines.Word([]byte(`3`)) + lines.Word(nil); got != "w" {
		t.Errorf("words %q", got)
	}
}
