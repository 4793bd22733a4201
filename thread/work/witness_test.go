package work

import (
	"fmt"
	"strings"
	"testing"
)

func TestTraces(t *testing.T) {
	if got := (Traces{}).Reason(); got != "" {
		t.Errorf("%q", got)
	}
	if got := (Traces{Changed: []string{"a", "b"}}).Reason(); got != "files were changed where it may only read: a, b" {
		t.Errorf("%q", got)
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint(strings.Repeat("x", 500), i))
	}
	got := Traces{Changed: many, More: 7}.Reason()
	if len(got) > 600 || !strings.HasSuffix(got, " and 1002 more") {
		t.Errorf("%q", got)
	}
}
