package handoff

import (
	"slices"
	"strings"

	"orchestrator/thread/plaintext"
)

// Primer writes a summary of a conversation by fixed rules: what was asked and answered, which files, what is
// open, and as many of the newest turns in full as the budget allows.
func Primer(in Input) (string, error) {
	turns := in.Turns
	head := in.head()
	foot := in.foot()
	used := in.Tokens(head) + in.Tokens(foot)
	files := in.fileList(turns)
	open := in.openEnds(turns)
	// Lists of files and open tasks are short and worth the most; a tiny budget still cuts them.
	files = fit(files, in.Budget-used, in.Tokens)
	used += in.Tokens(files)
	open = fit(open, in.Budget-used, in.Tokens)
	used += in.Tokens(open)
	// Half of the rest goes to the newest turns in full, at least to the last one.
	full, older, err := in.newest(turns, (in.Budget-used)/2)
	if err != nil {
		return "", err
	}
	full = fit(full, in.Budget-used, in.Tokens)
	used += in.Tokens(full)
	record := in.record(turns[:older], in.Budget-used)
	parts := []string{head, record, files, open, full, foot}
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
	return fit(text, in.Budget, in.Tokens), nil
}

// fit cuts a text to a number of tokens, at a line break if possible, and says so.
func fit(s string, budget int, tokens func(string) int) string {
	if s == "" || tokens(s) <= budget {
		return s
	}
	const cut = "\n(cut for space)"
	lo, hi := 0, len(s)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if tokens(s[:mid]+cut) <= budget {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	if lo == 0 {
		return ""
	}
	s = plaintext.Cut(s, lo)
	if i := strings.LastIndexByte(s, '\n'); i > len(s)/2 {
		s = s[:i]
	}
	return s + cut
}
