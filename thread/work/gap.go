package work

import (
	"fmt"
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// ReportAsked begins the prompt of an execution that reports, as those know it who play a model.
const ReportAsked = "You have used all your "

// AskReport is the prompt for an execution that was stopped at its bound of calls.
func AskReport(x Execution) string {
	return fmt.Sprintf("%s%s, and were stopped. Call no more tools. Report in at most %d words how far you are, and what is not done. "+
		"End with one line that begins with \"Gap:\" and names what is missing, or \"Gap: none\" if nothing is.", ReportAsked, toolCalls(x.Caps.Calls), exploreWords)
}

// AskMore is the prompt for one whose calls were used up and that may make some more.
func AskMore(gap string) string {
	if gap == "" {
		gap = "what is not done"
	}
	return "You were stopped because your tool calls were used up. You may make some more now. Finish the task; missing is: " + gap
}

// UsedUp says that an execution has made all the calls that it may.
func UsedUp(x Execution) string {
	if x.Caps.Calls == 1 {
		return "its 1 call was used up"
	}
	return fmt.Sprintf("its %d calls were used up", x.Caps.Calls)
}

// maxGap is the longest gap that is kept, in bytes.
const maxGap = 500

// GapOf returns what a report says is missing, on one line and without secrets: what follows on the last "Gap:" that begins
// a line or a sentence. Named is false if there is none; the gap is "" if it says that nothing is missing.
func GapOf(report string) (gap string, named bool) {
	lines := strings.Split(report, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		rest, is := afterGap(lines[i])
		if !is {
			continue
		}
		for _, l := range lines[i+1:] { // as a heading, or as a list
			if l = bare(l); l == "" && rest != "" {
				break
			}
			rest = strings.TrimSpace(rest + " " + l)
		}
		switch strings.ToLower(strings.TrimRight(rest, ".! ")) {
		case "", "none", "nothing", "no gap", "n/a":
			return "", true
		}
		return plaintext.Line(plaintext.OneLine(secret.Redact(plaintext.Cut(rest, 8*maxGap)), maxGap)), true
	}
	return "", false
}

// afterGap returns what follows on "Gap:" in a line.
func afterGap(line string) (rest string, is bool) {
	line = strings.TrimLeft(line, " \t*_#>-\u2022`")
	if len(line) >= 4 && strings.EqualFold(line[:3], "gap") {
		if rest, is = strings.CutPrefix(strings.TrimLeft(line[3:], "*_` "), ":"); is {
			return bare(rest), true
		}
	}
	if at := strings.LastIndex(line, " Gap:"); at > 0 && strings.ContainsRune(".!?;", rune(line[at-1])) {
		return bare(line[at+len(" Gap:"):]), true
	}
	return "", false
}

// bare is a line without what Markdown has around words.
func bare(line string) string { return strings.Trim(line, " \t*_#>-\u2022`") }

// Words counts the words of an answer. Code, between fences, does not count.
func Words(answer string) (n int) {
	fence := ""
	for line := range strings.Lines(answer) {
		mark := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~")):
			fence = mark[:3]
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case fence == "":
			n += len(strings.Fields(mark))
		}
	}
	return n
}
