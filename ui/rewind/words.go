package rewind

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
)

// counts says what goes back: "2 files, 1 line added since and 3 lines removed since".
func counts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	verb := func(n int, v string) string {
		if n == 1 {
			return v + "s"
		}
		return v
	}
	s := dialog.Count(len(files), "file")
	if add > 0 {
		s += ", " + dialog.Count(add, "line") + " added since " + verb(add, "leave")
	}
	if del > 0 {
		s += ", " + dialog.Count(del, "line") + " removed since " + verb(del, "come") + " back"
	}
	return s
}
