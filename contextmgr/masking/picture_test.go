package masking

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// pictureOf has one stored picture.
type pictureOf []byte

func (p pictureOf) Keep(thread.ID, []byte) error   { return nil }
func (p pictureOf) Last(thread.ID) ([]byte, error) { return p, nil }
func (p pictureOf) Drop(thread.ID) error           { return nil }

// TestStoredPicture: pictures are stored in the same form for good.
func TestStoredPicture(t *testing.T) {
	const form = `{"At":"2026-01-02T03:04:05Z","Model":"m","Window":9,"Tokens":8,"Masked":7,` +
		`"Counted":{"Input":6,"Estimate":5,"Items":4},"Entries":[{"Result":{"ID":"i","Tool":"Read","Kind":"","Tokens":3,"Lines":0,` +
		`"Before":0,"Request":2,"Error":true,"Masked":false,"Reads":"f","Writes":""},"Size":1,"Error":true,"Images":true}],` +
		`"System":11,"Messages":12,"Tools":{"":13,"srv":14},"ToolsN":{"":1,"srv":2},"Offered":["Read"],"Items":15}`
	want := stored{
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Model: "m", Window: 9, Tokens: 8, Masked: 7,
		Counted: count{Input: 6, Estimate: 5, Items: 4},
		picture: picture{
			Entries: []entry{{policy.Result{ID: "i", Tool: "Read", Tokens: 3, Request: 2, Error: true, Reads: "f"}, 1, true, true}},
			System:  11, Messages: 12, Tools: map[string]int64{"": 13, "srv": 14}, ToolsN: map[string]int{"": 1, "srv": 2},
			Offered: []string{"Read"}, Items: 15,
		},
	}
	got, err := readStored(pictureOf(form), "t1")
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	want.Counted.answered, want.Counted.request = 20, 21
	if text, err := json.Marshal(want); err != nil || string(text) != form {
		t.Errorf("stored as %s, %v", text, err)
	}
	if got, err := readStored(pictureOf(nil), "t1"); got != nil || err != nil {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	if _, err := readStored(pictureOf("{"), "t1"); err == nil {
		t.Error("a damaged one is read")
	}
}
