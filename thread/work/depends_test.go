package work_test

import (
	"strings"
	"testing"

	"orchestrator/thread/work"
)

func TestDependencies(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " , ": "", "A->B": "A>B", "A->B, B->C": "A>B B>C", "A->B->C": "A>B B>C", "A->C,B->C,A->B": "A>C B>C A>B",
		"A": "write A->B", "A->": "write A->B", "->B": "write A->B", "A->->B": "write A->B", "A->A": "A -> A", "A->B,B->A": "A -> B -> A",
		"X->A,A->B,B->C,C->A": "A -> B -> C -> A", "A->B,C->D,D->C": "C -> D -> C", strings.Repeat("A->B,", 1002): "more than 1000",
		"A->" + strings.Repeat("b", 300): "write A->B",
	} {
		all, err := work.ParseDependencies(text)
		var got []string
		for _, d := range all {
			got = append(got, d.Before+">"+d.After)
		}
		if err != nil {
			if !strings.Contains(err.Error(), want) || want == "" {
				t.Errorf("%.60q: %v, want %q", text, err, want)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %q", text, got, want)
		}
	}
}
