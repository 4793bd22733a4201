package field

import (
	"testing"

	"orchestrator/ui/intent"
)

func TestSuggestionIsReplaced(t *testing.T) {
	typed := func(s string) intent.Intent { return intent.Type{Text: s} }
	for _, c := range []struct {
		name string
		do   []intent.Intent
		want string
	}{
		{"left alone", nil, "notes"}, {"typed over", []intent.Intent{typed("a"), typed("b")}, "ab"},
		{"gone to its end", []intent.Intent{intent.CursorEnd, typed("!")}, "notes!"},
		{"erased in part", []intent.Intent{intent.EraseBack, typed("x")}, "notex"},
		{"nothing typed", []intent.Intent{typed("")}, "notes"},
	} {
		f := Suggest("notes")
		for _, in := range c.do {
			f.Handle(in)
		}
		if got := f.Value(); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
