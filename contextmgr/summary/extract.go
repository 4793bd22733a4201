package summary

import (
	"slices"
	"strings"

	"orchestrator/thread"
)

// The most of what an extract has besides prompts.
const (
	mostSentence = 400 // bytes
	mostCommand  = 300
	mostLines    = 60 // files, commands or sentences
)

// Extract returns a summary that no model wrote: the person's prompts, the newest of them if there is no room for all,
// the last sentences of answers, the files that tools read and wrote, and the commands that failed. It has at most
// budget tokens as count counts them. It returns "" if nothing useful is short enough to stand in place of the entries.
func Extract(entries []thread.Entry, budget int, count func(string) int) string {
	replaced := Readable(entries)
	d := draft{tokens: budget, bytes: len(replaced) / largestShare, count: count, lines: map[string][]string{}}
	if !d.take(d.text()) {
		return ""
	}
	f := find(entries)
	d.prompts(f.prompts)
	d.newest(headFiles, f.files)
	d.newest(headFacts, f.failed)
	d.newest(headChosen, f.sentences)
	// Counts of pieces do not add up to that of the whole: what was added last goes first.
	for len(d.order) > 0 && (d.count(d.text()) > budget || Refuse(d.text(), replaced) != nil) {
		d.undo()
	}
	if len(d.order) == 0 || d.count(d.text()) > budget || Refuse(d.text(), replaced) != nil {
		return ""
	}
	return d.text()
}

// draft is an extract while it is written.
type draft struct {
	tokens, bytes int // that are left
	count         func(string) int
	lines         map[string][]string // by heading, newest first
	order         []string            // the headings of the lines as they were added
}

// take takes room for a piece, if there is enough.
func (d *draft) take(piece string) bool {
	const breaks = 1
	n := d.count(piece) + breaks
	if n > d.tokens || len(piece)+breaks > d.bytes {
		return false
	}
	d.tokens, d.bytes = d.tokens-n, d.bytes-len(piece)-breaks
	return true
}

func (d *draft) add(head, piece string) bool {
	if !d.take(piece) {
		return false
	}
	d.lines[head] = append(d.lines[head], piece)
	d.order = append(d.order, head)
	return true
}

// undo takes the piece that was added last away.
func (d *draft) undo() {
	head := d.order[len(d.order)-1]
	d.order = d.order[:len(d.order)-1]
	d.lines[head] = d.lines[head][:len(d.lines[head])-1]
}

// prompts adds the newest prompts word for word. If not even the newest has room, its beginning is added.
func (d *draft) prompts(all []string) {
	for i, p := range slices.Backward(all) {
		if d.add(headAsked, quoted(p)) {
			continue
		}
		if i == len(all)-1 {
			for size := len(p) / 2; size > 0; size /= 2 {
				if cut := cutWords(p, size); cut != "" && d.add(headAsked, quoted(cut+" […]")) {
					break
				}
			}
		}
		return
	}
}

// newest adds the newest lines.
func (d *draft) newest(head string, all []string) {
	for _, text := range slices.Backward(all[max(0, len(all)-mostLines):]) {
		if !d.add(head, "- "+text) {
			return
		}
	}
}

// text returns the extract as far as it is written.
func (d *draft) text() string {
	var b strings.Builder
	for _, head := range headings() {
		b.WriteString(head + "\n")
		lines := slices.Clone(d.lines[head])
		slices.Reverse(lines)
		switch {
		case len(lines) > 0:
			b.WriteString(strings.Join(lines, "\n") + "\n")
		case head == headGoal:
			b.WriteString("See what was asked for.\n")
		default:
			b.WriteString("none\n")
		}
	}
	return b.String()
}

// found is what an extract may have, oldest first.
type found struct{ prompts, sentences, files, failed []string }

// find finds it.
func find(entries []thread.Entry) found {
	var f found
	calls := map[string]thread.Entry{}
	answered := ""
	var last thread.Entry
	end := func() {
		if answered != "" {
			f.sentences = append(f.sentences, answered)
		}
		answered = ""
	}
	for _, e := range entries {
		switch e.Kind {
		case thread.EntryPrompt:
			end()
			if text := strings.TrimSpace(clean(e.Text)); text != "" {
				f.prompts = append(f.prompts, text)
			}
		case thread.EntryAnswer:
			if s := lastSentence(e.Text); s != "" && !e.Error {
				answered = s
			}
		case thread.EntryCall:
			calls[e.Call], last = e, e
			f.file(e)
		case thread.EntryResult:
			call, ok := calls[e.Call]
			if !ok {
				call = last
			}
			if command := cutWords(commandOf(call), mostCommand); e.Error && command != "" {
				f.failed = append(f.failed, "failed: "+command)
			}
		case thread.EntryThinking: // was not said to anyone
		}
	}
	end()
	return f
}

// file adds the file of a call; a file that is there already becomes the newest.
func (f *found) file(e thread.Entry) {
	reads, writes := useOf(e)
	for _, use := range []struct{ verb, name string }{{"read ", reads}, {"wrote ", writes}} {
		if use.name == "" {
			continue
		}
		said := use.verb + use.name
		f.files = append(slices.DeleteFunc(f.files, func(s string) bool { return s == said }), said)
	}
}

// lastSentence returns the last sentence of an answer, which often says what came of it.
func lastSentence(text string) string {
	text = strings.TrimSpace(clean(text))
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		text = text[at+1:]
	}
	words := strings.Fields(text)
	from := len(words)
	for from > 0 && (from == len(words) || !strings.ContainsAny(words[from-1][len(words[from-1])-1:], ".!?:")) {
		from--
	}
	return cutWords(strings.Join(words[from:], " "), mostSentence)
}

// quoted returns a text as a quotation.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\n> ")
}
