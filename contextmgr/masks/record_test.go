package masks

import (
	"bytes"
	"testing"

	"orchestrator/contextmgr/policy"
)

// FuzzScan: any log gives whole records or says that they are damaged, and ends where the last line ends.
func FuzzScan(f *testing.F) {
	line, err := record{Kind: kindMasks, Masks: []stored{{Mask{ID: "a", Sum: sumOf([]byte("x"))}, []byte("x")}}}.line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(append(line, line[:len(line)/2]...))
	f.Add(append([]byte("00000000 {}\n"), line...))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		records := 0
		end, damaged, err := scan(bytes.NewReader(log), func(r record, at position) {
			records++
			again, err := parse(bytes.TrimSuffix(log[at.at:at.at+at.size], []byte("\n")))
			if err != nil || again.Kind != r.Kind {
				t.Errorf("a record at %+v cannot be read again: %v", at, err)
			}
		})
		if err != nil || records+damaged != bytes.Count(log, []byte("\n")) {
			t.Fatalf("%d records and %d damaged ones in %q (%v)", records, damaged, log, err)
		}
		if want := int64(bytes.LastIndexByte(log, '\n') + 1); end != want {
			t.Errorf("the log ends at %d, want %d", end, want)
		}
	})
}

// TestUnknownRecords: what a newer build has written is left alone.
func TestUnknownRecords(t *testing.T) {
	newer, err := record{Kind: "of the future", IDs: []policy.ID{"a"}}.line()
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{pinned: map[policy.ID]bool{}}
	if _, damaged, err := scan(bytes.NewReader(newer), s.apply); damaged > 0 || err != nil || len(s.pinned) > 0 {
		t.Errorf("%d damaged (%v), pins %v", damaged, err, s.pinned)
	}
}
