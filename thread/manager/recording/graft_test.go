package recording

import (
	"testing"

	"orchestrator/thread"
)

func TestFits(t *testing.T) {
	chunk := func(file string, offset int64, data string) thread.Chunk {
		return thread.Chunk{File: file, Offset: offset, Data: []byte(data)}
	}
	marks := []thread.Mark{{File: "a", Size: 3}}
	for name, tc := range map[string]struct {
		chunks []thread.Chunk
		fits   bool
	}{
		"nothing":                    {nil, true},
		"what follows":               {[]thread.Chunk{chunk("a", 3, "def")}, true},
		"the whole file":             {[]thread.Chunk{chunk("a", 0, "abc")}, true},
		"a gap":                      {[]thread.Chunk{chunk("a", 4, "ef")}, false},
		"what follows what follows":  {[]thread.Chunk{chunk("a", 3, "d"), chunk("a", 4, "ef")}, true},
		"a new file":                 {[]thread.Chunk{chunk("b", 0, "x")}, true},
		"the rest of a file unknown": {[]thread.Chunk{chunk("b", 1, "y")}, false},
	} {
		if got := fits(marks, tc.chunks); got != tc.fits {
			t.Errorf("%s: fits %v", name, got)
		}
	}
	if marks[0].Size != 3 {
		t.Error("the marks have changed")
	}
	got := grown(marks, []thread.Chunk{chunk("a", 3, "def"), chunk("b", 0, "x")})
	if len(got) != 2 || got[0].Size != 6 || got[1].File != "b" || got[1].Size != 1 {
		t.Errorf("grown marks: %v", got)
	}
}

func TestGraftedDelta(t *testing.T) {
	d := thread.Delta{
		Keep: 7, Transcript: []thread.Chunk{{File: "a"}}, Prompts: []thread.Prompt{{ID: "p1", Turn: 3}, {ID: "p2"}},
	}
	var none *grafted
	if got := none.fit(d); got.Keep != 7 || len(got.Transcript) != 1 || got.Prompts[0].Turn != 3 {
		t.Errorf("without a graft: %+v", got)
	}
	if got := (&grafted{keep: 2, turn: 5}).fit(d); got.Keep != 2 || len(got.Transcript) != 1 ||
		got.Prompts[0].Turn != 5 || got.Prompts[1].Turn != 0 {
		t.Errorf("upon another turn: %+v", got)
	}
	if got := (&grafted{bare: true}).fit(d); got.Transcript != nil {
		t.Errorf("without its transcript: %+v", got)
	}
}
