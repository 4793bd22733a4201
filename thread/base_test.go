package thread_test

import (
	"errors"
	"slices"
	"testing"

	"orchestrator/thread"
)

func TestChooseBase(t *testing.T) {
	all := thread.Levers{Levers: []thread.Lever{
		{Name: "loops", Profiles: []string{"slim", "minimal"}, Tools: []string{"Schedule*", "Cron*"}},
		{Name: "workflows", Profiles: []string{"slim", "minimal"}, Tools: []string{"Workflow"}},
		{Name: "bundled-skills", Profiles: []string{"slim", "minimal"}, Needs: []string{"workflows"}},
		{Name: "agents", Profiles: []string{"minimal"}, Tools: []string{"Agent"}, Kept: "the repository has agents"},
		{Name: "git-notes"},
	}}
	own := map[string]thread.OwnBase{
		"mine":  {From: "slim", LeaveOut: []string{"git-notes"}, Keep: []string{"CronCreate"}},
		"bare":  {LeaveOut: []string{"Workflow", "unknown"}},
		"wrong": {From: "tiny"},
		"alone": {LeaveOut: []string{"bundled-skills"}},
	}
	for _, tt := range []struct {
		profile string
		wanted  []string
		left    []string
		kept    []string
	}{
		{profile: "full"},
		{profile: "slim", left: []string{"bundled-skills", "loops", "workflows"}},
		{profile: "slim", wanted: []string{"CronList"}, left: []string{"bundled-skills", "workflows"}, kept: []string{"loops"}},
		{profile: "slim", wanted: []string{"Workflow"}, left: []string{"loops"}, kept: []string{"bundled-skills", "workflows"}},
		{profile: "minimal", left: []string{"bundled-skills", "loops", "workflows"}, kept: []string{"agents"}},
		{profile: "read-only"},
		{profile: "mine", left: []string{"bundled-skills", "git-notes", "workflows"}},
		{profile: "bare", left: []string{"workflows"}},
		{profile: "alone", kept: []string{"bundled-skills"}},
	} {
		left, kept, err := thread.ChooseBase(all, tt.profile, own, tt.wanted)
		var names []string
		for _, lever := range all.Levers {
			if kept[lever.Name] != "" {
				names = append(names, lever.Name)
			}
		}
		slices.Sort(names)
		if err != nil || !slices.Equal(left, tt.left) || !slices.Equal(names, tt.kept) {
			t.Errorf("%s, wanted %q: left out %q, kept %q (%v), %v; want %q, kept %q", tt.profile, tt.wanted, left, names, kept, err, tt.left, tt.kept)
		}
	}
	for _, profile := range []string{"tiny", "wrong", ""} {
		if _, _, err := thread.ChooseBase(all, profile, own, nil); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("base %q: %v, want an invalid one", profile, err)
		}
	}
}
