package views

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
)

// Hints returns the most useful keys in the view.
func (f *Feature) Hints() keyhelp.Hints {
	switch f.Scope() {
	case intent.Timeline:
		return keyhelp.Hints{}.Add(intent.Open, "read").Add(intent.ForkAt, "fork here").Add(intent.Rewind, "rewind").Add(intent.ShowDiff, "diff").
			Add(intent.Unfold, "responses").Add(intent.Leave, "threads")
	case intent.Turn:
		return keyhelp.Hints{}.Add(intent.Toggle, "expand").Add(intent.FoldAll, "all").Add(intent.Search, "search").Add(intent.Copy, "copy").Add(intent.Transcript, "editor").Add(intent.Older, "older").
			Add(intent.ForkAt, "fork").Add(intent.Leave, "back")
	case intent.Diff:
		return keyhelp.Hints{}.Add(intent.NextFile, "file").Add(intent.Base, "turns").Add(intent.Search, "search").Add(intent.Editor, "edit").
			Add(intent.Leave, "threads")
	default:
	}
	if !f.Listed() {
		return keyhelp.Hints{}.Add(intent.NextView, "view").Add(intent.MaskMode, "mode").Add(intent.Leave, "back").Add(intent.Help, "keys")
	}
	return keyhelp.Hints{}.Add(intent.Mask, "mask").Add(intent.Why, "why").Add(intent.PinResult, "pin").Add(intent.MaskAll, "all").Add(intent.Summarise, "summary").
		Add(intent.MaskMode, "mode").Add(intent.Open, "show").Add(intent.Search, "filter").Add(intent.About, "about").
		Add(intent.Leave, "threads")
}
