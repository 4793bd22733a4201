package discovery

import "fmt"

// maxProblems is how many problems are listed for a file.
const maxProblems = 100

// Problem is something wrong in a file.
type Problem struct {
	File   string
	Line   int    // from 1; 0 if it is not known
	Server string // the name of the server; empty if it is about the file
	Text   string
}

func (p Problem) String() string {
	text := p.Text
	if p.Server != "" {
		text = fmt.Sprintf("server %q: %s", p.Server, text)
	}
	if p.Line == 0 {
		return p.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
}

// problems collects those of a file.
type problems struct {
	file string
	list []Problem
}

func (p *problems) add(line int, server, format string, args ...any) {
	switch len(p.list) {
	case maxProblems:
	case maxProblems - 1:
		p.list = append(p.list, Problem{File: p.file, Text: "more problems that are not listed"})
	default:
		p.list = append(p.list, Problem{File: p.file, Line: line, Server: server,
			Text: fmt.Sprintf(format, args...)})
	}
}
