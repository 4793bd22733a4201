package sqlrow

import (
	"errors"
	"testing"
	"time"

	"orchestrator/thread"
)

func TestTimes(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, at := range []time.Time{{}, at, time.Unix(0, -1).UTC()} {
		if got := Time(Nanos(at)); !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("%v is read as %v", at, got)
		}
	}
	if Ended(time.Time{}) != nil {
		t.Error("a run that goes on has an end")
	}
	if n := Ended(at); n == nil || !Time(*n).Equal(at) {
		t.Errorf("the end %v is stored as %v", at, n)
	}
}

func TestPair(t *testing.T) {
	c := thread.Checkpoint{ID: "c", Parent: "p"}
	var p Pair
	if err := p.Check(c); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a parent that is missing: %v", err)
	}
	if err := p.Check(thread.Checkpoint{ID: "c"}); err != nil {
		t.Errorf("no parent: %v", err)
	}
	if p.Add(c, "p", 7); p.There || p.Parent != 7 || p.Check(c) != nil {
		t.Errorf("%+v", p)
	}
	if p.Add(c, "c", 8); !p.There || p.Parent != 7 {
		t.Errorf("%+v", p)
	}
	if p = (Pair{There: true}); p.Check(c) != nil { // stored already: its parent may be gone
		t.Errorf("%+v", p)
	}
}

func TestNumber(t *testing.T) {
	var n int64
	if err := (number[int64]{&n}).Scan(int64(7)); err != nil || n != 7 {
		t.Errorf("7 is read as %d: %v", n, err)
	}
	for _, v := range []any{nil, "7", []byte("7"), 7.0} {
		if err := (number[int64]{&n}).Scan(v); !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("%v is a number: %v", v, err)
		}
	}
}
