package runlog

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

const (
	// maxText is how much of one event's text is shown, in bytes.
	maxText = 256 << 10
	// maxPromptLines is how many lines of a prompt are shown, maxResultLines of what a tool returned.
	maxPromptLines = 24
	maxResultLines = 4
	// maxLine is how much of a line is cut to the width, in bytes.
	maxLine = 4 << 10
	// minCols is the narrowest width that lines are cut to.
	minCols = 20
)

// How things look.
const (
	plain  = "\x1b[m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	musing = "\x1b[2;3m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// Start is what comes before a log: nobody types into it.
const Start = "\x1b[?25l"

// Log is the log of one run. The zero value is one of 80 columns.
type Log struct {
	cols int

	block block // of the last lines
	open  bool  // the last line has no end yet
	ends  int   // line ends of a text that are not written yet, because they may be its last

	text  bytes.Buffer // what clean has made of a streaming text
	clean *plaintext.Writer

	began   time.Time // the prompt
	session string
	used    thread.Usage
}

// block is a part of the log that stands together.
type block struct {
	kind thread.RunEventKind
	sub  string
}

// asked is the kind of the block with the prompt.
const asked thread.RunEventKind = "prompt"

// Resize sets the width that lines are cut to from now on.
func (l *Log) Resize(cols int) { l.cols = cols }

// width returns the width of what follows an indentation.
func (l *Log) width(indent int) int { return max(cmp.Or(l.cols, 80), minCols) - indent }

// AppendPrompt appends the prompt, asked at a time.
func (l *Log) AppendPrompt(dst []byte, text string, at time.Time) []byte {
	l.began = at
	return l.prompt(dst, text)
}

// prompt appends what the agent was asked.
func (l *Log) prompt(dst []byte, text string) []byte {
	dst = l.begin(dst, block{kind: asked})
	text, told := work.Apart(text)
	lines, more := head(text, maxPromptLines)
	for i, line := range lines {
		mark := "  "
		if i == 0 {
			mark = cyan + "\u276f " + plain
		}
		dst = append(dst, mark+bold...)
		dst = append(dst, plaintext.Line(line)...)
		dst = append(dst, plain+"\r\n"...)
	}
	if dst = leftOut(dst, "  ", more); told != "" { // the conversation has it in full
		dst = append(dst, "  "+dim...)
		dst = append(dst, l.fitted("limits: "+told, l.width(2))...)
		dst = append(dst, plain+"\r\n"...)
	}
	return dst
}

// Append appends an event.
func (l *Log) Append(dst []byte, e thread.RunEvent) []byte {
	switch e.Kind {
	case thread.RunText:
		return l.stream(dst, e, "")
	case thread.RunThinking:
		return l.stream(dst, e, musing)
	case thread.RunTool:
		dst = l.begin(dst, block{e.Kind, e.Sub})
		dst = append(dst, margin(e.Sub)+cyan+"$ "+plain+bold...)
		tool := l.fit(e.Tool, 30)
		return l.line(dst, plain+dim, e.Text, tool, 2+indent(e.Sub))
	case thread.RunResult:
		return l.result(dst, e)
	case thread.RunRefused:
		dst = l.begin(dst, block{e.Kind, e.Sub})
		return l.note(dst, margin(e.Sub)+yellow+"\u00d7 refused "+plain, yellow, named(e.Tool, e.Text))
	case thread.RunAsks, thread.RunAnswered:
		return l.question(dst, e)
	case thread.RunSteered:
		return l.prompt(dst, e.Text)
	case thread.RunNotice:
		return l.note(l.begin(dst, block{e.Kind, e.Sub}), margin(e.Sub)+yellow+"! "+plain, yellow, e.Text)
	case thread.RunLine:
		colour := dim
		if e.Stderr {
			colour = dim + red
		}
		return l.note(l.begin(dst, block{kind: e.Kind}), dim+"\u2502 "+plain, colour, e.Text)
	case thread.RunSession:
		return l.opened(dst, e)
	case thread.RunUsage:
		if e.Usage != nil {
			l.used = l.used.Add(*e.Usage)
		}
		return dst
	case thread.RunEnd:
		return l.ended(dst, e)
	default:
		return dst
	}
}

// stream appends a piece of a text that may go on.
func (l *Log) stream(dst []byte, e thread.RunEvent, look string) []byte {
	if e.Text == "" {
		return dst
	}
	dst = l.begin(dst, block{e.Kind, e.Sub})
	text := plaintext.Cut(e.Text, maxText)
	if l.clean == nil {
		l.clean = plaintext.NewWriter(&l.text)
	}
	_, _ = l.clean.Write([]byte(uncoloured(text))) // a buffer takes everything
	dst = l.flow(dst, look, e.Sub)
	if more := len(e.Text) - len(text); more > 0 {
		dst = l.end(dst)
		dst = fmt.Appendf(dst, "%s%s\u2026 %s more%s\r\n", margin(e.Sub), dim, thread.Bytes(int64(more)), plain)
	}
	return dst
}

// flow writes what of a streaming text is clean. Its last line ends are kept back: they may be its end.
func (l *Log) flow(dst []byte, look, sub string) []byte {
	text := l.text.Bytes()
	for len(text) > 0 {
		i := bytes.IndexByte(text, '\n')
		if i == 0 {
			l.ends++
			text = text[1:]
			continue
		}
		if i < 0 {
			i = len(text)
		}
		for ; l.ends > 0; l.ends-- {
			dst = append(dst, "\r\n"...)
			l.open = false
		}
		if !l.open {
			dst = append(dst, margin(sub)...)
		}
		dst = append(dst, look...)
		dst = append(dst, text[:i]...)
		if look != "" {
			dst = append(dst, plain...)
		}
		l.open, text = true, text[i:]
	}
	l.text.Reset()
	if l.text.Cap() > maxLine {
		l.text = bytes.Buffer{}
	}
	return dst
}

// begin ends the last line, and makes room before another block.
func (l *Log) begin(dst []byte, b block) []byte {
	if l.block == b && streams(b.kind) {
		return dst
	}
	dst = l.end(dst)
	if l.block != (block{}) && (l.block.sub != b.sub || group(l.block.kind) != group(b.kind)) {
		dst = append(dst, "\r\n"...)
	}
	l.block = b
	return dst
}

// end ends the last line.
func (l *Log) end(dst []byte) []byte {
	if l.clean != nil && streams(l.block.kind) {
		_ = l.clean.Flush() // to a buffer
		dst = l.flow(dst, "", l.block.sub)
	}
	if l.open {
		dst = append(dst, "\r\n"...)
	}
	l.open, l.ends = false, 0
	return dst
}

func streams(k thread.RunEventKind) bool { return k == thread.RunText || k == thread.RunThinking }

// group returns the kind of an event for the layout: between events of one kind there is no empty line.
func group(k thread.RunEventKind) thread.RunEventKind {
	switch k {
	case thread.RunResult, thread.RunRefused, thread.RunAsks:
		return thread.RunTool
	case thread.RunSession, thread.RunLine:
		return thread.RunNotice
	default:
		return k
	}
}

// margin begins the lines of a sub-agent.
func margin(sub string) string {
	if sub == "" {
		return ""
	}
	return dim + "\u250a " + plain
}

func indent(sub string) int {
	if sub == "" {
		return 0
	}
	return 2
}

// line appends a name that has been cleaned, and as much of a text as fits on the rest of the line.
func (l *Log) line(dst []byte, look, text, name string, before int) []byte {
	dst = append(dst, name...)
	if rest := l.fit(text, l.width(before+2)-displaywidth.String(name)); rest != "" {
		dst = append(dst, look+"  "...)
		dst = append(dst, rest...)
	}
	return append(dst, plain+"\r\n"...)
}

// fit returns a text on one line that has at most n columns.
func (l *Log) fit(text string, n int) string {
	s := plaintext.Line(strings.Join(strings.Fields(uncoloured(plaintext.Cut(text, maxLine))), " "))
	if len(text) <= maxLine && displaywidth.String(s) <= n {
		return s
	}
	return displaywidth.TruncateString(s, max(n-1, 0), "") + "\u2026"
}

// result appends the beginning of what a tool returned.
func (l *Log) result(dst []byte, e thread.RunEvent) []byte {
	dst = l.begin(dst, block{e.Kind, e.Sub})
	look := dim
	if e.Failed {
		look = red
	}
	lines, more := head(e.Text, maxResultLines)
	if len(lines) == 0 && e.Failed {
		lines = []string{"failed"}
	}
	for _, s := range lines {
		dst = append(dst, margin(e.Sub)+"  "+look...)
		dst = append(dst, l.fitted(s, l.width(2+indent(e.Sub)))...)
		dst = append(dst, plain+"\r\n"...)
	}
	return leftOut(dst, margin(e.Sub)+"  ", more)
}

// fitted returns a line, with its spaces, that has at most n columns.
func (l *Log) fitted(text string, n int) string {
	s := plaintext.Line(strings.ReplaceAll(uncoloured(plaintext.Cut(text, maxLine)), "\t", "    "))
	if len(text) <= maxLine && displaywidth.String(s) <= n {
		return s
	}
	return displaywidth.TruncateString(s, max(n-1, 0), "") + "\u2026"
}

// note appends a text on lines of its own.
func (l *Log) note(dst []byte, mark, look, text string) []byte {
	lines, more := head(text, maxPromptLines)
	for _, s := range lines {
		dst = append(dst, mark+look...)
		dst = append(dst, plaintext.Line(uncoloured(plaintext.Cut(s, maxLine)))...)
		if len(s) > maxLine {
			dst = append(dst, "\u2026"...)
		}
		dst = append(dst, plain+"\r\n"...)
	}
	return leftOut(dst, "  ", more)
}

// named returns what is said of a tool.
func named(tool, text string) string {
	if tool == "" || text == "" {
		return tool + text
	}
	return plaintext.Cut(tool, maxLine) + ": " + text
}

// question appends what the agent asks a person, or what became of that.
func (l *Log) question(dst []byte, e thread.RunEvent) []byte {
	if e.Question == nil {
		return dst
	}
	dst = l.begin(dst, block{thread.RunAsks, e.Sub})
	switch {
	case e.Kind == thread.RunAsks:
		return l.note(dst, margin(e.Sub)+yellow+"? asks "+plain, yellow, e.Question.Words())
	case e.Failed:
		return l.note(dst, margin(e.Sub)+dim+"? withdrawn "+plain, dim, named(e.Question.Line(), e.Text))
	default:
		return l.note(dst, margin(e.Sub)+green+"? answered "+plain, "", named(e.Question.Line(), e.Text))
	}
}

// opened appends which session it is.
func (l *Log) opened(dst []byte, e thread.RunEvent) []byte {
	if e.Session == "" || e.Session == l.session {
		return dst
	}
	l.session = e.Session
	return l.note(l.begin(dst, block{kind: e.Kind}), "", dim, strings.TrimSpace("session "+e.Session+"  "+e.Model))
}

// ended appends how the run ended, how long it took and what it used.
func (l *Log) ended(dst []byte, e thread.RunEvent) []byte {
	dst = l.begin(dst, block{kind: e.Kind})
	look, mark := red, "\u00d7 "
	switch e.Outcome {
	case thread.RunCompleted:
		look, mark = green, "\u2713 "
	case thread.RunCancelled:
		look, mark = yellow, "\u25a0 "
	case thread.RunFailed:
	}
	dst = append(dst, look+mark+plaintext.Line(string(e.Outcome))...)
	if e.Reason != "" {
		dst = append(dst, ": "+plaintext.Line(plaintext.Cut(e.Reason, maxLine))...)
	}
	dst = append(dst, plain+dim...)
	if !l.began.IsZero() && !e.At.IsZero() {
		dst = append(dst, " \u00b7 "+thread.Elapsed(e.At.Sub(l.began))...)
	}
	if u := l.used; u != (thread.Usage{}) {
		dst = fmt.Appendf(dst, " \u00b7 %s in, %s out", thread.Tokens(u.Context()-u.Output), thread.Tokens(u.Output))
		if u.Priced {
			dst = append(dst, " \u00b7 "+thread.USD(u.CostUSD)...)
		}
	}
	return append(dst, plain+"\r\n"...)
}

// head returns the first lines of a text, without empty ones at its beginning and end, and how many are left out.
func head(text string, most int) (lines []string, more int) {
	text = strings.Trim(text, "\r\n")
	for i := range most {
		if text == "" && i == 0 {
			return nil, 0
		}
		line, rest, found := strings.Cut(text, "\n")
		lines = append(lines, strings.TrimRight(line, "\r"))
		if text = rest; !found {
			return lines, 0
		}
	}
	return lines, strings.Count(text, "\n") + 1
}

// leftOut says how many lines are not shown.
func leftOut(dst []byte, margin string, n int) []byte {
	if n == 0 {
		return dst
	}
	return fmt.Appendf(dst, "%s%s\u2026 %s%s\r\n", margin, dim, plaintext.Count(n, "more line"), plain)
}

// uncoloured returns a text without the sequences that colour it: tools print them also where nobody sees them.
func uncoloured(s string) string {
	i := strings.Index(s, "\x1b[")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.Index(s, "\x1b[") {
		b.WriteString(s[:i])
		end := i + 2
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';' || s[end] == ':') {
			end++
		}
		if end < len(s) && s[end] == 'm' {
			end++
		} else {
			b.WriteString(s[i:end]) // something else, which is shown
		}
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}
