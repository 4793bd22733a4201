package thread

import (
	"errors"
	"reflect"
	"testing"
)

func TestPlan(t *testing.T) {
	c := BaseConfig{Profile: "mine", Agents: map[string]string{"codex": "read-only"}}
	chosen := Base{Profile: "slim", Why: BaseByHand, Chosen: true, Version: "1", Left: []string{"a"}, Keep: []string{"k"}, Unchecked: "aside"}
	next := chosen.Clone()
	next.Next, next.NextKeep = "minimal", []string{"n"}
	full := Base{Profile: BaseFull, Chosen: true, Why: BaseByHand}
	for _, x := range []struct {
		name string
		c    BaseConfig
		w    BaseWish
		want Base
	}{
		{"nothing is configured", BaseConfig{}, BaseWish{Agent: "claude"}, Base{Profile: "full", Why: baseUnchosen}},
		{"for a task", BaseConfig{}, BaseWish{Agent: "claude", Started: true}, Base{Profile: "slim", Why: baseStarted}},
		{"configured", c, BaseWish{Agent: "claude"}, Base{Profile: "mine", Why: baseConfigured}},
		{"for the agent", c, BaseWish{Agent: "codex", Started: true}, Base{Profile: "read-only", Why: baseAgent}},
		{"asked for", c, BaseWish{Agent: "codex", Profile: "full", From: next, Same: true}, Base{Profile: "full", Why: BaseByHand}},
		{"a fork", c, BaseWish{Agent: "codex", From: chosen, Same: true, Started: true},
			Base{Profile: "slim", Why: baseParent, Chosen: true, Version: "1", Left: []string{"a"}, Keep: []string{"k"}}},
		{"with another agent", c, BaseWish{Agent: "codex", From: chosen, Empty: true}, Base{Profile: "slim", Why: baseParent, Keep: []string{"k"}}},
		{"with what is to come", c, BaseWish{Agent: "codex", From: next, Same: true}, Base{Profile: "minimal", Why: baseNext, Keep: []string{"n"}}},
		{"an empty one, by hand", BaseConfig{}, BaseWish{From: full, Same: true, Empty: true}, Base{Profile: "full", Why: baseParent, Chosen: true}},
		{"an empty one, for a task", BaseConfig{}, BaseWish{From: full, Same: true, Empty: true, Started: true}, Base{Profile: "slim", Why: baseStarted}},
		{"an empty one of a slim thread, for a task", BaseConfig{Started: "full"}, BaseWish{From: chosen, Same: true, Empty: true, Started: true},
			Base{Profile: "slim", Why: baseParent, Chosen: true, Version: "1", Left: []string{"a"}, Keep: []string{"k"}}},
		{"of one never started", c, BaseWish{From: Base{Profile: "minimal", Why: BaseByHand}, Same: true}, Base{Profile: "minimal", Why: baseParent}},
	} {
		if got := x.c.Plan(x.w); !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %+v", x.name, got)
		}
	}
}

func TestBaseNames(t *testing.T) {
	for _, name := range []string{"", "slim", "a b", "a\x1b", "x/y", "0123456789012345678901234567890123456789x"} {
		if err := CheckBaseName(name); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"mine", "für-mich", "v1.2_x"} {
		if err := CheckBaseName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	own := BaseConfig{Profiles: map[string]OwnBase{"mine": {From: "slim"}}}
	if err := own.CheckProfile("mine"); err != nil {
		t.Error(err)
	}
	if err := own.CheckProfile("theirs"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// TestBaseNarrows: a thread is not given more than the one that starts it.
func TestBaseNarrows(t *testing.T) {
	for _, tt := range []struct {
		profile, than string
		want          bool
	}{
		{"slim", "", true}, {"full", "", true}, {"full", "full", true}, {"full", "slim", false}, {"slim", "full", true}, {"minimal", "slim", true},
		{"slim", "minimal", false}, {"read-only", "minimal", false}, {"read-only", "slim", true}, {"read-only", "", true}, {"minimal", "read-only", false}, {"slim", "read-only", false},
		{"mine", "mine", true}, {"mine", "slim", false}, {"slim", "mine", false}, {"read-only", "read-only", true},
	} {
		if got := BaseNarrows(tt.profile, tt.than); got != tt.want {
			t.Errorf("%q in place of %q: %v", tt.profile, tt.than, got)
		}
	}
}

// TestBaseElsewhere: what another machine claims to leave out is not believed.
func TestBaseElsewhere(t *testing.T) {
	b := Base{Profile: "read-only", Chosen: true, Version: "1", Left: nil, Keep: []string{"x"}, Next: "full"}.Elsewhere()
	if b.Profile != "read-only" || b.Chosen || b.Left != nil || len(b.Keep) != 1 || b.Next != "" || b.ByHand() {
		t.Errorf("%+v", b)
	}
	if b := (Base{Chosen: true, Left: []string{"loops"}}).Elsewhere(); !reflect.DeepEqual(b, Base{}) {
		t.Errorf("without a profile: %+v", b)
	}
}
