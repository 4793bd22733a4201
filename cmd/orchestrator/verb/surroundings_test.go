package verb

import (
	"testing"

	"orchestrator/thread"
)

// heavy is an agent whose base is larger than it needs to be.
type heavy struct {
	thread.Agent
	thread.Slimmer
}

func (heavy) Name() string { return "claude" }

func (heavy) Surroundings(where thread.WorldSpec) []thread.BaseWarning {
	return []thread.BaseWarning{{What: "ENABLE_TOOL_SEARCH=false in " + where.Dir + "\x1b[31m", Do: "Unset it."}}
}

// TestDoctorNamesSurroundings: what makes a base larger is no failure, and is named with what to do.
func TestDoctorNamesSurroundings(t *testing.T) {
	got := surroundings(heavy{}, thread.WorldSpec{Dir: "/project"})
	if len(got) != 1 || got[0].About != "claude base" || got[0].OK || got[0].Remedy != "Unset it." || essential(got[0].About) ||
		got[0].Found == "" || got[0].Found[:len("ENABLE")] != "ENABLE" || got[0].Found[len(got[0].Found)-1] == 0x1b {
		t.Errorf("findings %+v", got)
	}
	if got := surroundings(struct{ thread.Agent }{}, thread.WorldSpec{}); got != nil {
		t.Errorf("of an agent that leaves out nothing: %+v", got)
	}
}
