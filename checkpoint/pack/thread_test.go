package pack

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// filled returns a thread with something in every field that points anywhere.
func filled() thread.Thread {
	tokens, usd := int64(5), 0.5
	return thread.Thread{
		ID: "t", Name: "t-0001", Dir: "/work", Created: time.Unix(1, 0).UTC(), Updated: time.Unix(2, 0).UTC(),
		Grants: []thread.Grant{"a"}, Once: thread.Once{Budget: thread.Budget{Tokens: &tokens, USD: &usd}},
		Launch: thread.Flags{Args: []string{"a"}, Env: []string{"b"}, Program: []string{"c"}},
		Base: thread.Base{Profile: "slim", Chosen: true, Left: []string{"loops"}, Unused: []string{"loops"}, Keep: []string{"a"},
			NextKeep: []string{"b"}},
		Declined: []string{"c"},
		MCP: thread.MCPSwitches{On: []thread.MCPSwitch{{Server: "a", By: thread.MCPPerson}}, Off: []string{"b"},
			Tools: []string{"a/x"}, Exact: true},
		Handoff: &thread.Handoff{TaskID: "x", EnabledMCPs: []string{"m"}, Staged: []thread.Token{"max:0badcafe"}},
		Masks:   &thread.MaskSeal{Records: 3, Sum: "5", Mode: "lean"},
	}
}

// TestOpenedOnce: a thread is opened once for several lists, what one caller does with it is not seen by another, and
// what changed or was damaged is opened again.
func TestOpenedOnce(t *testing.T) {
	for _, kept := range []bool{true, false} {
		p := New()
		if !kept {
			p.opened.drop()
		}
		want := filled()
		doc, sum, err := p.Thread(want)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := p.OpenListed("t", doc, sum)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("kept %v: %+v, %v", kept, got, err)
			}
			got.Launch.Args[0], got.Grants[0], got.Handoff.TaskID, got.Handoff.EnabledMCPs[0] = "changed", "changed", "changed",
				"changed"
		}
		if _, there := p.opened.by["t"]; there != kept {
			t.Errorf("kept %v, and it is there: %v", kept, there)
		}
		want.Name = "t-0002"
		newDoc, newSum, err := p.Thread(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.OpenListed("t", newDoc, newSum); err != nil || got.Name != want.Name {
			t.Errorf("kept %v: changed to %+v, %v", kept, got, err)
		}
		for name, pair := range map[string][2][]byte{
			"another's sum": {newDoc, sum}, "cut off": {newDoc[:len(newDoc)-1], newSum}, "another thread": {newDoc, newSum},
		} {
			id := thread.ID("t")
			if name == "another thread" {
				id = "u"
			}
			if got, err := p.OpenListed(id, pair[0], pair[1]); !errors.Is(err, thread.ErrDamaged) {
				t.Errorf("kept %v, %s: %+v, %v", kept, name, got, err)
			}
		}
	}
}

// TestUnshared looks at every field of a thread: none points to what the copy points to.
func TestUnshared(t *testing.T) {
	one := filled()
	two := checkpoint.Unshared(one)
	seen := 0
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Struct:
			if a.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range a.NumField() {
				walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		case reflect.Pointer, reflect.Slice, reflect.Map:
			seen++
			if a.IsNil() || a.Pointer() == b.Pointer() {
				t.Errorf("%s is empty here, or shared", path)
			} else if a.Kind() == reflect.Pointer {
				walk(path, a.Elem(), b.Elem())
			}
		case reflect.Interface, reflect.Chan, reflect.Func:
			t.Errorf("%s is a %v", path, a.Kind())
		default:
		}
	}
	walk("Thread", reflect.ValueOf(one), reflect.ValueOf(two))
	if seen != 18 {
		t.Errorf("%d fields point somewhere", seen)
	}
}
