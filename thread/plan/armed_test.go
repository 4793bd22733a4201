package plan_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread/plan"
)

func TestAPlanWhoseTasksFailPauses(t *testing.T) {
	t.Parallel()
	armed := plan.Armed{Changed: time.Unix(100, 0)}
	// Each letter is a task by its end: f failed, c complete, x cancelled, o failed but begun before it was armed.
	for ended, want := range map[string]bool{
		"": false, "f": false, "ff": false, "fff": true, "ffff": true, "cfff": true, "fffc": false, "ffcf": false, "ffcfff": true,
		"ffxf": true, "ffo": false, "offf": true, "oof": false,
	} {
		var list []plan.Task
		for i, c := range ended {
			task := plan.Task{Name: "task-" + string(rune('a'+i)), Status: plan.Failed, Started: time.Unix(200, 0), Ended: time.Unix(int64(300+i), 0)}
			switch c {
			case 'c':
				task.Status = plan.Complete
			case 'x':
				task.Status = plan.Cancelled
			case 'o':
				task.Started = time.Unix(50, 0)
			}
			list = append([]plan.Task{task}, list...) // newest first, and the order does not matter
		}
		why := armed.Paused(list)
		if (why != "") != want {
			t.Errorf("%q: paused %q, want paused %v", ended, why, want)
		}
		if want && !strings.Contains(why, "task-"+string(rune('a'+len(ended)-1))) {
			t.Errorf("%q: %q does not name the last task", ended, why)
		}
	}
}
