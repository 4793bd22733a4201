package thread_test

import (
	"maps"
	"testing"

	"orchestrator/thread"
)

// TestJudge: parts name what they could be left out by, and profiles tell what would be sent; what is not offered saves
// nothing, and what is left out already costs what it saved.
func TestJudge(t *testing.T) {
	levers := thread.Levers{Version: "1", Levers: []thread.Lever{
		{Name: "loops", Profiles: []string{"slim", "minimal"}, Tools: []string{"Wake", "Cron*"}, Saves: 100},
		{Name: "skills", Profiles: []string{"minimal"}, Parts: []string{"skills", "environment: git"}, Saves: 300},
		{Name: "goals", Profiles: []string{"slim", "minimal"}, Tools: []string{"Goal"}, Saves: 40},
		{Name: "web", Profiles: []string{"slim"}, Tools: []string{"Fetch"}, Saves: 50},
	}}
	r := thread.BaseReport{Tokens: 2000, Counted: 1000, Base: thread.Base{Left: []string{"web"}}, Parts: []thread.BasePart{
		{Kind: thread.BaseSystem, Tokens: 800}, {Kind: thread.BaseTool, Name: "Wake", Tokens: 300},
		{Kind: thread.BaseTool, Name: "CronList", Tokens: 100}, {Kind: thread.BaseTool, Name: "Edit", Tokens: 100},
		{Kind: thread.BaseSkills, Tokens: 600}, {Kind: thread.BaseEnvironment, Name: "git", Tokens: 50},
		{Kind: thread.BaseEnvironment, Name: "mode", Tokens: 50},
	}}
	r.Judge(levers, map[string]thread.OwnBase{"mine": {From: "full", LeaveOut: []string{"skills"}}, "broken": {From: "no"}})
	for i, want := range []string{"", "loops", "loops", "", "skills", "skills", ""} {
		if r.Parts[i].Lever != want {
			t.Errorf("%v is left out by %q, want %q", r.Parts[i], r.Parts[i].Lever, want)
		}
	}
	want := map[string]int64{
		"full":      2000 + 2*50,             // web comes back
		"slim":      2000 - 400,              // the tools of loops are more than what was measured; goals are not offered
		"read-only": 2000 + 2*50,             // has no lever of its own
		"minimal":   2000 + 2*50 - 400 - 600, // web is not left out by it
		"mine":      2000 + 2*50 - 600,
	}
	if !maps.Equal(r.Profiles, want) {
		t.Errorf("profiles %v, want %v", r.Profiles, want)
	}
	var none thread.BaseReport
	if none.Judge(levers, nil); none.Profiles != nil || len(none.Levers) != 4 || none.Version != "1" {
		t.Errorf("without a request: %+v", none)
	}
}
